package main

import (
	"strings"

	"crosstalk/internal/config"
	"crosstalk/report/pivot"

	"github.com/spf13/cobra"
)

// tableFlags say what a table looks like, and which observations its figures are about.
type tableFlags struct{ pivot.Table }

// tableNames are the names of the flags.
var tableNames = []string{"rows", "columns", "pool", "only", "group", "spread", "with", "label"}

func (t *tableFlags) add(c *cobra.Command) {
	config.Declare(c, "", []config.Flag{
		{Name: "rows", To: &t.Rows, Reach: config.Nothing,
			Help: "lay figures out in a table with the values of these columns as rows"},
		{Name: "columns", To: &t.Columns, Reach: config.Nothing,
			Help: "and the values of these as columns; measure means the measures"},
		{Name: "pool", To: &t.Pool, Reach: config.Nothing,
			Help: "figures over all values of a column together, such as temperature"},
		{Name: "only", To: &t.Only, Whole: true, Reach: config.Nothing,
			Help: "figures over some values only, in this order: COLUMN=VALUE,..."},
		{Name: "group", To: &t.Group, Whole: true, Reach: config.Nothing,
			Help: "a value of the column group: COLUMN:NAME=VALUE,..., such as language:Romance=es,fr,it"},
		{Name: "spread", To: &t.Spread, Reach: config.Nothing,
			Help: "show the minimum, the mean and the maximum of a figure over the values of columns, such as sample"},
		{Name: "with", To: &t.Beside, Reach: config.Nothing,
			Help: "beside each figure in a table: " + strings.Join(pivot.Sides, ", ")},
		{Name: "label", To: &t.Names, Whole: true, Reach: config.Nothing,
			Help: "what to call a value, column or measure in a table: [COLUMN:]VALUE=NAME"},
	})
}

// wanted is the first flag that asks for something else than a run's own figures.
func (t *tableFlags) wanted(c *cobra.Command) string { return anyGiven(c, tableNames...) }
