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
)

// Faulty is how many answers of a figure of any fault (crosstalk.Kind.Faults) have one;
// -1 if none was checked.
func Faulty(e crosstalk.Estimate) int {
	if !e.Value.Defined() {
		return -1
	}
	return int(math.Round(float64(e.Value) * float64(e.Observations)))
}

// Plain says a figure of any fault in words: how many answers, and their share with its
// interval. It is "" for other figures, and where no answer was checked.
func Plain(e crosstalk.Estimate) string {
	if !instrument.IsFault(e.Measure) || Faulty(e) < 0 {
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
	var totals []crosstalk.Estimate
	for _, e := range estimates {
		if instrument.IsFault(e.Measure) {
			totals = append(totals, e)
		}
	}
	totals = Totals(totals)
	for _, e := range totals {
		if line := Plain(e); line != "" {
			lines = append(lines, strings.TrimPrefix(plain(Apart(e.By, byOf(totals)))+": ", ": ")+line)
		}
	}
	return lines
}

// Totals are the figures over all groups.
func Totals(estimates []crosstalk.Estimate) []crosstalk.Estimate {
	for _, column := range ByColumns(estimates) {
		if slices.ContainsFunc(estimates, func(e crosstalk.Estimate) bool { return e.By[column] == crosstalk.All }) {
			estimates = slices.DeleteFunc(slices.Clone(estimates), func(e crosstalk.Estimate) bool {
				return cmp.Or(e.By[column], crosstalk.All) != crosstalk.All
			})
		}
	}
	return estimates
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

// withoutFaults leaves out figures of any fault, which Plain says, unless there are no
// others.
func withoutFaults(estimates []crosstalk.Estimate) []crosstalk.Estimate {
	isFault := func(e crosstalk.Estimate) bool { return instrument.IsFault(e.Measure) }
	if !slices.ContainsFunc(estimates, func(e crosstalk.Estimate) bool { return !isFault(e) }) {
		return estimates
	}
	return slices.DeleteFunc(slices.Clone(estimates), isFault)
}

// mostWhom is how many groups Whom has at most.
const mostWhom = 6

// Whom says which groups have most answers with a fault, worst first: by the first column
// that groups figures alone, "crosslingual de: 12 of 44 (27.3 %)".
func Whom(estimates []crosstalk.Estimate) (groups []string) {
	var all []crosstalk.Estimate
	for _, e := range estimates {
		if instrument.IsFault(e.Measure) && Faulty(e) > 0 {
			all = append(all, e)
		}
	}
	var apart, grouped []string // columns that tell figures apart, and that group them
	for _, c := range ByColumns(all) {
		has := func(value string) bool {
			return slices.ContainsFunc(all, func(e crosstalk.Estimate) bool { return e.By[c] == value })
		}
		switch {
		case has(crosstalk.All):
			grouped = append(grouped, c)
		case slices.ContainsFunc(all, func(e crosstalk.Estimate) bool { return e.By[c] != all[0].By[c] }):
			apart = append(apart, c)
		}
	}
	of := func(e crosstalk.Estimate, c string) bool { // grouped by this column, and by no other
		return !slices.ContainsFunc(grouped, func(other string) bool {
			return (cmp.Or(e.By[other], crosstalk.All) != crosstalk.All) != (other == c)
		})
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
		var name []string
		for _, c := range append(slices.Clone(apart), grouped[first]) {
			name = append(name, e.By[c])
		}
		groups = append(groups, fmt.Sprintf("%s: %d of %d (%s %%)", strings.Join(name, " "), Faulty(e), e.Observations,
			Percent(e.Value)))
	}
	return groups
}
