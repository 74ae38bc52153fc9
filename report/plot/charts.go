package plot

import (
	"cmp"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/internal/ordered"
)

const intervals = "Thin lines are 95 % intervals."

// draw draws a chart of an instrument, once for each condition.
func (c *Collector) draw(kind crosstalk.Kind, chart crosstalk.Chart) (plots []Plot) {
	switch chart.Form {
	case crosstalk.SideChart:
		return c.sideCharts(chart)
	case crosstalk.TokenStrips:
		return c.tokenStrips(kind, chart)
	case crosstalk.GroupCharts:
		return c.over(chart, panel.group, c.groupColumns)
	case crosstalk.SweepCharts:
		settings := func(measure string) []string { return c.settings(kind, measure) }
		return slices.Concat(c.over(chart, panel.sweep, c.numeric), c.over(chart, panel.setting, settings))
	case crosstalk.SizeChart:
		chart.Rows = []string{crosstalk.ModelColumn}
	}
	return c.each(chart, map[crosstalk.Form]drawing{
		crosstalk.DotPlot: panel.dotPlot, crosstalk.HeatMap: panel.heatMap, crosstalk.ShareChart: panel.shares,
		crosstalk.SizeChart: panel.sizes, crosstalk.ScatterChart: c.scatter,
	}[chart.Form])
}

// drawing draws the panel of a chart. A plot without marks is not shown.
type drawing func(panel, crosstalk.Chart) Plot

func (c *Collector) each(chart crosstalk.Chart, draw drawing) (plots []Plot) {
	for _, p := range c.panelsOf(chart.Measures, append(slices.Clone(chart.Rows), chart.Series)...) {
		if drawn := draw(p, chart); drawn.Marks != nil {
			plots = append(plots, p.titled(drawn))
		}
	}
	return plots
}

// over draws each measure of a chart by some of its columns, with models as series.
func (c *Collector) over(chart crosstalk.Chart, draw drawing, columns func(measure string) []string) (plots []Plot) {
	for _, measure := range chart.Measures {
		for _, column := range columns(measure) {
			plots = append(plots, c.each(crosstalk.Chart{Measures: []string{measure}, Rows: []string{column},
				Series: crosstalk.ModelColumn, Title: labelOf(measure) + " by " + words(column)}, draw)...)
		}
	}
	return plots
}

// about sets the title of a plot, and the note on how to read it.
func (f Plot) about(title, note string) Plot {
	f.Title, f.Note = title, strings.TrimSpace(note+" "+f.Note)
	return f
}

func (p panel) titled(drawn Plot) Plot {
	drawn.Title = strings.ToUpper(drawn.Title[:1]) + drawn.Title[1:]
	if p.of != "" {
		drawn.Title += " · " + p.of
	}
	return drawn
}

// setting draws rows with the baseline of the measure.
func (p panel) setting(chart crosstalk.Chart) Plot {
	rows, series := p.rows(chart)
	return DotPlot{series, rows, baseline(chart)}.Draw().about(chart.Title, intervals)
}

func baseline(chart crosstalk.Chart) crosstalk.Baseline {
	return instrument.Measure(chart.Measures[0]).Baseline
}

// dotPlot compares series within rows. A single model has no comparison.
func (p panel) dotPlot(chart crosstalk.Chart) Plot {
	if len(p.estimates) < 2 && slices.Equal(chart.Rows, []string{crosstalk.ModelColumn}) {
		return Plot{}
	}
	if chart.Title == "" {
		of, by := labelOf(chart.Measures[0]), chart.Rows
		if _, series := p.rows(chart); chart.Series == "" {
			of = strings.Join(series, ", ")
		} else if len(series) > 1 {
			by = append(slices.Clone(by), chart.Series)
		}
		chart.Title = of + " by " + strings.Join(ordered.Map(by, words), " and ")
	}
	return p.setting(chart)
}

func (p panel) heatMap(chart crosstalk.Chart) Plot {
	rows, columns := p.rows(chart)
	return heat(columns, rows).about(chart.Title, chart.Note)
}

func (p panel) shares(chart crosstalk.Chart) Plot {
	rows, parts := p.rows(chart)
	return Shares{parts, ordered.Map(rows, sharesOf), -1}.Draw().about(chart.Title, chart.Note)
}

// group draws a column by which estimates are grouped: as a heat map by model if it has many values, else as dots.
func (p panel) group(chart crosstalk.Chart) Plot {
	const few = 5
	switch rows, models := p.rows(chart); {
	case len(rows) < 2:
		return Plot{}
	case len(models) > 1 && (len(rows) > few || len(models) > 3):
		chart.Title, chart.Note = chart.Title+" and model", "The tables have the intervals."
		return p.heatMap(chart)
	}
	return p.setting(chart)
}

// scatter plots a measure against another one. A series needs two points.
func (c *Collector) scatter(p panel, chart crosstalk.Chart) Plot {
	rows, series := p.rows(chart)
	l := linesOf(rows, series, 2, func(label string, e *crosstalk.Estimate) (Dot, bool) {
		over := c.beside(e, chart)
		if over == nil || !over.Value.Defined() {
			return Dot{}, false
		}
		return Dot{X: float64(over.Value), Label: label, Across: over}, true
	})
	if l.Axis, l.Apart = chart.Axis, true; l.Dots == nil {
		return Plot{}
	}
	return l.Draw().about(chart.Title, intervals)
}

// beside returns the estimate of the chart's other measure with the same columns, as far as it has them, in any
// series.
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

// sweep draws a line chart over a numeric column of conditions.
func (p panel) sweep(chart crosstalk.Chart) Plot {
	rows, series := p.rows(chart)
	return overNumbers(rows, series, chart.Rows[0], baseline(chart)).Draw().
		about(labelOf(chart.Measures[0])+" over "+words(chart.Rows[0]), intervals)
}

func (p panel) sizes(chart crosstalk.Chart) Plot {
	rows, series := p.rows(chart)
	l, several := overSizes(rows, series, baseline(chart), sizeOf)
	if !several {
		return Plot{}
	}
	return l.Draw().about(chart.Title, intervals)
}

// overSizes returns lines of the figures over the sizes of their models, if there are several sizes.
func overSizes(rows []Row, series []string, compared crosstalk.Baseline,
	sizeOf func(string, *crosstalk.Estimate) (float64, bool)) (l Lines, several bool) {
	sizes := map[float64]bool{}
	l = linesOf(rows, series, 0, func(model string, e *crosstalk.Estimate) (Dot, bool) {
		size, ok := sizeOf(model, e)
		if ok {
			sizes[size] = true
		}
		return Dot{X: size, Label: model}, ok
	})
	l.Axis, l.Log, l.Apart, l.Baseline = "billions of parameters", true, true, compared
	return l, len(sizes) > 1
}

// parameters matches a number of parameters in a model's name: 0.5B, 70b, 8x7B, 350M.
var parameters = regexp.MustCompile(`(?i)(?:^|[^a-z0-9.])(?:(\d+)x)?(\d+(?:\.\d+)?)([bmt])(?:$|[^a-z0-9])`)

// sizeOf returns a model's size in billions of parameters, from the column "size" or its name.
func sizeOf(_ string, e *crosstalk.Estimate) (float64, bool) {
	column := e.By["size"]
	if x, err := strconv.ParseFloat(column, 64); err == nil && x > 0 {
		return x, true
	}
	if size, ok := sizeIn(column); ok {
		return size, true
	}
	return sizeIn(e.By[crosstalk.ModelColumn])
}

func sizeIn(name string) (float64, bool) {
	m := parameters.FindStringSubmatch(name)
	if m == nil {
		return 0, false
	}
	n, _ := strconv.ParseFloat(m[2], 64)
	times, _ := strconv.ParseFloat(cmp.Or(m[1], "1"), 64)
	n *= times
	n /= map[string]float64{"b": 1, "m": 1000, "t": 0.001}[strings.ToLower(m[3])]
	return n, n > 0
}

// columnsWhere returns the columns of a measure's figures whose values satisfy fits, if there are several values.
func columnsWhere(estimates []crosstalk.Estimate, measure string,
	fits func(column string, values []string) bool) (columns []string) {
	values := map[string][]string{}
	for _, e := range estimates {
		if e.Measure == measure {
			for column, v := range e.By {
				if !slices.Contains(values[column], v) {
					values[column] = append(values[column], v)
				}
			}
		}
	}
	for _, column := range slices.Sorted(maps.Keys(values)) {
		if len(values[column]) > 1 && fits(column, values[column]) {
			columns = append(columns, column)
		}
	}
	return columns
}

// groupColumns returns the columns for which a measure has both totals and groups.
func (c *Collector) groupColumns(measure string) []string {
	return columnsWhere(c.estimates, measure, func(_ string, values []string) bool {
		return slices.Contains(values, crosstalk.All)
	})
}

// numeric returns the condition columns of a measure with several values that are all numbers.
func (c *Collector) numeric(measure string) []string {
	return columnsWhere(c.estimates, measure, func(_ string, values []string) bool { return allNumbers(values) })
}

func allNumbers(values []string) bool {
	return !slices.ContainsFunc(values, func(v string) bool {
		x, err := strconv.ParseFloat(v, 64)
		return err != nil || math.IsNaN(x) || math.IsInf(x, 0)
	})
}

// settings returns the condition columns of a measure that are settings of a model with several values, not all of
// them numbers, without the model itself and the columns that the instrument adds.
func (c *Collector) settings(kind crosstalk.Kind, measure string) []string {
	apart := slices.Concat([]string{crosstalk.ModelColumn, crosstalk.ProtocolColumn}, c.groupColumns(measure),
		c.numeric(measure))
	return columnsWhere(c.estimates, measure, func(column string, _ []string) bool {
		return !slices.Contains(apart, column) &&
			!slices.ContainsFunc(kind.Columns, func(k crosstalk.Column) bool { return k.Key == column })
	})
}

// Grid holds figures laid out in a table.
type Grid struct {
	Name       string // name of the plot's file; empty: the title
	Title      string
	Axis, Over string // meaning of the rows and of the series
	Rows       []Row
	Series     []string
}

// mostDots is the most figures of a grid drawn as dots, and mostSeries the most series.
const (
	mostDots   = 60
	mostSeries = 6
)

// Draw draws the figures: as lines if the rows or the series are numbers, as a heat map if there are many of one
// measure, else as dots with their intervals. If the rows are models with sizes in their names, a second plot shows
// the figures over sizes. Rows and series over all values are omitted if there are others.
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
	case len(labels) > 1 && allNumbers(labels):
		add(over(g), "", intervals)
	case len(g.Series) > 1 && allNumbers(g.Series):
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

// turned returns the grid with rows and series exchanged.
func (g Grid) turned() Grid {
	t := Grid{Name: g.Name, Title: g.Title, Axis: g.Over, Over: g.Axis,
		Series: ordered.Map(g.Rows, func(r Row) string { return r.Label })}
	for i, name := range g.Series {
		t.Rows = append(t.Rows, Row{name, ordered.Map(g.Rows, func(r Row) *crosstalk.Estimate { return r.Cells[i] })})
	}
	return t
}

// withoutAll omits the rows over all values, unless there are no others.
func (g Grid) withoutAll() Grid {
	kept := slices.DeleteFunc(slices.Clone(g.Rows), func(r Row) bool { return r.Label == crosstalk.All })
	if len(kept) > 0 {
		g.Rows = kept
	}
	return g
}
