package plot

import (
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/instrument"
)

// Labels are what people say of answers, and what the instrument finds in the
// same terms, by setting (Gonen et al. 2024, figures 4 and 5).
type Labels struct {
	Measure string               // that the labels are about
	Title   string               // of the question
	Fault   string               // the label of what the instrument looks for
	Judge   string               // the column of who says it
	Label   string               // the column of labels
	People  string               // the judge that is people
	Shares  []crosstalk.Estimate // of each label, judge and setting
}

// AddLabels adds what people say. Plots has it by setting, beside what the
// instrument finds.
func (c *Collector) AddLabels(l Labels) { c.labels = append(c.labels, l) }

// mostSettings is the maximum number of settings in a plot.
const mostSettings = 30

// drawLabels draws the shares of labels in each setting, and how often people and
// the instrument find a fault. Where another chart has people's shares beside the
// instrument's, those of the instrument are left out.
func (c *Collector) drawLabels(l Labels) []Plot {
	shares := Shares{Middle: -1}
	beside := true
	for _, chart := range instrument.Of(l.Measure).Charts {
		if chart.Form == crosstalk.SideChart && slices.Contains(chart.Measures, l.Measure) {
			shares.Parts, shares.Middle, beside = chart.Parts, 1, false
		}
	}
	if beside {
		for _, e := range l.Shares {
			if label := e.By[l.Label]; !slices.Contains(shares.Parts, label) {
				shares.Parts = append(shares.Parts, label)
			}
		}
	}
	columns := l.settingColumns()
	var settings, judges []string
	for _, e := range l.Shares {
		if name := rowName(&e, columns); !slices.Contains(settings, name) {
			settings = append(settings, name)
		}
		if j := e.By[l.Judge]; !slices.Contains(judges, j) {
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
			for i := range l.Shares {
				e := &l.Shares[i]
				if e.By[l.Judge] != judge || rowName(e, columns) != setting {
					continue
				}
				if e.By[l.Label] == l.Fault {
					row.Cells[k] = e
				}
				if at := slices.Index(shares.Parts, e.By[l.Label]); at >= 0 && e.Value.Defined() {
					said.Cells[at], found = e, true
				}
			}
			if found && (beside || judge == l.People) {
				shares.Rows = append(shares.Rows, sharesOf(said))
			}
		}
		faults.Rows = append(faults.Rows, row)
	}
	title := strings.TrimSuffix(l.Title, "?")
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
	if l.Fault != "" {
		add(faults.Draw(), "Found by people and instrument", "Share of answers labelled "+l.Fault+". "+intervals)
	}
	return plots
}

// settingColumns are the columns in which settings differ, or else the model.
func (l Labels) settingColumns() (columns []string) {
	for _, e := range l.Shares {
		for column, v := range e.By {
			differs := slices.ContainsFunc(l.Shares, func(o crosstalk.Estimate) bool {
				other, has := o.By[column]
				return has && other != v
			})
			if differs && column != l.Judge && column != l.Label && !slices.Contains(columns, column) {
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
