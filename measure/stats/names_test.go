package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
)

// TestClusterNames checks that memory is bounded and that the intervals of what
// was put together are as good.
func TestClusterNames(t *testing.T) {
	var known ClusterNames
	names := map[Cluster]bool{}
	const n = 200_000
	for i := range n {
		names[known.Number(strconv.Itoa(i))] = true
	}
	if len(known.known) != maxClusterNames || len(names) != maxClusterNames+1<<clusterBits {
		t.Errorf("%d clusters are known, with %d names", len(known.known), len(names))
	}
	hashed := known.Number("199999")
	if known.Number("5") != 6 || known.Number("199999") != hashed || known.Number("") != 0 {
		t.Error("a cluster changes its name")
	}
	var values Clusters
	for i := range n {
		values.Add(known.Number(strconv.Itoa(i)), float64(i*7919%10/9))
	}
	got, want := Mean(&values, Proportion, 0.95).Interval, Wilson(n/10, n, 0.95)
	if math.Abs(got.Width()/want.Width()-1) > 0.1 {
		t.Errorf("interval %+v, by itself %+v", got, want)
	}
}

// Independent values in any number take limited memory, and their intervals are as good.
func TestManyValues(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	var one, part, named Clusters
	for i := range 100_000 {
		value := random.NormFloat64()
		one.AddIndependent(value)
		part.AddIndependent(value / 2)
		named.Add(Cluster(i+1), value)
	}
	var twice Clusters
	twice.AddAll(&part, 2)
	want := Mean(&named, Unbounded, 0.95)
	for i, c := range []*Clusters{&one, &twice} {
		got := Mean(c, Unbounded, 0.95)
		combined := Combine([]*Clusters{c}, mean, Unbounded, 0.95)
		if math.Abs(got.Value-want.Value) > 1e-12 || math.Abs(got.Interval.Width()/want.Interval.Width()-1) > 0.05 ||
			math.Abs(combined.SE/want.SE-1) > 0.05 {
			t.Errorf("%d: %+v, combined %+v, want %+v", i, got, combined, want)
		}
		if c.N() != 100_000 || c.Len() != 100_000 || len(c.single) > maxClusterNames || len(c.rest) > 1<<clusterBits {
			t.Errorf("%d: n %d in %d clusters, of %d values and %d groups", i, c.N(), c.Len(), len(c.single), len(c.rest))
		}
	}
}

// Where all values are equal, random groups are as good as the clusters in them,
// whatever their sizes.
func TestGroupsOfEqualValues(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, 3} {
		const n = 150_000
		var known ClusterNames
		var grouped, exact Clusters
		for i := range n {
			cluster := i % (n / size)
			grouped.Add(known.Number(strconv.Itoa(cluster)), 1)
			exact.Add(Cluster(cluster), 1)
		}
		got, want := Mean(&grouped, Proportion, 0.95).Interval, Mean(&exact, Proportion, 0.95).Interval
		if math.Abs(got.Width()/want.Width()-1) > 0.1 {
			t.Errorf("clusters of %d: interval %+v, by themselves %+v", size, got, want)
		}
		got, want = Combine([]*Clusters{&grouped}, mean, Proportion, 0.95).Interval,
			Combine([]*Clusters{&exact}, mean, Proportion, 0.95).Interval
		if math.Abs(got.Width()/want.Width()-1) > 0.1 {
			t.Errorf("combined clusters of %d: interval %+v, by themselves %+v", size, got, want)
		}
	}
}

func mean(parts []float64) float64 { return parts[0] }

// Clusters are ordered by name, whatever their numbers, random groups first.
func TestOrderOfClusters(t *testing.T) {
	var known ClusterNames
	clusters := []Cluster{known.Number("b"), known.Number("a"), known.Number("10"), known.Number("9"), -2, -11, 0}
	slices.SortFunc(clusters, known.Compare)
	if want := []Cluster{0, -2, -11, 3, 4, 2, 1}; !slices.Equal(clusters, want) {
		t.Errorf("%v, want %v", clusters, want)
	}
}
