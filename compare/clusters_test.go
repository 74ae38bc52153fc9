package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"crosstalk"
	"crosstalk/measure/stats"
)

// many are items in several languages, in clusters that languages share, under two
// conditions.
func many(items int) *recorded {
	lcpr := &crosstalk.Average{Over: []string{"language"}, HarmonicOf: []string{"lpr", "wpr"}}
	r := &recorded{by: []string{"language"}, average: map[string]*crosstalk.Average{"lpr": {Over: []string{"language"}}, "wpr": nil, "lcpr": lcpr}}
	random := rand.New(rand.NewPCG(5, 5))
	for i := range items {
		cluster := fmt.Sprint("prompt ", i/2)
		hard := rand.New(rand.NewPCG(uint64(i/2), 7)).Float64() < 0.3 // for all items of the cluster
		labels := columns{"language": []string{"ar", "de"}[i%2]}
		for _, condition := range []columns{first, second} {
			if random.Float64() < 0.01 {
				continue // this condition does not have it
			}
			right := func(rate float64) float64 {
				if hard {
					rate -= 0.3
				}
				return math.Ceil(rate - random.Float64())
			}
			line := right(0.97)
			r.add("lpr", fmt.Sprint(i), cluster, line, condition, labels)
			switch {
			case line == 0:
				r.miss("wpr", fmt.Sprint(i), "line error", condition, labels)
				r.observations[len(r.observations)-1].Cluster = cluster
			default:
				r.add("wpr", fmt.Sprint(i), cluster, right(0.9)*random.Float64(), condition, labels)
			}
		}
	}
	return r
}

// With many clusters, some share a name at random. Intervals stay as wide as with all
// names.
func TestManyClusters(t *testing.T) {
	t.Parallel()
	run := many(100).run(t) // its figures name what is compared
	run.Observations = many(50_000).all()
	want := estimated(t, run, true)
	for i, got := range estimated(t, run, false) {
		near(t, "difference", got.Value, want[i].Value, 1e-9)
		near(t, "width", got.Interval.Width()/want[i].Interval.Width(), 1, 0.05)
		if got.Clusters >= want[i].Clusters {
			t.Errorf("%d clusters of %d", got.Clusters, want[i].Clusters)
		}
	}
}

// estimated are the differences without their tests.
func estimated(t *testing.T, run Run, pilot bool) (list []stats.Estimate) {
	t.Helper()
	table, err := Options{}.read([]Run{run}, pilot)
	if err != nil {
		t.Fatal(err)
	}
	pairs, _ := Options{}.choose(table)
	for _, p := range pairs {
		e, _, _ := table.match(p, Options{}).estimate(Options{Level: 0.95})
		list = append(list, e)
	}
	if len(list) < 3 {
		t.Fatalf("%d differences", len(list))
	}
	return list
}
