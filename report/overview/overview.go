// Package overview lays out the short answer that run and score print: the totals with intervals, the groups with the
// worst figures, what could not be checked, and a few wrong answers. It fits a terminal of 40 lines and 100 columns.
// The tables of package report have all figures.
//
// It knows instruments only by their Kinds. Columns of figures with the value "all" somewhere are groups; the others,
// such as models and tasks, name the totals.
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
	"crosstalk/internal/ordered"
	"crosstalk/report"
)

const (
	maxColumns  = 100
	maxLines    = 32 // messages take the other lines of the terminal
	maxExamples = 3  // one less if rows do not fit
	minNotes    = 2  // lines of notes, however many rows there are
	maxNotes    = 6
	maxPlain    = 6
)

// Write writes the short answer for an instrument's figures. names and examples may be nil.
func Write(w io.Writer, instrumentName string, estimates []crosstalk.Estimate, names report.Names,
	examples *Examples) error {
	a := newAnswer(instrument.Named(instrumentName), estimates, names)
	if len(a.measures) == 0 {
		return report.WriteNamed(w, "table", estimates, names)
	}
	_, err := io.WriteString(w, strings.Join(a.lines(examples), "\n")+"\n")
	return err
}

// answer holds the figures of the headline measures.
type answer struct {
	kind     crosstalk.Kind
	measures []crosstalk.Measure // of the columns
	others   []string            // labels of omitted measures
	model    string              // if there is only one
	common   []string            // columns with a single value, with that value
	fixed    []string            // columns whose values name the totals
	totals   []*row
	sections []section
	notes    []string
	counts   bool   // whether the answers with a fault are known
	level    string // of the intervals: "95 %"
}

type row struct {
	by      map[string]string
	named   map[string]string             // by, with names
	short   map[string]string             // with short names
	figures map[string]crosstalk.Estimate // by measure
}

// section holds the figures by the values of a column, worst first.
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
		if m.Headline || m.Key == kind.Faults.Measure {
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
	a.counts, a.level = measured[kind.Faults.Measure], report.Level(headlines)
	rows := rowsOf(headlines, names)
	groups := a.columns(headlines, rows)
	a.divide(rows, groups)
	a.notes = a.remarks()
	return a
}

// columns divides columns into group columns, which it returns, columns that name totals, and common ones.
func (a *answer) columns(estimates []crosstalk.Estimate, rows []*row) (groups []string) {
	varies := func(c, from string) bool {
		return slices.ContainsFunc(rows, func(r *row) bool { return r.by[c] != from })
	}
	groups = slices.DeleteFunc(instrument.GroupColumns(estimates), func(c string) bool { // columns that the data lack
		return !varies(c, crosstalk.All)
	})
	for _, c := range instrument.ByColumns(estimates) {
		switch {
		case slices.Contains(groups, c):
			if value := onlyValue(rows, c); value != "" && a.covers(c, rows, groups) {
				a.common = append(a.common, crosstalk.Words(c)+" "+value)
			}
		case !varies(c, crosstalk.All):
		case varies(c, rows[0].by[c]):
			a.fixed = append(a.fixed, c)
		case c == crosstalk.ModelColumn:
			a.model = rows[0].short[c]
		default:
			a.common = append(a.common, crosstalk.Words(c)+" "+rows[0].short[c])
		}
	}
	rank := func(column string) int { return slices.Index(append(slices.Clip(a.kind.Choices), column), column) }
	slices.SortStableFunc(groups, func(x, y string) int { return cmp.Compare(rank(x), rank(y)) })
	return groups
}

func (a *answer) divide(rows []*row, groups []string) {
	var without []*row // rows without the first figure: last, since they may not fit
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
		of := slices.DeleteFunc(slices.Clone(rows), func(r *row) bool {
			return !slices.Equal(grouped(r, groups), []string{column})
		})
		// Other columns repeat the totals.
		if n := len(of); n > len(a.totals) || n > 0 && !a.covers(column, rows, groups) {
			slices.SortStableFunc(of, a.compare)
			a.sections = append(a.sections, section{column, of})
		}
	}
}

// covers reports whether every answer in the totals has a value of the column: the figures by it, and by as few other
// columns as possible, cover as many answers.
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

// rowsOf collects the figures with equal columns, in order.
func rowsOf(estimates []crosstalk.Estimate, names report.Names) (rows []*row) {
	var named []map[string]string
	key := func(e crosstalk.Estimate) string { return string(crosstalk.Canonical(e.By)) }
	for _, group := range ordered.Groups(estimates, key) {
		r := &row{by: group[0].By, named: names.By(group[0].By), figures: map[string]crosstalk.Estimate{}}
		for _, e := range group {
			r.figures[e.Measure] = e
		}
		rows, named = append(rows, r), append(named, r.named)
	}
	for i, short := range report.Shorten(named, labelWidths[0]) {
		rows[i].short = short
	}
	return rows
}

func grouped(r *row, groups []string) (columns []string) {
	for _, c := range groups {
		if value, ok := r.by[c]; ok && value != crosstalk.All {
			columns = append(columns, c)
		}
	}
	return columns
}

// compare orders rows by the number of answers with a fault, so that small groups do not come first, then by their
// worst figure. Rows without a figure come last.
func (a *answer) compare(x, y *row) int {
	if measure := a.kind.Faults.Measure; a.byNumber() {
		if c := cmp.Compare(report.Faulty(y.figures[measure]), report.Faulty(x.figures[measure])); c != 0 {
			return c
		}
	}
	return cmp.Compare(a.badness(x), a.badness(y))
}

// byNumber reports whether groups are ordered by the number of answers with a fault.
func (a *answer) byNumber() bool { return a.counts && !a.kind.Faults.ByRate }

// badness returns the worst of the figures that a measure combines, or else the first figure; smaller is worse.
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

// unjudged counts the answers that the first figure of a row excludes.
func (a *answer) unjudged(r *row) (unjudged, of int) {
	for _, m := range a.measures {
		if e, ok := r.figures[m.Key]; ok {
			return a.kind.UnjudgedOf(e)
		}
	}
	return 0, 0
}

// remarks returns notes, the most important first: what was mostly not checked, the warnings of the totals, what else
// was measured, and what the figures mean.
func (a *answer) remarks() (notes []string) {
	notes = append(notes, a.unchecked())
	names, warnings := make([]string, len(a.totals)), make([][]string, len(a.totals))
	for i, r := range a.totals {
		names[i] = strings.Join(a.names(r), "/")
		for _, m := range a.measures {
			for _, w := range r.figures[m.Key].Warnings {
				if !strings.HasPrefix(w, crosstalk.MostlyUnchecked) && !idle.MatchString(w) &&
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
	notes = append(notes, a.legend())
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

// idle matches warnings that readers cannot act on; the tables have them.
var idle = regexp.MustCompile(`^no variation between clusters|of the parts averaged have a single cluster`)

var number = regexp.MustCompile(`\d+`)

func kindOf(warning string) string { return number.ReplaceAllString(warning, "#") }

// legend lists the full names of the measures, and what they are compared with.
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

// plain tells in words how many answers have a fault: a line for each total, or none if there are too many.
func (a *answer) plain() (lines []string) {
	for _, r := range a.totals {
		if line := report.Plain(r.figures[a.kind.Faults.Measure]); line != "" {
			lines = append(lines, strings.TrimPrefix(strings.Join(a.names(r), " ")+": "+line, ": "))
		}
	}
	if len(lines) > maxPlain {
		return nil
	}
	return lines
}

// names returns the values that distinguish a row's condition.
func (a *answer) names(r *row) []string {
	return ordered.Map(a.fixed, func(c string) string { return report.Said(c, cmp.Or(r.short[c], "-")) })
}

// onlyValue returns the only value of a column by which figures are grouped, "" if there are several.
func onlyValue(rows []*row, column string) string {
	values := ordered.Distinct(rows, func(r *row) string { return r.short[column] })
	values = slices.DeleteFunc(values, func(value string) bool { return value == crosstalk.All || value == "" })
	if len(values) != 1 {
		return ""
	}
	return values[0]
}
