package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The reference vectors have the figures; here are determinism and the edges.
func TestUnitBootstrap(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	xs := make([]float64, 60)
	for i := range xs {
		xs[i] = rng.ExpFloat64()
	}
	mean := func(units []int) float64 {
		var s float64
		for _, u := range units {
			s += xs[u] / float64(len(units))
		}
		return s
	}
	for _, m := range []BootstrapMethod{Percentile, BCa} {
		o := BootstrapOptions{Method: m, Draws: 2000, Seed: 9}
		a, b := UnitBootstrap(len(xs), mean, o), UnitBootstrap(len(xs), mean, o)
		if a.Interval != b.Interval || a.SE != b.SE || !a.Interval.Contains(a.Value) {
			t.Errorf("%+v, again %+v", a, b)
		}
		o.Seed++
		if c := UnitBootstrap(len(xs), mean, o); c.SE == a.SE {
			t.Error("the seed changes nothing")
		}
	}
	constant := func([]int) float64 { return 1 }
	if b := UnitBootstrap(10, constant, BootstrapOptions{Draws: 10}); b.Value != 1 || b.Interval.Defined() {
		t.Errorf("no variation: %+v", b)
	}
	undefined := func([]int) float64 { return math.NaN() }
	if b := UnitBootstrap(10, undefined, BootstrapOptions{Draws: 10}); b.Interval.Defined() {
		t.Errorf("%+v", b)
	}
}
