package view

import (
	"maps"
	"math"
	"slices"

	"crosstalk"
)

// The values of a column in figures of Spread.
const (
	Least    = "min"
	Mean     = "mean"
	Greatest = "max"
)

// Spread replaces the figures of the values of a column by three: the least, the
// unweighted mean and the greatest of them, which have Least, Mean and Greatest in
// the column. Figures over all values are left out where there are figures of single
// ones. What is undefined has no part in them. They have no interval, and the
// largest n.
func Spread(estimates []crosstalk.Estimate, column string) (spread []crosstalk.Estimate) {
	var order []string
	groups, over := map[string][]crosstalk.Estimate{}, map[string]crosstalk.Estimate{}
	for _, e := range estimates {
		by := maps.Clone(e.By)
		maps.DeleteFunc(by, func(c, value string) bool { return c == column || value == crosstalk.All })
		key := e.Measure + "\x00" + string(crosstalk.Canonical(by))
		if !slices.Contains(order, key) {
			order = append(order, key)
		}
		if v := e.By[column]; v == "" || v == crosstalk.All {
			over[key] = e
			continue
		}
		groups[key] = append(groups[key], e)
	}
	for _, key := range order {
		if groups[key] != nil {
			spread = append(spread, spreadOf(groups[key], column)...)
		} else if over[key].By[column] == "" {
			spread = append(spread, over[key])
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
