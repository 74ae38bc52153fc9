package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"sync"

	"crosstalk/measure/stats"
)

const level = 0.95

// row is data sets of one shape, whose intervals must contain the truth in 93 to 97 %.
type row struct {
	name  string
	truth float64
	trial func(rng *rand.Rand) stats.Interval // draws a data set and returns its interval
}

func coverage(out io.Writer, sets int) bool {
	ok := true
	for _, table := range []struct {
		title string
		rows  []row
	}{
		{"leakage: 109 tests under 30 controls", leakageRows()},
		{"confusion: 100 answers in each of 15 languages", confusionRows()},
		{"consistency: 2,000 paired classes", consistencyRows()},
		{"crosstalk compare: differences of two conditions", differenceRows()},
	} {
		fmt.Fprintf(out, "\nCoverage of 95 %% intervals, %% (mean width), %d data sets; %s\n", sets, table.title)
		for _, r := range table.rows {
			ok = r.print(out, sets) && ok
		}
	}
	return ok
}

func (r row) print(out io.Writer, sets int) bool {
	var hit, width float64
	var mu sync.Mutex
	parallel(sets, func(seed int) {
		interval := r.trial(rand.New(rand.NewPCG(uint64(seed), 77)))
		mu.Lock()
		defer mu.Unlock()
		hit += indicator(interval.Contains(r.truth))
		if interval.Defined() {
			width += interval.Width()
		}
	})
	cover := hit / float64(sets)
	mark, ok := " ", cover >= 0.93 && cover <= 0.97
	if !ok {
		mark = "!"
	}
	fmt.Fprintf(out, "%-34s%7.1f%s (%.3f)\n", "*"+r.name, 100*cover, mark, width/float64(sets))
	return ok
}

// parallel calls f(0) to f(n-1) on all processors and waits for them.
func parallel(n int, f func(i int)) {
	var wg sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		wg.Go(func() {
			for i := w; i < n; i += workers {
				f(i)
			}
		})
	}
	wg.Wait()
}

func leakageRows() (rows []row) {
	for _, rho := range []float64{0, 0.2, 0.4, 0.6} {
		for _, rate := range []float64{0.5, 0.6, 0.7, 0.8, 0.9, 0.95} {
			name := fmt.Sprintf("correlation %.1f, rate %.2f", rho, rate)
			rows = append(rows, row{name, rate, func(rng *rand.Rand) stats.Interval {
				var c stats.Clusters
				var names stats.ClusterNames
				shared(rng, rate, rho, func(cluster string, v float64) { c.Add(names.Number(cluster), v) })
				return stats.Mean(&c, stats.Proportion, level).Interval
			}})
		}
	}
	return rows
}

func confusionRows() (rows []row) {
	for _, p := range []float64{0.7, 0.8, 0.9, 0.95, 0.98} {
		rows = append(rows, row{fmt.Sprintf("one language, LPR %.2f", p), p, binary(100, p)})
	}
	for _, p := range []float64{0.7, 0.85, 0.95, 0.98} {
		for _, rho := range []float64{0, 0.3} {
			lines := languages(p)
			const words = 0.9
			var lcpr float64
			for _, l := range lines[:6] {
				lcpr += harmonic(l, words) / 6
			}
			draw := func(rng *rand.Rand) (line, both []*stats.Clusters) {
				for range lines {
					line = append(line, new(stats.Clusters))
				}
				for range 6 {
					both = append(both, new(stats.Clusters), new(stats.Clusters))
				}
				var names stats.ClusterNames
				answers(rng, lines, words, rho, func(h int, name string, l, w bool) {
					prompt := names.Number(name)
					line[h].Add(prompt, indicator(l))
					if h < 6 {
						both[2*h].Add(prompt, indicator(l))
						if l {
							both[2*h+1].Add(prompt, indicator(w))
						}
					}
				})
				return line, both
			}
			rows = append(rows,
				row{fmt.Sprintf("macro LPR %.2f, correlation %.1f", mean(lines), rho), mean(lines),
					func(rng *rand.Rand) stats.Interval {
						line, _ := draw(rng)
						return stats.Combine(line, mean, stats.Proportion, level).Interval
					}},
				row{fmt.Sprintf("macro LCPR %.2f, correlation %.1f", lcpr, rho), lcpr,
					func(rng *rand.Rand) stats.Interval {
						_, both := draw(rng)
						return stats.Combine(both, macroHarmonic, stats.Proportion, level).Interval
					}})
		}
	}
	return rows
}

// harmonic is the harmonic mean of two rates.
func harmonic(a, b float64) float64 { return 2 * a * b / (a + b) }

// macroHarmonic is the mean over languages of the harmonic mean of the two rates of each.
func macroHarmonic(means []float64) float64 {
	var sum float64
	for i := 0; i < len(means); i += 2 {
		sum += harmonic(means[i], means[i+1])
	}
	return sum / float64(len(means)/2)
}

func consistencyRows() (rows []row) {
	for _, p := range []float64{0.5, 0.7, 0.9, 0.97} {
		rows = append(rows, row{fmt.Sprintf("consistency %.2f", p), p, binary(2000, p)})
	}
	for _, d := range []float64{0, 0.03, 0.15} {
		rows = append(rows, row{fmt.Sprintf("paired difference %.2f", d), d, func(rng *rand.Rand) stats.Interval {
			var c stats.Clusters
			for range 2000 {
				// Half the items have the same class in both conditions.
				a, b := rng.Float64(), rng.Float64()
				if rng.Float64() < 0.5 {
					b = a
				}
				c.AddIndependent(indicator(a < 0.8) - indicator(b < 0.8-d))
			}
			return stats.Mean(&c, stats.Difference, level).Interval
		}})
	}
	return rows
}

// binary draws n independent 0/1 values.
func binary(n int, p float64) func(*rand.Rand) stats.Interval {
	return func(rng *rand.Rand) stats.Interval {
		var c stats.Clusters
		for range n {
			c.AddIndependent(indicator(rng.Float64() < p))
		}
		return stats.Mean(&c, stats.Proportion, level).Interval
	}
}

func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func mean(xs []float64) (m float64) {
	for _, x := range xs {
		m += x / float64(len(xs))
	}
	return m
}
