package results

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
	"crosstalk/internal/numbers"
	"crosstalk/internal/ordered"
	"crosstalk/labels"
	"crosstalk/report"
)

// Agreement is an agreement of labels, and how to show it.
type Agreement struct {
	labels.Agreement
	Short bool                     // tables fit a screen: only what matters most, by group only on request
	Link  func(item string) string // returns the URL of an item's answers; may be nil
}

// Write writes the agreement in one of report.Formats.
func (a Agreement) Write(w io.Writer, format string) error {
	return report.WriteResult(w, format, a.Agreement, a.Figures, a.records, a.tables)
}

// shares are the figures shown as percentages in tables.
var shares = []string{labels.Rate, labels.Share, labels.Sensitivity, labels.Specificity, labels.SameFindings}

func (a Agreement) tables() []report.Table {
	all := a.Figures
	if a.Short {
		a = a.screen()
	}
	shared := sharedColumns(a.Figures)
	figures := report.Table{
		Heading: []string{"agreement", a.Question,
			fmt.Sprintf("%d labels of %d of %d answers", a.Labels, a.Questions, a.Units),
			"annotators " + strings.Join(a.Annotators, ", ")},
		Header: []string{"measure", "of", "by", "95 % interval", "value", "n"}, Left: 3,
	}
	if a.Adjudicated > 0 {
		figures.Heading = append(figures.Heading, fmt.Sprintf("%d decided by a third person", a.Adjudicated))
	}
	if len(shared) > 0 {
		figures.Heading = append(figures.Heading, inWords(shared))
	}
	for _, f := range a.Figures {
		number, unit := numbers.Decimals, ""
		if slices.Contains(shares, f.Measure) {
			number, unit = numbers.Percent, " %"
		}
		value, interval := number(f.Value), "-"
		if f.Value.Defined() {
			value += unit
		}
		if f.Interval != nil {
			interval = number(crosstalk.Value(f.Interval.Low)) + " to " + number(crosstalk.Value(f.Interval.High))
		}
		own := maps.Clone(f.By)
		maps.DeleteFunc(own, func(column, _ string) bool { _, is := shared[column]; return is })
		figures.Rows = append(figures.Rows, []string{f.Measure, f.Of, inWords(own), interval, value, strconv.Itoa(f.N)})
	}
	if len(a.Weighted) > 0 {
		figures.Notes = []string{"shares and rates are weighted: the sample was stratified by " +
			strings.Join(a.Weighted, ", ")}
	}
	tables := []report.Table{figures}
	if len(a.Curves) > 0 {
		tables = append(tables, curveTable(a.Curves))
	}
	tables = append(tables, a.matrix(all))
	if len(a.Disagreements) > 0 {
		tables = append(tables, a.worst())
	}
	if last := &tables[len(tables)-1]; a.Short {
		last.Notes = append(last.Notes,
			fmt.Sprintf("--all prints all %d figures, by group too, and more disagreements", len(all)))
	}
	return tables
}

// The most rows of tables that fit a screen.
const (
	shortFigures = 16
	shortCells   = 8
)

// screen keeps what matters most: the quality of the instrument, then rates.
func (a Agreement) screen() Agreement {
	order := []string{labels.Sensitivity, labels.Specificity, labels.SameFindings, labels.TauB, labels.CohensKappa,
		labels.Alpha, labels.Rate}
	if a.Question == labels.Codes { // codes have no other figures
		order = append(order, labels.Share)
	}
	byGroup := func(by map[string]string) bool {
		return slices.ContainsFunc(a.ByDefault, func(column string) bool { _, is := by[column]; return is })
	}
	ofOne := func(of string) bool { // of a single annotator
		if len(a.Annotators) == 2 && of == strings.Join(a.Annotators, " and ") {
			return false
		}
		return slices.ContainsFunc(a.Annotators, func(name string) bool {
			return name != labels.People && (of == name || strings.HasSuffix(of, " and "+name))
		})
	}
	a.Figures = slices.DeleteFunc(slices.Clone(a.Figures), func(f labels.Figure) bool {
		return byGroup(f.By) || ofOne(f.Of) || !slices.Contains(order, f.Measure)
	})
	slices.SortStableFunc(a.Figures, func(f, g labels.Figure) int {
		return slices.Index(order, f.Measure) - slices.Index(order, g.Measure)
	})
	if a.ByDefault != nil { // otherwise the user requested them
		a.Figures = a.Figures[:min(len(a.Figures), shortFigures)]
	}
	a.Cells = slices.DeleteFunc(slices.Clone(a.Cells), func(c labels.Cell) bool { return byGroup(c.By) })
	a.Curves = nil
	return a
}

// sharedColumns returns the columns that have the same value in every figure of people's labels.
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

// curveTable shows tau-b by slack: a row for each judge and group.
func curveTable(curves []labels.Curve) report.Table {
	t := report.Table{Heading: []string{"tau-b of the similarity and people, by slack"}, Header: []string{"judge",
		"by"}, Left: 2}
	for _, p := range curves[0].Points {
		t.Header = append(t.Header, strconv.FormatFloat(p.Slack, 'g', -1, 64))
	}
	t.Header = append(t.Header, "n")
	for _, curve := range curves {
		taus := ordered.Map(curve.Points, func(p labels.Point) string { return numbers.Decimals(p.Tau) })
		row := append([]string{curve.Judge, inWords(curve.By)}, taus...)
		t.Rows = append(t.Rows, append(row, strconv.Itoa(curve.N)))
	}
	return t
}

// matrix shows the confusion matrix: a row for each finding, a column for each label of the majority.
func (a Agreement) matrix(all []labels.Figure) report.Table {
	t := report.Table{Heading: []string{"found by the instrument, and said by the majority of people"},
		Header: []string{"judge", "by", "found"}, Left: 3}
	for _, f := range all {
		said := slices.ContainsFunc(a.Cells, func(c labels.Cell) bool { return c.People == f.Of })
		if f.Measure == labels.Share && said && !slices.Contains(t.Header[3:], f.Of) {
			t.Header = append(t.Header, f.Of)
		}
	}
	row := func(c labels.Cell) [3]string { return [3]string{c.Judge, inWords(c.By), c.Found} }
	for _, cells := range ordered.Groups(a.Cells, row) {
		of := row(cells[0])
		counts := slices.Repeat([]string{"0"}, len(t.Header)-len(of))
		for _, c := range cells {
			if i := slices.Index(t.Header[len(of):], c.People); i >= 0 {
				counts[i] = strconv.Itoa(c.N)
			}
		}
		t.Rows = append(t.Rows, append(of[:], counts...))
	}
	if rows := len(t.Rows); a.Short && rows > shortCells {
		t.Rows = t.Rows[:shortCells]
		t.Notes = []string{fmt.Sprintf("and %d more rows", rows-shortCells)}
	}
	return t
}

func (a Agreement) worst() report.Table {
	t := report.Table{Heading: []string{"largest disagreements"},
		Header: []string{"judge", "item", "sample", "people", "found", "topic", "texts", "difference"}, Left: 7}
	for _, d := range a.Disagreements {
		item := d.Item
		if d.Line > 0 {
			item += fmt.Sprintf(", line %d", d.Line)
		}
		t.Rows = append(t.Rows, []string{d.Judge, item, strconv.Itoa(d.Sample), strings.Join(d.People, ", "), d.Found,
			beginning(d.Topic), strings.Join(ordered.Map(d.Texts, beginning), " / "), numbers.Decimals(d.Difference)})
	}
	if a.Link != nil {
		t.Notes = []string{"answers of an item: crosstalk serve RUN, then " + a.Link("ITEM")}
	}
	return t
}

func beginning(text string) string {
	const most = 40
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}

// inWords describes the columns of a figure: "category animals · model x", or all.
func inWords(by map[string]string) string {
	parts := ordered.Map(slices.Sorted(maps.Keys(by)), func(c string) string { return c + " " + by[c] })
	return cmp.Or(strings.Join(parts, " · "), crosstalk.All)
}

func (a Agreement) records() [][]string {
	all := [][]string{{"measure", "of", "by", "value", "low", "high", "n"}}
	for _, f := range a.Figures {
		low, high := crosstalk.Undefined, crosstalk.Undefined
		if f.Interval != nil {
			low, high = crosstalk.Value(f.Interval.Low), crosstalk.Value(f.Interval.High)
		}
		all = append(all, []string{f.Measure, f.Of, inWords(f.By), report.Number(f.Value), report.Number(low),
			report.Number(high),
			strconv.Itoa(f.N)})
	}
	return all
}
