package confusion

import (
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/measure/estimate"
	"crosstalk/measure/stats"
)

// sum is the observations behind one figure of each measure, by cell. Figures over
// all languages or sources share the cells of those over a single one.
type sum struct {
	Protocol
	cells      map[cellKey]*cell
	noLanguage map[string]int // observations of each measure that are of no cell, since their language cannot be judged
}

type cellKey struct{ measure, language, source string }

// cell is the observations of one measure in one language and source.
type cell struct {
	values stats.Clusters
	counts map[string]int
	items  estimate.Items
	mass   float64 // sum of what candidates have
	topP   float64 // of nuclei
}

// add adds an observation, and returns its cell if other figures share it. The
// first of them adds to it; the others get it as shared.
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
		c = newCell(o.Measure, countName(s.unscored()))
		s.cells[at] = c
	}
	if o.NotScored == "" {
		c.items.Add(o.Sample)
	}
	if o.NotScored == "" && o.Measure == LPR && o.Numbers[linesChecked] == 0 && s.unscored() == Unchecked {
		c.counts[passedUnchecked]++
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
	case weight > 1:
		for range weight { // all have the mean of the answer: their sum is that of its tokens
			c.values.Add(cluster, float64(o.Value))
		}
	case cluster == 0:
		c.values.AddIndependent(float64(o.Value))
	default:
		c.values.Add(cluster, float64(o.Value))
	}
	return c
}

func newCell(measure, unscored string) *cell {
	names := []string{unscored, string(crosstalk.Empty), string(crosstalk.Refused), string(crosstalk.Failed)}
	switch measure {
	case Faults:
		names = append(names, FullAnswer, SomeLines, SingleWords)
	case LPR:
		names = append(names, FullAnswer, SomeLines)
	case WPR:
		names = append(names, LineError, SingleWords)
	case Entropy, NucleusSize:
		names = []string{NoLogprobs, "tokens", "censored"}
	}
	c := &cell{counts: map[string]int{}}
	for _, name := range names {
		c.counts[countName(name)] = 0
	}
	return c
}

func (s *sum) allSources() []string {
	return s.names(func(at cellKey) bool { return !isPooled(at.measure) }, func(at cellKey) string { return at.source })
}

func (s *sum) names(in func(cellKey) bool, of func(cellKey) string) (names []string) {
	for at := range s.cells {
		if in(at) {
			names = append(names, of(at))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func countName(s string) string { return strings.ReplaceAll(s, " ", "_") }

func (s *sum) has(measure string) bool { return len(s.cellsOf(measure)) > 0 }

// cellsOf returns the cells of whose answers a figure speaks: for LCPR those of LPR.
func (s *sum) cellsOf(measure string) (cells []*cell) {
	languages := s.languages(measure)
	if measure == LCPR {
		measure = LPR
	}
	for _, language := range languages {
		for _, source := range s.sources(measure, language) {
			cells = append(cells, s.cells[cellKey{measure, language, source}])
		}
	}
	return cells
}

// languages are those of a figure: for LCPR those that have a WPR, or all if harmonicOfSource.
func (s *sum) languages(measure string) (names []string) {
	if measure == LCPR {
		names = s.languages(WPR)
		if len(names) > 0 && s.harmonicOfSource() {
			return s.languages(LPR)
		}
		return names
	}
	return s.names(func(at cellKey) bool { return at.measure == measure },
		func(at cellKey) string { return at.language })
}

func (s *sum) sources(measure, language string) []string {
	return s.names(func(at cellKey) bool { return at.measure == measure && at.language == language },
		func(at cellKey) string { return at.source })
}

func (s *sum) estimate(measure string) crosstalk.Estimate {
	e := crosstalk.Estimate{Measure: measure, Unit: units[measure], Counts: map[string]int{}}
	if !isUncertainty(measure) {
		e.Better = crosstalk.Higher
	}
	if measure == Switches || measure == Faults {
		e.Better = crosstalk.Lower
	}
	if isPooled(measure) {
		s.pooled(&e)
	} else {
		s.average(&e)
	}
	for _, c := range s.cellsOf(measure) {
		e.N += c.items.N()
		e.Observations += c.values.N()
		for reason, n := range c.counts {
			e.Counts[reason] += n
		}
	}
	of := measure
	if measure == LCPR {
		of = LPR
	}
	if n := s.noLanguage[of]; n > 0 {
		e.Counts[countName(NoLanguage)] = n
	}
	e.Clusters = min(e.Clusters, e.Observations) // LCPR has each answer in two parts
	return e
}
