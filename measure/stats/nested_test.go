package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestComponentsOfUnequalDesign(t *testing.T) {
	const sets = 300
	var sum Components
	for seed := range uint64(sets) {
		rng := rand.New(rand.NewPCG(seed, 6))
		var n Nested
		for g := range 20 {
			u, items := rng.NormFloat64(), make([][]float64, 1+g%4)
			for i := range items {
				w := 2 * rng.NormFloat64()
				for range 1 + (g+i)%3 {
					items[i] = append(items[i], u+w+3*rng.NormFloat64())
				}
			}
			n = append(n, items)
		}
		c := n.Components()
		sum.Cluster += c.Cluster / sets
		sum.Item += c.Item / sets
		sum.Sample += c.Sample / sets
	}
	// Cut at 0, so the small ones are a little high.
	near(t, "sample", sum.Sample, 9, 0.4)
	near(t, "item", sum.Item, 4, 1)
	near(t, "cluster", sum.Cluster, 1, 0.8)
}

func TestComponentsOfFlatDesigns(t *testing.T) {
	var once, alone Nested
	for i := 0; i < 30; i += 3 {
		var samples []float64
		for k := i; k < i+3; k++ {
			samples = append(samples, float64(k*k%7))
		}
		once = append(once, [][]float64{samples[:1], samples[1:2], samples[2:]})
		alone = append(alone, [][]float64{samples})
	}
	if c := once.Components(); !math.IsNaN(c.Sample) || !(c.Item > 0) {
		t.Errorf("one sample per item: %+v", c)
	}
	if c := alone.Components(); !math.IsNaN(c.Cluster) || math.IsNaN(c.Item) || !(c.Sample > 0) {
		t.Errorf("one item per cluster: %+v", c)
	}
	if c := new(Nested).Components(); !math.IsNaN(c.Item) {
		t.Errorf("empty: %+v", c)
	}
	if se := once.Components().Design(1, once.ClusterSize()).StdErr(30); !(se > 0) {
		t.Errorf("planning as the pilot was: %v", se)
	}
	if se := once.Components().Design(5, once.ClusterSize()).StdErr(30); !math.IsNaN(se) {
		t.Errorf("planning samples from a pilot without repeats: %v", se)
	}
	// A balanced pilot foretells its own error.
	rng := rand.New(rand.NewPCG(3, 3))
	var n Nested
	for range 50 {
		u, items := rng.NormFloat64(), make([][]float64, 4)
		for i := range items {
			w := rng.NormFloat64()
			for range 3 {
				items[i] = append(items[i], u+w+rng.NormFloat64())
			}
		}
		n = append(n, items)
	}
	near(t, "balanced pilot", n.Components().Design(3, n.ClusterSize()).StdErr(200)/n.Flat().summary().stdErr(), 1, 0.01)
}
