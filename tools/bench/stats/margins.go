package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"crosstalk/measure/stats"

	"gonum.org/v1/gonum/stat/distuv"
)

// margins prints how often crosstalk gate --no-worse-than passes a run whose true loss
// is the margin, which it should at most in half of 1 - level, and one that has not
// changed, and how often the interval contains the true difference: with the score
// intervals and, for comparison, with intervals from the variance of the differences.
// Independent pairs and unpaired rates are enumerated; clusters simulates the others. A
// line misses with more than half a point above the level, and with a coverage of less
// than 93.5 % at a level of 95 %.
func margins(out io.Writer, sets int) bool {
	shapes := append(pairedShapes(), unpairedShapes()...)
	ok := table(out, sets, 0.95, shapes)
	return table(out, sets, 0.9, shapes) && ok
}

// clusters is margins of clusters and of means over languages.
func clusters(out io.Writer, sets int) bool {
	return table(out, sets, 0.95, append(clusteredShapes(), languageShapes()...))
}

// table prints a line for each shape.
func table(out io.Writer, sets int, level float64, shapes []gateShape) bool {
	ok := true
	fmt.Fprintf(out, "\nPasses of gate --no-worse-than --level %g in %%, at most %.1f at the margin; "+
		"worst of several shapes\n", level, 50*(1-level))
	fmt.Fprintf(out, "%-68s%20s%20s%20s\n", "", "at the margin", "nothing changed", "least coverage")
	fmt.Fprintf(out, "%-68s%10s%10s%10s%10s%10s%10s\n", "", "score", "variance", "score", "variance", "score", "variance")
	for _, s := range shapes {
		ok = s.print(out, level, sets) && ok
	}
	return ok
}

// passes are shares of data sets that pass, and whose interval contains the truth: with
// the score interval, and with that of the variance.
type passes struct{ pass, cover [2]float64 }

// add adds a share of data sets with these intervals.
func (p *passes) add(share, margin, truth float64, intervals [2]stats.Interval) {
	for k, i := range intervals {
		p.pass[k] += share * indicator(i.Low >= -margin-1e-12)
		p.cover[k] += share * indicator(i.Low <= truth+1e-9 && i.High >= truth-1e-9)
	}
}

// gateShape is settings of which the one with most false passes is printed.
type gateShape struct {
	name     string
	settings []func(level float64, sets int, changed bool) passes
}

func (s gateShape) print(out io.Writer, level float64, sets int) bool {
	worst, same := passes{cover: [2]float64{1, 1}}, passes{}
	var mu sync.Mutex
	parallel(len(s.settings), func(i int) {
		lost, unchanged := s.settings[i](level, sets, true), s.settings[i](level, sets, false)
		mu.Lock()
		defer mu.Unlock()
		for k := range 2 {
			worst.pass[k] = max(worst.pass[k], lost.pass[k])
			worst.cover[k] = min(worst.cover[k], lost.cover[k], unchanged.cover[k])
			same.pass[k] += unchanged.pass[k] / float64(len(s.settings))
		}
	})
	ok := true
	mark := func(miss bool) string {
		if ok = ok && !miss; miss {
			return "!"
		}
		return " "
	}
	fmt.Fprintf(out, "%-68s%9.1f%s%10.1f%10.1f%10.1f%9.1f%s%10.1f\n", "*"+s.name,
		100*worst.pass[0], mark(worst.pass[0] > (1-level)/2+0.005), 100*worst.pass[1], 100*same.pass[0], 100*same.pass[1],
		100*worst.cover[0], mark(level == 0.95 && worst.cover[0] < 0.935), 100*worst.cover[1])
	return ok
}

var (
	numbers  = []int{60, 150, 345, 1000, 2000}
	allowed  = []float64{0.01, 0.02, 0.05}
	oldRates = []float64{0.9, 0.95, 0.98, 0.99, 0.995, 1}
)

// pairedShapes are pairs of which the new run gets none, three in ten, or independently
// drawn ones right that the old one gets wrong.
func pairedShapes() (shapes []gateShape) {
	for _, n := range numbers {
		for _, margin := range allowed {
			s := gateShape{name: fmt.Sprintf("%d pairs, margin %g %%, old rates 90 to 100 %%", n, 100*margin)}
			for _, old := range oldRates {
				for kind := range 3 {
					s.settings = append(s.settings, func(level float64, _ int, changed bool) passes {
						loss := 0.0
						if changed {
							loss = margin
						}
						wins := []float64{0, 0.3 * (1 - old), (1 - old) * (old - loss)}[kind]
						return enumerate(n, wins, wins+loss, margin, level)
					})
				}
			}
			shapes = append(shapes, s)
		}
	}
	return shapes
}

// enumerate adds up the probabilities of all numbers of wins and losses.
func enumerate(n int, wins, losses, margin, level float64) (p passes) {
	for w := range most(n, wins) + 1 {
		share := binomial(n, w, wins)
		for l := range min(most(n, losses), n-w) + 1 {
			at := share * binomial(n-w, l, losses/(1-wins))
			if at < 1e-9 {
				continue
			}
			d := stats.Discordance{Wins: float64(w) / float64(n), Losses: float64(l) / float64(n)}
			p.add(at, margin, wins-losses, [2]stats.Interval{
				d.Interval(stats.Counts{N: float64(n), DF: math.Inf(1)}, level), oldInterval(d, n, level)})
		}
	}
	return p
}

// oldInterval is the interval from the variance of the differences.
func oldInterval(d stats.Discordance, n int, level float64) stats.Interval {
	if d.Variance() == 0 {
		other := 1 - math.Pow((1-level)/2, 1/float64(n))
		return stats.Interval{Low: -other, High: other}
	}
	se := math.Sqrt(d.Variance() / float64(n-1))
	return stats.TInterval(d.Wins-d.Losses, se, float64(n-1), stats.Difference, level)
}

// unpairedShapes are rates of different items.
func unpairedShapes() (shapes []gateShape) {
	for _, n := range numbers {
		for _, margin := range allowed {
			s := gateShape{name: fmt.Sprintf("%d and %d unpaired, margin %g %%, old rates 90 to 100 %%", n, n, 100*margin)}
			for _, old := range oldRates {
				s.settings = append(s.settings, func(level float64, _ int, changed bool) (p passes) {
					wrong := 1 - old
					if changed {
						wrong += margin
					}
					for x := range most(n, wrong) + 1 {
						share := binomial(n, x, wrong)
						for y := range most(n, 1-old) + 1 {
							at := share * binomial(n, y, 1-old)
							if at < 1e-7 {
								continue
							}
							a, b := rateOf(n-x, n), rateOf(n-y, n)
							va, vb := a.Value*(1-a.Value)/float64(n-1), b.Value*(1-b.Value)/float64(n-1)
							df := (va + vb) * (va + vb) / (va*va + vb*vb) * float64(n-1)
							p.add(at, margin, 1-old-wrong, [2]stats.Interval{a.Minus(b, level),
								stats.TInterval(a.Value-b.Value, math.Sqrt(va+vb), df, stats.Difference, level)})
						}
					}
					return p
				})
			}
			shapes = append(shapes, s)
		}
	}
	return shapes
}

func rateOf(right, n int) stats.Rate {
	return stats.Rate{Counts: stats.Counts{N: float64(n), DF: math.Inf(1)}, Value: float64(right) / float64(n)}
}

// simulate adds a setting whose data sets are drawn with a loss, the margin or none.
func (s *gateShape) simulate(seed [2]int, margin float64, draw func(rng *rand.Rand, loss float64) []*stats.Clusters) {
	s.settings = append(s.settings, func(level float64, sets int, changed bool) (p passes) {
		rng := rand.New(rand.NewPCG(uint64(seed[0]), uint64(seed[1])))
		loss := 0.0
		if changed {
			loss = margin
		}
		for range sets {
			p.add(1/float64(sets), margin, -loss, intervals(draw(rng, loss), level))
		}
		return p
	})
}

// clusteredShapes are losses and wins that are alike within clusters.
func clusteredShapes() (shapes []gateShape) {
	for _, design := range [][2]int{{5, 60}, {12, 20}, {12, 60}, {40, 4}, {40, 20}, {120, 5}, {345, 3}} {
		for _, icc := range []float64{0, 0.1, 0.3, 0.5} {
			s := gateShape{name: fmt.Sprintf("%d clusters of %d or about, correlation %g, margins 1 to 10 %%",
				design[0], design[1], icc)}
			for _, c := range [][2]float64{ // wins, and the margin
				{0.01, 0.05}, {0.005, 0.02}, {0.02, 0.05}, {0.1, 0.1}, {0.001, 0.02}, {0.001, 0.05}, {0.002, 0.01},
			} {
				for _, spread := range []float64{0, 1.2} {
					s.simulate(design, c[1], func(rng *rand.Rand, loss float64) []*stats.Clusters {
						var cells stats.Clusters
						for j := range design[0] {
							size := float64(design[1]) * math.Exp(spread*(2*float64(j)/float64(design[0]-1)-1))
							losing, winning := around(rng, c[0]+loss, icc), around(rng, c[0], icc)
							for range max(1, int(size)) {
								cells.Add(stats.Cluster(j), pair(rng, losing, winning))
							}
						}
						return []*stats.Clusters{&cells}
					})
				}
			}
			shapes = append(shapes, s)
		}
	}
	return shapes
}

// around draws the rate of a cluster from the beta distribution with this mean and
// correlation of two items.
func around(rng *rand.Rand, mean, icc float64) float64 {
	if icc == 0 {
		return mean
	}
	return beta(rng, mean*(1-icc)/icc, (1-mean)*(1-icc)/icc)
}

// pair is the difference of a pair.
func pair(rng *rand.Rand, losing, winning float64) float64 {
	switch u := rng.Float64(); {
	case u < losing:
		return -1
	case u < losing+winning:
		return 1
	}
	return 0
}

// intervals are the two of the mean over parts.
func intervals(parts []*stats.Clusters, level float64) [2]stats.Interval {
	weights := make([]float64, len(parts))
	for k := range weights {
		weights[k] = 1 / float64(len(parts))
	}
	e := stats.Combine(parts, mean, stats.Difference, level)
	if len(parts) == 1 {
		e = stats.Mean(parts[0], stats.Difference, level)
	}
	d := stats.DiscordanceOf(parts, weights)
	return [2]stats.Interval{d.Interval(stats.EffectiveCounts(parts, weights, e.SE), level), e.Interval}
}

// languageShapes are means over languages, the loss in all or in one of them.
func languageShapes() (shapes []gateShape) {
	var uneven []int
	for k := range 15 {
		uneven = append(uneven, int(math.Round(8*math.Pow(60/8.0, float64(k)/14))))
	}
	for _, design := range []struct {
		name  string
		sizes []int
	}{
		{"15 languages of 23", slices.Repeat([]int{23}, 15)},
		{"15 languages of 8 to 60", uneven},
		{"5 languages of 200", slices.Repeat([]int{200}, 5)},
		{"4 languages of 20 and one of 500", []int{20, 20, 20, 20, 500}},
	} {
		for _, one := range []bool{false, true} {
			s := gateShape{name: design.name + ", the loss in all, margins 1 to 5 %"}
			if one {
				s.name = design.name + ", the loss in the first, margins 1 to 5 %"
			}
			for _, margin := range allowed {
				for _, wins := range []float64{0.001, 0.005, 0.02} {
					if one && margin*float64(len(design.sizes)) > 0.9-wins {
						continue
					}
					seed := [2]int{len(design.sizes), 9}
					s.simulate(seed, margin, func(rng *rand.Rand, loss float64) (parts []*stats.Clusters) {
						for k, n := range design.sizes {
							of := loss
							if one && k == 0 {
								of *= float64(len(design.sizes))
							} else if one {
								of = 0
							}
							part := new(stats.Clusters)
							for range n {
								part.AddIndependent(pair(rng, wins+of, wins))
							}
							parts = append(parts, part)
						}
						return parts
					})
				}
			}
			shapes = append(shapes, s)
		}
	}
	return shapes
}

// binomial is the probability of k of n.
func binomial(n, k int, p float64) float64 {
	if p <= 0 || p >= 1 {
		return indicator(p <= 0 && k == 0 || p >= 1 && k == n)
	}
	return distuv.Binomial{N: float64(n), P: p}.Prob(float64(k))
}

// most is a number that a binomial count rarely exceeds.
func most(n int, p float64) int {
	mean := float64(n) * p
	return min(n, int(mean+6*math.Sqrt(mean)+12*indicator(p > 0)))
}
