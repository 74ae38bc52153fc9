package pivot

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"crosstalk"
	"crosstalk/report"
	"crosstalk/report/plot"
	"crosstalk/run"
	"crosstalk/run/view"
	"crosstalk/study"
)

// Table says which figures of runs to show, about which observations, and how to
// lay them out, as people write it. Without rows and columns, it is a list.
type Table struct {
	Rows, Columns []string // columns of figures, or Measure
	Beside        []string // what cells show next to the figure: Sides
	Pool          []string // columns over whose values figures are together
	Only          []string // "COLUMN=VALUE,...": observations with these values only, in this order
	Group         []string // "COLUMN:NAME=VALUE,...": a value of view.GroupColumn
	Spread        []string // columns of whose values the least, the mean and the greatest figure are shown
	Names         []string // "VALUE=NAME", "COLUMN:VALUE=NAME": what to call a value, column or measure

	view view.View
}

// ErrTwoGroupings is the error for figures of a table that are grouped by other columns too.
var ErrTwoGroupings = crosstalk.BadOption("by",
	" and --rows or --columns cannot be combined: rows and columns say what figures are grouped by")

// LaidOut reports whether figures are laid out by rows and columns.
func (t *Table) LaidOut() bool { return len(t.Rows)+len(t.Columns) > 0 }

// Complete reads what people wrote and adds the rows and columns that it implies.
// Call it before the others. An error says what contradicts itself or says nothing.
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
	if !t.LaidOut() && t.Beside != nil {
		return crosstalk.BadOption("with", " belongs to a table: name its --rows or --columns")
	}
	return t.options().Check()
}

func (t *Table) options() Options {
	return Options{Rows: t.Rows, Columns: t.Columns, Beside: t.Beside, Order: map[string][]string{}}
}

// Figures are those that the table needs: grouped by columns, if it has no rows and
// columns (nil: as when they were measured), and of these measures (nil: all).
func (t *Table) Figures(by, measures []string) study.Figures {
	f := study.Figures{View: t.view, By: by, Measures: measures}
	if t.LaidOut() {
		f.Cross = slices.DeleteFunc(slices.Concat(t.Columns, t.Rows), func(column string) bool { return column == Measure })
		for _, column := range t.Spread {
			if !slices.Contains(f.Cross, column) {
				f.Cross = append(f.Cross, column)
			}
		}
	}
	return f
}

// NamesOf are the names of the table, before those that the runs have.
func (t *Table) NamesOf(paths []string) (report.Names, error) {
	own, err := report.ParseNames(t.Names)
	if err != nil {
		return nil, crosstalk.BadOption("label", ": %w", err)
	}
	names, err := study.Names(paths...)
	maps.Copy(names, own)
	return names, err
}

// Layout is what a table of the figures of these runs looks like.
func (t *Table) Layout(paths []string) (o Options, err error) {
	o = t.options()
	if o.Names, err = t.NamesOf(paths); err != nil {
		return o, err
	}
	if o.Compete, err = study.Compared(paths); err != nil {
		return o, err
	}
	for _, c := range t.view.Only {
		o.Order[c.Column] = c.Values
	}
	for _, g := range t.view.Groups {
		o.Order[view.GroupColumn] = append(o.Order[view.GroupColumn], g.Name)
	}
	return o, nil
}

// Laid is figures of runs, laid out by rows and columns or, without any, a list.
type Laid struct {
	estimates []crosstalk.Estimate
	options   Options
}

// Of computes the figures of runs, grouped by columns and of these measures; nil as in Figures.
func (t *Table) Of(paths, by, measures []string) (l Laid, err error) {
	if err := t.Complete(); err != nil {
		return l, err
	}
	switch {
	case by != nil && t.LaidOut():
		return l, ErrTwoGroupings
	case len(paths) > 1 && !t.LaidOut():
		return l, fmt.Errorf("several runs need a table: name its --rows and --columns, such as --rows model")
	}
	if by, err = study.ParseBy(by); err != nil {
		return l, err
	}
	if l.estimates, err = t.Figures(by, measures).OfRuns(paths, run.Names(paths)); err != nil {
		return l, err
	}
	if t.Spread != nil {
		l.estimates = view.Spread(l.estimates, t.Spread...)
	}
	l.options, err = t.Layout(paths)
	return l, err
}

// Write writes the figures in one of report.Formats.
func (l Laid) Write(w io.Writer, format string) error {
	if len(l.options.Rows)+len(l.options.Columns) == 0 || !report.ForPeople(format) {
		return report.WriteNamed(w, format, l.estimates, l.options.Names)
	}
	tables, err := Tables(l.estimates, l.options)
	if err != nil {
		return err
	}
	return report.WriteTables(w, format, tables)
}

// Plots draws each table.
func (l Laid) Plots() ([]plot.Plot, error) { return Plots(l.estimates, l.options) }
