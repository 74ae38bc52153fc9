package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
)

// grid is what a table shows: estimates of one condition, laid out in cells.
type grid struct {
	heading []string   // what all rows share: "model reference:leaky", ...
	header  []string   // column titles
	left    int        // how many columns from the left hold words
	rows    [][]string // as the header
	notes   []string   // signatures and warnings
}

// condition columns never share a figure, so a table holds one of each.
var condition = []string{"model", "similarity", "dataset", "task", "language"}

// grids lays estimates out, a grid for each run of estimates that share their
// condition.
func grids(estimates []crosstalk.Estimate) []grid {
	var all []grid
	for len(estimates) > 0 {
		n := 1
		for n < len(estimates) && sameCondition(estimates[0], estimates[n]) {
			n++
		}
		g := newGrid(estimates[:n])
		g.tidy()
		all = append(all, g)
		estimates = estimates[n:]
	}
	return all
}

func sameCondition(a, b crosstalk.Estimate) bool {
	for _, c := range conditionOf(a) {
		if a.By[c] != b.By[c] && !varies(c, a, b) {
			return false
		}
	}
	return len(a.By) == len(b.By)
}

// varies reports whether the column is one that figures are grouped by: one
// of the two is over all its values.
func varies(column string, a, b crosstalk.Estimate) bool {
	return a.By[column] == crosstalk.All || b.By[column] == crosstalk.All
}

func conditionOf(e crosstalk.Estimate) []string {
	var columns []string
	for _, c := range condition {
		if _, ok := e.By[c]; ok {
			columns = append(columns, c)
		}
	}
	return columns
}

func newGrid(estimates []crosstalk.Estimate) grid {
	var g grid
	columns := ByColumns(estimates)
	constant := func(c string) bool {
		return !slices.ContainsFunc(estimates, func(e crosstalk.Estimate) bool { return e.By[c] != estimates[0].By[c] })
	}
	var varying []string
	for _, c := range columns {
		if constant(c) {
			if v := estimates[0].By[c]; v != crosstalk.All {
				g.heading = append(g.heading, c+" "+v)
			}
			continue
		}
		varying = append(varying, c)
	}
	measures := slices.ContainsFunc(estimates, func(e crosstalk.Estimate) bool { return e.Measure != estimates[0].Measure })
	if measures {
		g.header = append(g.header, "measure")
	} else {
		g.heading = append([]string{title(estimates[0].Measure)}, g.heading...)
	}
	g.header = append(g.header, varying...)
	if len(g.header) == 0 {
		g.header = []string{""}
	}
	g.left = len(g.header)
	unit := unitOf(estimates)
	g.header = append(g.header, cmp.Or(unit, "value"), "95 % interval", "n", "clusters")
	counts := countColumns(estimates)
	g.header = append(g.header, counts...)
	tested := slices.ContainsFunc(estimates, func(e crosstalk.Estimate) bool { return e.Test != nil })
	if tested {
		g.header = append(g.header, "p")
	}
	effect := slices.ContainsFunc(estimates, func(e crosstalk.Estimate) bool { return e.Effect != nil })
	if effect {
		g.header = append(g.header, "effect")
	}
	for _, e := range estimates {
		var row []string
		if measures {
			row = append(row, title(e.Measure))
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
		row = append(row, value, interval(e.Interval, e.Unit), strconv.Itoa(e.N), strconv.Itoa(e.Clusters))
		for _, c := range counts {
			row = append(row, strconv.Itoa(e.Counts[countKey(c)]))
		}
		if tested {
			row = append(row, pValue(e.Test))
		}
		if effect {
			row = append(row, effectSize(e.Effect))
		}
		g.rows = append(g.rows, row)
	}
	g.notes = notes(estimates, varying, measures)
	return g
}

// ByColumns lists the columns of By as Columns does.
func ByColumns(estimates []crosstalk.Estimate) []string {
	by := make([]map[string]string, len(estimates))
	for i, e := range estimates {
		by[i] = e.By
	}
	return Columns(by)
}

// countColumns are the counts that are not 0 everywhere, and always that of
// texts without a value: a figure says what it leaves out.
func countColumns(estimates []crosstalk.Estimate) []string {
	present := map[string]bool{}
	for _, e := range estimates {
		for c, n := range e.Counts {
			present[c] = present[c] || n > 0 || c == "unchecked" || c == "no_logprobs"
		}
	}
	if !present["unchecked"] && !present["no_logprobs"] {
		present["not_scored"] = true
	}
	order := []string{"ties", "identical", "full_answer", "line", "word", "line_error", "not_scored", "unchecked", "no_logprobs", "empty", "refused", "failed", "not_measured"}
	var columns, others []string
	for _, c := range order {
		if present[c] {
			columns = append(columns, title(c))
		}
		delete(present, c)
	}
	for c, some := range present {
		if some {
			others = append(others, title(c))
		}
	}
	slices.Sort(others)
	return append(columns, others...)
}

func title(name string) string    { return strings.ReplaceAll(name, "_", " ") }
func countKey(name string) string { return strings.ReplaceAll(name, " ", "_") }

// notes are the effect's unit, signatures and warnings, each once, with the row
// it belongs to if it is not the first's.
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

// warnings says each kind of warning once, with the rows it holds for.
func warnings(estimates []crosstalk.Estimate, varying []string, measures bool) []string {
	rows, of := make([]string, len(estimates)), make([][]string, len(estimates))
	for i, e := range estimates {
		rows[i], of[i] = rowName(e, varying), e.Warnings
		if measures {
			rows[i] = title(e.Measure) + " " + rows[i]
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

// Percent is a fraction as a percentage with one decimal, "-" where undefined.
func Percent(f crosstalk.Value) string {
	if !f.Defined() {
		return "-"
	}
	return strconv.FormatFloat(100*float64(f), 'f', 1, 64)
}

// Value is a figure as tables show it: a percentage, or a number of units.
func Value(f crosstalk.Value, unit string) string {
	if unit == "" || !f.Defined() {
		return Percent(f)
	}
	return strconv.FormatFloat(float64(f), 'f', 2, 64)
}

// unitOf is the unit that all estimates share, "" if there are several.
func unitOf(estimates []crosstalk.Estimate) string {
	for _, e := range estimates {
		if e.Unit != estimates[0].Unit {
			return ""
		}
	}
	return cmp.Or(estimates[0].Unit, "%")
}

func interval(i *crosstalk.Interval, unit string) string {
	if i == nil {
		return "-"
	}
	return Value(crosstalk.Value(i.Low), unit) + " to " + Value(crosstalk.Value(i.High), unit)
}

func pValue(t *crosstalk.Test) string {
	if t == nil {
		return "-"
	}
	return PValue(t.P)
}

func effectSize(e *crosstalk.Effect) string {
	if e == nil || !e.Value.Defined() {
		return "-"
	}
	v := float64(e.Value)
	if math.Abs(v) < 0.0005 {
		v = 0
	}
	return strconv.FormatFloat(v, 'f', 3, 64)
}
