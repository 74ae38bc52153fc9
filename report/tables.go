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
// the same condition. Figures of any fault are left out. Long values of columns are shortened.
func Tables(estimates []crosstalk.Estimate) []Table {
	if others := slices.DeleteFunc(slices.Clone(estimates), isFault); len(others) > 0 { // Plain says those of any fault
		estimates = others
	}
	estimates = slices.Clone(estimates)
	for i, by := range Shorten(byOf(estimates), 0) {
		estimates[i].By = by
	}
	var tables []Table
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
	for _, c := range instrument.Apart() {
		grouped := a.By[c] == crosstalk.All || b.By[c] == crosstalk.All
		if v, has := a.By[c]; has && v != b.By[c] && !grouped {
			return false
		}
	}
	return len(a.By) == len(b.By)
}

type column struct {
	title string
	cell  func(crosstalk.Estimate) string
}

func byColumn(name string) column {
	return column{name, func(e crosstalk.Estimate) string { return e.By[name] }}
}

func countColumn(title, name string) column {
	return column{title, func(e crosstalk.Estimate) string { return strconv.Itoa(e.Counts[name]) }}
}

// optional is the column of a part that not every estimate has.
func optional[T any](title string, part func(crosstalk.Estimate) *T, text func(*T) string) column {
	return column{title, func(e crosstalk.Estimate) string {
		if p := part(e); p != nil {
			return text(p)
		}
		return ""
	}}
}

// peopleColumns are how far the labels behind corrected figures can be trusted.
func peopleColumns(kappa, untold string, writeKappa, writeUntold func(crosstalk.Value) string) []column {
	of := func(e crosstalk.Estimate) *crosstalk.People { return e.People }
	return []column{optional(kappa, of, func(p *crosstalk.People) string { return writeKappa(p.Kappa) }),
		optional(untold, of, func(p *crosstalk.People) string { return writeUntold(p.CannotTell) })}
}

func rowsOf(estimates []crosstalk.Estimate, columns []column) (titles []string, rows [][]string) {
	titles = ordered.Map(columns, func(c column) string { return c.title })
	return titles, ordered.Map(estimates, func(e crosstalk.Estimate) []string {
		return ordered.Map(columns, func(c column) string { return c.cell(e) })
	})
}

func newTable(estimates []crosstalk.Estimate) Table {
	var t Table
	first := estimates[0]
	some := func(is func(e crosstalk.Estimate) bool) bool { return slices.ContainsFunc(estimates, is) }
	var columns []column
	measures := some(func(e crosstalk.Estimate) bool { return e.Measure != first.Measure })
	if measures {
		columns = append(columns, column{"measure", func(e crosstalk.Estimate) string { return crosstalk.Words(e.Measure) }})
	} else {
		t.Heading = append(t.Heading, crosstalk.Words(first.Measure))
	}
	var varying []string
	for _, c := range ByColumns(estimates) {
		if some(func(e crosstalk.Estimate) bool { return e.By[c] != first.By[c] }) {
			varying, columns = append(varying, c), append(columns, byColumn(c))
		} else if v := first.By[c]; v != crosstalk.All {
			t.Heading = append(t.Heading, c+" "+v)
		}
	}
	if columns == nil {
		columns = []column{{"", func(crosstalk.Estimate) string { return crosstalk.All }}}
	}
	t.Left = len(columns)
	unit := cmp.Or(first.Unit, "%")
	if some(func(e crosstalk.Estimate) bool { return e.Unit != first.Unit }) {
		unit = ""
	}
	columns = append(columns, column{cmp.Or(unit, "value"), func(e crosstalk.Estimate) string {
		if unit == "" && e.Value.Defined() {
			return Value(e.Value, e.Unit) + " " + cmp.Or(e.Unit, "%")
		}
		return Value(e.Value, e.Unit)
	}},
		column{"95 % interval", func(e crosstalk.Estimate) string { return Interval(e.Interval, e.Unit) }},
		column{"n", func(e crosstalk.Estimate) string { return strconv.Itoa(e.N) }},
		column{"clusters", func(e crosstalk.Estimate) string { return strconv.Itoa(e.Clusters) }})
	for _, c := range countColumns(estimates) {
		columns = append(columns, countColumn(crosstalk.Words(c), c))
	}
	if some(func(e crosstalk.Estimate) bool { return e.Test != nil }) {
		columns = append(columns, column{"p", func(e crosstalk.Estimate) string { return pValue(e.Test) + Independent(e) }})
	}
	if some(func(e crosstalk.Estimate) bool { return e.Effect != nil }) {
		columns = append(columns, column{"effect", func(e crosstalk.Estimate) string { return EffectSize(e.Effect) }})
	}
	if some(ofPeople) {
		columns = append(columns, peopleColumns("kappa", "cannot tell %", decimals, Percent)...)
	}
	t.Header, t.Rows = rowsOf(estimates, columns)
	t.Notes = notes(estimates, varying, measures)
	return t
}

// records are the rows of CSV, the titles first, with a column for every key and count that occurs.
func records(estimates []crosstalk.Estimate) [][]string {
	columns := []column{{"measure", func(e crosstalk.Estimate) string { return e.Measure }}}
	add := func(title string, cell func(crosstalk.Estimate) string) {
		columns = append(columns, column{title, cell})
	}
	for _, c := range ByColumns(estimates) {
		columns = append(columns, byColumn(c))
	}
	add("value", func(e crosstalk.Estimate) string { return Number(e.Value) })
	if slices.ContainsFunc(estimates, func(e crosstalk.Estimate) bool { return e.Unit != "" }) {
		add("unit", func(e crosstalk.Estimate) string { return e.Unit })
	}
	interval := func(title string, bound func(*crosstalk.Interval) string) {
		of := func(e crosstalk.Estimate) *crosstalk.Interval { return e.Interval }
		columns = append(columns, optional(title, of, bound))
	}
	interval("low", func(i *crosstalk.Interval) string { return Number(crosstalk.Value(i.Low)) })
	interval("high", func(i *crosstalk.Interval) string { return Number(crosstalk.Value(i.High)) })
	interval("level", func(i *crosstalk.Interval) string { return Number(crosstalk.Value(i.Level)) })
	interval("method", func(i *crosstalk.Interval) string { return i.Method })
	add("n", func(e crosstalk.Estimate) string { return strconv.Itoa(e.N) })
	add("observations", func(e crosstalk.Estimate) string { return strconv.Itoa(e.Observations) })
	add("clusters", func(e crosstalk.Estimate) string { return strconv.Itoa(e.Clusters) })
	counts := map[string]int{}
	for _, e := range estimates {
		maps.Copy(counts, e.Counts)
	}
	for _, c := range slices.Sorted(maps.Keys(counts)) {
		columns = append(columns, countColumn(c, c))
	}
	columns = append(columns,
		optional("p", func(e crosstalk.Estimate) *crosstalk.Test { return e.Test },
			func(t *crosstalk.Test) string { return Number(t.P) }),
		optional("effect", func(e crosstalk.Estimate) *crosstalk.Effect { return e.Effect },
			func(e *crosstalk.Effect) string { return Number(e.Value) }))
	if slices.ContainsFunc(estimates, ofPeople) {
		columns = append(columns, peopleColumns("kappa", "cannot_tell", Number, Number)...)
	}
	add("signature", func(e crosstalk.Estimate) string { return e.Signature })
	add("warnings", func(e crosstalk.Estimate) string { return strings.Join(e.Warnings, "; ") })
	titles, rows := rowsOf(estimates, columns)
	return append([][]string{titles}, rows...)
}

func ofPeople(e crosstalk.Estimate) bool { return e.People != nil }

// ByColumns lists the columns of By in the order of Columns.
func ByColumns(estimates []crosstalk.Estimate) []string { return Columns(byOf(estimates)) }

func byOf(estimates []crosstalk.Estimate) []map[string]string {
	return ordered.Map(estimates, func(e crosstalk.Estimate) map[string]string { return e.By })
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
	maps.DeleteFunc(present, func(_ string, present bool) bool { return !present })
	return append(columns, slices.Sorted(maps.Keys(present))...)
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
		if Independent(e) != "" {
			add(IndependentNote)
		}
		add("signature: " + e.Signature)
	}
	rows, warnings := make([]string, len(estimates)), make([][]string, len(estimates))
	for i, e := range estimates {
		own := slices.DeleteFunc(slices.Clone(varying), func(c string) bool { return e.By[c] == crosstalk.All })
		name := strings.Join(ordered.Map(own, func(c string) string { return e.By[c] }), "/")
		rows[i], warnings[i] = cmp.Or(name, crosstalk.All), e.Warnings
		if measures {
			rows[i] = crosstalk.Words(e.Measure) + " " + rows[i]
		}
	}
	return append(list, Warnings(rows, warnings)...)
}
