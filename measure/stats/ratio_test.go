package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// By hand: 40 of 50 labels of 60 answers are hits, 1 of 50 labels of 940 a miss.
func TestStratifiedShare(t *testing.T) {
	hits, misses := 60*40/50.0, 940/50.0
	share, i := StratifiedShare([]Stratum{{60, 50, 40}}, []Stratum{{940, 50, 1}}, 0.95)
	near(t, "share", share, hits/(hits+misses), 1e-12)
	// Jeffreys' limits of 40 of 50 (0.674, 0.893) and of 1 of 50 (0.0022, 0.0895).
	al, au, ml, mu := 60*betaQuantile(0.025, 40.5, 10.5), 60*betaQuantile(0.975, 40.5, 10.5),
		940*betaQuantile(0.025, 1.5, 49.5), 940*betaQuantile(0.975, 1.5, 49.5)
	x := hits * misses
	u := (x + math.Sqrt(x*x-mu*al*(2*misses-mu)*(2*hits-al))) / (al * (2*hits - al))
	l := (x - math.Sqrt(x*x-ml*au*(2*misses-ml)*(2*hits-au))) / (au * (2*hits - au))
	near(t, "low", i.Low, 1/(1+u), 1e-12)
	near(t, "high", i.High, 1/(1+l), 1e-12)
	near(t, "low", i.Low, 0.355, 0.01)

	for _, c := range []struct {
		name             string
		hits, misses     []Stratum
		share, low, high float64 // 0 to 1; NaN: only inside
	}{
		{"no miss among few labels of many answers", []Stratum{{60, 50, 40}}, []Stratum{{940, 50, 0}}, 1, math.NaN(), 1},
		{"no hit", []Stratum{{60, 50, 0}}, []Stratum{{940, 50, 2}}, 0, 0, math.NaN()},
		{"two parts of each", []Stratum{{30, 25, 20}, {30, 25, 20}}, []Stratum{{470, 25, 1}, {470, 25, 0}},
			hits / (hits + misses), math.NaN(), math.NaN()},
		{"all hits", []Stratum{{60, 50, 50}}, []Stratum{{940, 50, 50}}, 0.06, math.NaN(), math.NaN()},
		{"nothing found", nil, []Stratum{{940, 50, 50}}, 0, 0, 0},
	} {
		share, i := StratifiedShare(c.hits, c.misses, 0.95)
		near(t, c.name, share, c.share, 1e-12)
		if !(i.Low <= share && share <= i.High && i.Low >= 0 && i.High <= 1) {
			t.Errorf("%s: %v in %+v", c.name, share, i)
		}
		if !math.IsNaN(c.low) && i.Low != c.low || !math.IsNaN(c.high) && i.High != c.high || math.IsNaN(c.low) &&
			!(i.Low > 0) || math.IsNaN(c.high) && !(i.High < 1) {
			t.Errorf("%s: %+v", c.name, i)
		}
	}
	if share, i := StratifiedShare([]Stratum{{10, 5, 0}}, []Stratum{{20, 5, 0}}, 0.95); !math.IsNaN(share) || i.Defined() {
		t.Errorf("nothing: %v, %+v", share, i)
	}
}

// The interval contains the share of the run in 93 % or more, for samples by finding.
func TestStratifiedShareCovers(t *testing.T) {
	const answers, sets = 1000, 600
	for _, c := range []struct{ rate, sensitivity, specificity float64 }{
		{0.02, 0.9, 0.99}, {0.02, 0.8, 0.98}, {0.05, 0.8, 0.98}, {0.05, 0.95, 0.98}, {0.1, 0.8, 0.95}, {0.2, 0.8, 0.95},
		{0.3, 0.9, 0.97}, {0.3, 0.6, 0.9},
	} {
		for _, labels := range []int{60, 100, 200} {
			rng := rand.New(rand.NewPCG(uint64(labels), uint64(1000*c.rate)))
			covered, all := 0, 0
			for range sets {
				faults := binomial(rng, answers, c.rate)
				caught := binomial(rng, faults, c.sensitivity)
				alarms := binomial(rng, answers-faults, 1-c.specificity)
				found, rest := caught+alarms, answers-caught-alarms
				n1 := min(labels/2, found)
				n0 := labels - n1
				x1, x0 := drawn(rng, caught, found, n1), drawn(rng, faults-caught, rest, n0)
				if x1+x0 == 0 {
					continue
				}
				_, i := StratifiedShare([]Stratum{{float64(found), float64(n1), float64(x1)}},
					[]Stratum{{float64(rest), float64(n0), float64(x0)}}, 0.95)
				all++
				if i.Low <= float64(caught)/float64(faults)+1e-12 && float64(caught)/float64(faults) <= i.High+1e-12 {
					covered++
				}
			}
			if share := float64(covered) / float64(all); share < 0.925 { // 93 %, less half a standard error
				t.Errorf("%+v, %d labels: covers %.1f %%", c, labels, 100*share)
			}
		}
	}
}

// drawn is how many of a kind are among n drawn without replacement.
func drawn(rng *rand.Rand, kind, of, n int) (x int) {
	for range n {
		if rng.IntN(of) < kind {
			kind--
			x++
		}
		of--
	}
	return x
}
