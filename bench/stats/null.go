package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"sync"

	"crosstalk/measure/stats"
)

// null prints, per shape, the share of families of 100 true null comparisons
// in which any is rejected at 0.05 after Holm, and the share of single
// comparisons rejected without it. The test is exact, so the true share is
// just below 5 %: a shape misses when its 95 % interval lies above 5 %, all
// shapes together when their share does.
func null(out io.Writer, families int) bool {
	const comparisons = 100
	fmt.Fprintf(out, "\nFalse positives at 5 %%, %d families of %d null comparisons\n", families, comparisons)
	fmt.Fprintf(out, "%-48s%-26s%s\n", "", "any in family, Holm", "single, unadjusted")
	ok := true
	line := func(name string, wrong, families, alone int, miss bool) {
		share, interval := float64(wrong)/float64(families), stats.Wilson(float64(wrong), float64(families), level)
		mark := " "
		if miss {
			mark, ok = "!", false
		}
		fmt.Fprintf(out, "%-48s%4.1f%%%s [%.1f, %.1f]%17.1f%%\n", name, 100*share, mark,
			100*interval.Low, 100*interval.High, 100*float64(alone)/float64(families*comparisons))
	}
	shapes, wrongs, alones := 0, 0, 0
	for _, shape := range []struct {
		name string
		draw func(rng *rand.Rand) *stats.Clusters
	}{
		{"109 tests under 30 controls, rate 0.70", func(rng *rand.Rand) *stats.Clusters { return leakageDifferences(rng, 0.7) }},
		{"109 tests under 30 controls, rate 0.95", func(rng *rand.Rand) *stats.Clusters { return leakageDifferences(rng, 0.95) }},
		{"100 answers in each of 15 languages, LPR 0.95", languageDifferences},
		{"2,000 paired classes, consistency 0.80", classDifferences},
	} {
		any := make([]bool, families)
		single := make([]int, families)
		var wg sync.WaitGroup
		workers := runtime.GOMAXPROCS(0)
		for w := range workers {
			wg.Go(func() {
				for f := w; f < families; f += workers {
					rng := rand.New(rand.NewPCG(uint64(f), 5))
					ps := make([]float64, comparisons)
					for k := range ps {
						ps[k] = stats.Compare(shape.draw(rng), stats.Difference, level, 0, rng.Uint64()).P
						if ps[k] <= 0.05 {
							single[f]++
						}
					}
					for _, p := range stats.Holm(ps) {
						any[f] = any[f] || p <= 0.05
					}
				}
			})
		}
		wg.Wait()
		wrong, alone := 0, 0
		for f := range families {
			if any[f] {
				wrong++
			}
			alone += single[f]
		}
		line("*"+shape.name, wrong, families, alone,
			stats.Wilson(float64(wrong), float64(families), level).Low > 0.05)
		shapes++
		wrongs += wrong
		alones += alone
	}
	line("*all", wrongs, shapes*families, alones, float64(wrongs) > 0.05*float64(shapes*families))
	return ok
}

// leakageDifferences are those of two models of equal leak rate, each with a
// control answer of its own.
func leakageDifferences(rng *rand.Rand, rate float64) *stats.Clusters {
	var first []float64
	shared(rng, rate, 0.4, func(_ string, v float64) { first = append(first, v) })
	var c stats.Clusters
	i := 0
	shared(rng, rate, 0.4, func(cluster string, v float64) {
		c.Add(cluster, first[i]-v)
		i++
	})
	return &c
}

func languageDifferences(rng *rand.Rand) *stats.Clusters {
	var first []float64
	lines := languages(0.95)
	answers(rng, lines, 1, 0.3, func(_ int, _ string, l, _ bool) { first = append(first, indicator(l)) })
	var c stats.Clusters
	i := 0
	answers(rng, lines, 1, 0.3, func(_ int, prompt string, l, _ bool) {
		c.Add(prompt, first[i]-indicator(l))
		i++
	})
	return &c
}

func classDifferences(rng *rand.Rand) *stats.Clusters {
	var c stats.Clusters
	for range 2000 {
		c.AddIndependent(indicator(rng.Float64() < 0.8) - indicator(rng.Float64() < 0.8))
	}
	return &c
}
