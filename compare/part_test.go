package compare

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"testing"

	"crosstalk"
	"crosstalk/internal/spill"
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

// alike compares two results; width is the tolerance of the intervals' widths, as a
// share of them.
func alike(t *testing.T, got, want Result, width float64) {
	t.Helper()
	if len(got.Comparisons) != len(want.Comparisons) || len(want.Comparisons) < 3 {
		t.Fatalf("%d comparisons of %d", len(got.Comparisons), len(want.Comparisons))
	}
	for i, c := range got.Comparisons {
		w := want.Comparisons[i]
		name := fmt.Sprint(c.Measure, " ", c.By)
		near(t, name+" value", float64(c.Value), float64(w.Value), 1e-9)
		near(t, name+" reference", float64(c.ReferenceValue), float64(w.ReferenceValue), 1e-9)
		near(t, name+" difference", float64(c.Difference), float64(w.Difference), 1e-9)
		near(t, name+" width", (c.Interval.High-c.Interval.Low)/(w.Interval.High-w.Interval.Low), 1, width)
		near(t, name+" p", float64(c.P), float64(w.P), 0.05)
		if c.N != w.N || c.Method != w.Method || !maps.Equal(c.LeftOut, w.LeftOut) || len(c.Warnings) != len(w.Warnings) {
			t.Errorf("%s: %+v, want %+v", name, c, w)
		}
	}
}

func comparing(t *testing.T, r *recorded, k keep) Result {
	t.Helper()
	result, err := compare([]Run{r.run(t)}, Options{Groups: true, Seed: 1}, k)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// It makes no difference whether there is room for all items, or they are compared
// in parts.
func TestParts(t *testing.T) {
	t.Parallel()
	r := many(900)
	want := comparing(t, r, keep{room: spill.Room})
	got := comparing(t, r, keep{room: 0})
	alike(t, got, want, 1e-6)
	for i, c := range got.Comparisons {
		if c.Clusters != want.Comparisons[i].Clusters {
			t.Errorf("%s: %d clusters of %d", c.Measure, c.Clusters, want.Comparisons[i].Clusters)
		}
	}
}

// With many clusters, some share a name at random. Intervals stay as wide as with all
// names.
func TestManyClusters(t *testing.T) {
	t.Parallel()
	run := many(100).run(t) // its figures name what is compared
	run.Observations = many(50_000).all()
	want := estimated(t, run, keep{room: spill.Room, names: true})
	for i, got := range estimated(t, run, keep{room: 0}) {
		near(t, "difference", got.Value, want[i].Value, 1e-9)
		near(t, "width", got.Interval.Width()/want[i].Interval.Width(), 1, 0.05)
		if got.Clusters >= want[i].Clusters {
			t.Errorf("%d clusters of %d", got.Clusters, want[i].Clusters)
		}
	}
}

// estimated are the differences without their tests.
func estimated(t *testing.T, run Run, k keep) (list []stats.Estimate) {
	t.Helper()
	table, err := read([]Run{run}, k)
	if err != nil {
		t.Fatal(err)
	}
	defer table.close()
	pairs, _ := Options{}.choose(table)
	for _, p := range pairs {
		m := table.match(p, Options{})
		for part, err := range table.parts() {
			if err != nil {
				t.Fatal(err)
			}
			m.add(part)
		}
		e, _, _ := m.estimate(Options{Level: 0.95})
		list = append(list, e)
	}
	if len(list) < 3 {
		t.Fatalf("%d differences", len(list))
	}
	return list
}
