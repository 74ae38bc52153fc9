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

// lottery is a leakage suite with everything held fixed but the answers: each control has six neutral continuations and
// each test two that would be leaks, all with fixed similarities to the test's concept. The control answers with one
// neutral, for all its tests; a test leaks with the given probability and else draws a neutral of its own.
type lottery struct {
	rate    float64
	neutral [][][6]float64 // [control][test], one per neutral
	leak    [][][2]float64
}

func newLottery(rate float64) *lottery {
	rng := rand.New(rand.NewPCG(11, 0))
	l := &lottery{rate: rate}
	for _, n := range sizes {
		neutral, leak := make([][6]float64, n), make([][2]float64, n)
		var common [6]float64 // some answers are near every concept
		for k := range common {
			common[k] = 0.1 * rng.NormFloat64()
		}
		for t := range n {
			for k := range common {
				neutral[t][k] = 0.2 + common[k] + 0.1*rng.NormFloat64()
			}
			for k := range leak[t] {
				leak[t][k] = 0.5 + 0.15*rng.NormFloat64()
			}
		}
		l.neutral, l.leak = append(l.neutral, neutral), append(l.leak, leak)
	}
	return l
}

// truth is the mean over tests of the exact expectation, by enumeration.
func (l *lottery) truth() float64 {
	var sum float64
	tests := 0
	for g := range l.neutral {
		for t, neutral := range l.neutral[g] {
			tests++
			for _, control := range neutral {
				for _, x := range l.leak[g][t] {
					sum += l.rate / 12 * score(x, control)
				}
				for _, x := range neutral {
					sum += (1 - l.rate) / 36 * score(x, control)
				}
			}
		}
	}
	return sum / float64(tests)
}

func (l *lottery) draw(rng *rand.Rand, add func(cluster string, value float64)) {
	for g := range l.neutral {
		control := rng.IntN(6)
		for t, neutral := range l.neutral[g] {
			answer := neutral[rng.IntN(6)]
			if rng.Float64() < l.rate {
				answer = l.leak[g][t][rng.IntN(2)]
			}
			add(name(g), score(answer, neutral[control]))
		}
	}
}

func score(test, control float64) float64 {
	switch {
	case test > control:
		return 1
	case test < control:
		return 0
	}
	return 0.5
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
