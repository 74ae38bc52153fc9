package results

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
	"crosstalk/compare"
	"crosstalk/internal/numbers"
	"crosstalk/report"
)

// power is what package compare plans.
type power compare.Power

// WritePower writes plans in one of report.Formats.
func WritePower(w io.Writer, format string, plans compare.Power) error {
	p := power(plans)
	if lines := p.answers(); format == report.Formats[0] && lines != nil {
		if _, err := io.WriteString(w, strings.Join(lines, "\n")+"\n\n"); err != nil {
			return err
		}
	}
	return report.WriteResult(w, format, plans, p.Plans, p.records,
		func() []report.Table { return []report.Table{p.table()} })
}

// answers describes the plans of the first study with the first number of samples in words.
func (p power) answers() (lines []string) {
	for _, plan := range p.Plans {
		if plan.Study != p.Plans[0].Study || plan.Samples != p.Plans[0].Samples {
			break
		}
		items, d := number(plan.Items)+" items", points(float64(plan.Difference))
		if plan.Samples > 1 {
			items += fmt.Sprintf(" with %d answers each", plan.Samples)
		}
		switch {
		case !plan.Items.Defined() || !plan.Difference.Defined():
		case plan.Given == compare.GivenMargin:
			lines = append(lines, "To pass a gate with a margin of "+d+" if nothing has changed, ask "+items+".")
		case plan.Given == "items":
			lines = append(lines, "With "+items+", a difference of "+numbers.Percent(plan.Difference)+" points or more shows.")
		default:
			lines = append(lines, "To detect a difference of "+d+", ask "+items+".")
		}
	}
	return lines
}

// table returns a table with a row for each study and number of samples, and a column for each goal.
func (p power) table() report.Table {
	t := report.Table{Header: []string{""}, Left: 1, Rows: [][]string{{"stated rate"}}}
	if p.Studies[0].Subject != nil {
		subjects := make([]compare.Subject, len(p.Studies))
		for i, s := range p.Studies {
			subjects[i] = *s.Subject
		}
		t = layout(named(subjects, nil))
	}
	heading := fmt.Sprintf("power %s %% at level %s %%", plainPercent(p.Power), plainPercent(p.Level))
	t.Heading = append([]string{heading}, t.Heading...)
	names, warnings := make([]string, len(p.Studies)), make([][]string, len(p.Studies))
	for i, s := range p.Studies {
		names[i], warnings[i] = strings.Join(t.Rows[i], "/"), s.Warnings
	}
	t.Header = append(t.Header, "samples")
	for _, d := range p.Differences {
		t.Header = append(t.Header, "items for "+points(d))
	}
	for _, m := range p.Margins {
		t.Header = append(t.Header, "items for a margin of "+points(m))
	}
	for _, n := range p.Items {
		t.Header = append(t.Header, fmt.Sprintf("points with %d items", n))
	}
	words, undefined := t.Rows, false
	t.Rows = nil
	for i, plan := range p.Plans {
		if i%(len(p.Differences)+len(p.Margins)+len(p.Items)) == 0 {
			t.Rows = append(t.Rows, append(slices.Clone(words[plan.Study]), strconv.Itoa(plan.Samples)))
		}
		cells := []string{numbers.Percent(plan.Difference)}
		if plan.Given != "items" {
			cells[0] = number(plan.Items)
		}
		undefined = undefined || cells[0] == "-"
		row := &t.Rows[len(t.Rows)-1]
		*row = append(*row, cells...)
	}
	t.Notes = []string{"items: with a value under both conditions, and the stated number of samples under each"}
	if undefined {
		t.Notes = append(t.Notes, "-: the difference is impossible, or the pilot has no variance or too few samples to tell")
	}
	if s := p.Studies[0]; len(p.Studies) == 1 && s.Subject != nil {
		note := fmt.Sprintf("variance of a difference: between items %s, between samples of an item %s",
			share(s.Variance.Item), share(s.Variance.Sample))
		if s.ClusterSize > 1 {
			note += fmt.Sprintf(", between clusters %s; the average item is in a cluster of %.3g",
				share(s.Variance.Cluster), s.ClusterSize)
		}
		t.Notes = append(t.Notes, note)
	}
	t.Notes = slices.Concat(t.Notes, report.Warnings(names, warnings), refusals(p.Refused))
	return t
}

func points(d float64) string {
	if s := plainPercent(d); s != "1" {
		return s + " points"
	}
	return "1 point"
}

func share(f crosstalk.Value) string {
	if !f.Defined() {
		return "unknown"
	}
	return strconv.FormatFloat(float64(f), 'g', 3, 64)
}

// number formats a whole number.
func number(x crosstalk.Value) string {
	if !x.Defined() {
		return "-"
	}
	return strconv.FormatFloat(float64(x), 'f', 0, 64)
}

func plainPercent(f float64) string { return strconv.FormatFloat(100*f, 'g', 4, 64) }

func nameOf(s compare.Study) string {
	if s.Subject == nil {
		return "stated"
	}
	parts := []string{crosstalk.Words(s.Measure)}
	for _, column := range sorted(s.By) {
		if value := s.By[column]; value != crosstalk.All {
			parts = append(parts, column+" "+value)
		}
	}
	if len(s.Reference) > 0 {
		parts = append(parts, compare.Describe(s.Condition, s.Reference)+" against "+compare.Describe(s.Reference,
			s.Condition))
	}
	return strings.Join(parts, ", ")
}

func (p power) records() [][]string {
	all := [][]string{{"study", "samples", "given", "difference", "items", "observations", "level", "power",
		"comparisons"}}
	for _, plan := range p.Plans {
		all = append(all, []string{nameOf(p.Studies[plan.Study]), strconv.Itoa(plan.Samples), plan.Given,
			report.Number(plan.Difference), report.Number(plan.Items),
			report.Number(plan.Observations), report.Number(crosstalk.Value(p.Level)),
			report.Number(crosstalk.Value(p.Power)), strconv.Itoa(p.Comparisons)})
	}
	return all
}
