package stats

import (
	"math"
	"strconv"
	"testing"
)

// TestClusterNames checks that memory is bounded and that the intervals of what
// was put together are as good.
func TestClusterNames(t *testing.T) {
	var known ClusterNames
	names := map[string]bool{}
	const n = 200_000
	for i := range n {
		names[known.Name(strconv.Itoa(i))] = true
	}
	if len(known.known) != maxClusterNames || len(names) != maxClusterNames+1<<clusterBits {
		t.Errorf("%d clusters are known, with %d names", len(known.known), len(names))
	}
	hashed := known.Name("199999")
	if known.Name("5") != "5" || known.Name("199999") != hashed || known.Name("") != "" {
		t.Error("a cluster changes its name")
	}
	var values Clusters
	for i := range n {
		values.Add(known.Name(strconv.Itoa(i)), float64(i*7919%10/9))
	}
	got, want := Mean(&values, Proportion, 0.95).Interval, Wilson(n/10, n, 0.95)
	if math.Abs(got.Width()/want.Width()-1) > 0.1 {
		t.Errorf("interval %+v, by itself %+v", got, want)
	}
}
