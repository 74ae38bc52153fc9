package compare

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

// Write writes a result in one of report.Formats.
func Write(w io.Writer, format string, r Result) error {
	return report.WriteResult(w, format, r, r.Comparisons, r.records,
		func() []report.Table { return []report.Table{r.table()} })
}

func (r Result) table() report.Table {
	subjects := make([]Subject, len(r.Comparisons))
	for i, c := range r.Comparisons {
		subjects[i] = c.Subject
	}
	t := layout(named(subjects, r.Names))
	unit, reference := unitOf(r.Comparisons), "reference"
	if unit != "" {
		reference += " " + unit
	}
	t.Header = append(t.Header, reference, cmp.Or(unit, "value"), "difference",
		fmt.Sprintf("%g %% interval", 100*r.Level), "p", "n", "clusters", "left out", "detectable")
	names, warnings, leftOut := make([]string, len(t.Rows)), make([][]string, len(t.Rows)), map[string]int{}
	for i, c := range r.Comparisons {
		names[i], warnings[i] = strings.Join(t.Rows[i], "/"), c.Warnings
		difference := report.Difference(c.Difference, c.Unit)
		if c.Difference.Defined() && !c.Shown {
			difference = "~"
		}
		for reason, n := range c.LeftOut {
			leftOut[reason] += n
		}
		value := report.Value(c.Value, c.Unit)
		if unit == "" {
			value += " " + cmp.Or(c.Unit, "%")
		}
		t.Rows[i] = append(t.Rows[i], report.Value(c.ReferenceValue, c.Unit), value, difference,
			report.DifferenceInterval(c.Interval, c.Unit), report.PValue(c.Adjusted), strconv.Itoa(c.N),
			strconv.Itoa(c.Clusters), strconv.Itoa(c.Missing()), detectable(c))
	}
	t.Notes = slices.Concat(r.legend(), leftOutNotes(leftOut), signatures(r.Comparisons),
		report.Warnings(names, warnings), refusals(r.Refused))
	return t
}

// unitOf is the unit that all figures share, "" if there are several.
func unitOf(cs []Comparison) string {
	if slices.ContainsFunc(cs, func(c Comparison) bool { return c.Unit != cs[0].Unit }) {
		return ""
	}
	return cmp.Or(cs[0].Unit, "%")
}

func detectable(c Comparison) string {
	if c.Unit == "" && c.Detectable > 1 {
		return ">100"
	}
	return report.Value(c.Detectable, c.Unit)
}

var methods = map[string]string{"sign-flip": "sign-flip permutation test over clusters", "mcnemar": "McNemar's test",
	"score":    "score test of unpaired rates",
	"exchange": "permutation test that exchanges the conditions of clusters", "t": "t test of unpaired figures"}

func (r Result) tests() string {
	if r.Family == 1 {
		return "this test alone"
	}
	return fmt.Sprintf("%d tests", r.Family)
}

func (r Result) adjustment() string {
	if r.Adjustment == BH {
		return "Benjamini and Hochberg's method"
	}
	return "Holm's method"
}

func (r Result) legend() []string {
	alpha := 100 * (1 - r.Level)
	tests, strictest := r.tests(), "this"
	if r.Adjustment == BH {
		strictest = "Holm's"
	}
	other := ""
	if slices.ContainsFunc(r.Comparisons, func(c Comparison) bool { return c.Unit != "" }) {
		other = ", or the figure's unit"
	}
	notes := []string{
		fmt.Sprintf("difference: in percentage points%s; ~: not significant at %.2g %%, but a true difference below "+
			"detectable may well exist", other, alpha),
		fmt.Sprintf("p: adjusted by %s over %s; detectable: the difference found with 80 %% power after %s "+
			"adjustment, - with too few clusters to find any", r.adjustment(), tests, strictest),
		"interval: for each difference separately, not adjusted",
	}
	for _, method := range ordered.Distinct(r.Comparisons, func(c Comparison) string { return c.Method }) {
		notes = append(notes, "test: "+methods[method])
	}
	if slices.ContainsFunc(r.Comparisons, func(c Comparison) bool { return !c.Paired }) {
		notes = append(notes, "unpaired: too few items in common, so n counts the items of both sides")
	}
	return notes
}

func leftOutNotes(leftOut map[string]int) []string {
	var parts []string
	for _, reason := range sorted(leftOut) {
		parts = append(parts, fmt.Sprintf("%s %d", crosstalk.Words(reason), leftOut[reason]))
	}
	if parts == nil {
		return nil
	}
	return []string{"left out: items without a pair, summed over all rows: " + strings.Join(parts, ", ")}
}

func signatures(cs []Comparison) []string {
	return ordered.Distinct(cs, func(c Comparison) string {
		if len(c.Across) > 0 {
			return "signature: " + c.Signature + "; the other differs in " + strings.Join(c.Across, ", ")
		}
		return "signature: " + c.Signature
	})
}

// refusals states each reason, or set of fields, once.
func refusals(refused []Refusal) (notes []string) {
	key := func(x Refusal) string { return x.Reason + strings.Join(sorted(x.Fields), ",") }
	groups := ordered.Groups(refused, key)
	slices.SortFunc(groups, func(a, b []Refusal) int { return cmp.Compare(key(a[0]), key(b[0])) })
	for _, of := range groups {
		note := "not compared: " + of[0].String()
		if n := len(of); n > 1 {
			note += fmt.Sprintf(", and %d more for the same reason", n-1)
		}
		notes = append(notes, note)
	}
	return notes
}

// records are a row for each comparison, with a column for every column of groups and conditions.
func (r Result) records() [][]string {
	var by, of []map[string]string
	for _, c := range r.Comparisons {
		by, of = append(by, c.By), append(of, c.Condition)
	}
	groups, conditions := report.Columns(by), report.Columns(of)
	header := slices.Concat([]string{"measure"}, groups, conditions)
	for _, column := range conditions {
		header = append(header, "reference_"+column)
	}
	units := slices.ContainsFunc(r.Comparisons, func(c Comparison) bool { return c.Unit != "" })
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
