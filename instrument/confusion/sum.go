package confusion

import (
	"cmp"
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

// keys are those of the cells that fit, by language and source.
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

// cellsOf returns the cells of whose answers a figure speaks: for LCPR those of LPR.
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

// languages are those of a figure: for LCPR those that have a WPR, or all if harmonicOfSource.
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
	e.Clusters = min(e.Clusters, e.Observations) // LCPR has each answer in two parts
	return e
}
