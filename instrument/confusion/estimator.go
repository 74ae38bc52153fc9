package confusion

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/internal/ordered"
	"crosstalk/measure/estimate"
	"crosstalk/measure/stats"
)

// apart lists columns whose values never share a figure: answers in the prompt's language and in another are different
// tasks, as are uncertainty at confusion points and elsewhere.
var apart = []string{"task", "at"}

type estimator struct {
	rules  Rules
	groups estimate.Groups[*sum]
}

// Estimator returns an estimator for each condition and task and, if they are in by, for each language, each source and
// both; and all of these for each prefix of the other columns in by (estimate.Rollup). A figure over several languages
// is their unweighted mean, and a language's figure the unweighted mean over its sources, as in the script of Marchisio
// et al. (2024). LCPR is the mean over the languages that have a WPR, except for one source: see harmonicOfSource. For
// intervals, answers to one prompt in all languages are a cluster. N counts the items measured, and Counts the answers:
//
//	empty, refused, failed   no text
//	cannot_tell   too little prose, or alike in both languages
//	unchecked     no line was long enough, under the paper's protocols
//	no_reasoning  the part that is scored is missing
//	mixed_with_thoughts   a recorded answer cannot be told from the model's thoughts
//	no_language   the expected language is unknown, or the identifier does not know it
//	full_answer, line   the answer has a line error: in all checked lines, in some
//	word          the answer has a word error
//	line_error    excluded from word-level figures, since the answer has a line error
//
// Faults is the plain share of all answers, whatever their language and source. Entropy and nucleusSize are unweighted
// means over answers (Protocol.PerToken: over tokens), and over all languages and sources unless figures are grouped by
// columns other than By. They count "tokens", "censored" ones, and answers with "no_logprobs".
func (r Rules) Estimator(by []string) crosstalk.Estimator {
	return &estimator{r, estimate.Groups[*sum]{Grouping: estimate.Grouping{By: by, Crossed: By, Apart: apart},
		New: func(map[string]string) *sum {
			return &sum{r.Protocol, map[cellKey]*cell{}, map[string]int{}}
		},
		Describe: func(name string, _, labels, _ map[string]string) estimate.Figure {
			f := estimate.Figure{By: by, Before: []int{slices.Index(kinds, labels["at"])},
				Unranked: []string{"at"}} // keeps figures for one distribution together
			if name == uncertainties && slices.Equal(by, By) {
				f.By = nil
			}
			return f
		}}}
}

// Names of figures that share their groups.
const (
	rates         = "rates"
	uncertainties = "uncertainties"
)

func (e *estimator) Add(o crosstalk.Observation) {
	cluster := e.groups.Clusters.Number(o.Cluster)
	for o := range Kind().WithFault(o) {
		name := rates
		if isUncertainty(o.Measure) {
			name = uncertainties
		}
		var shared *cell
		for _, g := range e.groups.Of(o.Condition, o.Labels, name, nil) {
			if g.Labels["language"] == crosstalk.All && g.Labels["source"] == crosstalk.All {
				shared = nil // the first of the groups that differ only in language and source
			}
			shared = g.Sum.add(o, cluster, shared)
		}
	}
}

func (e *estimator) Estimates(suites crosstalk.SuiteIDs) []crosstalk.Estimate {
	var estimates []crosstalk.Estimate
	for _, groups := range ordered.Groups(e.groups.Ordered(), (*estimate.Group[*sum]).Condition) {
		for _, measure := range Kind().Measures {
			for _, g := range groups {
				if len(g.Sum.cellsOf(measure.Key)) > 0 {
					one := g.Sum.estimate(measure)
					one.By, one.Signature = g.Labels, e.rules.signature(measure.Key, g, suites)
					estimates = append(estimates, one)
				}
			}
		}
	}
	return estimates
}

// sum contains the observations behind one figure of each measure, by cell. Figures over all languages or sources share
// the cells of figures over a single one.
type sum struct {
	Protocol
	cells      map[cellKey]*cell
	noLanguage map[string]int // by measure: observations that belong to no cell, since their language cannot be judged
}

type cellKey struct{ measure, language, source string }

// cell contains the observations of one measure in one language and source.
type cell struct {
	values stats.Clusters
	counts map[string]int
	items  estimate.Items
	mass   float64 // sum of the candidates' total probabilities
	topP   float64 // top-p of nuclei
}

// add adds an observation, and returns its cell if other figures share it: the first figure adds to it, others get it.
func (s *sum) add(o crosstalk.Observation, cluster stats.Cluster, shared *cell) *cell {
	if o.NotScored == NoLanguage {
		s.noLanguage[o.Measure]++
		return nil
	}
	at := cellKey{o.Measure, o.Labels["language"], o.Labels["source"]}
	switch {
	case isPooled(o.Measure):
		at = cellKey{measure: o.Measure}
	case shared != nil:
		s.cells[at] = shared
		return shared
	}
	c := s.cells[at]
	if c == nil {
		names := []string{s.unscored(), string(crosstalk.Empty), string(crosstalk.Refused), string(crosstalk.Failed)}
		switch o.Measure {
		case Faults:
			names = append(names, FullAnswer, SomeLines, SingleWords)
		case LPR:
			names = append(names, FullAnswer, SomeLines)
		case WPR:
			names = append(names, LineError, SingleWords)
		case Entropy, nucleusSize:
			names = []string{noLogprobs, tokensCount, censoredCount}
		}
		c = &cell{counts: map[string]int{}}
		for _, name := range names {
			c.counts[countName(name)] = 0
		}
		s.cells[at] = c
	}
	if o.NotScored == "" {
		c.items.Add(o.Sample)
		if o.Measure == LPR && o.Numbers[linesChecked] == 0 && s.unscored() == Unchecked {
			c.counts[passedUnchecked]++
		}
	}
	if o.Finding != "" {
		c.counts[countName(o.Finding)]++
	}
	weight := 1
	if isUncertainty(o.Measure) {
		tokens := int(o.Numbers["tokens"])
		if s.PerToken {
			weight = tokens
		}
		c.counts["tokens"] += tokens
		c.counts["censored"] += int(o.Numbers["censored"])
		c.mass += float64(weight) * o.Numbers["mass"]
		c.topP = o.Numbers["top_p"]
	}
	switch {
	case o.NotScored != "":
		c.counts[countName(o.NotScored)]++
	case cluster == 0 && weight < 2:
		c.values.AddIndependent(float64(o.Value))
	default:
		for range weight { // all have the answer's mean: they add up to the sum over its tokens
			c.values.Add(cluster, float64(o.Value))
		}
	}
	return c
}

// keys returns the keys of the matching cells, by language and source.
func (s *sum) keys(fit func(cellKey) bool) (keys []cellKey) {
	for at := range s.cells {
		if fit(at) {
			keys = append(keys, at)
		}
	}
	slices.SortFunc(keys, func(a, b cellKey) int {
		return cmp.Or(cmp.Compare(a.language, b.language), cmp.Compare(a.source, b.source))
	})
	return keys
}

func (s *sum) allSources() (sources []string) {
	for _, at := range s.keys(func(at cellKey) bool { return !isPooled(at.measure) }) {
		sources = append(sources, at.source)
	}
	slices.Sort(sources)
	return slices.Compact(sources)
}

func countName(s string) string { return strings.ReplaceAll(s, " ", "_") }

// cellsOf returns the cells whose answers a figure covers: for LCPR, the cells of LPR.
func (s *sum) cellsOf(measure string) (cells []*cell) {
	languages := s.languages(measure)
	if measure == LCPR {
		measure = LPR
	}
	for _, at := range s.keys(func(at cellKey) bool { return at.measure == measure }) {
		if slices.Contains(languages, at.language) {
			cells = append(cells, s.cells[at])
		}
	}
	return cells
}

// languages returns the languages of a figure: for LCPR those that have a WPR, or all if harmonicOfSource.
func (s *sum) languages(measure string) (names []string) {
	if measure == LCPR {
		names = s.languages(WPR)
		if len(names) > 0 && s.harmonicOfSource() {
			return s.languages(LPR)
		}
		return names
	}
	for _, at := range s.keys(func(at cellKey) bool { return at.measure == measure }) {
		names = append(names, at.language)
	}
	return slices.Compact(names)
}

func (s *sum) estimate(of crosstalk.Measure) crosstalk.Estimate {
	e := crosstalk.Estimate{Measure: of.Key, Unit: of.Unit, Better: of.Better, Counts: map[string]int{}}
	if isPooled(of.Key) {
		s.pooled(&e)
	} else {
		s.average(&e)
	}
	for _, c := range s.cellsOf(of.Key) {
		e.N += c.items.N()
		e.Observations += c.values.N()
		for reason, n := range c.counts {
			e.Counts[reason] += n
		}
	}
	judged := of.Key
	if judged == LCPR {
		judged = LPR
	}
	if n := s.noLanguage[judged]; n > 0 {
		e.Counts[countName(NoLanguage)] = n
	}
	e.Clusters = min(e.Clusters, e.Observations) // LCPR uses each answer twice
	return e
}

// harmonicOfSource reports whether LCPR is the harmonic mean of LPR over all languages and WPR over languages with a
// word check. Marchisio et al. (2024) compute it this way for one source in several languages (A9), not for several
// sources (A5).
func (s *sum) harmonicOfSource() bool {
	sources := s.allSources()
	return !s.Prose && len(sources) == 1 && sources[0] != "" && len(s.languages(LPR)) > 1
}

// average computes a figure and its interval from the cells of its measures, and warns of cells without data. A
// language's rate is the unweighted mean over its sources, and the overall rate the unweighted mean over languages.
// LCPR is the harmonic mean of a language's rates, or, if harmonicOfSource, of a source's rates.
func (s *sum) average(e *crosstalk.Estimate) {
	average, of := crosstalk.Average{Over: By, EmptyIsOne: s.EmptyIsOne}, []string{e.Measure}
	if e.Measure == LCPR {
		of = []string{LPR, WPR}
		average.HarmonicOf = of
		if s.harmonicOfSource() {
			average.Over = []string{"source", "language"}
		}
	}
	e.Average = &average
	languages, sources := s.languages(e.Measure), s.allSources()
	var cells []estimate.Cell
	var means []float64 // NaN for cells without a mean
	var parts []*stats.Clusters
	var place []int // indexes of parts in means
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
	if e.Measure == switches {
		bounds = stats.Bounds{Low: 0, High: math.Inf(1)}
	}
	var mean stats.Estimate
	alone := formula(means) // the figure of no data: 1 or undefined
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

func isUncertainty(measure string) bool { return measure == Entropy || measure == nucleusSize }

// isPooled reports whether figures pool the answers of all languages and sources.
func isPooled(measure string) bool { return measure == Faults || isUncertainty(measure) }

// pooled computes the unweighted mean over answers in all languages.
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
	if n := c.counts["censored"]; n > 0 && e.Measure == nucleusSize {
		e.Warnings = append(e.Warnings, fmt.Sprintf("at %d of %d tokens the candidates do not reach top-p; "+
			"the nucleus size is a lower bound", n, c.counts["tokens"]))
	}
	if mass := c.mass / float64(c.values.N()); mass < 0.99 {
		e.Warnings = append(e.Warnings, fmt.Sprintf("the candidates have %.1f %% of the probability; "+
			"the rest is treated as tokens as likely as the last candidate", 100*mass))
	}
}
