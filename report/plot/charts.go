package plot

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
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

// titled sets the title of a plot of the panel.
func (p panel) titled(drawn Plot, title, note string) Plot {
	drawn.Title, drawn.Note = strings.ToUpper(title[:1])+title[1:], strings.TrimSpace(note+" "+drawn.Note)
	if p.of != "" {
		drawn.Title += " · " + p.of
	}
	return drawn
}

// dots draws rows with the baseline of the measure.
func (p panel) dots(measure string, rows []Row, series []string, title string) Plot {
	return p.titled(DotPlot{Series: series, Rows: rows, Baseline: baseline(measure)}.Draw(), title, intervals)
}

// baseline is the value with which a measure is compared.
func baseline(measure string) crosstalk.Baseline { return instrument.Measure(measure).Baseline }

// dots compare series within rows. A single model is not compared.
func (c *Collector) dots(chart crosstalk.Chart) (plots []Plot) {
	for _, p := range c.panels(chart) {
		if len(p.estimates) < 2 && slices.Equal(chart.Rows, []string{crosstalk.ModelColumn}) {
			continue
		}
		rows, series := p.rows(chart.Series, chart.Rows...)
		title := cmp.Or(chart.Title, dotTitle(chart, series))
		plots = append(plots, p.dots(chart.Measures[0], rows, series, title))
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

func (c *Collector) heatMaps(chart crosstalk.Chart) (plots []Plot) {
	for _, p := range c.panels(chart) {
		rows, columns := p.rows(chart.Series, chart.Rows...)
		plots = append(plots, p.titled(heat{columns, rows}.draw(), chart.Title, chart.Note))
	}
	return plots
}

func (c *Collector) shares(chart crosstalk.Chart) (plots []Plot) {
	for _, p := range c.panels(chart) {
		rows, parts := p.rows(chart.Series, chart.Rows...)
		s := Shares{Parts: parts, Middle: -1}
		for _, row := range rows {
			s.Rows = append(s.Rows, sharesOf(row))
		}
		plots = append(plots, p.titled(s.Draw(), chart.Title, chart.Note))
	}
	return plots
}

// groups are plots for each column by which estimates are grouped: heat maps by
// model for columns with many values, dot plots for the others.
func (c *Collector) groups(chart crosstalk.Chart) (plots []Plot) {
	const few = 5
	for _, measure := range chart.Measures {
		for _, column := range c.groupColumns(measure) {
			for _, p := range c.panelsOf([]string{measure}, crosstalk.ModelColumn, column) {
				rows, models := p.rows(crosstalk.ModelColumn, column)
				title := labelOf(measure) + " by " + words(column)
				switch {
				case len(rows) < 2:
				case len(models) > 1 && (len(rows) > few || len(models) > 3):
					plots = append(plots, p.titled(heat{models, rows}.draw(), title+" and model", "The tables have the intervals."))
				default:
					plots = append(plots, p.dots(measure, rows, models, title))
				}
			}
		}
	}
	return plots
}

// settings are dot plots over the columns of conditions that are not numbers, such as
// the position of an instruction or the template of a prompt.
func (c *Collector) settings(kind crosstalk.Kind, chart crosstalk.Chart) (plots []Plot) {
	for _, measure := range chart.Measures {
		for _, column := range c.varied(kind, measure) {
			for _, p := range c.panelsOf([]string{measure}, crosstalk.ModelColumn, column) {
				rows, models := p.rows(crosstalk.ModelColumn, column)
				plots = append(plots, p.dots(measure, rows, models, labelOf(measure)+" by "+words(column)))
			}
		}
	}
	return plots
}

// lines has a series for each value of a column, of the estimates with at least as
// many dots; dot returns the dot of an estimate, if it has one.
func (p panel) lines(series string, least int, dot func(*crosstalk.Estimate) (Dot, bool)) (l Lines) {
	for _, name := range p.values(series) {
		var dots []Dot
		for _, e := range p.estimates {
			if d, ok := dot(e); ok && e.By[series] == name {
				d.Estimate = e
				dots = append(dots, d)
			}
		}
		if len(dots) >= least {
			l.Series, l.Dots = append(l.Series, name), append(l.Dots, dots)
		}
	}
	return l
}

// scatter plots a measure against another one. A series needs two points.
func (c *Collector) scatter(chart crosstalk.Chart) (plots []Plot) {
	for _, p := range c.panels(chart) {
		l := p.lines(chart.Series, 2, func(e *crosstalk.Estimate) (Dot, bool) {
			over := c.beside(e, chart)
			if over == nil || !over.Value.Defined() {
				return Dot{}, false
			}
			return Dot{X: float64(over.Value), Label: rowName(e, chart.Rows), Across: over}, true
		})
		if l.Axis, l.Apart = chart.Axis, true; l.Dots != nil {
			plots = append(plots, p.titled(l.Draw(), chart.Title, intervals))
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

// sweeps are line charts over the numeric columns of conditions.
func (c *Collector) sweeps(chart crosstalk.Chart) (plots []Plot) {
	for _, measure := range chart.Measures {
		for _, column := range c.numeric(measure) {
			for _, p := range c.panelsOf([]string{measure}, crosstalk.ModelColumn, column) {
				l := p.lines(crosstalk.ModelColumn, 0, func(e *crosstalk.Estimate) (Dot, bool) {
					x, err := strconv.ParseFloat(e.By[column], 64)
					return Dot{X: x}, err == nil
				})
				for _, dots := range l.Dots {
					slices.SortFunc(dots, func(a, b Dot) int { return cmp.Compare(a.X, b.X) })
				}
				l.Axis, l.Baseline = column, baseline(measure)
				plots = append(plots, p.titled(l.Draw(), labelOf(measure)+" over "+words(column), intervals))
			}
		}
	}
	return plots
}

// sizes plots the figures of models over their size.
func (c *Collector) sizes(chart crosstalk.Chart) (plots []Plot) {
	for _, p := range c.panelsOf(chart.Measures, crosstalk.ModelColumn, chart.Series) {
		var sizes []float64
		l := p.lines(chart.Series, 0, func(e *crosstalk.Estimate) (Dot, bool) {
			size, ok := sizeOf(e)
			if ok {
				sizes = append(sizes, size)
			}
			return Dot{X: size, Label: e.By[crosstalk.ModelColumn]}, ok
		})
		l.Axis, l.Log, l.Apart, l.Baseline = "billions of parameters", true, true, baseline(chart.Measures[0])
		if len(distinct(sizes)) > 1 {
			plots = append(plots, p.titled(l.Draw(), chart.Title, intervals))
		}
	}
	return plots
}

// parameters is a number of parameters in a model's name: 0.5B, 70b, 8x7B, 350M.
var parameters = regexp.MustCompile(`(?i)(?:^|[^a-z0-9.])(?:(\d+)x)?(\d+(?:\.\d+)?)([bmt])(?:$|[^a-z0-9])`)

// sizeOf is a model's size in billions of parameters, from the column "size" or its
// name.
func sizeOf(e *crosstalk.Estimate) (float64, bool) {
	column := e.By["size"]
	if x, err := strconv.ParseFloat(column, 64); err == nil && x > 0 {
		return x, true
	}
	for _, text := range []string{column, e.By[crosstalk.ModelColumn]} {
		if m := parameters.FindStringSubmatch(text); m != nil {
			n, _ := strconv.ParseFloat(m[2], 64)
			if times, err := strconv.ParseFloat(m[1], 64); err == nil {
				n *= times
			}
			n /= map[string]float64{"b": 1, "m": 1000, "t": 0.001}[strings.ToLower(m[3])]
			return n, n > 0
		}
	}
	return 0, false
}

// columnsWhere are the columns of a measure's figures whose values fit.
func (c *Collector) columnsWhere(measure string, fits func(column string, values []string) bool) (columns []string) {
	values := map[string][]string{}
	for _, e := range c.estimates {
		if e.Measure == measure {
			for column, v := range e.By {
				if !slices.Contains(values[column], v) {
					values[column] = append(values[column], v)
				}
			}
		}
	}
	for _, column := range sortedKeys(values) {
		if len(values[column]) > 1 && fits(column, values[column]) {
			columns = append(columns, column)
		}
	}
	return columns
}

// groupColumns are the columns for which a measure has totals and groups.
func (c *Collector) groupColumns(measure string) []string {
	return c.columnsWhere(measure, func(_ string, values []string) bool { return slices.Contains(values, crosstalk.All) })
}

// numeric are the condition columns of a measure with several numbers.
func (c *Collector) numeric(measure string) []string {
	return c.columnsWhere(measure, func(_ string, values []string) bool {
		return !slices.ContainsFunc(values, func(v string) bool {
			x, err := strconv.ParseFloat(v, 64)
			return err != nil || math.IsNaN(x) || math.IsInf(x, 0)
		})
	})
}

// varied are the condition columns of a measure with several values that are not
// all numbers and that are settings of a model, without the model itself and the
// columns that the instrument adds.
func (c *Collector) varied(kind crosstalk.Kind, measure string) []string {
	apart := []string{crosstalk.ModelColumn, crosstalk.ProtocolColumn}
	for _, column := range kind.Columns {
		apart = append(apart, column.Key)
	}
	apart = slices.Concat(apart, c.groupColumns(measure), c.numeric(measure))
	return c.columnsWhere(measure, func(column string, _ []string) bool { return !slices.Contains(apart, column) })
}
