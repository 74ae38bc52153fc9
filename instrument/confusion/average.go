package confusion

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/measure/estimate"
	"crosstalk/measure/stats"
)

// averageOf describes how a measure's figures are averaged: a language's rate is the unweighted mean over its
// sources, and the overall rate the unweighted mean over languages. LCPR is the harmonic mean of a language's
// rates, or, if harmonicOfSource, of a source's.
func (s *sum) averageOf(measure string) crosstalk.Average {
	a := crosstalk.Average{Over: By, EmptyIsOne: s.EmptyIsOne}
	if measure == LCPR {
		a.HarmonicOf = []string{LPR, WPR}
		if s.harmonicOfSource() {
			a.Over = []string{"source", "language"}
		}
	}
	return a
}

// harmonicOfSource reports whether LCPR is the harmonic mean of LPR over all languages and WPR over those that have
// a word check. Marchisio et al. (2024) compute it so for one source in several languages (table A9), but not for
// several sources (A5).
func (s *sum) harmonicOfSource() bool {
	sources := s.allSources()
	return !s.Prose && len(sources) == 1 && sources[0] != "" && len(s.languages(LPR)) > 1
}

// average computes a figure with its interval from the cells of its measures, and warns of cells without data.
func (s *sum) average(e *crosstalk.Estimate) {
	average := s.averageOf(e.Measure)
	e.Average = &average
	of := average.HarmonicOf
	if of == nil {
		of = []string{e.Measure}
	}
	languages, sources := s.languages(e.Measure), s.allSources()
	var cells []estimate.Cell
	var means []float64 // NaN where a cell has none
	var parts []*stats.Clusters
	var place []int // of parts in means
	var undefined []string
	for i, language := range languages {
		for m, measure := range of {
			for _, key := range s.keys(func(at cellKey) bool { return at.measure == measure && at.language == language }) {
				at := []int{i, slices.Index(sources, key.source)}
				if average.Over[0] == "source" {
					slices.Reverse(at)
				}
				cells = append(cells, estimate.Cell{Measure: m, Values: at})
				means = append(means, math.NaN())
				values := &s.cells[key].values
				if values.N() == 0 {
					undefined = append(undefined, strings.TrimSuffix(language+"/"+key.source, "/"))
					continue
				}
				parts, place = append(parts, values), append(place, len(means)-1)
			}
		}
	}
	formula, bounds := estimate.FormulaOf(average, cells), stats.Proportion
	if e.Measure == Switches {
		bounds = stats.Bounds{Low: 0, High: math.Inf(1)}
	}
	var mean stats.Estimate
	alone := formula(means) // the figure of nothing: 1 or undefined
	switch {
	case len(parts) == 0 && math.IsNaN(alone):
		mean = stats.Mean(&stats.Clusters{}, bounds, estimate.Level)
	case len(parts) == 0:
		mean = stats.Estimate{Value: alone, Interval: stats.Interval{Low: math.NaN(), High: math.NaN()}}
	case len(parts) == 1 && (len(undefined) == 0 || !s.EmptyIsOne):
		mean = stats.Mean(parts[0], bounds, estimate.Level)
	default:
		mean = stats.Combine(parts, func(of []float64) float64 {
			for i, m := range of {
				means[place[i]] = m
			}
			return formula(means)
		}, bounds, estimate.Level)
	}
	estimate.Set(e, mean.Value, mean.Interval, mean.Warnings)
	e.Clusters = mean.Clusters
	if len(undefined) > 0 && e.Value.Defined() {
		fate := "left out of the average"
		if s.EmptyIsOne {
			fate = "counted as 1"
		}
		where := strings.Join(slices.Compact(undefined), ", ")
		e.Warnings = append(e.Warnings, fmt.Sprintf("no data for %s: %s", where, fate))
	}
}

func isUncertainty(measure string) bool { return measure == Entropy || measure == NucleusSize }

// isPooled reports whether figures are of the answers of all languages and sources alike.
func isPooled(measure string) bool { return measure == Faults || isUncertainty(measure) }

// pooled is the unweighted mean over answers of all languages.
func (s *sum) pooled(e *crosstalk.Estimate) {
	c := s.cells[cellKey{measure: e.Measure}]
	bounds := stats.Bounds{Low: 0, High: math.Inf(1)}
	if e.Measure == Faults {
		bounds = stats.Proportion
	}
	mean := stats.Mean(&c.values, bounds, estimate.Level)
	estimate.Set(e, mean.Value, mean.Interval, mean.Warnings)
	e.Clusters = mean.Clusters
	if e.Measure == Faults {
		return
	}
	if n := c.counts["censored"]; n > 0 && e.Measure == NucleusSize {
		e.Warnings = append(e.Warnings, fmt.Sprintf("at %d of %d tokens the candidates do not reach top-p; "+
			"the nucleus size is a lower bound", n, c.counts["tokens"]))
	}
	if mass := c.mass / float64(c.values.N()); mass < 0.99 {
		e.Warnings = append(e.Warnings, fmt.Sprintf("the candidates have %.1f %% of the probability; "+
			"the rest is treated as tokens as likely as the last candidate", 100*mass))
	}
}
