package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"

	"crosstalk"
	"crosstalk/compare"
	"crosstalk/measure/stats"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/mathext"
)

const level = 0.95

// parallel calls f(0) to f(n-1) on all processors and waits for them.
func parallel(n int, f func(i int)) {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		group.Go(func() error { f(i); return nil })
	}
	group.Wait()
}

// harmonic returns the harmonic mean of two rates.
func harmonic(a, b float64) float64 { return 2 * a * b / (a + b) }

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

// comparisons is the size of a family.
const comparisons = 100

// null prints, per shape, the share of families of 100 true null comparisons in which crosstalk compare shows any
// difference, and the share of single comparisons with an unadjusted p-value of at most 5 %. A shape misses when the 95
// % interval of its share lies above 5 %, all shapes together when their share does.
func null(out io.Writer, families int) (bool, error) {
	fmt.Fprintf(out, "\nFalse positives of compare at 5 %%, %d families of %d null comparisons\n", families, comparisons)
	fmt.Fprintf(out, "%-60s%-26s%s\n", "", "any in family, Holm", "single, unadjusted")
	ok := true
	line := func(name string, wrong, families, alone int, miss bool) {
		share, interval := float64(wrong)/float64(families), stats.Wilson(float64(wrong), float64(families), level)
		mark := " "
		if miss {
			mark, ok = "!", false
		}
		fmt.Fprintf(out, "%-60s%4.1f%%%s [%.1f, %.1f]%17.1f%%\n", name, 100*share, mark,
			100*interval.Low, 100*interval.High, 100*float64(alone)/float64(families*comparisons))
	}
	shapes, wrongs, alones := 0, 0, 0
	for _, shape := range nullShapes {
		wrong, alone, err := shape.try(families)
		if err != nil {
			return false, err
		}
		line("*"+shape.name, wrong, families, alone, stats.Wilson(float64(wrong), float64(families), level).Low > 0.05)
		shapes++
		wrongs += wrong
		alones += alone
	}
	line("*all", wrongs, shapes*families, alones, float64(wrongs) > 0.05*float64(shapes*families))
	return ok, nil
}

// try counts the families with a false positive, and the single ones.
func (s nullShape) try(families int) (wrong, alone int, err error) {
	var mu sync.Mutex
	parallel(families, func(f int) {
		result, failed := compare.Runs([]compare.Run{s.run(uint64(f))}, compare.Options{Groups: true, Seed: uint64(f)})
		mu.Lock()
		defer mu.Unlock()
		if failed != nil {
			err = failed
		}
		any := false
		for _, c := range result.Comparisons {
			any = any || c.Shown
			if c.P <= 0.05 {
				alone++
			}
		}
		if any {
			wrong++
		}
		if result.Family != comparisons && err == nil {
			err = fmt.Errorf("%s: %d tests in a family of %d", s.name, result.Family, comparisons)
		}
	})
	return wrong, alone, err
}

// A nullShape draws the observations of one condition of one comparison.
type nullShape struct {
	name    string
	measure string
	average *crosstalk.Average
	draw    func(*rand.Rand, use)
}

// notScored marks a missing value.
const notScored = -1

// run is a run of two conditions, drawn alike, and as many groups as there are comparisons.
func (s nullShape) run(seed uint64) compare.Run {
	run := compare.Run{Name: s.name}
	conditions := []map[string]string{{"model": "first"}, {"model": "second"}}
	for k := range comparisons {
		for _, condition := range conditions {
			run.Estimates = append(run.Estimates, crosstalk.Estimate{Measure: s.measure, Value: crosstalk.Undefined,
				Average:   s.average,
				By:        map[string]string{"model": condition["model"], "group": name(k)},
				Signature: s.measure + "|suite:simulated"})
		}
	}
	run.Observations = func(yield func(crosstalk.Observation, error) bool) {
		rng := rand.New(rand.NewPCG(seed, 5))
		for k := range comparisons {
			for _, condition := range conditions {
				s.draw(rng, func(measure, item, cluster string, value float64, labels map[string]string) {
					labels = map[string]string{"group": name(k), "language": labels["language"]}
					yield(observation(measure, item, cluster, value, condition, labels), nil)
				})
			}
		}
	}
	return run
}

var (
	overLanguages         = &crosstalk.Average{Over: []string{"language"}}
	overLanguagesHarmonic = &crosstalk.Average{Over: []string{"language"}, HarmonicOf: []string{"lpr", "wpr"}}
)

var nullShapes = []nullShape{
	{"109 tests under 30 controls, rate 0.70", "leak_rate", nil, leakValues(0.7, 1)},
	{"109 tests under 30 controls, rate 0.95", "leak_rate", nil, leakValues(0.95, 1)},
	{"109 tests under 30 controls, rate 0.70, 3 samples of each", "leak_rate", nil, leakValues(0.7, 3)},
	{"100 answers in each of 15 languages, LPR 0.95", "lpr", overLanguages,
		func(rng *rand.Rand, add use) { answersOf(rng, languages(0.95), 15, add) }},
	{"100 answers in each of 6 languages, LCPR of 0.95 and 0.9", "lcpr", overLanguagesHarmonic,
		func(rng *rand.Rand, add use) { answersOf(rng, languages(0.95), 6, add) }},
	{"2,000 paired classes, consistency 0.80", "consistency", nil, classValues(0.8)},
}

// use receives a drawn value.
type use = func(measure, item, cluster string, value float64, labels map[string]string)

// leakValues are those of one model with a control answer of its own; samples are drawn anew.
func leakValues(rate float64, samples int) func(*rand.Rand, use) {
	return func(rng *rand.Rand, add use) {
		for range samples {
			i := 0
			shared(rng, rate, 0.4, func(cluster string, v float64) {
				add("leak_rate", name(i), cluster, v, nil)
				i++
			})
		}
	}
}

// answersOf are the line checks of answers in the first languages, and the word checks where there are six.
func answersOf(rng *rand.Rand, lines []float64, number int, add use) {
	answers(rng, lines[:number], 0.9, 0.3, func(h int, prompt string, line, word bool) {
		labels := map[string]string{"language": name(h)}
		item := name(h) + "/" + prompt
		add("lpr", item, prompt, indicator(line), labels)
		switch {
		case number != 6:
		case line:
			add("wpr", item, prompt, indicator(word), labels)
		default:
			add("wpr", item, prompt, notScored, labels)
		}
	})
}

func classValues(rate float64) func(*rand.Rand, use) {
	return func(rng *rand.Rand, add use) {
		for i := range 2000 {
			add("consistency", name(i), "", indicator(rng.Float64() < rate), nil)
		}
	}
}

// coverage prints how often the intervals of crosstalk compare contain the truth, which they must in at least 93 %: of
// two conditions on the same items, or, for the last line, on others. Those on effective counts contain it more often.
func coverage(out io.Writer, sets int) bool {
	fmt.Fprintf(out, "\nCoverage of 95 %% intervals, %% (mean width), %d data sets; differences of two conditions\n", sets)
	ok := true
	add := func(name string, truth float64, measure string, average *crosstalk.Average, draw drawing) {
		var hit, width float64
		var mu sync.Mutex
		parallel(sets, func(seed int) {
			interval := difference(rand.New(rand.NewPCG(uint64(seed), 77)), measure, average, draw)
			mu.Lock()
			defer mu.Unlock()
			hit += indicator(interval.Contains(truth)) / float64(sets)
			if interval.Defined() {
				width += interval.Width() / float64(sets)
			}
		})
		mark := " "
		if hit < 0.93 {
			mark, ok = "!", false
		}
		fmt.Fprintf(out, "%-38s%7.1f%s (%.3f)\n", "*"+name, 100*hit, mark, width)
	}
	for _, d := range []float64{0, 0.1, 0.25} {
		name := fmt.Sprintf("109 tests under 30 controls, %.2f", d)
		add(name, d, "leak_rate", nil, func(rng *rand.Rand, side int, add use) {
			leakValues(0.65+d*float64(side), 1)(rng, add)
		})
	}
	for _, d := range []float64{0, 0.04} {
		rates := func(side int) []float64 { return languages(0.9 + d*float64(side)) }
		name := fmt.Sprintf("macro LPR of 15 languages, %.2f", d)
		add(name, d, "lpr", overLanguages, func(rng *rand.Rand, side int, add use) {
			answersOf(rng, rates(side), 15, add)
		})
		lcpr := func(side int) (sum float64) {
			for _, l := range rates(side)[:6] {
				sum += harmonic(l, 0.9) / 6
			}
			return sum
		}
		name = fmt.Sprintf("macro LCPR of 6 languages, %.2f", d)
		add(name, lcpr(1)-lcpr(0), "lcpr", overLanguagesHarmonic, func(rng *rand.Rand, side int, add use) {
			answersOf(rng, rates(side), 6, add)
		})
	}
	for _, d := range []float64{0, 0.03} {
		add(fmt.Sprintf("2,000 paired classes, %.2f", d), d, "consistency", nil, func(rng *rand.Rand, side int, add use) {
			classValues(0.8+d*float64(side))(rng, add)
		})
	}
	add("unpaired, 300 and 300 classes, 0.10", 0.1, "consistency", nil, func(rng *rand.Rand, side int, add use) {
		for i := range 300 {
			add("consistency", fmt.Sprint(side, i), "", indicator(rng.Float64() < 0.8+0.1*float64(side)), nil)
		}
	})
	return ok
}

// drawing draws the observations of one of two sides.
type drawing = func(rng *rand.Rand, side int, add use)

// difference draws two conditions and returns the interval of their difference.
func difference(rng *rand.Rand, measure string, average *crosstalk.Average, draw drawing) stats.Interval {
	run := compare.Run{Name: "simulated"}
	conditions := []map[string]string{{"model": "first"}, {"model": "second"}}
	for _, condition := range conditions {
		run.Estimates = append(run.Estimates, crosstalk.Estimate{Measure: measure,
			Value: crosstalk.Undefined, Average: average, By: condition, Signature: measure})
	}
	run.Observations = func(yield func(crosstalk.Observation, error) bool) {
		for side, condition := range conditions {
			draw(rng, side, func(measure, item, cluster string, value float64, labels map[string]string) {
				yield(observation(measure, item, cluster, value, condition, labels), nil)
			})
		}
	}
	result, err := compare.Runs([]compare.Run{run}, compare.Options{Unpaired: true, Seed: 1})
	if err != nil || len(result.Comparisons) != 1 {
		panic(fmt.Sprintf("%d comparisons: %v", len(result.Comparisons), err))
	}
	if i := result.Comparisons[0].Interval; i != nil {
		return stats.Interval{Low: i.Low, High: i.High, Level: i.Level, Method: i.Method}
	}
	return stats.Interval{Low: math.NaN(), High: math.NaN()}
}

func observation(
	measure, item, cluster string, value float64, condition, labels map[string]string,
) crosstalk.Observation {
	o := crosstalk.Observation{Measure: measure,
		Item: item, Cluster: cluster, Value: crosstalk.Value(value), Condition: condition, Labels: labels}
	if value == notScored {
		o.Value, o.NotScored = crosstalk.Undefined, "line error"
	}
	return o
}
