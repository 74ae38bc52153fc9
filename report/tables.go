package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/internal/ordered"
)

// Tables lays out estimates in tables, one for each sequence of estimates with
// the same condition. Long values of columns are shortened.
func Tables(estimates []crosstalk.Estimate) []Table {
	var tables []Table
	estimates = shortened(estimates)
	for len(estimates) > 0 {
		n := 1
		for n < len(estimates) && sameCondition(estimates[0], estimates[n]) {
			n++
		}
		tables = append(tables, newTable(estimates[:n]).Tidy())
		estimates = estimates[n:]
	}
	return tables
}

func sameCondition(a, b crosstalk.Estimate) bool {
	for _, c := range conditionOf(a) {
		if a.By[c] != b.By[c] && !varies(c, a, b) {
			return false
		}
	}
	return len(a.By) == len(b.By)
}

// varies reports whether figures are grouped by the column, that is, whether one
// of the two covers all its values.
func varies(column string, a, b crosstalk.Estimate) bool {
	return a.By[column] == crosstalk.All || b.By[column] == crosstalk.All
}

func conditionOf(e crosstalk.Estimate) []string {
	var columns []string
	for _, c := range instrument.Apart {
		if _, ok := e.By[c]; ok {
			columns = append(columns, c)
		}
	}
	return columns
}

// newTable lays out the estimates of one condition.
func newTable(estimates []crosstalk.Estimate) Table {
	var t Table
	columns := ByColumns(estimates)
	constant := func(c string) bool {
		return !slices.ContainsFunc(estimates, func(e crosstalk.Estimate) bool { return e.By[c] != estimates[0].By[c] })
	}
	var varying []string
	for _, c := range columns {
		if constant(c) {
			if v := estimates[0].By[c]; v != crosstalk.All {
				t.Heading = append(t.Heading, c+" "+v)
			}
			continue
		}
		varying = append(varying, c)
	}
	measures := slices.ContainsFunc(estimates, func(e crosstalk.Estimate) bool { return e.Measure != estimates[0].Measure })
	if measures {
		t.Header = append(t.Header, "measure")
	} else {
		t.Heading = append([]string{crosstalk.Words(estimates[0].Measure)}, t.Heading...)
	}
	t.Header = append(t.Header, varying...)
	if len(t.Header) == 0 {
		t.Header = []string{""}
	}
	t.Left = len(t.Header)
	unit := unitOf(estimates)
	t.Header = append(t.Header, cmp.Or(unit, "value"), "95 % interval", "n", "clusters")
	counts := countColumns(estimates)
	for _, c := range counts {
		t.Header = append(t.Header, crosstalk.Words(c))
	}
	tested := slices.ContainsFunc(estimates, func(e crosstalk.Estimate) bool { return e.Test != nil })
	if tested {
		t.Header = append(t.Header, "p")
	}
	effect := slices.ContainsFunc(estimates, func(e crosstalk.Estimate) bool { return e.Effect != nil })
	if effect {
		t.Header = append(t.Header, "effect")
	}
	for _, e := range estimates {
		var row []string
		if measures {
			row = append(row, crosstalk.Words(e.Measure))
		}
		for _, c := range varying {
			row = append(row, e.By[c])
		}
		if len(row) == 0 {
			row = []string{crosstalk.All}
		}
		value := Value(e.Value, e.Unit)
		if unit == "" && e.Value.Defined() {
			value += " " + cmp.Or(e.Unit, "%")
		}
		row = append(row, value, Interval(e.Interval, e.Unit), strconv.Itoa(e.N), strconv.Itoa(e.Clusters))
		for _, c := range counts {
			row = append(row, strconv.Itoa(e.Counts[c]))
		}
		if tested {
			row = append(row, pValue(e.Test))
		}
		if effect {
			row = append(row, effectSize(e.Effect))
		}
		t.Rows = append(t.Rows, row)
	}
	t.Notes = notes(estimates, varying, measures)
	return t
}

// ByColumns lists the columns of By in the order of Columns.
func ByColumns(estimates []crosstalk.Estimate) []string {
	by := make([]map[string]string, len(estimates))
	for i, e := range estimates {
		by[i] = e.By
	}
	return Columns(by)
}

// countColumns are the counts that are not always 0, and the counts of what has
// no value even if 0: a figure states what it leaves out.
func countColumns(estimates []crosstalk.Estimate) (columns []string) {
	var order []string
	present := map[string]bool{}
	for _, e := range estimates {
		kind := instrument.Of(e.Measure)
		if order = ordered.Merge(order, kind.Counts, func(key string) string { return key }); order == nil {
			order = crosstalk.Unanswered
		}
		for c, n := range e.Counts {
			present[c] = present[c] || n > 0
		}
		unscored := kind.Measure(e.Measure).Unscored
		for _, c := range unscored {
			if _, counted := e.Counts[c]; counted || len(unscored) == 1 {
				present[c] = true
			}
		}
	}
	for _, c := range order {
		if present[c] {
			columns = append(columns, c)
		}
		delete(present, c)
	}
	for _, c := range slices.Sorted(maps.Keys(present)) {
		if present[c] {
			columns = append(columns, c)
		}
	}
	return columns
}

// notes are the effect's unit, signatures and warnings, each once, prefixed with
// its row unless it is the first row's.
func notes(estimates []crosstalk.Estimate, varying []string, measures bool) []string {
	var list []string
	add := func(s string) {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	for _, e := range estimates {
		if e.Test != nil {
			s := fmt.Sprintf("p: %s-test against %s", e.Test.Method, Percent(crosstalk.Value(e.Test.Null)))
			if e.Effect != nil {
				s += "; effect: " + e.Effect.Name
			}
			add(s)
		}
		add("signature: " + e.Signature)
	}
	return append(list, warnings(estimates, varying, measures)...)
}

// warnings merges the warnings of the same kind, with the rows that have them.
func warnings(estimates []crosstalk.Estimate, varying []string, measures bool) []string {
	rows, of := make([]string, len(estimates)), make([][]string, len(estimates))
	for i, e := range estimates {
		rows[i], of[i] = rowName(e, varying), e.Warnings
		if measures {
			rows[i] = crosstalk.Words(e.Measure) + " " + rows[i]
		}
	}
	return Warnings(rows, of)
}

func rowName(e crosstalk.Estimate, varying []string) string {
	var where []string
	for _, c := range varying {
		if e.By[c] != crosstalk.All {
			where = append(where, e.By[c])
		}
	}
	if len(where) == 0 {
		return crosstalk.All
	}
	return strings.Join(where, "/")
}

// unitOf is the unit of all estimates, "" if they have several.
func unitOf(estimates []crosstalk.Estimate) string {
	for _, e := range estimates {
		if e.Unit != estimates[0].Unit {
			return ""
		}
	}
	return cmp.Or(estimates[0].Unit, "%")
}
