package plot

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/internal/ordered"
	"crosstalk/internal/visible"
	"crosstalk/labels"
	"crosstalk/report"
)

// Collector collects the data of a run's plots: its estimates at once, its observations one by one.
type Collector struct {
	estimates []crosstalk.Estimate
	columns   []string              // of the estimates
	sides     map[string][]*sideRow // by measure
	strips    map[string][]strip    // by instrument
	opinions  []labels.Opinion
}

// NewCollector collects for plots of these estimates.
func NewCollector(estimates []crosstalk.Estimate) *Collector {
	return &Collector{estimates: estimates, columns: report.ByColumns(estimates), sides: map[string][]*sideRow{},
		strips: map[string][]strip{}}
}

// Add adds an observation. It keeps a limited number of comparisons of two
// answers, and the tokens of a few answers.
func (c *Collector) Add(o crosstalk.Observation) {
	kind := instrument.Of(o.Measure)
	c.addSides(kind, o, o.Condition[kind.Judge], 1)
	c.addStrip(kind, o)
}

// PlotsOf returns the plots of these estimates instead of those it was made of.
func (c *Collector) PlotsOf(estimates []crosstalk.Estimate) []Plot {
	c.estimates, c.columns = estimates, report.ByColumns(estimates)
	return c.Plots()
}

// Plots returns the plots. Their names are unique.
func (c *Collector) Plots() (plots []Plot) {
	for _, kind := range instrument.Kinds() {
		for _, chart := range kind.Charts {
			plots = append(plots, c.draw(kind, chart)...)
		}
	}
	for _, o := range c.opinions {
		plots = append(plots, drawOpinion(o)...)
	}
	return Named(plots)
}

const longest = 72 // the maximum length of a plot's name without its number

// Named gives plots the names of files, each another one, made of their names or titles.
func Named(plots []Plot) []Plot {
	taken := map[string]bool{}
	for i, p := range plots {
		words := strings.FieldsFunc(strings.ToLower(cmp.Or(p.Name, p.Title)), func(r rune) bool {
			return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r)
		})
		name := strings.Join(words, "-")
		base := cmp.Or(strings.Trim(name[:min(len(name), longest)], "-"), "plot")
		name = base
		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("%s-%d", base, n)
		}
		plots[i].Name, taken[name] = name, true
	}
	return plots
}

// panel has the estimates of one plot, of one condition except for the columns that the plot shows.
type panel struct {
	of        string // the condition
	estimates []*crosstalk.Estimate
}

const mostPanels = 6 // the maximum number of conditions with a plot; the tables have all

// panelsOf splits the estimates of some measures by the condition columns that a
// plot does not show. Of the columns by which figures are grouped, it uses the
// totals over those that the plot does not show, and the groups of the others.
func (c *Collector) panelsOf(measures []string, shown ...string) []panel {
	var estimates []*crosstalk.Estimate
	for i := range c.estimates {
		if slices.Contains(measures, c.estimates[i].Measure) {
			estimates = append(estimates, &c.estimates[i])
		}
	}
	some := func(column string, is func(v string) bool) bool {
		return slices.ContainsFunc(estimates, func(e *crosstalk.Estimate) bool { return is(e.By[column]) })
	}
	grouped, varies := map[string]bool{}, map[string]bool{}
	for _, column := range c.columns {
		grouped[column] = some(column, func(v string) bool { return v == crosstalk.All })
		varies[column] = some(column, func(v string) bool { return v != estimates[0].By[column] })
	}
	of := map[*crosstalk.Estimate]string{}
	estimates = slices.DeleteFunc(estimates, func(e *crosstalk.Estimate) bool {
		var condition []string
		fits := true
		for _, column := range c.columns {
			v, has := e.By[column]
			switch {
			case slices.Contains(shown, column):
				fits = fits && has && v != crosstalk.All
			case grouped[column]:
				fits = fits && (v == crosstalk.All || !has)
			case varies[column] && has:
				condition = append(condition, words(column)+" "+visible.Line(v))
			}
		}
		of[e] = strings.Join(condition, " · ")
		return !fits
	})
	var panels []panel
	for _, group := range ordered.Groups(estimates, func(e *crosstalk.Estimate) string { return of[e] }) {
		panels = append(panels, panel{of[group[0]], group})
	}
	return panels[:min(len(panels), mostPanels)]
}

// rows arranges estimates: a row for each combination of values of the chart's
// rows, a series for each value of its series or, without one, each measure.
func (p panel) rows(chart crosstalk.Chart) (rows []Row, series []string) {
	seriesOf := func(e *crosstalk.Estimate) string {
		if chart.Series == "" {
			return labelOf(e.Measure)
		}
		return e.By[chart.Series]
	}
	series = ordered.Distinct(p.estimates, seriesOf)
	named := func(e *crosstalk.Estimate) string { return rowName(e, chart.Rows) }
	for _, group := range ordered.Groups(p.estimates, named) {
		row := Row{named(group[0]), make([]*crosstalk.Estimate, len(series))}
		for _, e := range group {
			row.Cells[slices.Index(series, seriesOf(e))] = e
		}
		rows = append(rows, row)
	}
	return rows, series
}

func rowName(e *crosstalk.Estimate, columns []string) string {
	return strings.Join(ordered.Map(columns, func(column string) string { return e.By[column] }), " ")
}
