package confusion

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/measure/stats"
)

// averageOf says how a measure's figures are made of observations.
func averageOf(measure string) *crosstalk.Average {
	a := &crosstalk.Average{Over: By}
	if measure == LCPR {
		a.HarmonicOf = []string{LPR, WPR}
	}
	return a
}

// An average is made of the means of cells: a cell is the answers in one
// language to the prompts of one source. A language's rate is the plain mean
// over its sources, and the overall rate the plain mean over languages.
type average struct {
	protocol  Protocol
	parts     []*stats.Clusters
	undefined []string // names of cells without a mean
}

// formula computes a figure from the means of the average's parts; nil is an
// undefined figure.
type formula func(means []float64) float64

func one([]float64) float64 { return 1 }

// cell is the mean of a cell.
func (a *average) cell(name string, c *cell) formula {
	if c.values.N() == 0 {
		a.undefined = append(a.undefined, name)
		if a.protocol.EmptyIsOne {
			return one
		}
		return nil
	}
	i := len(a.parts)
	a.parts = append(a.parts, &c.values)
	return func(means []float64) float64 { return means[i] }
}

// mean is the plain mean of those that are defined.
func mean(of []formula) formula {
	var terms []formula
	for _, f := range of {
		if f != nil {
			terms = append(terms, f)
		}
	}
	if terms == nil {
		return nil
	}
	return func(means []float64) float64 {
		var sum float64
		for _, f := range terms {
			sum += f(means)
		}
		return sum / float64(len(terms))
	}
}

// harmonic is the harmonic mean of LPR and WPR. WPR is undefined where no
// answer is without a line error. LPR, and so the harmonic mean, is 0 then,
// whatever WPR.
func harmonic(lpr, wpr formula) formula {
	if lpr == nil {
		return nil
	}
	if wpr == nil {
		wpr = one
	}
	return func(means []float64) float64 {
		l, w := lpr(means), wpr(means) // not both 0
		return 2 * l * w / (l + w)
	}
}

// language is the mean over a language's sources.
func (g *group) language(a *average, measure, language string) formula {
	var sources []formula
	for _, source := range g.sources(measure, language) {
		sources = append(sources, a.cell(strings.TrimSuffix(language+"/"+source, "/"), g.cells[place{measure, language, source}]))
	}
	return mean(sources)
}

// overall is the mean over the group's languages.
func (g *group) overall(a *average, measure string) formula {
	var languages []formula
	for _, language := range g.languages(measure) {
		languages = append(languages, g.language(a, measure, language))
	}
	return mean(languages)
}

// overallLCPR is the mean over the languages that have a WPR.
func (g *group) overallLCPR(a *average) formula {
	var languages []formula
	for _, language := range g.languages(WPR) {
		languages = append(languages, harmonic(g.language(a, LPR, language), g.language(a, WPR, language)))
	}
	return mean(languages)
}

// figure computes a figure with its interval, and says what is not in it.
func (g *group) figure(p Protocol, measure string) (e stats.Estimate, warnings []string) {
	if isDoubt(measure) {
		return g.doubt(measure)
	}
	a := &average{protocol: p}
	var f formula
	if measure == LCPR {
		f = g.overallLCPR(a)
	} else {
		f = g.overall(a, measure)
	}
	switch {
	case f == nil:
		e = stats.Mean(&stats.Clusters{}, stats.Proportion, Level)
	case len(a.parts) == 0:
		e = stats.Estimate{Value: f(nil), Interval: stats.Interval{Low: math.NaN(), High: math.NaN()}}
	case len(a.parts) == 1 && (len(a.undefined) == 0 || !p.EmptyIsOne):
		e = stats.Mean(a.parts[0], stats.Proportion, Level)
	default:
		e = stats.Combine(a.parts, f, stats.Proportion, Level)
	}
	for _, w := range e.Warnings {
		warnings = append(warnings, w.String())
	}
	if len(a.undefined) > 0 && f != nil {
		fate := "left out of the average"
		if p.EmptyIsOne {
			fate = "counted as 1"
		}
		warnings = append(warnings, fmt.Sprintf("nothing to measure in %s: %s", strings.Join(slices.Compact(a.undefined), ", "), fate))
	}
	return e, warnings
}

// units are those of figures that are no fraction.
var units = map[string]string{Entropy: "bits", NucleusSize: "tokens"}

func isDoubt(measure string) bool { return units[measure] != "" }

// doubt is the plain mean over answers, whatever their language.
func (g *group) doubt(measure string) (e stats.Estimate, warnings []string) {
	c := g.cells[place{measure: measure}]
	e = stats.Mean(&c.values, stats.Bounds{Low: 0, High: math.Inf(1)}, Level)
	for _, w := range e.Warnings {
		warnings = append(warnings, w.String())
	}
	if n := c.counts["censored"]; n > 0 && measure == NucleusSize {
		warnings = append(warnings, fmt.Sprintf("at %d of %d tokens the candidates do not reach top-p: their nucleus counts as the least that it can be", n, c.counts["tokens"]))
	}
	if mass := c.mass / float64(c.values.N()); mass < 0.99 {
		warnings = append(warnings, fmt.Sprintf("the candidates have %.1f %% of the probability; the rest counts as tokens as likely as the last of them", 100*mass))
	}
	return e, warnings
}
