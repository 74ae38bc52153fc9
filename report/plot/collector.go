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

// Collector collects what the plots of a run are drawn of: its estimates at
// once, its observations one by one.
type Collector struct {
	estimates []crosstalk.Estimate
	columns   []string           // of the estimates
	sides     map[string]*sides  // by measure
	strips    map[string][]strip // by instrument
	names     map[string]bool
}

// NewCollector collects for plots of these estimates.
func NewCollector(estimates []crosstalk.Estimate) *Collector {
	return &Collector{estimates: estimates, columns: report.ByColumns(estimates), sides: map[string]*sides{},
		strips: map[string][]strip{}, names: map[string]bool{}}
}

// Add takes an observation in. It keeps a number of those that compare two
// answers, and the tokens of a few.
func (c *Collector) Add(o crosstalk.Observation) {
	kind := instrument.Of(o.Measure)
	c.addSides(kind, o, o.Condition[kind.Judge])
	c.addStrip(kind, o)
}

// AddJudgement takes in what people said of a pair of answers in the terms of a
// measure: Value is 1, 0 or 0.5 as the measure's is. It is drawn beside the
// automatic ones.
func (c *Collector) AddJudgement(o crosstalk.Observation) {
	c.addSides(instrument.Of(o.Measure), o, people)
}

// people are who judges where no program does.
const people = "people"

// Plots returns the plots, each with a name of its own.
func (c *Collector) Plots() (plots []Plot) {
	for _, kind := range instrument.Kinds {
		for _, chart := range kind.Charts {
			plots = append(plots, c.draw(kind, chart)...)
		}
	}
	for i := range plots {
		plots[i].Name = c.name(plots[i].Title)
	}
	return plots
}

// longest is how many letters a plot's name has at most, without its number.
const longest = 72

// name makes a file's name of a title, one that is not taken.
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

// panel is the estimates of one plot: those of one condition, apart from the
// columns that the plot shows.
type panel struct {
	of        string // the condition
	estimates []*crosstalk.Estimate
}

// mostPanels is how many conditions a chart is drawn for; the tables have all.
const mostPanels = 6

// panelsOf returns the estimates of some measures, taken apart by the condition
// columns that a plot does not show. Of the columns that figures are grouped
// by, those it does not show are over all their values, those it shows are not.
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

// values are those of a column, in the order of their appearance.
func (p panel) values(column string) (values []string) {
	for _, e := range p.estimates {
		if v := e.By[column]; !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	return values
}

// rows lays estimates out as the values of some columns, over the values of
// the column series or, without one, over measures.
func (p panel) rows(series string, named ...string) (rows []Row, columns []string) {
	for _, e := range p.estimates {
		over := e.By[series]
		if series == "" {
			over = labelOf(e.Measure)
		}
		row := Row{Label: rowName(e, named)}
		i := slices.IndexFunc(rows, func(r Row) bool { return r.Label == row.Label })
		if i < 0 {
			i, rows = len(rows), append(rows, row)
		}
		at := slices.Index(columns, over)
		if at < 0 {
			at, columns = len(columns), append(columns, over)
		}
		for len(rows[i].Cells) <= at {
			rows[i].Cells = append(rows[i].Cells, nil)
		}
		rows[i].Cells[at] = e
	}
	for i := range rows {
		for len(rows[i].Cells) < len(columns) {
			rows[i].Cells = append(rows[i].Cells, nil)
		}
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

// titled names a plot.
func titled(p Plot, title string, of panel, note string) Plot {
	p.Title, p.Note = strings.ToUpper(title[:1])+title[1:], note
	if of.of != "" {
		p.Title += " · " + of.of
	}
	return p
}
