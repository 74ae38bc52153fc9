package gate

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
	"crosstalk/internal/ordered"
	"crosstalk/report"
)

// Write writes a verdict in one of report.Formats.
func Write(w io.Writer, format string, v Verdict) error {
	return report.WriteResult(w, format, v, v.Checks, v.records,
		func() []report.Table { return []report.Table{v.table()} })
}

// Headline is the result in a few words.
func (v Verdict) Headline() string {
	checks := fmt.Sprintf("%d checks", len(v.Checks))
	if len(v.Checks) == 1 {
		checks = "1 check"
	}
	switch _, open := v.count(); {
	case v.Passed:
		return "passed: " + checks
	case v.Inconclusive:
		return fmt.Sprintf("inconclusive: %d of %s", open, checks)
	case open > 0:
		return fmt.Sprintf("failed: %d of %s, and %d inconclusive", v.Failed(), checks, open)
	default:
		return fmt.Sprintf("failed: %d of %s", v.Failed(), checks)
	}
}

func (v Verdict) table() report.Table {
	v = v.named()
	slices.SortStableFunc(v.Checks, func(a, b Check) int {
		return slices.Index(results, a.outcome()) - slices.Index(results, b.outcome())
	})
	required := v.required()
	shared, columns := v.columns()
	t := report.Table{Heading: []string{"gate " + v.Headline()}}
	if required != "" {
		t.Heading = append(t.Heading, strings.TrimSpace(required))
		for i := range v.Checks {
			v.Checks[i].Requirement = v.Checks[i].Measure
		}
	}
	t.Heading = append(t.Heading, shared...)
	t.Header = slices.Concat([]string{"", "check"}, columns)
	if !v.Passed {
		t.Header = append(t.Header, "why")
	}
	t.Left = len(t.Header)
	t.Header = append(t.Header, "value", "interval", "n")
	for _, c := range v.Checks {
		row := []string{c.outcome(), c.Requirement}
		for _, column := range columns {
			value := cmp.Or(c.By[column], crosstalk.All)
			if len(c.By) == 0 {
				value = "-"
			}
			row = append(row, value)
		}
		if !v.Passed {
			row = append(row, cmp.Or(c.Reason, "-"))
		}
		t.Rows = append(t.Rows, append(row, c.value(), c.interval(), strconv.Itoa(c.N)))
	}
	names, remarks := make([]string, len(v.Checks)), make([][]string, len(v.Checks))
	for i, c := range v.Checks {
		names[i], remarks[i] = c.name(columns), c.Remarks
	}
	t.Notes = report.Warnings(names, remarks)
	return t
}

func (v Verdict) named() Verdict {
	rows := make([]map[string]string, len(v.Checks))
	for i, c := range v.Checks {
		rows[i] = v.Names.By(c.By)
	}
	v.Checks = slices.Clone(v.Checks)
	for i, by := range report.Shorten(rows, 0) {
		v.Checks[i].By = by
	}
	return v
}

// results are the results of a check, the most serious first.
var results = []string{"FAILED", "inconclusive", "passed"}

func (c Check) outcome() string {
	switch {
	case c.Passed:
		return results[2]
	case c.Inconclusive:
		return results[1]
	}
	return results[0]
}

// required names what several checks all require of their measures, such as " no worse
// than runs/old by more than 1 point"; empty if they differ.
func (v Verdict) required() (required string) {
	for i, c := range v.Checks {
		rest, ok := strings.CutPrefix(c.Requirement, c.Measure+" ")
		if !ok || i > 0 && " "+rest != required || len(v.Checks) == 1 {
			return ""
		}
		required = " " + rest
	}
	return required
}

// columns splits the columns of the figures into those with a common value, for
// the heading, and the names of the others. A check without a figure has none.
func (v Verdict) columns() (shared, columns []string) {
	var by []map[string]string
	for _, c := range v.Checks {
		if len(c.By) > 0 {
			by = append(by, c.By)
		}
	}
	for _, column := range report.Columns(by) {
		values := ordered.Distinct(by, func(b map[string]string) string { return cmp.Or(b[column], crosstalk.All) })
		switch {
		case len(values) > 1:
			columns = append(columns, column)
		case values[0] != crosstalk.All:
			shared = append(shared, column+" "+values[0])
		}
	}
	return shared, columns
}

func (c Check) name(columns []string) string {
	name := c.Requirement
	var parts []string
	for _, column := range columns {
		if value := c.By[column]; value != "" && value != crosstalk.All {
			parts = append(parts, column+" "+value)
		}
	}
	if parts != nil {
		name += " (" + strings.Join(parts, ", ") + ")"
	}
	return name
}

func (c Check) value() string {
	switch {
	case !c.Value.Defined():
		return "-"
	case c.Reference != nil:
		return report.Difference(c.Value, c.Unit) + " " + cmp.Or(c.Unit, "points")
	}
	return report.Value(c.Value, c.Unit) + " " + cmp.Or(c.Unit, "%")
}

func (c Check) interval() string {
	if c.Reference != nil {
		return report.DifferenceInterval(c.Interval, c.Unit)
	}
	return report.Interval(c.Interval, c.Unit)
}

func (v Verdict) records() [][]string {
	var by []map[string]string
	for _, c := range v.Checks {
		by = append(by, c.By)
	}
	columns := report.Columns(by)
	all := [][]string{slices.Concat([]string{"requirement", "measure"}, columns,
		[]string{"passed", "inconclusive", "side", "reason", "value", "low", "high", "n", "missing_items", "remarks"})}
	for _, c := range v.Checks {
		record := []string{c.Requirement, c.Measure}
		for _, column := range columns {
			record = append(record, c.By[column])
		}
		low, high, more := "", "", ""
		if c.Missing != nil {
			more = strings.Trim(fmt.Sprint(c.Missing), "[]")
		}
		if i := c.Interval; i != nil {
			low, high = report.Number(crosstalk.Value(i.Low)), report.Number(crosstalk.Value(i.High))
		}
		all = append(all, append(record, strconv.FormatBool(c.Passed), strconv.FormatBool(c.Inconclusive), c.Side, c.Reason,
			report.Number(c.Value), low, high, strconv.Itoa(c.N), more, strings.Join(c.Remarks, "; ")))
	}
	return all
}
