package plot

import (
	"slices"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/internal/ordered"
)

// Grid is figures laid out in a table.
type Grid struct {
	Name       string // of the plot's file; empty: the title
	Title      string
	Axis, Over string // what the rows and the series are
	Rows       []Row
	Series     []string
}

// mostDots is the number of figures up to which a grid is drawn as dots, and mostSeries that of series.
const (
	mostDots   = 60
	mostSeries = 6
)

// Draw draws the figures: as lines if the rows or the series are numbers, as a heat map if there are many of one
// measure, else as dots with their intervals. If the rows have the sizes of models in their names, a second plot
// shows the figures over these. Rows and series over all values are left out, if there are others.
func (g Grid) Draw() (plots []Plot) {
	g = g.withoutAll().turned().withoutAll().turned()
	all, q := figuresOf(g.Rows)
	if len(all) == 0 {
		return nil
	}
	labels, compared := g.turned().Series, instrument.Measure(q.measure).Baseline
	add := func(f Plot, suffix, note string) {
		f.Name = g.Name + suffix
		plots = append(plots, f.about(g.Title+suffix, note))
	}
	over := func(g Grid) Plot { return overNumbers(g.Rows, g.Series, g.Axis, compared).Draw() }
	switch {
	case len(labels) > 1 && numbers(labels):
		add(over(g), "", intervals)
	case len(g.Series) > 1 && numbers(g.Series):
		add(over(g.turned()), "", intervals)
	case q.measure != "" && (len(all) > mostDots || len(g.Series) > mostSeries):
		add(heat(g.Series, g.Rows), "", "The tables have the intervals.")
	default:
		add(DotPlot{g.Series, g.Rows, compared}.Draw(), "", intervals)
	}
	sizeOf := func(label string, _ *crosstalk.Estimate) (float64, bool) { return sizeIn(label) }
	if l, several := overSizes(g.Rows, g.Series, compared, sizeOf); several && g.Axis == crosstalk.ModelColumn {
		l.sort()
		add(l.Draw(), " by model size", intervals)
	}
	return plots
}

// turned has the series as rows.
func (g Grid) turned() Grid {
	t := Grid{Name: g.Name, Title: g.Title, Axis: g.Over, Over: g.Axis,
		Series: ordered.Map(g.Rows, func(r Row) string { return r.Label })}
	for i, name := range g.Series {
		t.Rows = append(t.Rows, Row{name, ordered.Map(g.Rows, func(r Row) *crosstalk.Estimate { return r.Cells[i] })})
	}
	return t
}

// withoutAll leaves out the rows over all values, unless there are no others.
func (g Grid) withoutAll() Grid {
	kept := slices.DeleteFunc(slices.Clone(g.Rows), func(r Row) bool { return r.Label == crosstalk.All })
	if len(kept) > 0 {
		g.Rows = kept
	}
	return g
}
