// Package pivot lays out figures in tables: values of some columns become rows, values of others columns, and each
// figure a cell. It works on estimates and is independent of instruments.
package pivot

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/internal/numbers"
	"crosstalk/internal/ordered"
	"crosstalk/report"
	"crosstalk/report/plot"
	"crosstalk/run/view"
)

// Measure is the name of the measures of figures, as rows or columns.
const Measure = "measure"

// Options specifies the layout of a table.
type Options struct {
	Rows, Columns []string // names of columns of figures, or Measure

	// Beside lists what to show next to the figure, each in its own column: names in Sides.
	Beside []string

	Order    map[string][]string // order of values by column; other values follow
	Compete  []string            // columns whose values compete: the best of them is marked
	Names    report.Names        // names for columns, values and measures
	Text     func(crosstalk.Estimate) string
	Subtitle string   // kind of figure, if not the measure itself: "difference"
	Notes    []string // notes on all tables, before their own
}

// Check returns an error if the options contradict each other.
func (o Options) Check() error {
	seen := map[string]bool{}
	for _, column := range slices.Concat(o.Rows, o.Columns) {
		if seen[column] {
			return fmt.Errorf("%s is named twice among rows and columns", column)
		}
		seen[column] = true
	}
	if slices.Contains(o.Beside, Change) && len(o.Rows) == 0 {
		return fmt.Errorf("%s beside a figure is from the first row: name the rows", Change)
	}
	for _, name := range o.Beside {
		if _, ok := sides[name]; !ok {
			return fmt.Errorf("unknown %q beside a figure; choose one of: %s", name, strings.Join(Sides, ", "))
		}
	}
	return nil
}

// Tables lays out figures in one table, or in one for each combination of values of columns that are neither rows nor
// columns. If measures are neither, and there are several, they are groups of columns. An error names two figures
// that share a cell.
func Tables(estimates []crosstalk.Estimate, o Options) (tables []report.Table, err error) {
	if o.Text == nil {
		o.Text = func(e crosstalk.Estimate) string { return numbers.Value(e.Value, e.Unit) }
	}
	for _, l := range layouts(estimates, o) {
		t, err := l.table()
		if err != nil {
			return nil, err
		}
		tables = append(tables, t)
	}
	return tables, nil
}

// Plots draws each table, and once more over the sizes of models if its rows are models with sizes.
func Plots(estimates []crosstalk.Estimate, o Options) (plots []plot.Plot, err error) {
	for _, l := range layouts(estimates, o) {
		g := plot.Grid{Name: strings.TrimPrefix(l.label(), "tab:"), Title: l.caption(nil),
			Axis: l.axis(l.Options.Rows), Over: l.axis(l.Options.Columns)}
		g.Series = ordered.Map(l.columns, func(values []string) string { return l.named(l.Options.Columns, values) })
		for _, row := range l.rows {
			cells := make([]*crosstalk.Estimate, len(l.columns))
			for c, column := range l.columns {
				if cells[c], err = l.at(row, column); err != nil {
					return nil, err
				}
			}
			g.Rows = append(g.Rows, plot.Row{Label: l.named(l.Options.Rows, row), Cells: cells})
		}
		plots = append(plots, g.Draw()...)
	}
	return plot.Named(plots), nil
}

func (l *layout) axis(columns []string) string {
	return strings.Join(ordered.Map(columns, l.title), ", ")
}

func (l *layout) named(columns, values []string) string {
	names := make([]string, len(columns))
	for i, column := range columns {
		if names[i] = l.name(column, values[i]); len(columns) > 1 {
			names[i] = l.columnTitle(column, values[i])
		}
	}
	return cmp.Or(strings.Join(names, ", "), crosstalk.All)
}

func layouts(estimates []crosstalk.Estimate, o Options) (list []*layout) {
	if !slices.Contains(slices.Concat(o.Rows, o.Columns), Measure) && several(estimates, Measure) {
		o.Columns = append([]string{Measure}, o.Columns...)
	}
	var apart []string // columns that separate tables, or that all figures share
	for _, column := range append([]string{Measure}, instrument.ByColumns(estimates)...) {
		if !slices.Contains(o.Rows, column) && !slices.Contains(o.Columns, column) {
			apart = append(apart, column)
		}
	}
	var implied []string
	if len(o.Rows) > 0 {
		apart = slices.DeleteFunc(apart, func(column string) bool {
			// A column with a single value per row, such as the prefix of each model, does not separate tables.
			both := append(slices.Clone(o.Rows), column)
			is := several(estimates, column) && column != Measure &&
				len(ordered.Distinct(estimates, keyOf(o.Rows))) == len(ordered.Distinct(estimates, keyOf(both)))
			if is {
				implied = append(implied, column)
			}
			return is
		})
	}
	for _, figures := range ordered.Groups(estimates, keyOf(apart)) {
		l := &layout{Options: o, figures: figures, constant: slices.Clip(apart), cells: map[string][]crosstalk.Estimate{},
			short: map[string]map[string]string{}}
		l.rows, l.columns = l.values(o.Rows), l.values(o.Columns)
		for _, e := range figures {
			at := place(tuple(e, o.Rows), tuple(e, o.Columns))
			l.cells[at] = append(l.cells[at], e)
		}
		for _, column := range implied {
			if several(figures, column) {
				l.implied = append(l.implied, column)
			} else {
				l.constant = append(l.constant, column)
			}
		}
		list = append(list, l)
	}
	return list
}

// value returns a figure's value in a column, crosstalk.All if it has none.
func value(e crosstalk.Estimate, column string) string {
	if column == Measure {
		return e.Measure
	}
	return cmp.Or(e.By[column], crosstalk.All)
}

func tuple(e crosstalk.Estimate, columns []string) []string {
	return ordered.Map(columns, func(column string) string { return value(e, column) })
}

func keyOf(columns []string) func(crosstalk.Estimate) string {
	return func(e crosstalk.Estimate) string { return strings.Join(tuple(e, columns), "\x00") }
}

func several(estimates []crosstalk.Estimate, column string) bool {
	return slices.ContainsFunc(estimates, func(e crosstalk.Estimate) bool {
		return value(e, column) != value(estimates[0], column)
	})
}

type layout struct {
	Options
	figures       []crosstalk.Estimate
	constant      []string                     // columns that all figures share
	implied       []string                     // columns with a single value per row
	rows, columns [][]string                   // values of Options.Rows and Options.Columns
	short         map[string]map[string]string // names of values, by column
	cells         map[string][]crosstalk.Estimate
}

func place(row, column []string) string {
	return strings.Join(row, "\x00") + "\x01" + strings.Join(column, "\x00")
}

// values returns the distinct values of the columns, in Options.Order, or else in order of appearance after
// crosstalk.All.
func (l *layout) values(columns []string) (tuples [][]string) {
	ranks := make([]map[string]int, len(columns))
	for i, column := range columns {
		ranks[i] = map[string]int{crosstalk.All: -1}
		for _, v := range l.Order[column] {
			ranks[i][v] = len(ranks[i])
		}
		for _, e := range l.figures {
			if v := value(e, column); ranks[i][v] == 0 {
				ranks[i][v] = len(ranks[i])
			}
		}
	}
	tuples = ordered.Map(ordered.Groups(l.figures, keyOf(columns)), func(same []crosstalk.Estimate) []string {
		return tuple(same[0], columns)
	})
	slices.SortStableFunc(tuples, func(a, b []string) int {
		for i := range a {
			if d := ranks[i][a[i]] - ranks[i][b[i]]; d != 0 {
				return d
			}
		}
		return 0
	})
	return tuples
}

func (l *layout) at(row, column []string) (*crosstalk.Estimate, error) {
	figures := l.cells[place(row, column)]
	switch len(figures) {
	case 0:
		return nil, nil
	case 1:
		return &figures[0], nil
	}
	return nil, fmt.Errorf("%d figures have the same row and column (%s); of several runs, name the column run among "+
		"the rows or columns",
		len(figures), strings.Join(slices.Concat(row, column), ", "))
}

func (l *layout) name(column, value string) string {
	if name, ok := l.Names.Of(column, value); ok {
		return name
	}
	if column == Measure {
		return instrument.Measure(value).Label
	}
	if l.short[column] == nil {
		l.short[column] = shorten(l.figures, column)
	}
	return l.short[column][value]
}

func (l *layout) title(column string) string {
	if name, ok := l.Names[column]; ok {
		return name
	}
	return crosstalk.Words(column)
}

// shorten returns short names for the values of a column: those of report.Shorten, without the fingerprints of files
// and versions ("@sha256-82cf...") if the names still differ.
func shorten(figures []crosstalk.Estimate, column string) map[string]string {
	values := ordered.Distinct(figures, func(e crosstalk.Estimate) string { return value(e, column) })
	slices.Sort(values)
	plain := func(v string) string { return fingerprint.ReplaceAllString(v, "") }
	if len(ordered.Distinct(values, plain)) < len(values) {
		plain = func(v string) string { return v }
	}
	rows := ordered.Map(values, func(v string) map[string]string { return map[string]string{column: plain(v)} })
	names := map[string]string{}
	for i, row := range report.Shorten(rows, 0) {
		names[values[i]] = row[column]
	}
	return names
}

var fingerprint = regexp.MustCompile(`@(sha256-[0-9a-f]+|\d+)`)

// rival is a figure in a cell, by row and column.
type rival struct {
	*crosstalk.Estimate
	place [2]int
}

// bold is the end of a figure's measure that tables set in bold; empty: neither.
func bold(e *crosstalk.Estimate) crosstalk.Direction {
	if e.Better == "" {
		return ""
	}
	return cmp.Or(instrument.Measure(e.Measure).Bold, e.Better)
}

// best returns the cells, by row and column, whose figure is at the end of its competitors that is set in bold. These
// are in its column if values in rows compete, else in its row, and differ from it only in the columns that compete.
// Figures that print alike share the place, unless all do. Figures over all values of such a column, undefined ones and
// those without a better direction do not compete.
func (l *layout) best() map[[2]int]bool {
	columns := slices.Concat(l.Rows, l.Columns)
	competes := func(i int) bool { return slices.Contains(l.Compete, columns[i]) }
	from, to := 0, len(l.Rows)
	if !slices.ContainsFunc(l.Rows, func(column string) bool { return slices.Contains(l.Compete, column) }) {
		from, to = to, len(columns)
	}
	groups := map[string][]rival{} // by the values that do not compete
	for r, row := range l.rows {
		for c, column := range l.columns {
			e, _ := l.at(row, column)
			values, among, over := slices.Concat(row, column), false, false
			for i := from; i < to; i++ {
				if competes(i) {
					among, over = true, over || values[i] == crosstalk.All
					values[i] = ""
				}
			}
			if among && !over && e != nil && e.Value.Defined() && e.Better != "" {
				key := strings.Join(values, "\x00")
				groups[key] = append(groups[key], rival{e, [2]int{r, c}})
			}
		}
	}
	best := map[[2]int]bool{}
	for _, group := range groups {
		winner := group[0]
		for _, r := range group {
			if r.Value > winner.Value == (bold(r.Estimate) == crosstalk.Higher) && r.Value != winner.Value {
				winner = r
			}
		}
		is := func(r rival) bool { return l.Text(*r.Estimate) == l.Text(*winner.Estimate) }
		for _, r := range group {
			if is(r) && slices.ContainsFunc(group, func(r rival) bool { return !is(r) }) {
				best[r.place] = true
			}
		}
	}
	return best
}

// Table specifies, in the users' syntax, which figures to show, of which observations, and how to lay them out.
type Table struct {
	Rows, Columns []string // columns of figures, or Measure
	Beside        []string // values to show next to the figure: Sides
	Pool          []string // columns whose values are pooled
	Only          []string // "COLUMN=VALUE,...": only observations with these values, in this order
	Group         []string // "COLUMN:NAME=VALUE,...": a value of view.GroupColumn
	Spread        []string // columns for which to show the minimum, mean and maximum over values

	view view.View
}

// Complete parses the users' texts and adds the rows and columns that they imply. Call it before the other methods.
// An error names contradictory or meaningless settings.
func (t *Table) Complete() error {
	chosen, err := view.Chosen(t.Only)
	if err != nil {
		return err
	}
	t.view = view.View{Pool: t.Pool, Only: chosen.Only}
	for _, text := range t.Group {
		group, err := view.ParseGroup(text)
		if err != nil {
			return crosstalk.BadOption("group", "%w", err)
		}
		t.view.Groups = append(t.view.Groups, group)
	}
	if err := t.view.Check(); err != nil {
		return err
	}
	named := func(column string) bool { return slices.Contains(t.Rows, column) || slices.Contains(t.Columns, column) }
	if t.Spread != nil && !named(t.Spread[0]) {
		t.Columns = append(t.Columns, t.Spread[0])
	}
	if len(t.view.Groups) > 0 && !named(view.GroupColumn) {
		t.Rows = append(t.Rows, view.GroupColumn)
	}
	for _, column := range t.Pool {
		if named(column) {
			return crosstalk.BadOption("pool", " %s leaves one value of %s: it cannot be among rows and columns", column, column)
		}
	}
	if len(t.Rows)+len(t.Columns) == 0 {
		return crosstalk.BadOption("rows", " or --columns is missing: name what the rows or columns of the table are, "+
			"such as --rows model --columns measure")
	}
	return t.options().Check()
}

func (t *Table) options() Options {
	return Options{Rows: t.Rows, Columns: t.Columns, Beside: t.Beside, Order: map[string][]string{}}
}

// View returns the observations that figures of the table are computed from.
func (t *Table) View() view.View { return t.view }

// Cross returns the columns whose values figures of the table are grouped by, in every combination.
func (t *Table) Cross() []string {
	cross := slices.DeleteFunc(slices.Concat(t.Columns, t.Rows), func(column string) bool { return column == Measure })
	for _, column := range t.Spread {
		if !slices.Contains(cross, column) {
			cross = append(cross, column)
		}
	}
	return cross
}

// Layout returns the options for a table with names for values, in which the values of columns compete.
func (t *Table) Layout(names report.Names, compete []string) Options {
	o := t.options()
	o.Names, o.Compete = names, compete
	for _, c := range t.view.Only {
		o.Order[c.Column] = c.Values
	}
	for _, g := range t.view.Groups {
		o.Order[view.GroupColumn] = append(o.Order[view.GroupColumn], g.Name)
	}
	return o
}

// Write writes figures in one of report.Formats: laid out, or for programs as a list.
func Write(w io.Writer, format string, estimates []crosstalk.Estimate, o Options) error {
	if !report.ForPeople(format) {
		return report.WriteNamed(w, format, estimates, o.Names)
	}
	tables, err := Tables(estimates, o)
	if err != nil {
		return err
	}
	return report.WriteTables(w, format, tables)
}
