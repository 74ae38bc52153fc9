package plot

import (
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/instrument"
)

const intervals = "Thin lines are 95 % intervals."

// draw draws a chart of an instrument, once for each condition.
func (c *Collector) draw(kind crosstalk.Kind, chart crosstalk.Chart) []Plot {
	switch chart.Form {
	case crosstalk.DotPlot:
		return c.dots(chart)
	case crosstalk.HeatMap:
		return c.heatMaps(chart)
	case crosstalk.ShareChart:
		return c.shares(chart)
	case crosstalk.ScatterChart:
		return c.scatter(chart)
	case crosstalk.SizeChart:
		return c.sizes(chart)
	case crosstalk.SweepCharts:
		return slices.Concat(c.sweeps(chart), c.settings(kind, chart))
	case crosstalk.GroupCharts:
		return c.groups(chart)
	case crosstalk.SideChart:
		return c.sideCharts(chart)
	case crosstalk.TokenStrips:
		return c.tokenStrips(kind, chart)
	}
	panic("plot: unknown form " + chart.Form)
}

// panels are the estimates of a chart by condition.
func (c *Collector) panels(chart crosstalk.Chart) []panel {
	return c.panelsOf(chart.Measures, append(slices.Clone(chart.Rows), chart.Series)...)
}

// dots compare series within rows. A single model is not compared.
func (c *Collector) dots(chart crosstalk.Chart) (plots []Plot) {
	for _, p := range c.panels(chart) {
		if len(p.estimates) < 2 && slices.Equal(chart.Rows, []string{crosstalk.ModelColumn}) {
			continue
		}
		rows, series := p.rows(chart.Series, chart.Rows...)
		title := chart.Title
		if title == "" {
			title = dotTitle(chart, series)
		}
		plots = append(plots, titled(newDotPlot(chart.Measures[0], rows, series).Draw(), title, p, intervals))
	}
	return plots
}

func dotTitle(chart crosstalk.Chart, series []string) string {
	of, by := labelOf(chart.Measures[0]), chart.Rows
	if chart.Series == "" {
		of = strings.Join(series, ", ")
	} else if len(series) > 1 {
		by = append(slices.Clone(by), chart.Series)
	}
	names := make([]string, len(by))
	for i, column := range by {
		names[i] = words(column)
	}
	return of + " by " + strings.Join(names, " and ")
}

// newDotPlot is a dot plot with the measure's baseline.
func newDotPlot(measure string, rows []Row, series []string) DotPlot {
	d := DotPlot{Series: series, Rows: rows}
	d.Reference, d.Meaning = baseline(measure)
	return d
}

// baseline is the value with which a measure is compared.
func baseline(measure string) (crosstalk.Value, string) {
	b := instrument.Measure(measure).Baseline
	return crosstalk.Value(b.Value), b.Meaning
}

func (c *Collector) heatMaps(chart crosstalk.Chart) (plots []Plot) {
	for _, p := range c.panels(chart) {
		rows, columns := p.rows(chart.Series, chart.Rows...)
		plots = append(plots, titled(Heat{Columns: columns, Rows: rows}.Draw(), chart.Title, p, chart.Note))
	}
	return plots
}

func (c *Collector) shares(chart crosstalk.Chart) (plots []Plot) {
	for _, p := range c.panels(chart) {
		s := Shares{Parts: p.values(chart.Series), Middle: -1}
		for _, e := range p.estimates {
			name := rowName(e, chart.Rows)
			i := slices.IndexFunc(s.Rows, func(r ShareRow) bool { return r.Label == name })
			if i < 0 {
				i = len(s.Rows)
				s.Rows = append(s.Rows, ShareRow{Label: name, Counts: make([]float64, len(s.Parts)), Estimates: make([]*crosstalk.Estimate, len(s.Parts))})
			}
			at := slices.Index(s.Parts, e.By[chart.Series])
			s.Rows[i].Estimates[at] = e
			if e.Value.Defined() {
				s.Rows[i].Counts[at] = float64(e.Value)
			}
		}
		plots = append(plots, titled(s.Draw(), chart.Title, p, chart.Note))
	}
	return plots
}

// scatter plots a measure against another one. A series needs two points.
func (c *Collector) scatter(chart crosstalk.Chart) (plots []Plot) {
	for _, p := range c.panels(chart) {
		l := Lines{Axis: chart.Axis, Apart: true}
		for _, series := range p.values(chart.Series) {
			var dots []Dot
			for _, e := range p.estimates {
				if e.By[chart.Series] != series {
					continue
				}
				if over := c.beside(e, chart); over != nil && over.Value.Defined() {
					dots = append(dots, Dot{X: float64(over.Value), Label: rowName(e, chart.Rows), Estimate: e, Across: over})
				}
			}
			if len(dots) > 1 {
				l.Series, l.Dots = append(l.Series, series), append(l.Dots, dots)
			}
		}
		if l.Dots != nil {
			plots = append(plots, titled(l.Draw(), chart.Title, p, intervals))
		}
	}
	return plots
}

// beside is the estimate of the chart's other measure with the same columns, as
// far as it has them, in any series.
func (c *Collector) beside(e *crosstalk.Estimate, chart crosstalk.Chart) *crosstalk.Estimate {
	for i, other := range c.estimates {
		same := other.Measure == chart.Over
		for column, v := range other.By {
			same = same && (e.By[column] == v || column == chart.Series)
		}
		if same {
			return &c.estimates[i]
		}
	}
	return nil
}
