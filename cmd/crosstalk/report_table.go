package main

import (
	"fmt"

	"crosstalk/compare"
	"crosstalk/report"
	"crosstalk/report/pivot"
	"crosstalk/study"
	"crosstalk/view"

	"github.com/spf13/cobra"
)

// writeTable prints figures that are laid out in a table, or are about other
// observations than the run's own figures.
func (r *reportFlags) writeTable(c *cobra.Command, paths []string) error {
	for _, name := range []string{"html", "figures", "corrected"} {
		if c.Flags().Changed(name) {
			return fmt.Errorf("--%s cannot be combined with --measure or flags of tables: such figures are only printed", name)
		}
	}
	v, err := r.table.view()
	if err != nil {
		return err
	}
	by := given(c, "by", r.by)
	switch {
	case by != nil && r.table.laidOut():
		return fmt.Errorf("--by and --rows or --columns cannot be combined: rows and columns say what figures are grouped by")
	case len(paths) > 1 && !r.table.laidOut():
		return fmt.Errorf("several runs need a table: name its --rows and --columns, such as --rows model")
	case by != nil:
		if by, err = study.ParseBy(by); err != nil {
			return err
		}
	}
	estimates, err := r.table.figures(v, by, r.measures).OfRuns(paths, compare.Names(paths))
	if err != nil {
		return err
	}
	if r.table.spread != "" {
		estimates = view.Spread(estimates, r.table.spread)
	}
	if !r.table.laidOut() || !report.ForPeople(r.format) {
		names, err := r.table.namesOf(paths)
		if err != nil {
			return err
		}
		return report.WriteNamed(c.OutOrStdout(), r.format, estimates, names)
	}
	o, err := r.table.layout(v, paths)
	if err != nil {
		return err
	}
	tables, err := pivot.Tables(estimates, o)
	if err != nil {
		return err
	}
	return report.WriteTables(c.OutOrStdout(), r.format, tables)
}
