package plot

import (
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/internal/ordered"
	"crosstalk/labels"
)

// AddOpinion adds human judgements of answers. Plots has each judgement beside the automatic ones, and the shares
// of labels by setting beside what the instrument finds (Gonen et al. 2024, figures 4 and 5).
func (c *Collector) AddOpinion(o labels.Opinion) {
	for _, said := range o.Said {
		c.addSides(instrument.Of(said.Measure), said.Observation, labels.People, said.Weight)
	}
	if len(o.Shares) > 0 {
		c.opinions = append(c.opinions, o)
	}
}

const mostSettings = 30 // the maximum number of settings in a plot

// drawOpinion draws the shares of labels in each setting, and how often people and the instrument find a fault.
// Where another chart has people's shares beside the instrument's, the instrument's are left out.
func drawOpinion(o labels.Opinion) (plots []Plot) {
	said, beside := Shares{Middle: -1}, true
	for _, chart := range instrument.Of(o.Question.Measure).Charts {
		if chart.Form == crosstalk.SideChart && slices.Contains(chart.Measures, o.Question.Measure) {
			said.Parts, said.Middle, beside = chart.Parts, 1, false
		}
	}
	shares := ordered.Map(o.Shares, func(e crosstalk.Estimate) *crosstalk.Estimate { return &e })
	column := func(name string) func(*crosstalk.Estimate) string {
		return func(e *crosstalk.Estimate) string { return e.By[name] }
	}
	if beside {
		said.Parts = ordered.Distinct(shares, column(labels.LabelColumn))
	}
	columns := columnsWhere(o.Shares, labels.Share, func(column string, _ []string) bool {
		return column != labels.JudgeColumn && column != labels.LabelColumn
	})
	if columns == nil { // settings do not differ
		columns = []string{crosstalk.ModelColumn}
	}
	settings := ordered.Groups(shares, func(e *crosstalk.Estimate) string { return rowName(e, columns) })
	faults := DotPlot{Series: ordered.Distinct(shares, column(labels.JudgeColumn))}
	for _, of := range settings[:min(len(settings), mostSettings)] {
		setting := rowName(of[0], columns)
		found := Row{setting, make([]*crosstalk.Estimate, len(faults.Series))}
		for k, judge := range faults.Series {
			row := Row{setting, make([]*crosstalk.Estimate, len(said.Parts))}
			if beside {
				row.Label = strings.Trim(setting+", "+judge, ", ")
			}
			for _, e := range of {
				if e.By[labels.JudgeColumn] != judge {
					continue
				}
				label := e.By[labels.LabelColumn]
				if label == o.Question.Fault {
					found.Cells[k] = e
				}
				if at := slices.Index(said.Parts, label); at >= 0 && e.Value.Defined() {
					row.Cells[at] = e
				}
			}
			any := slices.ContainsFunc(row.Cells, func(e *crosstalk.Estimate) bool { return e != nil })
			if any && (beside || judge == labels.People) {
				said.Rows = append(said.Rows, sharesOf(row))
			}
		}
		faults.Rows = append(faults.Rows, found)
	}
	title := " · " + strings.TrimSuffix(o.Question.Title, "?")
	switch {
	case beside:
		plots = append(plots, said.Draw().about("People and instrument, by setting"+title,
			"The shares of labels: people's, and the instrument's in the same terms."))
	case len(settings) > 1:
		plots = append(plots, said.Draw().about("What people say, by setting"+title, "The shares of people's labels."))
	}
	if o.Question.Fault != "" {
		plots = append(plots, faults.Draw().about("Found by people and instrument"+title,
			"Share of answers labelled "+o.Question.Fault+". "+intervals))
	}
	return plots
}
