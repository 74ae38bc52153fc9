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

// plainTotals are the sentences of the figures of any fault that are over all groups,
// each with what tells it from the others.
func plainTotals(estimates []crosstalk.Estimate) (lines []string) {
	var totals []crosstalk.Estimate
	for _, e := range estimates {
		if instrument.IsFault(e.Measure) {
			totals = append(totals, e)
		}
	}
	for _, column := range ByColumns(totals) {
		if slices.ContainsFunc(totals, func(e crosstalk.Estimate) bool { return e.By[column] == crosstalk.All }) {
			totals = slices.DeleteFunc(totals, func(e crosstalk.Estimate) bool {
				return cmp.Or(e.By[column], crosstalk.All) != crosstalk.All
			})
		}
	}
	for _, e := range totals {
		var names []string
		for _, column := range slices.Sorted(maps.Keys(e.By)) {
			if slices.ContainsFunc(totals, func(other crosstalk.Estimate) bool { return other.By[column] != e.By[column] }) {
				names = append(names, e.By[column])
			}
		}
		if line := Plain(e); line != "" {
			lines = append(lines, strings.TrimPrefix(plain(strings.Join(names, " "))+": ", ": ")+line)
		}
	}
	return lines
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
