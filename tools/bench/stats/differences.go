package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"crosstalk"
	"crosstalk/compare"
	"crosstalk/measure/stats"
)

// differenceRows are the intervals of crosstalk compare: two conditions on the same items, or, for the last, on others.
func differenceRows() (rows []row) {
	add := func(name string, truth float64, measure string, average *crosstalk.Average, draw drawing) {
		rows = append(rows, row{name, truth, func(rng *rand.Rand) stats.Interval {
			return difference(rng, measure, average, draw)
		}})
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
	return rows
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
