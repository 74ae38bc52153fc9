package main

import (
	"io"
	"slices"
	"strings"

	"crosstalk/internal/config"
	"crosstalk/report"
	"crosstalk/report/pivot"

	"github.com/spf13/cobra"
)

// outputFlags are the flags of every command that prints estimates.
type outputFlags struct{ format string }

func (o *outputFlags) add(c *cobra.Command) {
	config.Declare(c, output, []config.Flag{formatFlag(&o.format, report.Formats)})
	addQuiet(c, "print only the result and errors")
}

// formatFlag is the flag of an output format, the first by default.
func formatFlag(chosen *string, formats []string) config.Flag {
	*chosen = formats[0]
	return config.Flag{Name: "format", To: chosen, Choices: formats, Help: strings.Join(formats, ", ")}
}

// addQuiet adds the flag that silences notes.
func addQuiet(c *cobra.Command, help string) {
	config.Declare(c, output, []config.Flag{{Name: "quiet,q", To: new(bool), Help: help}})
}

// quiet reports whether the flag is set now.
func quiet(c *cobra.Command) bool {
	f := c.Flags().Lookup("quiet")
	return f != nil && f.Value.String() == "true"
}

// notes is where a command writes what the user should know besides its result: stderr, or nowhere with --quiet.
func notes(c *cobra.Command) io.Writer {
	if quiet(c) {
		return io.Discard
	}
	return c.ErrOrStderr()
}

// languageGroups are the columns for grouping that every study with a column language has.
const languageGroups = "groups of languages (family, script, indo_european, latin)"

// anyGiven is the first of these flags that the command line or crosstalk.yaml sets, "" if none is.
func anyGiven(c *cobra.Command, flags ...string) string {
	if i := slices.IndexFunc(flags, c.Flags().Changed); i >= 0 {
		return flags[i]
	}
	return ""
}

// tableFlags say what a table looks like, and which observations its figures are about.
type tableFlags struct{ pivot.Table }

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
func (t *tableFlags) wanted(c *cobra.Command) string {
	return anyGiven(c, "rows", "columns", "pool", "only", "group", "spread", "with", "label")
}
