// Package overview lays out the short answer that run and score print: the totals
// with intervals, the groups with the worst figures, what could not be checked and
// a few wrong answers. It fits a terminal of 40 lines and 100 columns. All figures
// are in the tables of package report.
//
// It knows instruments by their Kinds. Columns of figures that have the value "all"
// somewhere are groups; all others, such as models and tasks, name the totals.
package overview

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/report"
)

const (
	maxColumns  = 100
	maxLines    = 32 // the other lines of the terminal are for messages
	maxExamples = 3  // one less where rows do not fit
	minNotes    = 2  // lines of notes, however many rows there are
	maxNotes    = 6
)

// Write writes the short answer of an instrument's figures. names and examples may be
// nil.
func Write(
	w io.Writer, instrumentName string, estimates []crosstalk.Estimate, names report.Names, examples *Examples,
) error {
	a := newAnswer(instrument.Named(instrumentName), estimates, names)
	if len(a.measures) == 0 {
		return report.WriteNamed(w, "table", estimates, names)
	}
	_, err := io.WriteString(w, strings.Join(a.lines(examples), "\n")+"\n")
	return err
}

// answer is the figures of the headline measures.
type answer struct {
	kind     crosstalk.Kind
	measures []crosstalk.Measure // those of the columns
	others   []string            // labels of measures that are left out
	model    string              // where there is one
	common   []string            // columns with one value, and the value
	fixed    []string            // columns whose values name the totals
	totals   []*row
	sections []section
	notes    []string
}

// row is the figures of a condition or a group.
type row struct {
	by      map[string]string
	named   map[string]string             // by, with names
	short   map[string]string             // with short names
	figures map[string]crosstalk.Estimate // by measure
}

// section is the figures by the values of a column, worst first.
type section struct {
	column string
	rows   []*row
}

func newAnswer(kind crosstalk.Kind, estimates []crosstalk.Estimate, names report.Names) *answer {
	a := &answer{kind: kind}
	var headlines []crosstalk.Estimate
	measured := map[string]bool{}
	for _, e := range estimates {
		m := kind.Measure(e.Measure)
		if m.Headline {
			headlines = append(headlines, e)
		} else if !measured[m.Key] {
			a.others = append(a.others, m.Label)
		}
		measured[m.Key] = true
	}
	for _, m := range kind.Measures {
		if m.Headline && measured[m.Key] {
			a.measures = append(a.measures, m)
		}
	}
	if len(a.measures) == 0 {
		return a
	}
	rows := rowsOf(headlines, names)
	groups := a.columns(report.ByColumns(headlines), rows)
	a.divide(rows, groups)
	a.notes = a.remarks(rows, groups)
	return a
}

// columns sorts columns into those of groups, which it returns, those that name
// totals, and those that all figures have in common.
func (a *answer) columns(columns []string, rows []*row) (groups []string) {
	columns = slices.DeleteFunc(columns, func(c string) bool { // that the data do not have
		return !slices.ContainsFunc(rows, func(r *row) bool { return r.by[c] != crosstalk.All })
	})
	for _, c := range columns {
		if slices.ContainsFunc(rows, func(r *row) bool { return r.by[c] == crosstalk.All }) {
			groups = append(groups, c)
		}
	}
	for _, c := range columns {
		switch {
		case slices.Contains(groups, c):
			if value := onlyValue(rows, c); value != "" && a.covers(c, rows, groups) {
				a.common = append(a.common, crosstalk.Words(c)+" "+value)
			}
		case slices.ContainsFunc(rows, func(r *row) bool { return r.by[c] != rows[0].by[c] }):
			a.fixed = append(a.fixed, c)
		case c == crosstalk.ModelColumn:
			a.model = rows[0].short[c]
		default:
			a.common = append(a.common, crosstalk.Words(c)+" "+rows[0].short[c])
		}
	}
	slices.SortStableFunc(groups, func(x, y string) int { return cmp.Compare(a.choice(x), a.choice(y)) })
	return groups
}

// divide makes totals and sections of the rows.
func (a *answer) divide(rows []*row, groups []string) {
	var without []*row // the first figure: they come last, since they may not fit
	for _, r := range rows {
		if len(grouped(r, groups)) > 0 {
			continue
		}
		if e, ok := r.figures[a.measures[0].Key]; ok && e.Value.Defined() {
			a.totals = append(a.totals, r)
		} else {
			without = append(without, r)
		}
	}
	a.totals = append(a.totals, without...)
	for _, column := range groups {
		s := section{column: column}
		for _, r := range rows {
			if by := grouped(r, groups); len(by) == 1 && by[0] == column {
				s.rows = append(s.rows, r)
			}
		}
		// Others repeat the totals.
		if n := len(s.rows); n > len(a.totals) || n > 0 && !a.covers(column, rows, groups) {
			slices.SortStableFunc(s.rows, a.compare)
			a.sections = append(a.sections, s)
		}
	}
}

// covers reports whether every answer that the totals are about has a value of the
// column: the figures by it, and by the fewest other columns, are of as many.
func (a *answer) covers(column string, rows []*row, groups []string) bool {
	total, fewest, covered := 0, len(groups), 0
	for _, r := range rows {
		_, of := a.unjudged(r)
		by := grouped(r, groups)
		switch n := len(by); {
		case n == 0:
			total += of
		case !slices.Contains(by, column) || n > fewest:
		case n < fewest:
			fewest, covered = n, of
		default:
			covered += of
		}
	}
	return covered == total
}

// rowsOf collects the figures with equal columns, in their order.
func rowsOf(estimates []crosstalk.Estimate, names report.Names) (rows []*row) {
	byKey := map[string]*row{}
	for _, e := range estimates {
		key := string(crosstalk.Canonical(e.By))
		if byKey[key] == nil {
			byKey[key] = &row{by: e.By, figures: map[string]crosstalk.Estimate{}}
			rows = append(rows, byKey[key])
		}
		byKey[key].figures[e.Measure] = e
	}
	named := make([]map[string]string, len(rows))
	for i, r := range rows {
		r.named = names.By(r.by)
		named[i] = r.named
	}
	for i, short := range report.Shorten(named, labelWidths[0]) {
		rows[i].short = short
	}
	return rows
}

// grouped lists the columns that a row is a group of.
func grouped(r *row, groups []string) (columns []string) {
	for _, c := range groups {
		if value, ok := r.by[c]; ok && value != crosstalk.All {
			columns = append(columns, c)
		}
	}
	return columns
}

// choice is the rank of a column among the kind's choices.
func (a *answer) choice(column string) int {
	return slices.Index(append(slices.Clip(a.kind.Choices), column), column)
}

// compare orders rows by their worst figure, worst first. Rows without a figure come
// last.
func (a *answer) compare(x, y *row) int { return cmp.Compare(a.badness(x), a.badness(y)) }

// badness is the worst of the figures that one of the measures combines, or else the
// first figure; smaller is worse.
func (a *answer) badness(r *row) float64 {
	of := []string{a.measures[0].Key}
	for _, m := range a.measures {
		if average := r.figures[m.Key].Average; average != nil && average.HarmonicOf != nil {
			of = average.HarmonicOf
		}
	}
	worst := math.Inf(1)
	for _, measure := range of {
		e, ok := r.figures[measure]
		value := float64(e.Value)
		if e.Better == crosstalk.Lower {
			value = -value
		}
		if ok && e.Value.Defined() {
			worst = min(worst, value)
		}
	}
	return worst
}

// unjudged counts what the first figure of a row says nothing about.
func (a *answer) unjudged(r *row) (unjudged, of int) {
	for _, m := range a.measures {
		if e, ok := r.figures[m.Key]; ok {
			return a.kind.UnjudgedOf(e)
		}
	}
	return 0, 0
}

// remarks are notes, the most important first: what was mostly not checked, the
// warnings of the totals, what else was measured, and what the figures mean.
func (a *answer) remarks(rows []*row, groups []string) (notes []string) {
	notes = append(notes, a.unchecked())
	names, warnings := make([]string, len(a.totals)), make([][]string, len(a.totals))
	for i, r := range a.totals {
		names[i] = strings.Join(a.names(r), "/")
		for _, m := range a.measures {
			for _, w := range r.figures[m.Key].Warnings {
				if !strings.HasPrefix(w, crosstalk.MostlyUnchecked) &&
					!slices.ContainsFunc(warnings[i], func(other string) bool { return kindOf(other) == kindOf(w) }) {
					warnings[i] = append(warnings[i], w)
				}
			}
		}
	}
	for _, n := range report.Warnings(names, warnings) {
		notes = append(notes, strings.Replace(n, "warning: : ", "warning: ", 1)) // a single row has no name
	}
	if len(a.others) > 0 {
		notes = append(notes, "--all also prints "+strings.Join(a.others, ", "))
	}
	notes = append(notes, a.alike(rows, groups), a.legend())
	return slices.DeleteFunc(notes, func(note string) bool { return note == "" })
}

// unchecked names the totals and groups most of whose answers could not be judged.
func (a *answer) unchecked() string {
	var list []string
	add := func(r *row, column string) {
		if n, of := a.unjudged(r); 2*n > of {
			name := strings.Join(a.names(r), " ")
			if column != "" {
				name += " " + r.named[column]
			}
			list = append(list, strings.TrimSpace(fmt.Sprintf("%s %d of %d", name, n, of)))
		}
	}
	for _, r := range a.totals {
		add(r, "")
	}
	for _, s := range a.sections {
		for _, r := range s.rows {
			add(r, s.column)
		}
	}
	if list == nil {
		return ""
	}
	return "warning: " + crosstalk.MostlyUnchecked + ": " + strings.Join(list, ", ")
}

var number = regexp.MustCompile(`\d+`)

// kindOf is a warning without its numbers.
func kindOf(warning string) string { return number.ReplaceAllString(warning, "#") }

// legend has the full names of the measures, and what they are compared with.
func (a *answer) legend() string {
	var legend []string
	for _, m := range a.measures {
		var about []string
		if !strings.EqualFold(m.Label, strings.ReplaceAll(m.Name, "-", " ")) {
			about = append(about, m.Name)
		}
		if m.Baseline.Meaning != "" {
			about = append(about, fmt.Sprintf("%g is %s", 100*m.Baseline.Value, m.Baseline.Meaning))
		}
		if about != nil {
			legend = append(legend, m.Label+": "+strings.Join(about, ", "))
		}
	}
	return strings.Join(legend, "; ")
}

// alike says what the first measure is if all answers count alike, where the totals
// average over columns instead.
func (a *answer) alike(rows []*row, groups []string) string {
	first := a.measures[0]
	var shares, over []string
	for _, total := range a.totals {
		e := total.figures[first.Key]
		if e.Average == nil {
			return ""
		}
		over = slices.DeleteFunc(slices.Clone(e.Average.Over), func(c string) bool { return !slices.Contains(groups, c) })
		sum, n := 0.0, 0
		for _, r := range rows {
			if part, ok := r.figures[first.Key]; ok && part.Value.Defined() && a.partOf(r, total, over, groups) {
				sum += float64(part.Value) * float64(part.Observations)
				n += part.Observations
			}
		}
		if len(over) == 0 || n == 0 || n != e.Observations {
			return "" // its parts are not known
		}
		share := report.Percent(crosstalk.Value(sum / float64(n)))
		shares = append(shares, strings.TrimSpace(share+" "+strings.Join(a.names(total), " ")))
	}
	if len(shares) == 0 || len(shares) > 4 {
		return ""
	}
	return fmt.Sprintf("The totals average over %s; %s of all answers alike: %s",
		strings.Join(over, ", then "), first.Label, strings.Join(shares, ", "))
}

// partOf reports whether a row is one of the parts of a total: with a value of each
// of the columns.
func (a *answer) partOf(r, total *row, columns, groups []string) bool {
	of := grouped(r, groups)
	other := func(c string) bool { return !slices.Contains(columns, c) }
	return len(of) == len(columns) && !slices.ContainsFunc(of, other) &&
		!slices.ContainsFunc(a.fixed, func(c string) bool { return r.by[c] != total.by[c] })
}

// names are the values that distinguish a row's condition.
func (a *answer) names(r *row) (names []string) {
	for _, c := range a.fixed {
		names = append(names, cmp.Or(r.short[c], "-"))
	}
	return names
}

// onlyValue is the value of a column by which figures are grouped, "" if there are
// several.
func onlyValue(rows []*row, column string) (only string) {
	for _, r := range rows {
		switch value := r.short[column]; {
		case value == crosstalk.All || value == "" || value == only:
		case only != "":
			return ""
		default:
			only = value
		}
	}
	return only
}

// title names the instrument and what all figures have in common.
func (a *answer) title() string {
	title := cmp.Or(a.kind.Title, a.kind.Name)
	if a.model != "" {
		title += " of " + a.model
	}
	return strings.Join(append([]string{title}, a.common...), ", ")
}
