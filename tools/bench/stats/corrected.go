package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"crosstalk/measure/stats"
)

// labelled is a shape of labelled runs: an instrument with known errors finds something in observations whose true
// share varies between clusters, and people label some of them.
type labelled struct {
	clusters, largest int // observations of a cluster: 1 to largest
	size              int // of all clusters; 0: they differ
	rate, icc         float64
	sensitivity       float64 // share of true ones found
	specificity       float64 // share of others not found
	labels            int
	byFinding         bool    // half of the labels from each finding
	neither           float64 // share of observations that are half true, and found by a coin: similarities
}

// truth returns the true mean.
func (l labelled) truth() float64 { return (1-l.neither)*l.rate + l.neither/2 }

func (l labelled) String() string {
	size, how := "alone", "at random"
	if l.largest > 1 {
		size = "clustered"
	} else if l.size > 0 {
		size = fmt.Sprintf("in %d, icc %g", l.clusters, l.icc)
	}
	if l.byFinding {
		how = "by finding"
	}
	of := "rate"
	if l.neither > 0 {
		of = fmt.Sprintf("neither %.0f%%,", 100*l.neither)
	}
	return fmt.Sprintf("%s %2.0f%%, sens. %.1f, spec. %.2f, %3d labels, %s, %s",
		of, 100*l.rate, l.sensitivity, l.specificity, l.labels, size, how)
}

func labelledShapes() (list []labelled) {
	for _, errors := range [][2]float64{{0.9, 0.97}, {0.7, 0.7}, {0.3, 0.99}} {
		for _, rate := range []float64{0.05, 0.2, 0.5, 0.8, 0.95} {
			for _, labels := range []int{50, 100, 200, 500} {
				for _, byFinding := range []bool{false, true} {
					l := labelled{clusters: 2000, largest: 1, rate: rate, sensitivity: errors[0],
						specificity: errors[1], labels: labels, byFinding: byFinding}
					list = append(list, l)
					l.clusters, l.largest, l.icc = 200, 19, 0.1
					list = append(list, l)
				}
			}
		}
	}
	for _, icc := range []float64{0.05, 0.3} { // ten clusters
		for _, rate := range []float64{0.3, 0.9} {
			for _, byFinding := range []bool{false, true} {
				list = append(list, labelled{clusters: 10, size: 100, rate: rate, icc: icc, sensitivity: 0.8,
					specificity: 0.95, labels: 60, byFinding: byFinding})
			}
		}
	}
	for _, rate := range []float64{0.5, 0.65, 0.9} {
		for _, labels := range []int{50, 109, 500} {
			for _, byFinding := range []bool{false, true} {
				l := labelled{clusters: 1000, largest: 1, rate: rate, sensitivity: 0.8,
					specificity: 0.65, labels: labels, byFinding: byFinding, neither: 0.4}
				list = append(list, l)
				l.clusters, l.largest, l.icc = 100, 19, 0.1
				list = append(list, l)
			}
		}
	}
	return list
}

// draw makes a run.
func (l labelled) draw(rng *rand.Rand) (automatic stats.Clusters, c stats.Corrected) {
	type observation struct {
		cluster     int
		truth, find float64
		label       bool
	}
	var all []observation
	found := [2][]int{}
	for g := range l.clusters {
		rate := l.rate
		if l.icc > 0 {
			rate = beta(rng, l.rate*(1/l.icc-1), (1-l.rate)*(1/l.icc-1))
		}
		size := l.size
		if size == 0 {
			size = 1 + rng.IntN(l.largest)
		}
		for range size {
			o := observation{cluster: g}
			finds := 1 - l.specificity
			switch {
			case l.neither > 0 && rng.Float64() < l.neither:
				o.truth, finds = 0.5, 0.5
			case rng.Float64() < rate:
				o.truth, finds = 1, l.sensitivity
			}
			if rng.Float64() < finds {
				o.find = 1
			}
			found[int(o.find)] = append(found[int(o.find)], len(all))
			all = append(all, o)
		}
	}
	label := func(from []int, n int) {
		rng.Shuffle(len(from), func(i, j int) { from[i], from[j] = from[j], from[i] })
		for _, i := range from[:min(n, len(from))] {
			all[i].label = true
		}
	}
	if l.byFinding {
		label(found[0], l.labels/2)
		label(found[1], l.labels/2)
	} else {
		label(slices.Concat(found[0], found[1]), l.labels)
	}
	for _, o := range all {
		stratum, y := "", math.NaN()
		if l.byFinding {
			stratum = name(int(o.find))
		}
		if o.label {
			y = o.truth
		}
		automatic.Add(stats.Cluster(o.cluster), o.find)
		c.Add(name(o.cluster), stratum, []float64{o.find}, []float64{y})
	}
	return automatic, c
}

// beta draws from a beta distribution by the ratio of two gamma variables (Marsaglia and Tsang 2000).
func beta(rng *rand.Rand, a, b float64) float64 {
	x, y := gamma(rng, a), gamma(rng, b)
	return x / (x + y)
}

func gamma(rng *rand.Rand, a float64) float64 {
	if a < 1 {
		return gamma(rng, a+1) * math.Pow(rng.Float64(), 1/a)
	}
	d := a - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := rng.NormFloat64()
		v := math.Pow(1+c*x, 3)
		if v > 0 && math.Log(rng.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}

// corrected prints how often intervals of corrected figures, of the labels
// alone and of the automatic figure contain the truth.
func corrected(out io.Writer, sets int) bool {
	ok := true
	fmt.Fprintf(out, "%d runs per shape\n%-76s %9s %6s %9s  %s\n", sets,
		"", "corrected", "labels", "automatic", "mean width, corrected and labels")
	shapes := labelledShapes()
	within := 0
	for i, l := range shapes {
		rng := rand.New(rand.NewPCG(uint64(i), 15))
		var covers [3]int
		var widths [2]float64
		for range sets {
			automatic, c := l.draw(rng)
			e := c.Estimate(func(means []float64) float64 { return means[0] }, stats.Proportion, 0.95)
			for j, interval := range []stats.Interval{e.Corrected.Interval, e.Labels.Interval,
				stats.Mean(&automatic, stats.Proportion, 0.95).Interval} {
				if interval.Contains(l.truth()) {
					covers[j]++
				}
				if j < 2 {
					widths[j] += (interval.High - interval.Low) / float64(sets)
				}
			}
		}
		share := func(n int) float64 { return 100 * float64(n) / float64(sets) }
		mark := " "
		if c := share(covers[0]); c < 93 || c > 97 {
			mark = "*"
		} else {
			within++
		}
		if widths[0] > 1.12*widths[1] {
			ok, mark = false, "!"
		}
		fmt.Fprintf(out, "%-76s %8.1f%s %6.1f %9.1f  %.3f %.3f\n", l,
			share(covers[0]), mark, share(covers[1]), share(covers[2]), widths[0], widths[1])
	}
	fmt.Fprintf(out, "%d of %d shapes within 93 to 97 %%\n", within, len(shapes))
	return ok
}
