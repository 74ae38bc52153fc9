package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestUnitBootstrap(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	xs := make([]float64, 60)
	var c Clusters
	for i := range xs {
		xs[i] = rng.ExpFloat64()
		c.AddIndependent(xs[i])
	}
	mean := func(units []int) float64 {
		var s float64
		for _, u := range units {
			s += xs[u] / float64(len(units))
		}
		return s
	}
	for _, m := range []BootstrapMethod{Percentile, BCa} {
		o := BootstrapOptions{Method: m, Draws: 200000, Seed: 9}
		a, b := UnitBootstrap(len(xs), mean, o), ClusterBootstrap(&c, o)
		near(t, "SE", a.SE/b.SE, 1, 0.02)
		near(t, "low", a.Interval.Low, b.Interval.Low, 0.04*b.SE)
		near(t, "high", a.Interval.High, b.Interval.High, 0.04*b.SE)
	}
	undefined := func([]int) float64 { return math.NaN() }
	if b := UnitBootstrap(10, undefined, BootstrapOptions{Draws: 10}); b.Interval.Defined() {
		t.Errorf("%+v", b)
	}
}
