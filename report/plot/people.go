package plot

import (
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/labels"
)

// AddOpinion adds human judgements of answers. Plots has each judgement beside the
// automatic ones, and the shares of labels by setting beside what the instrument finds
// (Gonen et al. 2024, figures 4 and 5).
func (c *Collector) AddOpinion(o labels.Opinion) {
	for _, said := range o.Said {
		c.addSides(instrument.Of(said.Measure), said.Observation, labels.People, said.Weight)
	}
	if len(o.Shares) > 0 {
		c.opinions = append(c.opinions, o)
	}
}

// mostSettings is the maximum number of settings in a plot.
const mostSettings = 30

// drawOpinion draws the shares of labels in each setting, and how often people and
// the instrument find a fault. Where another chart has people's shares beside the
// instrument's, those of the instrument are left out.
func drawOpinion(o labels.Opinion) []Plot {
	shares := Shares{Middle: -1}
	beside := true
	for _, chart := range instrument.Of(o.Question.Measure).Charts {
		if chart.Form == crosstalk.SideChart && slices.Contains(chart.Measures, o.Question.Measure) {
			shares.Parts, shares.Middle, beside = chart.Parts, 1, false
		}
	}
	if beside {
		for _, e := range o.Shares {
			if label := e.By[labels.LabelColumn]; !slices.Contains(shares.Parts, label) {
				shares.Parts = append(shares.Parts, label)
			}
		}
	}
	columns := settingColumns(o.Shares)
	var settings, judges []string
	for _, e := range o.Shares {
		if name := rowName(&e, columns); !slices.Contains(settings, name) {
			settings = append(settings, name)
		}
		if j := e.By[labels.JudgeColumn]; !slices.Contains(judges, j) {
			judges = append(judges, j)
		}
	}
	settings = settings[:min(len(settings), mostSettings)]
	faults := DotPlot{Series: judges}
	for _, setting := range settings {
		row := Row{Label: setting, Cells: make([]*crosstalk.Estimate, len(judges))}
		for k, judge := range judges {
			said := Row{Label: setting, Cells: make([]*crosstalk.Estimate, len(shares.Parts))}
			if beside {
				said.Label = strings.Trim(setting+", "+judge, ", ")
			}
			found := false
			for i := range o.Shares {
				e := &o.Shares[i]
				if e.By[labels.JudgeColumn] != judge || rowName(e, columns) != setting {
					continue
				}
				if e.By[labels.LabelColumn] == o.Question.Fault {
					row.Cells[k] = e
				}
				if at := slices.Index(shares.Parts, e.By[labels.LabelColumn]); at >= 0 && e.Value.Defined() {
					said.Cells[at], found = e, true
				}
			}
			if found && (beside || judge == labels.People) {
				shares.Rows = append(shares.Rows, sharesOf(said))
			}
		}
		faults.Rows = append(faults.Rows, row)
	}
	title := strings.TrimSuffix(o.Question.Title, "?")
	var plots []Plot
	add := func(p Plot, name, note string) {
		p.Title, p.Note = name+" · "+title, note
		plots = append(plots, p)
	}
	switch {
	case beside:
		add(shares.Draw(), "People and instrument, by setting",
			"The shares of labels: people's, and the instrument's in the same terms.")
	case len(settings) > 1:
		add(shares.Draw(), "What people say, by setting", "The shares of people's labels.")
	}
	if o.Question.Fault != "" {
		add(faults.Draw(), "Found by people and instrument", "Share of answers labelled "+o.Question.Fault+". "+intervals)
	}
	return plots
}

// settingColumns are the columns in which settings differ, or else the model.
func settingColumns(shares []crosstalk.Estimate) (columns []string) {
	for _, e := range shares {
		for column, v := range e.By {
			differs := slices.ContainsFunc(shares, func(o crosstalk.Estimate) bool {
				other, has := o.By[column]
				return has && other != v
			})
			if differs && column != labels.JudgeColumn && column != labels.LabelColumn && !slices.Contains(columns, column) {
				columns = append(columns, column)
			}
		}
	}
	if columns == nil {
		return []string{crosstalk.ModelColumn}
	}
	slices.Sort(columns)
	return columns
}
