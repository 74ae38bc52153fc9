package main

import (
	"fmt"
	"slices"
	"strings"

	"crosstalk/internal/config"
	"crosstalk/report"
	"crosstalk/report/pivot"
	"crosstalk/study"
	"crosstalk/view"

	"github.com/spf13/cobra"
)

// tableFlags say what a table looks like, and which observations its figures are
// about.
type tableFlags struct {
	rows, columns, pool, beside []string
	group, only, names          []string
	spread, caption             string
}

// tableNames are the names of the flags.
var tableNames = []string{"rows", "columns", "pool", "only", "group", "spread", "with", "label", "caption"}

func (t *tableFlags) add(c *cobra.Command) {
	f := c.Flags()
	f.StringSliceVar(&t.rows, "rows", nil, "lay figures out in a table with the values of these columns as rows")
	f.StringSliceVar(&t.columns, "columns", nil, "and the values of these as columns; measure means the measures")
	f.StringSliceVar(&t.pool, "pool", nil, "figures over all values of a setting or the model together, such as temperature")
	f.StringArrayVar(&t.only, "only", nil, "figures over some values only, in this order: COLUMN=VALUE,...")
	f.StringArrayVar(&t.group, "group", nil, "a value of the column group: COLUMN:NAME=VALUE,..., such as language:Romance=es,fr,it")
	f.StringVar(&t.spread, "spread", "", "show the least, the mean and the greatest figure of a column's values, such as sample")
	f.StringSliceVar(&t.beside, "with", nil, "beside each figure in a table: "+strings.Join(pivot.Sides, ", "))
	f.StringArrayVar(&t.names, "label", nil, "what to call a value, column or measure in a table: VALUE=NAME")
	f.StringVar(&t.caption, "caption", "", "caption of a table in LaTeX (default: what its figures have in common)")
	config.Harmless(f, tableNames...)
}

// wanted reports whether a flag asks for something else than a run's own figures.
func (t *tableFlags) wanted(c *cobra.Command) bool {
	return slices.ContainsFunc(tableNames, c.Flags().Changed)
}

// laidOut reports whether figures are laid out by rows and columns.
func (t *tableFlags) laidOut() bool { return len(t.rows)+len(t.columns) > 0 }

// view returns the view of observations that the flags ask for.
func (t *tableFlags) view() (v view.View, err error) {
	v.Pool = t.pool
	for _, text := range t.only {
		choice, err := view.ParseChoice(text)
		if err != nil {
			return v, fmt.Errorf("--only%w", err)
		}
		v.Only = append(v.Only, choice)
	}
	for _, text := range t.group {
		group, err := view.ParseGroup(text)
		if err != nil {
			return v, fmt.Errorf("--group%w", err)
		}
		v.Groups = append(v.Groups, group)
	}
	if err := v.Check(); err != nil {
		return v, err
	}
	return v, t.check(v)
}

// check completes the rows and columns, and refuses flags that say nothing.
func (t *tableFlags) check(v view.View) error {
	named := func(column string) bool { return slices.Contains(t.rows, column) || slices.Contains(t.columns, column) }
	if t.spread != "" && !named(t.spread) {
		t.columns = append(t.columns, t.spread)
	}
	if len(v.Groups) > 0 && !named(view.GroupColumn) {
		t.rows = append(t.rows, view.GroupColumn)
	}
	for _, column := range v.Pool {
		if named(column) {
			return fmt.Errorf("--pool %s leaves one value of %[1]s: it cannot be among rows and columns", column)
		}
	}
	if !t.laidOut() && (t.beside != nil || t.caption != "") {
		return fmt.Errorf("--with and --caption belong to a table: name its --rows or --columns")
	}
	return t.options().Check()
}

// figures are those that the table needs.
func (t *tableFlags) figures(v view.View, by, measures []string) study.Figures {
	f := study.Figures{View: v, By: by, Measures: measures}
	if t.laidOut() {
		f.Cross = slices.DeleteFunc(slices.Concat(t.columns, t.rows), func(column string) bool { return column == pivot.Measure })
	}
	return f
}

func (t *tableFlags) options() pivot.Options {
	return pivot.Options{Rows: t.rows, Columns: t.columns, Beside: t.beside, Caption: t.caption, Order: map[string][]string{}}
}

// namesOf are the names that --label gives, before those that the runs have.
func (t *tableFlags) namesOf(paths []string) (report.Names, error) {
	names, err := report.ParseNames(t.names)
	if err != nil {
		return nil, fmt.Errorf("--label: %w", err)
	}
	kept, err := study.Names(paths...)
	if err != nil {
		return nil, err
	}
	for value, name := range kept {
		if _, ok := names[value]; !ok {
			names[value] = name
		}
	}
	return names, nil
}

// layout is what the table of these runs looks like.
func (t *tableFlags) layout(v view.View, paths []string) (o pivot.Options, err error) {
	o = t.options()
	if o.Names, err = t.namesOf(paths); err != nil {
		return o, err
	}
	if o.Compete, err = study.Compared(paths); err != nil {
		return o, err
	}
	for _, c := range v.Only {
		o.Order[c.Column] = c.Values
	}
	for _, g := range v.Groups {
		o.Order[view.GroupColumn] = append(o.Order[view.GroupColumn], g.Name)
	}
	return o, nil
}
