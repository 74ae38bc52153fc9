package compare

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"crosstalk"
	"crosstalk/report"
	"crosstalk/report/pivot"
	"crosstalk/run/view"
)

// againstColumn is the column of the reference in tables of rows and columns.
const againstColumn = "against"

// WriteTable compares the figures that a table needs and writes the differences in one of report.Formats: laid out
// as the table says or, if it has no rows and columns, as Write does. by are the columns of groups, if o.Groups.
func WriteTable(w io.Writer, format string, paths []string, t *pivot.Table, by []string, o Options) error {
	if t.Spread != nil && !report.ForPeople(format) {
		return crosstalk.BadOption("spread", " is of tables for people: --format %s has every difference", format)
	}
	if o.Groups && t.LaidOut() {
		return pivot.ErrTwoGroupings
	}
	if slices.Contains(t.Beside, pivot.Change) {
		return crosstalk.BadOption("with", " %s: figures of a comparison are changes themselves", pivot.Change)
	}
	if err := t.Complete(); err != nil {
		return err
	}
	runs, err := openFigures(paths, t.Figures(by, nil))
	if err != nil {
		return err
	}
	o.Groups = o.Groups || t.LaidOut()
	result, err := Runs(runs, o)
	if err != nil {
		return err
	}
	if !t.LaidOut() {
		if result.Names, err = t.NamesOf(paths); err != nil {
			return err
		}
		return Write(w, format, result)
	}
	layout, err := t.Layout(paths)
	if err != nil {
		return err
	}
	layout.Compete = nil // a difference is no better than another
	return writePivot(w, format, result, layout, t.Spread)
}

// writePivot writes the differences by rows and columns in a format for people, and
// the result as Write does in one for programs. Of the values of the columns spread,
// if there are any, the table has the least, the mean and the greatest difference.
func writePivot(w io.Writer, format string, r Result, o pivot.Options, spread []string) error {
	if !report.ForPeople(format) {
		return Write(w, format, r)
	}
	for _, name := range o.Beside {
		if name == "holm" || name == "bh" {
			return crosstalk.BadOption("with", " %s: p-values of differences are adjusted already: use --with p and --adjust",
				name)
		}
	}
	o.Subtitle = "difference"
	o.Text = func(e crosstalk.Estimate) string {
		if e.Test != nil && e.Value.Defined() && !(float64(e.Test.P) <= 1-r.Level+1e-12) {
			return "~"
		}
		return report.Difference(e.Value, e.Unit)
	}
	figures := r.figures()
	if spread != nil {
		figures = view.Spread(figures, spread...)
	}
	tables, err := pivot.Tables(figures, o)
	if err != nil {
		return err
	}
	for i := range tables {
		tables[i].Notes = slices.Concat([]string{fmt.Sprintf("~: not significant at %.2g %%, which does not mean that "+
			"there is no difference; "+
			"p is adjusted by %s over %s", 100*(1-r.Level), r.adjustment(), r.tests())}, tables[i].Notes, refusals(r.Refused))
	}
	return report.WriteTables(w, format, tables)
}

// figures are the differences as figures, with the columns of the condition and of
// the group. Their test is that of the difference, adjusted.
func (r Result) figures() []crosstalk.Estimate {
	subjects := make([]Subject, len(r.Comparisons))
	for i, c := range r.Comparisons {
		subjects[i] = c.Subject
	}
	subjects = withoutRun(subjects)
	figures := make([]crosstalk.Estimate, len(subjects))
	for i, c := range r.Comparisons {
		s := subjects[i]
		by := maps.Clone(s.By)
		maps.Copy(by, s.Condition)
		by[againstColumn] = describe(s.Reference, s.Condition)
		figures[i] = crosstalk.Estimate{Measure: c.Measure, Value: c.Difference, Unit: c.Unit, N: c.N,
			Clusters: c.Clusters, Interval: c.Interval,
			Test: &crosstalk.Test{Method: c.Method, P: c.Adjusted}, By: by, Signature: c.Signature, Warnings: c.Warnings}
		for _, field := range c.Across {
			figures[i].Warnings = append(figures[i].Warnings, fmt.Sprintf("the signature of the other differs in %s", field))
		}
	}
	return figures
}
