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
	a, b := UnitBootstrap(len(xs), mean, 2000, 0.95, 9), UnitBootstrap(len(xs), mean, 2000, 0.95, 9)
	if a.Interval != b.Interval || a.SE != b.SE || !a.Interval.Contains(a.Value) {
		t.Errorf("%+v, again %+v", a, b)
	}
	if c := UnitBootstrap(len(xs), mean, 2000, 0.95, 10); c.SE == a.SE {
		t.Error("the seed changes nothing")
	}
	constant := func([]int) float64 { return 1 }
	if b := UnitBootstrap(10, constant, 10, 0.95, 0); b.Value != 1 || b.Interval.Defined() {
		t.Errorf("no variation: %+v", b)
	}
	undefined := func([]int) float64 { return math.NaN() }
	if b := UnitBootstrap(10, undefined, 10, 0.95, 0); b.Interval.Defined() {
		t.Errorf("%+v", b)
	}
}

// naiveTauB is tau-b as it is defined, over all pairs.
func naiveTauB(x, y []float64, slackX, slackY float64) float64 {
	sign := func(d, slack float64) float64 {
		switch {
		case d > slack*(1+1e-9):
			return 1
		case d < -slack*(1+1e-9):
			return -1
		}
		return 0
	}
	var score, inX, inY float64
	for i := range x {
		for j := range i {
			a, b := sign(x[i]-x[j], slackX), sign(y[i]-y[j], slackY)
			score, inX, inY = score+a*b, inX+a*a, inY+b*b
		}
	}
	return quotient(score, math.Sqrt(inX)*math.Sqrt(inY))
}

// Tau-b is that of its definition to the last digit, with ties, slacks and
// infinities; so is alpha of resamples.
func TestFastAgreement(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	same := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
	for k := range 400 {
		n, levels := rng.IntN(30), 1+rng.IntN(9)
		x, y := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i], y[i] = float64(rng.IntN(levels))/8, rng.Float64()
			switch rng.IntN(20) {
			case 0:
				y[i] = math.Inf(1)
			case 1:
				y[i] = math.Inf(-1)
			case 2:
				x[i] = math.Inf(1 - 2*rng.IntN(2))
			case 3:
				y[i] = y[rng.IntN(i+1)]
			}
		}
		for _, slack := range [][2]float64{{0, 0}, {0, 0.03}, {0.125, 0.3}, {math.Inf(1), 0}} {
			if got, want := KendallTauB(x, y, slack[0], slack[1]), naiveTauB(x, y, slack[0], slack[1]); !same(got, want) {
				t.Fatalf("%v, %v, slack %v: %v; want %v", x, y, slack, got, want)
			}
		}
		units := make([][]int, n)
		for u := range units {
			for range rng.IntN(4) {
				units[u] = append(units[u], rng.IntN(levels))
			}
		}
		at, drawn := make([]int, n), make([][]int, n)
		for i := range at {
			at[i] = rng.IntN(n)
			drawn[i] = units[at[i]]
		}
		if got, want := NominalAlpha(units)(at), naiveAlpha(drawn); !same(got, want) {
			t.Fatalf("sample %d: alpha of %v at %v is %v; want %v", k, units, at, got, want)
		}
	}
}

// naiveAlpha is alpha as it is defined, over all pairs of labels.
func naiveAlpha(units [][]int) float64 {
	different := func(labels []int) (pairs float64) {
		for i, a := range labels {
			for j, b := range labels {
				if i != j && a != b {
					pairs++
				}
			}
		}
		return pairs
	}
	var all []int
	observed := 0.0
	for _, labels := range units {
		if len(labels) >= 2 {
			all = append(all, labels...)
			observed += different(labels) / float64(len(labels)-1)
		}
	}
	n := float64(len(all))
	return 1 - quotient(observed/n, different(all)/(n*(n-1)))
}
