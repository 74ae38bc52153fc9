package plot

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"crosstalk"
	"crosstalk/internal/visible"
	"crosstalk/report"
)

// Book chooses the figures of some estimates and observations by the measures
// and columns that they have.
type Book struct {
	estimates []crosstalk.Estimate
	columns   []string // of the estimates
	sides     sides
	strips    []strip
	names     map[string]bool
}

// NewBook is a book about these estimates.
func NewBook(estimates []crosstalk.Estimate) *Book {
	return &Book{estimates: estimates, columns: report.ByColumns(estimates), names: map[string]bool{}}
}

// Add takes an observation in. It keeps a number of those that compare two
// answers, and the tokens of a few.
func (b *Book) Add(o crosstalk.Observation) {
	b.sides.add(o, o.Condition["similarity"])
	b.addStrip(o)
}

// AddJudgement takes in what people said of a pair of answers: Value is 1 for
// the test answer, 0 for the control answer, 0.5 for neither. It is drawn
// beside the automatic ones.
func (b *Book) AddJudgement(o crosstalk.Observation) { b.sides.add(o, "people") }

// Figures returns the figures, each with a name of its own.
func (b *Book) Figures() []Figure {
	figures := slices.Concat(
		b.overviews(), b.sides.figures(), b.sweeps(), b.settings(), b.sizes(), b.groups(),
		b.doubt(), b.drawnStrips(), b.senses(), b.classes(), b.quality(),
	)
	for i := range figures {
		figures[i].Name = b.name(figures[i].Title)
	}
	return figures
}

// longest is how many letters a figure's name has at most, without its number.
const longest = 72

// name makes a file's name of a title, one that is not taken.
func (b *Book) name(title string) string {
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	name := strings.Join(words, "-")
	base := cmp.Or(strings.Trim(name[:min(len(name), longest)], "-"), "figure")
	name = base
	for n := 2; b.names[name]; n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	b.names[name] = true
	return name
}

// part is the estimates of one condition, apart from the columns that a figure
// shows.
type part struct {
	of        string // the condition
	estimates []*crosstalk.Estimate
}

// most is how many conditions a kind of figure is drawn for; the tables have
// all.
const most = 6

// parts returns the estimates of some measures, taken apart by the condition
// columns that a figure does not show. Of the columns that figures are grouped
// by, those it does not show are over all their values, those it shows are not.
func (b *Book) parts(measures []string, shown ...string) []part {
	var estimates []*crosstalk.Estimate
	for i := range b.estimates {
		if slices.Contains(measures, b.estimates[i].Measure) {
			estimates = append(estimates, &b.estimates[i])
		}
	}
	grouped, varies := map[string]bool{}, map[string]bool{}
	for _, e := range estimates {
		for c, v := range e.By {
			grouped[c] = grouped[c] || v == crosstalk.All
		}
	}
	for _, e := range estimates {
		for c := range grouped {
			varies[c] = varies[c] || e.By[c] != estimates[0].By[c]
		}
	}
	var parts []part
	for _, e := range estimates {
		var of []string
		fits := true
		for _, c := range b.columns {
			v, has := e.By[c]
			switch {
			case slices.Contains(shown, c):
				fits = fits && has && v != crosstalk.All
			case grouped[c]:
				fits = fits && (v == crosstalk.All || !has)
			case varies[c] && has:
				of = append(of, words(c)+" "+visible.Line(v))
			}
		}
		if !fits {
			continue
		}
		name := strings.Join(of, " · ")
		i := slices.IndexFunc(parts, func(p part) bool { return p.of == name })
		if i < 0 {
			i = len(parts)
			parts = append(parts, part{of: name})
		}
		parts[i].estimates = append(parts[i].estimates, e)
	}
	return parts[:min(len(parts), most)]
}

// values are those of a column, in the order of their appearance.
func (p part) values(column string) (values []string) {
	for _, e := range p.estimates {
		if v := e.By[column]; !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	return values
}

// rows lays estimates out as the values of some columns, over the values of
// another or, where that is "measure", over measures.
func (p part) rows(column string, named ...string) (rows []Row, columns []string) {
	for _, e := range p.estimates {
		over := e.By[column]
		if column == "measure" {
			over = words(e.Measure)
		}
		var name []string
		for _, c := range named {
			name = append(name, e.By[c])
		}
		row := Row{Label: strings.Join(name, " ")}
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

// titled names a figure.
func titled(f Figure, title string, p part, note string) Figure {
	f.Title, f.Note = strings.ToUpper(title[:1])+title[1:], note
	if p.of != "" {
		f.Title += " · " + p.of
	}
	return f
}
