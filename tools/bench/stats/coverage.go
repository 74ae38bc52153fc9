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

// A trial draws one data set and reports the intervals that methods give it.
type trial func(rng *rand.Rand, report func(method string, i stats.Interval))

type row struct {
	name    string
	truth   float64
	methods []string // those with a leading * must cover 93-97 %
	trial   trial
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
		for i, r := range table.rows {
			if i == 0 || fmt.Sprint(r.methods) != fmt.Sprint(table.rows[i-1].methods) {
				fmt.Fprintf(out, "%-34s", "")
				for _, m := range r.methods {
					fmt.Fprintf(out, "%16s", m)
				}
				fmt.Fprintln(out)
			}
			ok = r.print(out, sets) && ok
		}
	}
	return ok
}

func (r row) print(out io.Writer, sets int) bool {
	type tally struct{ hit, width float64 }
	tallies := make(map[string]*tally)
	for _, m := range r.methods {
		tallies[m] = new(tally)
	}
	var mu sync.Mutex
	parallel(sets, func(seed int) {
		rng := rand.New(rand.NewPCG(uint64(seed), 77))
		r.trial(rng, func(method string, i stats.Interval) {
			mu.Lock()
			defer mu.Unlock()
			t := tallies[method]
			if t == nil {
				t = tallies["*"+method]
			}
			if i.Contains(r.truth) {
				t.hit++
			}
			if i.Defined() {
				t.width += i.Width()
			}
		})
	})
	fmt.Fprintf(out, "%-34s", r.name)
	ok := true
	for _, m := range r.methods {
		cover := tallies[m].hit / float64(sets)
		mark := " "
		if m[0] == '*' && (cover < 0.93 || cover > 0.97) {
			mark, ok = "!", false
		}
		fmt.Fprintf(out, "%7.1f%s (%.3f)", 100*cover, mark, tallies[m].width/float64(sets))
	}
	fmt.Fprintln(out)
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
	methods := []string{"*mean", "t", "percentile", "wilson"}
	all := func(truth float64, name string, draw func(rng *rand.Rand, add func(string, float64))) row {
		return row{name, truth, methods, func(rng *rand.Rand, report func(string, stats.Interval)) {
			var c stats.Clusters
			var names stats.ClusterNames
			var all resampling
			draw(rng, func(cluster string, v float64) {
				c.Add(names.Number(cluster), v)
				all.add(cluster, v)
			})
			report("mean", stats.Mean(&c, stats.Proportion, level).Interval)
			report("t", stats.ClusterTTest(&c, 0.5).Interval(stats.Unbounded, level))
			report("wilson", stats.Wilson(c.Mean()*float64(c.N()), float64(c.N()), level))
			all.report(stats.Proportion, rng, report)
		}}
	}
	for _, rho := range []float64{0, 0.2, 0.4, 0.6} {
		for _, rate := range []float64{0.5, 0.6, 0.7, 0.8, 0.9, 0.95} {
			rows = append(rows, all(rate, fmt.Sprintf("correlation %.1f, rate %.2f", rho, rate),
				func(rng *rand.Rand, add func(string, float64)) { shared(rng, rate, rho, add) }))
		}
	}
	for _, rate := range []float64{0, 0.3, 0.6, 0.9} {
		l := newLottery(rate)
		rows = append(rows, all(l.truth(), fmt.Sprintf("shared control answer, leak %.1f", rate), l.draw))
	}
	return rows
}

func confusionRows() (rows []row) {
	for _, p := range []float64{0.7, 0.8, 0.9, 0.95, 0.98} {
		rows = append(rows, row{fmt.Sprintf("one language, LPR %.2f", p), p,
			[]string{"*mean", "clopper-pearson", "percentile"},
			func(rng *rand.Rand, report func(string, stats.Interval)) {
				binary(100, p, rng, report)
			}})
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
				row{fmt.Sprintf("macro LPR %.2f, correlation %.1f", mean(lines), rho), mean(lines), []string{"*macro"},
					func(rng *rand.Rand, report func(string, stats.Interval)) {
						line, _ := draw(rng)
						report("macro", stats.Combine(line, mean, stats.Proportion, level).Interval)
					}},
				row{fmt.Sprintf("macro LCPR %.2f, correlation %.1f", lcpr, rho), lcpr, []string{"*macro"},
					func(rng *rand.Rand, report func(string, stats.Interval)) {
						_, both := draw(rng)
						report("macro", stats.Combine(both, macroHarmonic, stats.Proportion, level).Interval)
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
		rows = append(rows, row{fmt.Sprintf("consistency %.2f", p), p,
			[]string{"*mean", "*clopper-pearson", "*percentile"},
			func(rng *rand.Rand, report func(string, stats.Interval)) {
				binary(2000, p, rng, report)
			}})
	}
	for _, d := range []float64{0, 0.03, 0.15} {
		rows = append(rows, row{fmt.Sprintf("paired difference %.2f", d), d,
			[]string{"*mean", "*t", "*percentile"},
			func(rng *rand.Rand, report func(string, stats.Interval)) {
				var c stats.Clusters
				var all resampling
				for i := range 2000 {
					// Half the items have the same class in both conditions.
					a, b := rng.Float64(), rng.Float64()
					if rng.Float64() < 0.5 {
						b = a
					}
					v := indicator(a < 0.8) - indicator(b < 0.8-d)
					c.AddIndependent(v)
					all.add(name(i), v)
				}
				report("mean", stats.Mean(&c, stats.Difference, level).Interval)
				report("t", stats.TTest(&c, 0).Interval(stats.Unbounded, level))
				all.report(stats.Unbounded, rng, report)
			}})
	}
	return rows
}

// binary draws n independent 0/1 values and reports their intervals.
func binary(n int, p float64, rng *rand.Rand, report func(string, stats.Interval)) {
	var c stats.Clusters
	var all resampling
	ones := 0.0
	for i := range n {
		v := indicator(rng.Float64() < p)
		ones += v
		c.AddIndependent(v)
		all.add(name(i), v)
	}
	report("mean", stats.Mean(&c, stats.Proportion, level).Interval)
	report("clopper-pearson", stats.ClopperPearson(ones, float64(n), level))
	all.report(stats.Unbounded, rng, report)
}

// resampling are the sizes and sums of clusters, for the bootstrap of their mean: what others do, to compare Mean with.
type resampling struct {
	index  map[string]int
	n, sum []float64
}

func (r *resampling) add(cluster string, v float64) {
	if r.index == nil {
		r.index = map[string]int{}
	}
	i, ok := r.index[cluster]
	if !ok {
		i = len(r.n)
		r.index[cluster] = i
		r.n, r.sum = append(r.n, 0), append(r.sum, 0)
	}
	r.n[i]++
	r.sum[i] += v
}

func (r *resampling) report(bounds stats.Bounds, rng *rand.Rand, report func(string, stats.Interval)) {
	ratio := func(clusters []int) float64 {
		var n, sum float64
		for _, i := range clusters {
			n += r.n[i]
			sum += r.sum[i]
		}
		return sum / n
	}
	report("percentile", stats.UnitBootstrap(len(r.n), ratio, 1000, level, rng.Uint64()).Interval)
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
