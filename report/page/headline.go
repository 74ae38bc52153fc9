package page

import (
	"cmp"
	"fmt"
	"strings"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/report"
)

// Headline is an overall figure of a condition.
type Headline struct {
	Measure, Value, Unit, Interval string
	Of                             string // the condition
	Counts                         string // scored and left out
}

// mostHeadlines is the maximum number of headlines on a page.
const mostHeadlines = 12

func headlines(estimates []crosstalk.Estimate) (list []Headline) {
	for _, e := range overall(estimates) {
		if len(list) < mostHeadlines {
			list = append(list, headline(e))
		}
	}
	return list
}

func moreHeadlines(estimates []crosstalk.Estimate) int {
	return max(0, len(overall(estimates))-mostHeadlines)
}

// overall are the estimates over all values of the columns by which figures are
// grouped, without those for single classes of answers.
func overall(estimates []crosstalk.Estimate) (list []crosstalk.Estimate) {
	grouped := map[string]bool{}
	for _, e := range estimates {
		for c, v := range e.By {
			grouped[c] = grouped[c] || v == crosstalk.All
		}
	}
	for _, e := range estimates {
		whole := !instrument.Measure(e.Measure).ByClass
		for c, v := range e.By {
			whole = whole && (!grouped[c] || v == crosstalk.All)
		}
		if whole {
			list = append(list, e)
		}
	}
	return list
}

func headline(e crosstalk.Estimate) Headline {
	h := Headline{Measure: instrument.Measure(e.Measure).Label, Value: report.Value(e.Value, e.Unit), Unit: cmp.Or(e.Unit, "%")}
	if !e.Value.Defined() {
		h.Unit = ""
	}
	if i := e.Interval; i != nil {
		h.Interval = fmt.Sprintf("%s to %s (%g %% interval)", report.Value(crosstalk.Value(i.Low), e.Unit), report.Value(crosstalk.Value(i.High), e.Unit), 100*i.Level)
	}
	var of []string
	for _, c := range report.ByColumns([]crosstalk.Estimate{e}) {
		if v := e.By[c]; v != crosstalk.All {
			of = append(of, v)
		}
	}
	h.Of = strings.Join(of, " · ")
	counts := []string{fmt.Sprintf("%d %s", e.N, plural(e.N, "item", "items"))}
	if e.Observations != e.N {
		counts = append(counts, fmt.Sprintf("%d scored", e.Observations))
	}
	for _, c := range sorted(e.Counts) {
		if n := e.Counts[c]; n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, crosstalk.Words(c)))
		}
	}
	h.Counts = strings.Join(counts, " · ")
	return h
}
