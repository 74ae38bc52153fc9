package main

import (
	"math"
	"math/rand/v2"
	"strconv"

	"gonum.org/v1/gonum/mathext"
)

// sizes are those of 30 controls that share 109 tests, as uneven as those of published prompt lists.
var sizes = []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 3, 3, 3, 3, 5, 5, 5, 6, 6, 6, 6, 7, 7, 9, 17}

// name of cluster i.
func name(i int) string { return strconv.Itoa(i) }

// shared draws clustered values in {0, 0.5, 1} with the given mean: normal
// variables with correlation rho within a cluster, cut at two points.
func shared(rng *rand.Rand, rate, rho float64, add func(cluster string, value float64)) {
	tie := math.Min(0.04, 1-rate)
	one := mathext.NormalQuantile(rate - tie)
	half := mathext.NormalQuantile(math.Min(rate+tie, 1-1e-12))
	for g, n := range sizes {
		u := rng.NormFloat64()
		for range n {
			z := math.Sqrt(rho)*u + math.Sqrt(1-rho)*rng.NormFloat64()
			switch {
			case z < one:
				add(name(g), 1)
			case z < half:
				add(name(g), 0.5)
			default:
				add(name(g), 0)
			}
		}
	}
}

// languages are the line pass rates of 15 languages around a mean: some perfect but for a few answers, some bad.
func languages(mean float64) []float64 {
	rates := make([]float64, 15)
	for h := range rates {
		spread := 0.8 * (1 - mean) * (float64(h) - 7) / 7
		rates[h] = mean + spread
	}
	return rates
}

// answers draws 100 answers in each language: whether its lines pass, and for those that do whether its words pass. rho
// is the correlation of answers to the same prompt in different languages.
func answers(rng *rand.Rand, lines []float64, words, rho float64,
	add func(language int, prompt string, line, word bool)) {
	cuts := make([]float64, len(lines))
	for h, p := range lines {
		cuts[h] = mathext.NormalQuantile(p)
	}
	for i := range 100 {
		u := rng.NormFloat64()
		for h := range lines {
			z := math.Sqrt(rho)*u + math.Sqrt(1-rho)*rng.NormFloat64()
			add(h, name(i), z < cuts[h], rng.Float64() < words)
		}
	}
}
