package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"sync"

	"crosstalk"
	"crosstalk/compare"
	"crosstalk/measure/stats"
)

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

// notScored is a value that is none.
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

// use takes a value that was drawn.
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
