// Package report prints estimates. It depends on estimates and observations; what
// it knows about instruments is in their Kinds.
//
// Formats for people (table, markdown, latex) have percentages, formats for programs (json, jsonl, csv) fractions.
// An undefined figure is "-", null or an empty field, never 0. Warnings are printed below a table and included in
// the formats for programs.
package report

import (
	"io"
	"strings"

	"crosstalk"
)

// Formats are the values of --format, the default first.
var Formats = []string{"table", "json", "jsonl", "csv", "markdown", "latex"}

// CheckFormat returns an error for an unknown format.
func CheckFormat(format string) error {
	_, err := crosstalk.Chosen("format", format, Formats)
	return err
}

// ForPeople reports whether a format is one for people: a table, with percentages.
func ForPeople(format string) bool { return layouts[format] != nil }

// WriteNamed writes estimates in one of Formats, those for people with names.
func WriteNamed(w io.Writer, format string, estimates []crosstalk.Estimate, names Names) error {
	if ForPeople(format) {
		estimates = names.Estimates(estimates)
	}
	return Write(w, format, estimates)
}

// Write writes estimates in one of Formats. Before a table it says in words how many answers have a fault.
func Write(w io.Writer, format string, estimates []crosstalk.Estimate) error {
	if lines := PlainTotals(estimates); format == Formats[0] && len(lines) > 0 {
		if _, err := io.WriteString(w, strings.Join(lines, "\n")+"\n\n"); err != nil {
			return err
		}
	}
	return WriteResult(w, format, crosstalk.NewDocument(estimates), estimates,
		func() [][]string { return records(estimates) }, func() []Table { return Tables(estimates) })
}
