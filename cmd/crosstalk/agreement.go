package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
	"crosstalk/internal/config"
	"crosstalk/labels"
	"crosstalk/report"
	"crosstalk/study"
	"crosstalk/web"

	"github.com/spf13/cobra"
)

type agreementFlags struct {
	outputFlags
	labels.Options
	question string
}

func agreementCommand() *cobra.Command {
	var a agreementFlags
	c := &cobra.Command{
		Use:   "agreement RUN",
		Short: "Compare people's labels with each other and with the instrument",
		Long: `Compare the labels of a run ('crosstalk labels') with each other and with what the
instrument found:

rate, share        the human figure, such as the human Leak-Rate (test counts 1,
                   neither 0.5, control 0), and the share of each label
kappa, alpha       agreement between annotators: Cohen's kappa of two,
                   Krippendorff's alpha of all (nominal); and kappa of the
                   instrument and the majority
tau-b              Kendall's tau-b between annotators, and between each similarity
                   and people; similarity differences within --slack are tied
sensitivity        share found, of what the majority of people finds
specificity        share not found, of the rest

All are given for each value of the columns in --by too. Further tables have tau-b
over the slack, a confusion matrix of what was found and what the majority says,
and the largest disagreements.

A tie between annotators counts as neither or cannot tell. If the sample was
stratified, rates, shares, sensitivity and specificity are weighted, so that they
are those of the whole run. Intervals account for clusters.`,
		Example: `  crosstalk agreement RUN
  crosstalk agreement RUN --slack 0.05 --by category
  crosstalk agreement RUN --format json > agreement.json`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.run(c, args[0]) },
	}
	f := c.Flags()
	f.Float64Var(&a.Slack, "slack", 0.03, "similarity differences that differ by at most this are tied in tau-b")
	f.StringSliceVar(&a.By, "by", nil, "columns to give figures by, such as category or language (default: as when they were measured)")
	f.IntVar(&a.Worst, "worst", 10, "number of the largest disagreements to list, for each similarity")
	f.StringVar(&a.question, "question", "", questionHelp)
	f.Uint64Var(&a.Seed, "seed", 1, "seed of the intervals")
	config.Harmless(f, "slack", "by", "worst", "question", "seed")
	a.outputFlags.add(c)
	f.SortFlags = false
	return c
}

func (a *agreementFlags) run(c *cobra.Command, path string) error {
	if err := report.CheckFormat(a.format); err != nil {
		return err
	}
	sheet, err := openSheet(path, a.question)
	if err != nil {
		return err
	}
	given, design, err := labelsOf(path)
	if err != nil {
		return err
	}
	if a.By, err = a.columns(c, path, sheet); err != nil {
		return err
	}
	a.Link = web.ItemPath
	result, err := sheet.Compare(design, given, a.Options)
	if err != nil {
		return err
	}
	if result.Questions == 0 {
		return fmt.Errorf("%s: none of its %d labels answers the question %s about an answer that was scored", path, len(given), result.Question)
	}
	if result.Unmatched > 0 && !a.quiet {
		fmt.Fprintf(c.ErrOrStderr(), "%d labels are of answers that were not scored; they are left out\n", result.Unmatched)
	}
	return writeAgreement(c.OutOrStdout(), a.format, result)
}

// labelsOf reads the labels of a run and how their questions were drawn. No
// label is an error.
func labelsOf(path string) ([]labels.Label, labels.Design, error) {
	given, err := labels.Read(path)
	if err != nil {
		return nil, labels.Design{}, err
	}
	if len(given) == 0 {
		return nil, labels.Design{}, fmt.Errorf("%s has no labels: use 'crosstalk labels export' and 'crosstalk labels import'", path)
	}
	design, err := labels.ReadDesign(path)
	return given, design, err
}

// columns are those of --by, or else those of the last scoring that questions
// have, and the length of lines.
func (a *agreementFlags) columns(c *cobra.Command, path string, sheet *labels.Sheet) ([]string, error) {
	if by := given(c, "by", a.By); by != nil {
		return study.ParseBy(by)
	}
	manifest, err := study.ReadManifest(path)
	if err != nil || len(manifest.Scoring) == 0 {
		return nil, err
	}
	return slices.DeleteFunc(append(slices.Clone(manifest.Scoring[0].By), labels.LengthColumn), func(column string) bool {
		return sheet.CheckBy([]string{column}) != nil
	}), nil
}

func writeAgreement(w io.Writer, format string, a labels.Agreement) error {
	switch format {
	case "json", "jsonl":
		return report.WriteJSON(w, format, a, a.Figures)
	case "csv":
		return writeAgreementCSV(w, a)
	}
	for i, t := range agreementTables(a) {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := report.WriteTable(w, format, t); err != nil {
			return err
		}
	}
	return nil
}

// percent are the figures that are shares.
var percent = []string{labels.Rate, labels.Share, labels.Sensitivity, labels.Specificity, labels.SameFindings}

func agreementTables(a labels.Agreement) []report.Table {
	shared := sharedColumns(a.Figures)
	figures := report.Table{
		Heading: []string{"agreement", a.Question, fmt.Sprintf("%d labels of %d of %d answers", a.Labels, a.Questions, a.Units),
			"annotators " + strings.Join(a.Annotators, ", ")},
		Header: []string{"measure", "of", "by", "value", "95 % interval", "n"}, Left: 3,
	}
	if len(shared) > 0 {
		figures.Heading = append(figures.Heading, inWords(shared))
	}
	for _, f := range a.Figures {
		number := func(x float64) string { return strconv.FormatFloat(x, 'f', 3, 64) }
		if slices.Contains(percent, f.Measure) {
			number = func(x float64) string { return strconv.FormatFloat(100*x, 'f', 1, 64) + " %" }
		}
		value, interval := "-", "-"
		if f.Value.Defined() {
			value = number(float64(f.Value))
		}
		if f.Interval != nil {
			interval = strings.TrimSuffix(number(f.Interval.Low), " %") + " to " + strings.TrimSuffix(number(f.Interval.High), " %")
		}
		own := maps.Clone(f.By)
		maps.DeleteFunc(own, func(column, _ string) bool { _, is := shared[column]; return is })
		figures.Rows = append(figures.Rows, []string{f.Measure, f.Of, inWords(own), value, interval, strconv.Itoa(f.N)})
	}
	if len(a.Weighted) > 0 {
		figures.Notes = append(figures.Notes, "shares and rates are weighted: the sample was stratified by "+strings.Join(a.Weighted, ", "))
	}
	tables := []report.Table{figures}
	if len(a.Curves) > 0 {
		tables = append(tables, curveTable(a.Curves))
	}
	tables = append(tables, matrix(a))
	if len(a.Disagreements) > 0 {
		tables = append(tables, worstTable(a.Disagreements))
	}
	return tables
}

// sharedColumns are those that every figure of people's labels has, with the same
// value.
func sharedColumns(figures []labels.Figure) (shared map[string]string) {
	for _, f := range figures {
		switch {
		case f.Measure != labels.Rate && f.Measure != labels.Share:
		case shared == nil:
			shared = maps.Clone(f.By)
		default:
			maps.DeleteFunc(shared, func(column, value string) bool { return f.By[column] != value })
		}
	}
	return shared
}

// curveTable is tau-b over the slack: a row for each judge and group.
func curveTable(curves []labels.Curve) report.Table {
	t := report.Table{Heading: []string{"tau-b of the similarity and people, by slack"}, Header: []string{"judge", "by"}, Left: 2}
	for _, p := range curves[0].Points {
		t.Header = append(t.Header, strconv.FormatFloat(p.Slack, 'g', -1, 64))
	}
	t.Header = append(t.Header, "n")
	for _, curve := range curves {
		row := []string{curve.Judge, inWords(curve.By)}
		for _, p := range curve.Points {
			row = append(row, decimals(p.Tau))
		}
		t.Rows = append(t.Rows, append(row, strconv.Itoa(curve.N)))
	}
	return t
}

// matrix is the confusion matrix: a row for each finding, a column for each label
// of the majority.
func matrix(a labels.Agreement) report.Table {
	t := report.Table{Heading: []string{"found by the instrument, and said by the majority of people"}, Header: []string{"judge", "by", "found"}, Left: 3}
	columns, rows := map[string]int{}, map[[3]string]int{}
	for _, f := range a.Figures { // in the order of labels
		said := slices.ContainsFunc(a.Cells, func(c labels.Cell) bool { return c.People == f.Of })
		if _, known := columns[f.Of]; f.Measure == labels.Share && said && !known {
			columns[f.Of] = len(t.Header)
			t.Header = append(t.Header, f.Of)
		}
	}
	for _, c := range a.Cells {
		id := [3]string{c.Judge, inWords(c.By), c.Found}
		at, known := rows[id]
		if !known {
			at = len(t.Rows)
			rows[id] = at
			t.Rows = append(t.Rows, append(id[:], slices.Repeat([]string{"0"}, len(columns))...))
		}
		t.Rows[at][columns[c.People]] = strconv.Itoa(c.N)
	}
	return t
}

func worstTable(worst []labels.Disagreement) report.Table {
	t := report.Table{Heading: []string{"largest disagreements"},
		Header: []string{"judge", "item", "sample", "people", "found", "topic", "texts", "difference"}, Left: 7}
	for _, d := range worst {
		texts := make([]string, len(d.Texts))
		for i, text := range d.Texts {
			texts[i] = short(text)
		}
		item := d.Item
		if d.Line > 0 {
			item += fmt.Sprintf(", line %d", d.Line)
		}
		t.Rows = append(t.Rows, []string{d.Judge, item, strconv.Itoa(d.Sample), strings.Join(d.People, ", "), d.Found,
			short(d.Topic), strings.Join(texts, " / "), decimals(d.Difference)})
	}
	t.Notes = []string{"answers of an item: crosstalk serve RUN, then " + strings.TrimSuffix(web.ItemPath(""), "q=") + "q=ITEM"}
	return t
}

// decimals is a number with three of them.
func decimals(v crosstalk.Value) string {
	if !v.Defined() {
		return "-"
	}
	return strconv.FormatFloat(float64(v), 'f', 3, 64)
}

// short is the beginning of a text, for a table.
func short(text string) string {
	const most = 40
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}

// inWords is the columns of a figure: "category animals · model x", or all.
func inWords(by map[string]string) string {
	var parts []string
	for _, c := range slices.Sorted(maps.Keys(by)) {
		parts = append(parts, c+" "+by[c])
	}
	if len(parts) == 0 {
		return crosstalk.All
	}
	return strings.Join(parts, " · ")
}

func writeAgreementCSV(w io.Writer, a labels.Agreement) error {
	c := csv.NewWriter(w)
	if err := c.Write([]string{"measure", "of", "by", "value", "low", "high", "n"}); err != nil {
		return err
	}
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	for _, f := range a.Figures {
		value, low, high := "", "", ""
		if f.Value.Defined() {
			value = number(float64(f.Value))
		}
		if f.Interval != nil {
			low, high = number(f.Interval.Low), number(f.Interval.High)
		}
		if err := c.Write([]string{f.Measure, f.Of, inWords(f.By), value, low, high, strconv.Itoa(f.N)}); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}
