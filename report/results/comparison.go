package results

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
	"crosstalk/compare"
	"crosstalk/instrument"
	"crosstalk/internal/numbers"
	"crosstalk/internal/ordered"
	"crosstalk/report"
	"crosstalk/report/pivot"
)

// Comparison is a result of package compare with the names that tables show for values of columns.
type Comparison struct {
	compare.Result
	Names report.Names
}

// Write writes a comparison in one of report.Formats.
func (r Comparison) Write(w io.Writer, format string) error {
	return report.WriteResult(w, format, r.Result, r.Comparisons, r.records,
		func() []report.Table { return []report.Table{r.table()} })
}

func (r Comparison) table() report.Table {
	subjects := make([]compare.Subject, len(r.Comparisons))
	for i, c := range r.Comparisons {
		subjects[i] = c.Subject
	}
	t := layout(named(subjects, r.Names))
	unit, reference := "", "reference"
	units := ordered.Distinct(r.Comparisons, func(c compare.Comparison) string { return cmp.Or(c.Unit, "%") })
	if len(units) == 1 {
		unit, reference = units[0], "reference "+units[0]
	}
	t.Header = append(t.Header, reference, cmp.Or(unit, "value"), "difference",
		report.LevelText(r.Level)+" interval", "p", "n", "clusters", "left out", "detectable")
	names, warnings, leftOut := make([]string, len(t.Rows)), make([][]string, len(t.Rows)), map[string]int{}
	for i, c := range r.Comparisons {
		names[i], warnings[i] = strings.Join(t.Rows[i], "/"), c.Warnings
		difference := numbers.Difference(c.Difference, c.Unit)
		if c.Difference.Defined() && !c.Shown {
			difference = "~"
		}
		for reason, n := range c.LeftOut {
			leftOut[reason] += n
		}
		value := numbers.Value(c.Value, c.Unit)
		if unit == "" {
			value += " " + cmp.Or(c.Unit, "%")
		}
		t.Rows[i] = append(t.Rows[i], numbers.Value(c.ReferenceValue, c.Unit), value, difference,
			numbers.DifferenceInterval(c.Interval, c.Unit), report.PValue(c.Adjusted), strconv.Itoa(c.N),
			strconv.Itoa(c.Clusters), strconv.Itoa(c.Missing()), detectable(c))
	}
	t.Notes = r.legend()
	var parts []string
	for _, reason := range sorted(leftOut) {
		parts = append(parts, fmt.Sprintf("%s %d", crosstalk.Words(reason), leftOut[reason]))
	}
	if parts != nil {
		t.Notes = append(t.Notes, "left out: items without a pair, summed over all rows: "+strings.Join(parts, ", "))
	}
	t.Notes = slices.Concat(t.Notes, ordered.Distinct(r.Comparisons, func(c compare.Comparison) string {
		if len(c.Across) > 0 {
			return "signature: " + c.Signature + "; the other differs in " + strings.Join(c.Across, ", ")
		}
		return "signature: " + c.Signature
	}), report.Warnings(names, warnings), r.NotCompared())
	return t
}

func detectable(c compare.Comparison) string {
	if c.Unit == "" && c.Detectable > 1 {
		return ">100"
	}
	return numbers.Value(c.Detectable, c.Unit)
}

var methods = map[string]string{"sign-flip": "sign-flip permutation test over clusters", "mcnemar": "McNemar's test",
	"score":    "score test of unpaired rates",
	"exchange": "permutation test that exchanges the conditions of clusters", "t": "t test of unpaired figures"}

// Adjusted describes how p-values are: "adjusted by Holm's method over 4 tests".
func (r Comparison) Adjusted() string {
	method, tests := "Holm's method", fmt.Sprintf("%d tests", r.Family)
	if r.Adjustment == compare.BH {
		method = "Benjamini and Hochberg's method"
	}
	if r.Family == 1 {
		tests = "this test alone"
	}
	return "adjusted by " + method + " over " + tests
}

// UnpairedNote explains the counts of comparisons that are not paired.
const UnpairedNote = "unpaired: too few items in common, so n counts the items of both sides"

// NamesOf names comparisons by what differs between them, except the measure: conditions and groups. The name is
// empty if nothing does.
func (r Comparison) NamesOf(shown []compare.Comparison) []string {
	subjects := make([]compare.Subject, len(shown))
	for i, c := range shown {
		subjects[i] = c.Subject
		subjects[i].Measure = ""
	}
	t := layout(named(subjects, r.Names))
	names := make([]string, len(shown))
	for i, row := range t.Rows {
		for j, value := range row {
			if column := t.Header[j]; column != "" {
				names[i] = strings.TrimPrefix(names[i]+" · "+crosstalk.Words(column)+" "+value, " · ")
			}
		}
	}
	return names
}

func (r Comparison) legend() []string {
	alpha := 100 * (1 - r.Level)
	strictest := "this"
	if r.Adjustment == compare.BH {
		strictest = "Holm's"
	}
	other := ""
	if slices.ContainsFunc(r.Comparisons, func(c compare.Comparison) bool { return c.Unit != "" }) {
		other = ", or the figure's unit"
	}
	notes := []string{
		fmt.Sprintf("difference: in percentage points%s; ~: not significant at %.2g %%, but a true difference below "+
			"detectable may well exist", other, alpha),
		fmt.Sprintf("p: %s; detectable: the difference found with 80 %% power after %s adjustment, "+
			"- with too few clusters to find any", r.Adjusted(), strictest),
		"interval: for each difference separately, not adjusted",
	}
	for _, method := range ordered.Distinct(r.Comparisons, func(c compare.Comparison) string { return c.Method }) {
		notes = append(notes, "test: "+methods[method])
	}
	if slices.ContainsFunc(r.Comparisons, func(c compare.Comparison) bool { return !c.Paired }) {
		notes = append(notes, UnpairedNote)
	}
	return notes
}

// NotCompared lists what was refused, as notes.
func (r Comparison) NotCompared() []string { return refusals(r.Refused) }

// refusals lists each reason, or set of fields, once.
func refusals(refused []compare.Refusal) (notes []string) {
	key := func(x compare.Refusal) string { return x.Reason + strings.Join(sorted(x.Fields), ",") }
	groups := ordered.Groups(refused, key)
	slices.SortFunc(groups, func(a, b []compare.Refusal) int { return cmp.Compare(key(a[0]), key(b[0])) })
	for _, of := range groups {
		note := "not compared: " + of[0].String()
		if n := len(of); n > 1 {
			note += fmt.Sprintf(", and %d more for the same reason", n-1)
		}
		notes = append(notes, note)
	}
	return notes
}

// records returns a row for each comparison, with a column for every column of groups and conditions.
func (r Comparison) records() [][]string {
	var by, of []map[string]string
	for _, c := range r.Comparisons {
		by, of = append(by, c.By), append(of, c.Condition)
	}
	groups, conditions := instrument.Columns(by), instrument.Columns(of)
	header := slices.Concat([]string{"measure"}, groups, conditions)
	for _, column := range conditions {
		header = append(header, "reference_"+column)
	}
	units := slices.ContainsFunc(r.Comparisons, func(c compare.Comparison) bool { return c.Unit != "" })
	if units {
		header = append(header, "unit")
	}
	all := [][]string{append(header, "value", "reference_value", "difference", "low", "high", "level", "interval", "p",
		"adjusted_p", "method", "shown", "detectable",
		"paired", "n", "clusters", "left_out", "signature", "across", "warnings")}
	for _, c := range r.Comparisons {
		record := []string{c.Measure}
		for _, column := range groups {
			record = append(record, c.By[column])
		}
		for _, of := range []map[string]string{c.Condition, c.Reference} {
			for _, column := range conditions {
				record = append(record, of[column])
			}
		}
		if units {
			record = append(record, c.Unit)
		}
		record = append(record, report.Number(c.Value), report.Number(c.ReferenceValue), report.Number(c.Difference))
		if i := c.Interval; i != nil {
			record = append(record, report.Number(crosstalk.Value(i.Low)), report.Number(crosstalk.Value(i.High)),
				report.Number(crosstalk.Value(i.Level)), i.Method)
		} else {
			record = append(record, "", "", "", "")
		}
		all = append(all, append(record, report.Number(c.P), report.Number(c.Adjusted), c.Method,
			strconv.FormatBool(c.Shown), report.Number(c.Detectable),
			strconv.FormatBool(c.Paired), strconv.Itoa(c.N), strconv.Itoa(c.Clusters), strconv.Itoa(c.Missing()), c.Signature,
			strings.Join(c.Across, " "), strings.Join(c.Warnings, "; ")))
	}
	return all
}

// layout starts a table with a row for each subject. Common values go into the heading, the others into columns.
func layout(subjects []compare.Subject) (t report.Table) {
	subjects = withoutRun(subjects)
	var columns []func(compare.Subject) string
	several := func(text func(compare.Subject) string) bool {
		return slices.ContainsFunc(subjects, func(s compare.Subject) bool { return text(s) != text(subjects[0]) })
	}
	column := func(name string, text func(compare.Subject) string, constant string) {
		if several(text) {
			t.Header = append(t.Header, name)
			columns = append(columns, text)
		} else if constant != "" {
			t.Heading = append(t.Heading, constant)
		}
	}
	first := subjects[0]
	column("measure", func(s compare.Subject) string { return crosstalk.Words(s.Measure) }, crosstalk.Words(first.Measure))
	var conditions, groups []map[string]string
	for _, s := range subjects {
		conditions, groups = append(conditions, s.Condition), append(groups, s.By)
	}
	own := map[string]string{} // values that the conditions share but the references do not
	for _, name := range instrument.Columns(conditions) {
		text := func(s compare.Subject) string { return cmp.Or(s.Condition[name], "-") }
		reference := func(s compare.Subject) string { return cmp.Or(s.Reference[name], "-") }
		constant := name + " " + text(first)
		if len(first.Reference) > 0 && (several(reference) || reference(first) != text(first)) {
			constant = "" // shown beside its reference
		}
		column(name, text, constant)
		if constant == "" && !several(text) {
			own[name] = first.Condition[name]
		}
	}
	against := func(s compare.Subject) string { return compare.Describe(s.Reference, s.Condition) }
	switch mine := compare.Describe(own, nil); {
	case several(against):
		if mine != "" {
			t.Heading = append(t.Heading, mine)
		}
		column("against", against, "")
	case against(first) != "":
		t.Heading = append(t.Heading, strings.TrimSpace(mine+" against "+against(first)))
	}
	for _, name := range instrument.Columns(groups) {
		text := func(s compare.Subject) string { return cmp.Or(s.By[name], crosstalk.All) }
		constant := name + " " + text(first)
		if text(first) == crosstalk.All {
			constant = ""
		}
		column(name, text, constant)
	}
	if columns == nil {
		t.Header, columns = []string{""},
			[]func(compare.Subject) string{func(compare.Subject) string { return crosstalk.All }}
	}
	t.Left = len(t.Header)
	for _, s := range subjects {
		var row []string
		for _, text := range columns {
			row = append(row, text(s))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// named replaces values of the subjects' columns by the names that tables show.
func named(subjects []compare.Subject, names report.Names) []compare.Subject {
	rows := make([]map[string]string, 0, 2*len(subjects)) // conditions and references must be named alike
	for _, s := range subjects {
		rows = append(rows, names.By(s.Condition), names.By(s.Reference))
	}
	rows = report.Shorten(rows, 0)
	list := slices.Clone(subjects)
	for i := range list {
		list[i].Condition, list[i].Reference, list[i].By = rows[2*i], rows[2*i+1], names.By(list[i].By)
	}
	return list
}

// withoutRun omits the names of the runs if other columns distinguish the conditions.
func withoutRun(subjects []compare.Subject) []compare.Subject {
	without := func(condition map[string]string) map[string]string {
		condition = maps.Clone(condition)
		delete(condition, compare.RunColumn)
		return condition
	}
	whole := map[string]string{} // conditions by their remaining columns
	short := make([]compare.Subject, len(subjects))
	for i, s := range subjects {
		short[i] = s
		short[i].Condition, short[i].Reference = without(s.Condition), without(s.Reference)
		for _, c := range [][2]map[string]string{{s.Condition, short[i].Condition}, {s.Reference, short[i].Reference}} {
			with, left := string(crosstalk.Canonical(c[0])), string(crosstalk.Canonical(c[1]))
			if other, ok := whole[left]; ok && other != with {
				return subjects
			}
			whole[left] = with
		}
	}
	return short
}

// AgainstColumn is the reference's column in tables of rows and columns.
const AgainstColumn = "against"

// WriteTable writes a comparison in one of report.Formats: differences by rows and columns or, for programs, as Write
// does. The rows and columns can have AgainstColumn.
func (r Comparison) WriteTable(w io.Writer, format string, o pivot.Options) error {
	if !report.ForPeople(format) {
		return r.Write(w, format)
	}
	o.Subtitle, o.Compete = "difference", nil // no difference is better than another
	o.Text = func(e crosstalk.Estimate) string {
		if e.Test != nil && e.Value.Defined() && !(float64(e.Test.P) <= 1-r.Level+1e-12) {
			return "~"
		}
		return numbers.Difference(e.Value, e.Unit)
	}
	note := fmt.Sprintf("~: not significant at %.2g %%, which does not mean that there is no difference; p is %s",
		100*(1-r.Level), r.Adjusted())
	o.Notes = append([]string{note}, r.NotCompared()...)
	return pivot.Write(w, format, r.figures(), o)
}

// figures returns the differences as figures, with the columns of the condition and the group. Their test is the
// adjusted test of the difference.
func (r Comparison) figures() []crosstalk.Estimate {
	subjects := make([]compare.Subject, len(r.Comparisons))
	for i, c := range r.Comparisons {
		subjects[i] = c.Subject
	}
	subjects = withoutRun(subjects)
	figures := make([]crosstalk.Estimate, len(subjects))
	for i, c := range r.Comparisons {
		s := subjects[i]
		by := maps.Clone(s.By)
		maps.Copy(by, s.Condition)
		by[AgainstColumn] = compare.Describe(r.Names.By(s.Reference), r.Names.By(s.Condition))
		figures[i] = crosstalk.Estimate{Measure: c.Measure, Value: c.Difference, Unit: c.Unit, N: c.N,
			Clusters: c.Clusters, Interval: c.Interval,
			Test: &crosstalk.Test{Method: c.Method, P: c.Adjusted}, By: by, Signature: c.Signature, Warnings: c.Warnings}
		for _, field := range c.Across {
			figures[i].Warnings = append(figures[i].Warnings, fmt.Sprintf("the signature of the other differs in %s", field))
		}
	}
	return figures
}

// sorted returns the keys of a map in order.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
