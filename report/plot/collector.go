package plot

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/internal/visible"
	"crosstalk/report"
)

// Collector collects the data of a run's plots: its estimates at once, its
// observations one by one.
type Collector struct {
	estimates []crosstalk.Estimate
	columns   []string              // of the estimates
	sides     map[string][]*sideRow // by measure
	strips    map[string][]strip    // by instrument
	labels    []Labels
	names     map[string]bool
}

// NewCollector collects for plots of these estimates.
func NewCollector(estimates []crosstalk.Estimate) *Collector {
	return &Collector{estimates: estimates, columns: report.ByColumns(estimates), sides: map[string][]*sideRow{},
		strips: map[string][]strip{}, names: map[string]bool{}}
}

// Add adds an observation. It keeps a limited number of comparisons of two
// answers, and the tokens of a few answers.
func (c *Collector) Add(o crosstalk.Observation) {
	kind := instrument.Of(o.Measure)
	c.addSides(kind, o, o.Condition[kind.Judge], 1)
	c.addStrip(kind, o)
}

// AddJudgement adds a human judgement of a pair of answers. Value is 1, 0 or 0.5,
// as that of the measure, and weight the number of judgements that it counts as.
// It is drawn beside the automatic ones.
func (c *Collector) AddJudgement(o crosstalk.Observation, weight float64) {
	c.addSides(instrument.Of(o.Measure), o, people, weight)
}

// people is the name of human judges.
const people = "people"

// Plots returns the plots. Their names are unique.
func (c *Collector) Plots() (plots []Plot) {
	for _, kind := range instrument.Kinds {
		for _, chart := range kind.Charts {
			plots = append(plots, c.draw(kind, chart)...)
		}
	}
	for _, l := range c.labels {
		plots = append(plots, c.drawLabels(l)...)
	}
	for i := range plots {
		plots[i].Name = c.name(plots[i].Title)
	}
	return plots
}

// longest is the maximum length of a plot's name without its number.
const longest = 72

// name turns a title into an unused file name.
func (c *Collector) name(title string) string {
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	name := strings.Join(words, "-")
	base := cmp.Or(strings.Trim(name[:min(len(name), longest)], "-"), "plot")
	name = base
	for n := 2; c.names[name]; n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	c.names[name] = true
	return name
}

// panel has the estimates of one plot: those of one condition, except for the
// columns that the plot shows.
type panel struct {
	of        string // the condition
	estimates []*crosstalk.Estimate
}

// mostPanels is the maximum number of conditions with a plot; the tables have
// all.
const mostPanels = 6

// panelsOf splits the estimates of some measures by the condition columns that a
// plot does not show. Of the columns by which figures are grouped, it takes the
// totals over those that the plot does not show, and the groups of the others.
func (c *Collector) panelsOf(measures []string, shown ...string) []panel {
	var estimates []*crosstalk.Estimate
	for i := range c.estimates {
		if slices.Contains(measures, c.estimates[i].Measure) {
			estimates = append(estimates, &c.estimates[i])
		}
	}
	grouped, varies := map[string]bool{}, map[string]bool{}
	for _, e := range estimates {
		for column, v := range e.By {
			grouped[column] = grouped[column] || v == crosstalk.All
		}
	}
	for _, e := range estimates {
		for column := range grouped {
			varies[column] = varies[column] || e.By[column] != estimates[0].By[column]
		}
	}
	var panels []panel
	for _, e := range estimates {
		var of []string
		fits := true
		for _, column := range c.columns {
			v, has := e.By[column]
			switch {
			case slices.Contains(shown, column):
				fits = fits && has && v != crosstalk.All
			case grouped[column]:
				fits = fits && (v == crosstalk.All || !has)
			case varies[column] && has:
				of = append(of, words(column)+" "+visible.Line(v))
			}
		}
		if !fits {
			continue
		}
		name := strings.Join(of, " · ")
		i := slices.IndexFunc(panels, func(p panel) bool { return p.of == name })
		if i < 0 {
			i = len(panels)
			panels = append(panels, panel{of: name})
		}
		panels[i].estimates = append(panels[i].estimates, e)
	}
	return panels[:min(len(panels), mostPanels)]
}

// values are the values of a column, in order of appearance.
func (p panel) values(column string) (values []string) {
	for _, e := range p.estimates {
		if v := e.By[column]; !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	return values
}

// rows arranges estimates: a row for each combination of values of some columns,
// a series for each value of the column series or, without one, each measure.
func (p panel) rows(series string, named ...string) (rows []Row, columns []string) {
	for _, e := range p.estimates {
		over := e.By[series]
		if series == "" {
			over = labelOf(e.Measure)
		}
		if !slices.Contains(columns, over) {
			columns = append(columns, over)
		}
		label := rowName(e, named)
		i := slices.IndexFunc(rows, func(r Row) bool { return r.Label == label })
		if i < 0 {
			i, rows = len(rows), append(rows, Row{Label: label})
		}
		at := slices.Index(columns, over)
		rows[i].Cells = append(rows[i].Cells, make([]*crosstalk.Estimate, max(0, at+1-len(rows[i].Cells)))...)
		rows[i].Cells[at] = e
	}
	for i, r := range rows {
		rows[i].Cells = append(r.Cells, make([]*crosstalk.Estimate, len(columns)-len(r.Cells))...)
	}
	return rows, columns
}

// rowName names an estimate by some of its columns.
func rowName(e *crosstalk.Estimate, columns []string) string {
	var values []string
	for _, column := range columns {
		values = append(values, e.By[column])
	}
	return strings.Join(values, " ")
}
