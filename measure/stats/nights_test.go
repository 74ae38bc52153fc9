package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The evidence is the mixture that its comment states, of one night or of several.
func TestNightlyEvidence(t *testing.T) {
	const margin, faults = 0.02, 0.03
	parts := []float64{best(0.01, margin), best(faults, margin), best(0.09, margin), .995, .05, .3}
	weights := []float64{.2, .3, .2, .15, .075, .075}
	night := func(ties, wins, losses float64) Night {
		n := ties + wins + losses
		return Night{Discordance{wins / n, losses / n}, n}
	}
	capital := func(ties, wins, losses float64) (e float64) {
		for b, c := range parts {
			e += weights[b] * math.Pow(1-c*margin/(1+margin), ties) * math.Pow(1-c, wins) *
				math.Pow(1+c*(1-margin)/(1+margin), losses)
		}
		return e
	}
	a, b, c := night(280, 2, 18), night(290, 5, 5), night(270, 0, 30)
	one, since := NightlyEvidence([]Night{a}, margin, faults)
	near(t, "one night", one, .5*capital(280, 2, 18)+.25*capital(280, 2, 18)+.25, 1e-9*one)
	if since != 1 {
		t.Errorf("since night %d", since)
	}
	three, since := NightlyEvidence([]Night{a, b, c}, margin, faults)
	first := capital(840, 7, 53)
	near(t, "three nights", three, .75*first+.5*(capital(560, 5, 35)/6+capital(270, 0, 30)/12+1./4), 1e-9*three)
	if since != 3 {
		t.Errorf("since night %d", since)
	}
	// The largest evidence stays.
	if e, since := NightlyEvidence([]Night{a, b, c, night(200, 60, 40)}, margin, faults); e != three || since != 3 {
		t.Errorf("%v since night %d", e, since)
	}
	// One more loss is never less evidence, one more win never more.
	for l := range 40 {
		x, _ := NightlyEvidence([]Night{night(float64(300-l), 0, float64(l))}, margin, faults)
		more, _ := NightlyEvidence([]Night{night(float64(299-l), 0, float64(l+1))}, margin, faults)
		less, _ := NightlyEvidence([]Night{night(float64(299-l), 1, float64(l))}, margin, faults)
		if !(more > x && less < x) {
			t.Errorf("%d losses: %v, one more %v, one win more %v", l, x, more, less)
		}
	}
	if e, since := NightlyEvidence(nil, margin, faults); e != 0 || since != 0 {
		t.Errorf("no night: %v, %d", e, since)
	}
}

// A loss of the margin every night is found in few histories, twice that in most.
func TestNightlyEvidenceOfHistories(t *testing.T) {
	const sets, n, nights, margin = 300, 345, 20, 0.02
	for loss, want := range map[float64][2]float64{margin: {0, 0.04}, 2.5 * margin: {0.9, 1}} {
		found := 0
		for seed := range uint64(sets) {
			rng := rand.New(rand.NewPCG(seed, 7))
			var list []Night
			for range nights {
				var d Discordance
				for range n {
					switch u := rng.Float64(); {
					case u < 0.01+loss:
						d.Losses += 1. / n
					case u < 0.02+loss:
						d.Wins += 1. / n
					}
				}
				list = append(list, Night{d, n})
			}
			if e, _ := NightlyEvidence(list, margin, 0.03); e >= 40 {
				found++
			}
		}
		if share := float64(found) / sets; share < want[0] || share > want[1] {
			t.Errorf("a loss of %v is found in %.3f of histories", loss, share)
		}
	}
}

// The luck of a reference is the standard deviation of its own answers.
func TestLuck(t *testing.T) {
	const n, sets, nights = 400, 200, 10
	for _, samples := range []int{1, 5} {
		rng := rand.New(rand.NewPCG(3, uint64(samples)))
		rates := make([]float64, n)
		var want float64
		for i := range rates {
			rates[i] = 1 - 0.3*math.Pow(rng.Float64(), 6)
			want += rates[i] * (1 - rates[i]) / n / n / float64(samples)
		}
		var sum float64
		for range sets {
			base := make([]float64, n)
			for i := range base {
				for range samples {
					if rng.Float64() < rates[i] {
						base[i] += 1 / float64(samples)
					}
				}
			}
			var list []Night
			for range nights {
				var d Discordance
				for i, b := range base {
					x := 0.0
					if rng.Float64() < rates[i] {
						x = 1
					}
					d.Wins += max(0, x-b) / n
					d.Losses += max(0, b-x) / n
				}
				list = append(list, Night{d, n})
			}
			sum += Luck(list, float64(samples)) / sets
		}
		// Of several answers, wins are of less than 1 and count in full: never too small.
		if r := sum / math.Sqrt(want); r < 0.93 || r > map[int]float64{1: 1.07, 5: 1.5}[samples] {
			t.Errorf("%d answers to each item: %v, want %v", samples, sum, math.Sqrt(want))
		}
	}
	if l := Luck([]Night{{Discordance{}, 100}}, 1); !(l > 0 && l < 0.01) {
		t.Errorf("nothing differs: %v", l)
	}
}
