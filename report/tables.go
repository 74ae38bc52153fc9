package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/internal/numbers"
	"crosstalk/internal/ordered"
)

// Tables lays out estimates, except estimates of any fault: a table for each sequence with the same condition.
func Tables(estimates []crosstalk.Estimate) []Table {
	if others := slices.DeleteFunc(slices.Clone(estimates), isFault); len(others) > 0 { // Plain shows any fault
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

// optional returns the column of a part that some estimates lack.
func optional[T any](title string, part func(crosstalk.Estimate) *T, text func(*T) string) column {
	return column{title, func(e crosstalk.Estimate) string {
		if p := part(e); p != nil {
			return text(p)
		}
		return ""
	}}
}

// peopleColumns returns columns that tell how reliable the labels behind corrected figures are.
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
	for _, c := range instrument.ByColumns(estimates) {
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
			return numbers.Value(e.Value, e.Unit) + " " + cmp.Or(e.Unit, "%")
		}
		return numbers.Value(e.Value, e.Unit)
	}},
		column{"95 % interval", func(e crosstalk.Estimate) string { return numbers.Interval(e.Interval, e.Unit) }},
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
		columns = append(columns, peopleColumns("kappa", "cannot tell %", numbers.Decimals, numbers.Percent)...)
	}
	t.Header, t.Rows = rowsOf(estimates, columns)
	t.Notes = notes(estimates, varying, measures)
	return t
}

// records returns the rows of CSV, titles first, with a column for every key and count that occurs.
func records(estimates []crosstalk.Estimate) [][]string {
	columns := []column{{"measure", func(e crosstalk.Estimate) string { return e.Measure }}}
	add := func(title string, cell func(crosstalk.Estimate) string) {
		columns = append(columns, column{title, cell})
	}
	for _, c := range instrument.ByColumns(estimates) {
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

func byOf(estimates []crosstalk.Estimate) []map[string]string {
	return ordered.Map(estimates, func(e crosstalk.Estimate) map[string]string { return e.By })
}

// countColumns returns the counts that are not always 0, and those of values not scored even if 0.
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

// notes returns the effect's unit, signatures and warnings, each once, with its row unless it is the first.
func notes(estimates []crosstalk.Estimate, varying []string, measures bool) []string {
	var list []string
	add := func(s string) {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	for _, e := range estimates {
		if e.Test != nil {
			s := fmt.Sprintf("p: %s-test against %s", e.Test.Method, numbers.Percent(crosstalk.Value(e.Test.Null)))
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

// Faulty returns the number of answers with a fault, for a figure of any fault; -1 if none was checked.
func Faulty(e crosstalk.Estimate) int {
	if !e.Value.Defined() {
		return -1
	}
	return int(math.Round(float64(e.Value) * float64(e.Observations)))
}

func isFault(e crosstalk.Estimate) bool { return instrument.IsFault(e.Measure) }

// Plain describes a figure of any fault in words: how many answers, and their share; "" if none was checked.
func Plain(e crosstalk.Estimate) string {
	if !isFault(e) || Faulty(e) < 0 {
		return ""
	}
	text := fmt.Sprintf("%d of %d %s: %s %%", Faulty(e), e.Observations, instrument.Of(e.Measure).Faults.Sentence,
		numbers.Percent(e.Value))
	if e.Interval != nil {
		text += " (" + numbers.Interval(e.Interval, "") + ")"
	}
	return text
}

// PlainTotals returns a sentence for each total of any fault, with what distinguishes it from the others.
func PlainTotals(estimates []crosstalk.Estimate) (lines []string) {
	totals := instrument.Totals(slices.DeleteFunc(slices.Clone(estimates),
		func(e crosstalk.Estimate) bool { return !isFault(e) }))
	for _, e := range totals {
		if line := Plain(e); line != "" {
			lines = append(lines, strings.TrimPrefix(Line(Apart(e.By, byOf(totals)))+": ", ": ")+line)
		}
	}
	return lines
}

// Apart returns the values of columns that distinguish a figure from others, in the order of the columns.
func Apart(by map[string]string, others []map[string]string) string {
	var values []string
	for _, column := range slices.Sorted(maps.Keys(by)) {
		if slices.ContainsFunc(others, func(other map[string]string) bool { return other[column] != by[column] }) {
			values = append(values, Said(column, by[column]))
		}
	}
	return strings.Join(values, " ")
}

// Said returns the value of a column as sentences have it: a number says nothing without the column's name.
func Said(column, value string) string {
	if _, err := strconv.ParseFloat(value, 64); err == nil {
		return crosstalk.Words(column) + " " + value
	}
	return value
}

// WorstFirst sorts figures of groups in the order of Whom, column by column, after those over all.
func WorstFirst(estimates []crosstalk.Estimate) (list []crosstalk.Estimate) {
	columns := instrument.GroupColumns(estimates)
	type grouped struct {
		crosstalk.Estimate
		groups []string // by none of the columns, by the first, by the first two, ...
	}
	all := make([]grouped, len(estimates))
	worse, place := map[string]float64{}, map[string]int{} // by group: how much is wrong, and its first figure
	for i, e := range estimates {
		by := maps.Clone(e.By)
		for _, c := range columns {
			by[c] = crosstalk.All
		}
		all[i] = grouped{e, []string{string(crosstalk.Canonical(by))}}
		for _, c := range columns {
			by[c] = cmp.Or(e.By[c], crosstalk.All)
			all[i].groups = append(all[i].groups, string(crosstalk.Canonical(by)))
		}
		for _, g := range all[i].groups {
			place[g] = cmp.Or(place[g], i+1)
		}
		if isFault(e) && e.Value.Defined() {
			n := float64(Faulty(e))
			if instrument.Of(e.Measure).Faults.ByRate {
				n = float64(e.Value)
			}
			worse[all[i].groups[len(columns)]] = n
		}
	}
	compare := func(a, b grouped) int {
		for n, c := range columns {
			x, y := a.groups[n+1], b.groups[n+1]
			switch {
			case x == y:
			case a.By[c] == crosstalk.All:
				return -1
			case b.By[c] == crosstalk.All:
				return 1
			default:
				return cmp.Or(cmp.Compare(worse[y], worse[x]), place[x]-place[y])
			}
		}
		return 0
	}
	for from, to := 0, 0; from < len(all); from = to {
		for to < len(all) && all[to].Measure == all[from].Measure && all[to].groups[0] == all[from].groups[0] {
			to++
		}
		slices.SortStableFunc(all[from:to], compare)
	}
	return ordered.Map(all, func(g grouped) crosstalk.Estimate { return g.Estimate })
}

const mostWhom = 6 // the most groups in Whom

// Whom lists the groups with the most faulty answers, worst first, by the first column that alone groups figures:
// "crosslingual de: 12 of 44 (27.3 %)".
func Whom(estimates []crosstalk.Estimate) (groups []string) {
	none := func(e crosstalk.Estimate) bool { return !isFault(e) || Faulty(e) <= 0 }
	all := slices.DeleteFunc(slices.Clone(estimates), none)
	grouped := instrument.GroupColumns(all)
	apart := slices.DeleteFunc(instrument.ByColumns(all), func(c string) bool { // columns that distinguish figures
		return slices.Contains(grouped, c) ||
			!slices.ContainsFunc(all, func(e crosstalk.Estimate) bool { return e.By[c] != all[0].By[c] })
	})
	of := func(e crosstalk.Estimate, c string) bool { // grouped only by this column
		others := slices.DeleteFunc(slices.Clone(grouped), func(other string) bool { return other == c })
		return !instrument.IsTotal(e, []string{c}) && instrument.IsTotal(e, others)
	}
	first := slices.IndexFunc(grouped, func(c string) bool {
		return slices.ContainsFunc(all, func(e crosstalk.Estimate) bool { return of(e, c) })
	})
	if first < 0 {
		return nil
	}
	all = slices.DeleteFunc(all, func(e crosstalk.Estimate) bool { return !of(e, grouped[first]) })
	slices.SortStableFunc(all, func(a, b crosstalk.Estimate) int {
		if instrument.Of(a.Measure).Faults.ByRate {
			return cmp.Compare(b.Value, a.Value)
		}
		return Faulty(b) - Faulty(a)
	})
	for _, e := range all[:min(len(all), mostWhom)] {
		name := ordered.Map(append(slices.Clone(apart), grouped[first]), func(c string) string { return Said(c, e.By[c]) })
		groups = append(groups, fmt.Sprintf("%s: %d of %d (%s %%)", strings.Join(name, " "), Faulty(e), e.Observations,
			numbers.Percent(e.Value)))
	}
	return groups
}
