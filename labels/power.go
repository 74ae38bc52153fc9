package labels

import (
	"fmt"
	"io"
	"strconv"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/report"
)

// PowerSchema names the machine format of a Power.
const PowerSchema = "crosstalk/label-power/v1"

// Power is the plan of how many labels intervals of some widths need.
type Power struct {
	Schema  string      `json:"schema"`
	Level   float64     `json:"level"` // of the intervals
	Studies []Pilot     `json:"studies"`
	Plans   []LabelPlan `json:"plans"` // of each study, for each width
	Notes   []string    `json:"notes,omitempty"`
}

// PlanLabels plans how many labels each study needs for intervals of each width,
// a share between 0 and 1.
func PlanLabels(studies []Pilot, widths []float64, level float64) (Power, error) {
	p := Power{Schema: PowerSchema, Level: level, Studies: studies, Plans: []LabelPlan{}}
	if !(level > 0 && level < 1) {
		return p, crosstalk.BadOption("level", " is %g; expected a number between 0 and 1, such as 0.95", level)
	}
	for _, width := range widths {
		if !(width > 0 && width < 1) {
			return p, crosstalk.BadOption("width", ": %g is not between 0 and 1", width)
		}
	}
	for i, study := range studies {
		for _, width := range widths {
			p.Plans = append(p.Plans, study.Needed(i, width, level))
		}
	}
	return p, nil
}

// Write writes the plan in one of report.Formats.
func (p Power) Write(w io.Writer, format string) error {
	return report.WriteResult(w, format, p, p.Plans, p.records, func() []report.Table { return []report.Table{p.table()} })
}

// table has a row for each study and width.
func (p Power) table() report.Table {
	number := func(v crosstalk.Value) string {
		if !v.Defined() {
			return "-"
		}
		return strconv.FormatFloat(float64(v), 'f', 0, 64)
	}
	percent := func(x float64) string { return strconv.FormatFloat(100*x, 'g', 4, 64) }
	t := report.Table{Heading: []string{"labels for intervals at level " + percent(p.Level) + " %"},
		Header: []string{"", "width, points", "at random", "by finding", "without the instrument"}, Left: 1,
		Notes: []string{"at random: drawn from all answers; by finding: as many from each finding (labels export --sample N --by finding)"}}
	undefined := false
	for _, plan := range p.Plans {
		undefined = undefined || !plan.AtRandom.Defined() || !plan.ByFinding.Defined() || !plan.Alone.Defined()
		t.Rows = append(t.Rows, []string{p.Studies[plan.Study].name(), percent(plan.Width), number(plan.AtRandom), number(plan.ByFinding), number(plan.Alone)})
	}
	if undefined {
		t.Notes = append(t.Notes, "-: labels of all answers are too few; the run needs more answers")
	}
	for _, s := range p.Studies {
		note := fmt.Sprintf("%d answers, people's rate %s %%, design effect of clusters %.3g", s.Answers, percent(s.Mean()), s.Effect)
		if s.Labelled > 0 {
			note = fmt.Sprintf("%s: %d labelled of %s", s.name(), s.Labelled, note)
		}
		t.Notes = append(t.Notes, note)
	}
	t.Notes = append(t.Notes, p.Notes...)
	return t
}

func (p Power) records() [][]string {
	all := [][]string{{"study", "width", "at_random", "by_finding", "alone", "level"}}
	for _, plan := range p.Plans {
		all = append(all, []string{p.Studies[plan.Study].name(), report.Number(crosstalk.Value(plan.Width)), report.Number(plan.AtRandom),
			report.Number(plan.ByFinding), report.Number(plan.Alone), report.Number(crosstalk.Value(p.Level))})
	}
	return all
}

// name is a study in words.
func (p Pilot) name() string {
	if p.Measure != "" {
		return instrument.Measure(p.Measure).Label + " · " + inWords(p.By)
	}
	return "stated rates"
}
