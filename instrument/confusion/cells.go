package confusion

import (
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/measure/stats"
)

// group is the observations behind one figure of each measure. It keeps sums
// by cell, never the observations.
type group struct {
	labels map[string]string
	places []int // where it stands among the groups
	cells  map[place]*cell
}

// place names a cell.
type place struct{ measure, language, source string }

// cell is the observations of one measure in one language and source.
type cell struct {
	values stats.Clusters
	counts map[string]int
	items  items
	mass   float64 // sum of what candidates have
	topP   float64 // of nuclei
}

func (g *group) add(o crosstalk.Observation, cluster string) {
	at := place{o.Measure, o.Labels["language"], o.Labels["source"]}
	if isDoubt(o.Measure) {
		at = place{measure: o.Measure}
	}
	c := g.cells[at]
	if c == nil {
		c = newCell(o.Measure)
		g.cells[at] = c
	}
	c.items.add(o.Sample)
	if o.Finding != "" {
		c.counts[countName(o.Finding)]++
	}
	if isDoubt(o.Measure) {
		c.counts["tokens"] += int(o.Numbers["tokens"])
		c.counts["censored"] += int(o.Numbers["censored"])
		c.mass += o.Numbers["mass"]
		c.topP = o.Numbers["top_p"]
	}
	switch {
	case o.NotScored != "":
		c.counts[countName(o.NotScored)]++
	case cluster == "":
		c.values.AddIndependent(float64(o.Value))
	default:
		c.values.Add(cluster, float64(o.Value))
	}
}

func newCell(measure string) *cell {
	names := []string{Unchecked, string(crosstalk.Empty), string(crosstalk.Refused), string(crosstalk.Failed)}
	switch measure {
	case LPR:
		names = append(names, FullAnswer, SomeLines)
	case WPR, LatinWPR:
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

func countName(s string) string { return strings.ReplaceAll(s, " ", "_") }

// has reports whether there is a figure of the measure.
func (g *group) has(measure string) bool { return len(g.cellsOf(measure)) > 0 }

// cellsOf returns the cells of whose answers a figure speaks: for LCPR those
// of LPR in the languages that have a WPR.
func (g *group) cellsOf(measure string) (cells []*cell) {
	languages := g.languages(measure)
	if measure == LCPR {
		languages, measure = g.languages(WPR), LPR
	}
	for _, language := range languages {
		for _, source := range g.sources(measure, language) {
			cells = append(cells, g.cells[place{measure, language, source}])
		}
	}
	return cells
}

func (g *group) languages(measure string) (names []string) {
	for at := range g.cells {
		if at.measure == measure {
			names = append(names, at.language)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (g *group) sources(measure, language string) (names []string) {
	for at := range g.cells {
		if at.measure == measure && at.language == language {
			names = append(names, at.source)
		}
	}
	slices.Sort(names)
	return names
}

// items counts items by their first sample, so that it needs no list of them.
type items struct{ first, n int }

func (i *items) add(sample int) {
	switch {
	case i.n == 0 || sample < i.first:
		i.first, i.n = sample, 1
	case sample == i.first:
		i.n++
	}
}
