package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/internal/ordered"
)

// Faulty is how many answers of a figure of any fault (crosstalk.Kind.Faults) have one;
// -1 if none was checked.
func Faulty(e crosstalk.Estimate) int {
	if !e.Value.Defined() {
		return -1
	}
	return int(math.Round(float64(e.Value) * float64(e.Observations)))
}

func isFault(e crosstalk.Estimate) bool { return instrument.IsFault(e.Measure) }

// Plain says a figure of any fault in words: how many answers, and their share with its interval. It is "" for other
// figures, and where no answer was checked.
func Plain(e crosstalk.Estimate) string {
	if !isFault(e) || Faulty(e) < 0 {
		return ""
	}
	text := fmt.Sprintf("%d of %d %s: %s %%", Faulty(e), e.Observations, instrument.Of(e.Measure).Faults.Sentence,
		Percent(e.Value))
	if e.Interval != nil {
		text += " (" + Interval(e.Interval, "") + ")"
	}
	return text
}

// PlainTotals are the sentences of the figures of any fault that are over all groups,
// each with what tells it from the others.
func PlainTotals(estimates []crosstalk.Estimate) (lines []string) {
	totals := Totals(slices.DeleteFunc(slices.Clone(estimates), func(e crosstalk.Estimate) bool { return !isFault(e) }))
	for _, e := range totals {
		if line := Plain(e); line != "" {
			lines = append(lines, strings.TrimPrefix(plain(Apart(e.By, byOf(totals)))+": ", ": ")+line)
		}
	}
	return lines
}

// Totals are the figures over all groups.
func Totals(estimates []crosstalk.Estimate) []crosstalk.Estimate {
	columns := GroupColumns(estimates)
	return slices.DeleteFunc(slices.Clone(estimates), func(e crosstalk.Estimate) bool { return !IsTotal(e, columns) })
}

// Apart are the values of columns that tell a figure from others, in the order of the columns.
func Apart(by map[string]string, others []map[string]string) string {
	var values []string
	for _, column := range slices.Sorted(maps.Keys(by)) {
		if slices.ContainsFunc(others, func(other map[string]string) bool { return other[column] != by[column] }) {
			values = append(values, by[column])
		}
	}
	return strings.Join(values, " ")
}

// GroupColumns are the columns by which figures are grouped: they have the value "all" somewhere.
func GroupColumns(estimates []crosstalk.Estimate) []string {
	return slices.DeleteFunc(ByColumns(estimates), func(c string) bool {
		return !slices.ContainsFunc(estimates, func(e crosstalk.Estimate) bool { return e.By[c] == crosstalk.All })
	})
}

// IsTotal reports whether a figure is over all values of these columns.
func IsTotal(e crosstalk.Estimate, columns []string) bool {
	return !slices.ContainsFunc(columns, func(c string) bool { return cmp.Or(e.By[c], crosstalk.All) != crosstalk.All })
}

// WorstFirst puts figures of groups in the order of Whom, column by column, those over all before them.
func WorstFirst(estimates []crosstalk.Estimate) (list []crosstalk.Estimate) {
	columns := GroupColumns(estimates)
	type grouped struct {
		crosstalk.Estimate
		groups []string // by none of the columns, by the first, by the first two, ...
	}
	all := make([]grouped, len(estimates))
	worse, place := map[string]float64{}, map[string]int{} // of groups: how much is wrong; the first figure
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

const mostWhom = 6 // how many groups Whom has at most

// Whom says which groups have most answers with a fault, worst first: by the first column
// that groups figures alone, "crosslingual de: 12 of 44 (27.3 %)".
func Whom(estimates []crosstalk.Estimate) (groups []string) {
	none := func(e crosstalk.Estimate) bool { return !isFault(e) || Faulty(e) <= 0 }
	all := slices.DeleteFunc(slices.Clone(estimates), none)
	grouped := GroupColumns(all)
	apart := slices.DeleteFunc(ByColumns(all), func(c string) bool { // the columns that tell figures apart
		return slices.Contains(grouped, c) ||
			!slices.ContainsFunc(all, func(e crosstalk.Estimate) bool { return e.By[c] != all[0].By[c] })
	})
	of := func(e crosstalk.Estimate, c string) bool { // grouped by this column, and by no other
		others := slices.DeleteFunc(slices.Clone(grouped), func(other string) bool { return other == c })
		return !IsTotal(e, []string{c}) && IsTotal(e, others)
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
		name := ordered.Map(append(slices.Clone(apart), grouped[first]), func(c string) string { return e.By[c] })
		groups = append(groups, fmt.Sprintf("%s: %d of %d (%s %%)", strings.Join(name, " "), Faulty(e), e.Observations,
			Percent(e.Value)))
	}
	return groups
}
