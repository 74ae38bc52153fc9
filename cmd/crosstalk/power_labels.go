package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"

	"crosstalk"
	"crosstalk/gate"
	"crosstalk/labels"
	"crosstalk/report"

	"github.com/spf13/cobra"
)

// labelPower is the plan of how many labels figures need. It is the JSON output.
type labelPower struct {
	Schema  string             `json:"schema"` // "crosstalk/label-power/v1"
	Level   float64            `json:"level"`
	Studies []labels.Pilot     `json:"studies"`
	Plans   []labels.LabelPlan `json:"plans"`
}

// runLabels plans labels: power --width.
func (p *powerFlags) runLabels(c *cobra.Command) error {
	for _, name := range []string{"difference", "items", "samples", "discordant", "within", "comparisons", "target-power"} {
		if c.Flags().Changed(name) {
			return fmt.Errorf("--width and --%s cannot be combined: --width plans labels, --%s a comparison", name, name)
		}
	}
	if !(p.level > 0 && p.level < 1) {
		return fmt.Errorf("--level is %g; expected a number between 0 and 1, such as 0.95", p.level)
	}
	plan := labelPower{Schema: "crosstalk/label-power/v1", Level: p.level, Plans: []labels.LabelPlan{}}
	var err error
	switch stated := p.statedLabels(c); {
	case len(p.pilot) > 0 && len(stated) > 0:
		return fmt.Errorf("--pilot and --%s cannot be combined: the pilot replaces it", stated[0])
	case len(p.pilot) > 1:
		return fmt.Errorf("--width needs one pilot, found %d", len(p.pilot))
	case len(p.pilot) == 1:
		plan.Studies, err = pilotsOf(p.pilot[0])
	default:
		plan.Studies, err = p.statedStudy()
	}
	if err != nil {
		return err
	}
	for _, text := range p.widths {
		width, err := gate.ParseFraction(text)
		if err == nil && !(width > 0 && width < 1) {
			err = fmt.Errorf("%g is not between 0 and 1", width)
		}
		if err != nil {
			return fmt.Errorf("--width: %w", err)
		}
		for i, study := range plan.Studies {
			plan.Plans = append(plan.Plans, study.Needed(i, width, p.level))
		}
	}
	slices.SortStableFunc(plan.Plans, func(a, b labels.LabelPlan) int { return a.Study - b.Study })
	return plan.write(c.OutOrStdout(), p.format)
}

// statedLabels lists the flags of a plan of labels that --pilot replaces.
func (p *powerFlags) statedLabels(c *cobra.Command) (names []string) {
	for _, name := range []string{"rate", "sensitivity", "specificity", "answers", "cluster-size", "icc"} {
		if c.Flags().Changed(name) {
			names = append(names, name)
		}
	}
	return names
}

func pilotsOf(path string) ([]labels.Pilot, error) {
	sheet, err := openSheet(path, "")
	if err != nil {
		return nil, err
	}
	given, design, err := labelsOf(path)
	if err != nil {
		return nil, err
	}
	return sheet.Pilots(design, given)
}

// statedStudy is the study that the flags describe.
func (p *powerFlags) statedStudy() ([]labels.Pilot, error) {
	var rates [3]float64
	for i, flag := range []struct{ name, text, example string }{
		{"rate", p.rate, "0.2"}, {"sensitivity", p.sensitivity, "0.8"}, {"specificity", p.specificity, "0.95"},
	} {
		if flag.text == "" {
			return nil, fmt.Errorf("expected --pilot RUN, a run with labels, or --%s, such as %s", flag.name, flag.example)
		}
		var err error
		if rates[i], err = gate.ParseFraction(flag.text); err != nil {
			return nil, fmt.Errorf("--%s: %w", flag.name, err)
		}
	}
	if p.answers == 0 {
		return nil, fmt.Errorf("expected --answers, the number of answers in the run, such as 1000")
	}
	if !(p.icc >= 0 && p.icc <= 1) || !(p.clusterSize >= 1) {
		return nil, fmt.Errorf("--icc is %g and --cluster-size %g; expected 0 to 1, and 1 or more", p.icc, p.clusterSize)
	}
	study, err := labels.Stated(rates[0], rates[1], rates[2], p.answers, 1+(p.clusterSize-1)*p.icc)
	return []labels.Pilot{study}, err
}

func (l labelPower) write(w io.Writer, format string) error {
	switch format {
	case "json", "jsonl":
		return report.WriteJSON(w, format, l, l.Plans)
	case "csv":
		c := csv.NewWriter(w)
		c.Write([]string{"study", "width", "at_random", "by_finding", "alone", "level"})
		for _, p := range l.Plans {
			c.Write([]string{l.name(p.Study), report.Number(crosstalk.Value(p.Width)), report.Number(p.AtRandom), report.Number(p.ByFinding),
				report.Number(p.Alone), report.Number(crosstalk.Value(l.Level))})
		}
		c.Flush()
		return c.Error()
	}
	number := func(v crosstalk.Value) string {
		if !v.Defined() {
			return "-"
		}
		return strconv.FormatFloat(float64(v), 'f', 0, 64)
	}
	percent := func(x float64) string { return strconv.FormatFloat(100*x, 'g', 4, 64) }
	t := report.Table{Heading: []string{"labels for intervals at level " + percent(l.Level) + " %"},
		Header: []string{"", "width, points", "at random", "by finding", "without the instrument"}, Left: 1,
		Notes: []string{"at random: drawn from all answers; by finding: as many from each finding (labels export --sample N --by finding)"}}
	undefined := false
	for _, p := range l.Plans {
		undefined = undefined || !p.AtRandom.Defined() || !p.ByFinding.Defined() || !p.Alone.Defined()
		t.Rows = append(t.Rows, []string{l.name(p.Study), percent(p.Width), number(p.AtRandom), number(p.ByFinding), number(p.Alone)})
	}
	if undefined {
		t.Notes = append(t.Notes, "-: labels of all answers are too few; the run needs more answers")
	}
	for i, s := range l.Studies {
		note := fmt.Sprintf("%d answers, people's rate %s %%, design effect of clusters %.3g", s.Answers, percent(s.Mean()), s.Effect)
		if s.Labelled > 0 {
			note = fmt.Sprintf("%s: %d labelled of %s", l.name(i), s.Labelled, note)
		}
		t.Notes = append(t.Notes, note)
	}
	return report.WriteTable(w, format, t)
}

// name is a study in words.
func (l labelPower) name(study int) string {
	if s := l.Studies[study]; s.Measure != "" {
		return inWords(s.By)
	}
	return "stated rates"
}
