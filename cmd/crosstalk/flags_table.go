package main

import (
	"strings"

	"crosstalk/internal/config"
	"crosstalk/report/pivot"

	"github.com/spf13/cobra"
)

// tableFlags say what a table looks like, and which observations its figures are
// about.
type tableFlags struct{ pivot.Table }

// tableNames are the names of the flags.
var tableNames = []string{"rows", "columns", "pool", "only", "group", "spread", "with", "label"}

func (t *tableFlags) add(c *cobra.Command) {
	f := c.Flags()
	f.StringSliceVar(&t.Rows, "rows", nil, "lay figures out in a table with the values of these columns as rows")
	f.StringSliceVar(&t.Columns, "columns", nil, "and the values of these as columns; measure means the measures")
	f.StringSliceVar(&t.Pool, "pool", nil, "figures over all values of a setting or the model together, such as temperature")
	f.StringArrayVar(&t.Only, "only", nil, "figures over some values only, in this order: COLUMN=VALUE,...")
	f.StringArrayVar(&t.Group, "group", nil, "a value of the column group: COLUMN:NAME=VALUE,..., such as language:Romance=es,fr,it")
	f.StringVar(&t.Spread, "spread", "", "show the least, the mean and the greatest figure of a column's values, such as sample")
	f.StringSliceVar(&t.Beside, "with", nil, "beside each figure in a table: "+strings.Join(pivot.Sides, ", "))
	f.StringArrayVar(&t.Names, "label", nil, "what to call a value, column or measure in a table: VALUE=NAME")
	config.Harmless(f, tableNames...)
}

// wanted reports whether a flag asks for something else than a run's own figures.
func (t *tableFlags) wanted(c *cobra.Command) bool {
	return anyGiven(c, tableNames...) != ""
}
