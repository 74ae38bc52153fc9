package view

import (
	"maps"
	"math"
	"slices"

	"crosstalk"
	"crosstalk/internal/ordered"
)

const (
	Least    = "min"
	Mean     = "mean"
	Greatest = "max"
)

// Spread replaces the figures of the values of columns by three: the least, the unweighted mean and the greatest,
// which have Least, Mean and Greatest in the first column, and nothing in the others. Figures over all values stay
// only where there are none of single ones. What is undefined has no part. They have the largest n and no interval.
func Spread(estimates []crosstalk.Estimate, columns ...string) (spread []crosstalk.Estimate) {
	column := columns[0]
	estimates = slices.Clone(estimates)
	for i, e := range estimates {
		estimates[i].By = maps.Clone(e.By)
		for _, other := range columns[1:] {
			if v := e.By[other]; e.By[column] != "" && (v == "" || v == crosstalk.All) {
				estimates[i].By[column] = crosstalk.All
			}
			delete(estimates[i].By, other)
		}
	}
	key := func(e crosstalk.Estimate) string {
		e.By = e.Of()
		delete(e.By, column)
		return e.Key()
	}
	for _, figures := range ordered.Groups(estimates, key) {
		over := figures[0] // all values together
		figures = slices.DeleteFunc(figures, func(e crosstalk.Estimate) bool {
			v := e.By[column]
			return v == "" || v == crosstalk.All
		})
		if len(figures) > 0 {
			spread = append(spread, spreadOf(figures, column)...)
		} else if over.By[column] == "" {
			spread = append(spread, over)
		}
	}
	return spread
}

func spreadOf(figures []crosstalk.Estimate, column string) (three []crosstalk.Estimate) {
	first := figures[0]
	of := crosstalk.Estimate{Measure: first.Measure, Unit: first.Unit, Better: first.Better,
		Signature: first.Signature, Counts: map[string]int{}}
	var values []float64
	for _, e := range figures {
		of.N, of.Clusters = max(of.N, e.N), max(of.Clusters, e.Clusters)
		of.Observations += e.Observations
		for name, n := range e.Counts {
			of.Counts[name] += n
		}
		for _, w := range e.Warnings {
			if !slices.Contains(of.Warnings, w) {
				of.Warnings = append(of.Warnings, w)
			}
		}
		if e.Value.Defined() {
			values = append(values, float64(e.Value))
		}
	}
	low, mean, high := math.NaN(), math.NaN(), math.NaN()
	if len(values) > 0 {
		low, mean, high = slices.Min(values), 0, slices.Max(values)
		for _, v := range values {
			mean += v / float64(len(values))
		}
	}
	for _, s := range []struct {
		name  string
		value float64
	}{{Least, low}, {Mean, mean}, {Greatest, high}} {
		e := of
		e.By = maps.Clone(first.By)
		e.By[column], e.Value = s.name, crosstalk.Value(s.value)
		three = append(three, e)
	}
	return three
}
