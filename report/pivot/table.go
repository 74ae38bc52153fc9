package pivot

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/internal/numbers"
	"crosstalk/internal/ordered"
	"crosstalk/measure/stats"
	"crosstalk/report"
)

// Change is the figure minus the figure of the first row, or of the first row in its group.
const Change = "change"

// Sides lists what a cell can show beside its figure.
var Sides = []string{"interval", "n", "clusters", "p", "holm", "bh", "effect", Change}

var sides = map[string]struct {
	title string
	text  func(crosstalk.Estimate) string
}{
	"interval": {"interval", func(e crosstalk.Estimate) string { return numbers.Interval(e.Interval, e.Unit) }},
	"n":        {"n", func(e crosstalk.Estimate) string { return strconv.Itoa(e.N) }},
	"clusters": {"clusters", func(e crosstalk.Estimate) string { return strconv.Itoa(e.Clusters) }},
	"p":        {"p", pValue},
	"holm":     {"p (Holm)", pValue},
	"bh":       {"p (BH)", pValue},
	"effect":   {"effect", func(e crosstalk.Estimate) string { return report.EffectSize(e.Effect) }},
	Change:     {Change, nil},
}

func pValue(e crosstalk.Estimate) string { return report.SmallP(e.Test) + report.Independent(e) }

// adjustments correct p-values for all figures of a table: with Holm's, no difference is false with 95 %; with
// Benjamini and Hochberg's, at most 5 % of the differences found are false.
var adjustments = map[string]func([]float64) []float64{"holm": stats.Holm, "bh": stats.BenjaminiHochberg}

func (l *layout) adjust(name string) map[*crosstalk.Test]*crosstalk.Test {
	var tests []*crosstalk.Test
	var p []float64
	for _, e := range l.figures {
		if e.Test != nil {
			tests, p = append(tests, e.Test), append(p, float64(e.Test.P))
		}
	}
	to := map[*crosstalk.Test]*crosstalk.Test{}
	for i, p := range adjustments[name](p) {
		test := *tests[i]
		test.P = crosstalk.Value(p)
		to[tests[i]] = &test
	}
	return to
}

// change formats Change for a cell, in brackets; it is empty in the first row itself.
func (l *layout) change(row, column []string, e crosstalk.Estimate) (string, error) {
	group := max(len(row)-1, 0)
	first := l.rows[slices.IndexFunc(l.rows, func(r []string) bool { return slices.Equal(r[:group], row[:group]) })]
	of, err := l.at(first, column)
	if err != nil || of == nil || slices.Equal(first, row) {
		return "", err
	}
	return "(" + numbers.Difference(e.Value-of.Value, e.Unit) + ")", nil
}

func (l *layout) table() (t report.Table, err error) {
	t.Heading, t.Header = l.heading(), ordered.Map(l.Rows, l.title)
	if len(l.Rows) == 0 {
		t.Header = []string{""}
	}
	t.Left = len(t.Header)
	adjustedTests := map[string]map[*crosstalk.Test]*crosstalk.Test{}
	for _, name := range l.Beside {
		if adjustments[name] != nil {
			adjustedTests[name] = l.adjust(name)
		}
	}
	width := 1 + len(l.Beside)
	l.head(&t, width)
	best := l.best()
	for r, row := range l.rows {
		var cells []string
		for i, column := range l.Rows {
			name := l.name(column, row[i])
			if r > 0 && slices.Equal(row[:i+1], l.rows[r-1][:i+1]) {
				name = "" // same as above
			}
			cells = append(cells, name)
		}
		if cells == nil {
			cells = []string{crosstalk.All}
		}
		if r > 0 && len(row) > 1 && row[0] != l.rows[r-1][0] {
			t.Breaks = append(t.Breaks, r)
		}
		for c, column := range l.columns {
			e, err := l.at(row, column)
			if err != nil {
				return t, err
			}
			if e == nil {
				cells = append(cells, slices.Repeat([]string{""}, width)...)
				continue
			}
			if best[[2]int{r, c}] {
				t.Bold = append(t.Bold, report.Place{Row: r, Column: len(cells)})
			}
			cells = append(cells, l.Text(*e))
			for _, name := range l.Beside {
				one, text := *e, ""
				if tests, ok := adjustedTests[name]; ok {
					one.Test = tests[e.Test]
				}
				if name != Change {
					text = sides[name].text(one)
				} else if text, err = l.change(row, column, one); err != nil {
					return t, err
				}
				cells = append(cells, text)
			}
		}
		t.Rows = append(t.Rows, cells)
	}
	t.Caption, t.Label = l.caption(best), l.label()
	t.Notes = slices.Concat(l.Notes, l.notes())
	return t.Tidy(), nil
}

func (l *layout) head(t *report.Table, width int) {
	levels := len(l.Columns)
	last := width == 1 && levels > 0
	above := levels
	if last {
		above--
	}
	for depth := range above {
		spans := []report.Span{{Columns: t.Left}}
		for c, column := range l.columns {
			if c > 0 && slices.Equal(column[:depth+1], l.columns[c-1][:depth+1]) {
				spans[len(spans)-1].Columns += width
				continue
			}
			spans = append(spans, report.Span{Title: l.columnTitle(l.Columns[depth], column[depth]), Columns: width})
		}
		t.Above = append(t.Above, spans)
	}
	for _, column := range l.columns {
		if last {
			t.Header = append(t.Header, l.columnTitle(l.Columns[levels-1], column[levels-1]))
		} else {
			t.Header = append(t.Header, l.unit(column))
		}
		for _, name := range l.Beside {
			title := sides[name].title
			if name == "interval" {
				title = report.Level(l.figures) + " interval"
			}
			t.Header = append(t.Header, title)
		}
	}
}

// columnTitle returns the title of a group of columns: a number includes the column's name.
func (l *layout) columnTitle(column, value string) string {
	name := l.name(column, value)
	if _, err := strconv.ParseFloat(name, 64); err == nil ||
		column != Measure && (name == "yes" || name == "no" || name == "default") {
		return l.title(column) + " " + name
	}
	if column == Measure {
		of := l.figures[slices.IndexFunc(l.figures, func(e crosstalk.Estimate) bool { return e.Measure == value })]
		if of.Unit != "" {
			name += " (" + of.Unit + ")"
		}
	}
	return name
}

func (l *layout) unit(column []string) string {
	for _, row := range l.rows {
		if e, _ := l.at(row, column); e != nil {
			if l.Subtitle != "" && e.Unit == "" {
				return "points"
			}
			return cmp.Or(e.Unit, "%")
		}
	}
	return "%"
}

// inUnit describes the unit: differences of percentages are in points.
func (l *layout) inUnit() string {
	if unit := cmp.Or(l.figures[0].Unit, "%"); unit != "%" || l.Subtitle == "" {
		return unit
	}
	return "percentage points"
}

// heading lists what all figures of the table have in common.
func (l *layout) heading() (heading []string) {
	measured := slices.Contains(l.constant, Measure)
	if measured {
		heading = append(heading, l.name(Measure, l.figures[0].Measure))
	}
	if l.Subtitle != "" {
		heading = append(heading, l.Subtitle)
	}
	if measured {
		heading = []string{strings.Join(append(heading, l.inUnit()), ", ")}
	}
	return append(heading, l.common()...)
}

// common returns the values that all figures share, except the measure.
func (l *layout) common() (values []string) {
	for _, column := range l.constant {
		switch v := value(l.figures[0], column); {
		case l.figures[0].By[column] == crosstalk.All && slices.Contains(l.Compete, column): // a setting or the model
			values = append(values, "pooled over "+l.title(column))
		case column != Measure && v != crosstalk.All:
			values = append(values, l.title(column)+" "+l.name(column, v))
		}
	}
	return values
}

// caption returns the caption of a table for a paper, without its full stop: measures, what figures share, and which of
// them are in bold, by row and column.
func (l *layout) caption(marked map[[2]int]bool) string {
	names := ordered.Distinct(l.figures, func(e crosstalk.Estimate) string {
		m := instrument.Measure(e.Measure)
		if own, ok := l.Names[e.Measure]; ok {
			return own
		}
		if m.Name == "" || strings.EqualFold(strings.ReplaceAll(m.Name, "-", " "), m.Label) {
			return m.Label
		}
		return m.Name + " (" + m.Label + ")"
	})
	title := strings.Join(names, ", ")
	first, size := utf8.DecodeRuneInString(title)
	title = string(unicode.ToUpper(first)) + title[size:]
	if l.Subtitle != "" {
		title += ": " + l.Subtitle
	}
	if cmp.Or(l.figures[0].Unit, "%") == "%" {
		title += " in " + l.inUnit()
	}
	caption := strings.Join(append([]string{title}, l.common()...), "; ")
	if ends := l.ends(marked); len(ends) > 0 {
		caption += ". " + ends + " in bold"
	}
	return caption
}

// ends names which figures are marked: "Best", "Highest" or, if measures differ in this, "Best LPR, highest leak rate".
func (l *layout) ends(marked map[[2]int]bool) string {
	var ends, named []string
	for r, row := range l.rows {
		for c, column := range l.columns {
			if e, _ := l.at(row, column); marked[[2]int{r, c}] {
				end := "best"
				if way := bold(e); way != e.Better {
					end = map[crosstalk.Direction]string{crosstalk.Higher: "highest", crosstalk.Lower: "lowest"}[way]
				}
				ends, named = append(ends, end), append(named, end+" "+l.name(Measure, e.Measure))
			}
		}
	}
	same := func(text string) string { return text }
	if ends = ordered.Distinct(ends, same); len(ends) > 1 {
		ends = ordered.Distinct(named, same)
	}
	text := strings.Join(ends, ", ")
	return strings.ToUpper(text[:min(1, len(text))]) + text[min(1, len(text)):]
}

// label returns the label by which a paper refers to the table, such as "tab:lpr-model-language".
func (l *layout) label() string {
	parts := []string{}
	add := func(text string) {
		text = strings.Trim(strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
				return r
			}
			return '-'
		}, strings.ToLower(text)), "-")
		if text != "" && !slices.Contains(parts, text) {
			parts = append(parts, text)
		}
	}
	for _, e := range l.figures {
		add(e.Measure)
	}
	for _, column := range slices.Concat(l.Rows, l.Columns) {
		if column != Measure {
			add(column)
		}
	}
	for _, column := range l.constant {
		if v := value(l.figures[0], column); column != Measure && v != crosstalk.All && len(l.name(column, v)) <= 20 {
			add(l.name(column, v))
		}
	}
	return "tab:" + strings.Join(parts, "-")
}

// notes tells how certain the figures are, with their signatures and warnings.
func (l *layout) notes() (notes []string) {
	const maxSignatures = 4 // the most signatures in the notes of a table
	if !slices.Contains(l.Beside, "interval") {
		notes = l.certainty()
	}
	notes = append(notes, l.averages()...)
	for _, column := range l.implied {
		var parts []string
		for _, of := range ordered.Groups(l.figures, func(e crosstalk.Estimate) string { return value(e, column) }) {
			rows := ordered.Distinct(of, func(e crosstalk.Estimate) string {
				return l.named(l.Options.Rows, tuple(e, l.Options.Rows))
			})
			name := strings.TrimSpace(l.name(column, value(of[0], column)))
			if of[0].By[column] == "" {
				name = "none"
			}
			parts = append(parts, fmt.Sprintf("%s of %s", name, strings.Join(rows, ", ")))
		}
		notes = append(notes, fmt.Sprintf("%s: %s", l.title(column), strings.Join(parts, "; ")))
	}
	if slices.ContainsFunc(l.Beside, func(name string) bool { return name == "p" || adjustments[name] != nil }) &&
		slices.ContainsFunc(l.figures, func(e crosstalk.Estimate) bool { return report.Independent(e) != "" }) {
		notes = append(notes, report.IndependentNote)
	}
	signatures := ordered.Distinct(l.figures, func(e crosstalk.Estimate) string { return e.Signature })
	rows, warnings := make([]string, len(l.figures)), make([][]string, len(l.figures))
	for i, e := range l.figures {
		var where []string
		for _, column := range slices.Concat(l.Columns, l.Rows) {
			if v := value(e, column); v != crosstalk.All {
				where = append(where, l.name(column, v))
			}
		}
		rows[i], warnings[i] = cmp.Or(strings.Join(where, "/"), crosstalk.All), e.Warnings
	}
	for i, s := range signatures {
		if i == maxSignatures && len(signatures) > maxSignatures+1 {
			notes = append(notes, fmt.Sprintf("signatures of the other figures: %d (--format json)", len(signatures)-i))
			break
		}
		notes = append(notes, "signature: "+s)
	}
	return append(notes, report.Warnings(rows, warnings)...)
}

// averages explains the figures over all values of a column, if they are not the mean of those shown.
func (l *layout) averages() (notes []string) {
	for _, e := range l.figures {
		a := e.Average
		if a == nil || len(a.Over) < 2 || value(e, a.Over[0]) != crosstalk.All ||
			!slices.ContainsFunc(slices.Concat(l.Rows, l.Columns),
				func(column string) bool { return slices.Contains(a.Over[1:], column) }) {
			continue
		}
		note := fmt.Sprintf("%s, all: mean over %s", l.name(Measure, e.Measure), strings.Join(a.Over, ", then "))
		if a.HarmonicOf != nil {
			note = fmt.Sprintf("%s, all: mean over %s of the harmonic mean of %s and %s, each a mean over %s",
				l.name(Measure, e.Measure), a.Over[0],
				l.name(Measure, a.HarmonicOf[0]), l.name(Measure, a.HarmonicOf[1]), strings.Join(a.Over[1:], ", then "))
		}
		if !slices.Contains(notes, note) {
			notes = append(notes, note)
		}
	}
	return notes
}

func (l *layout) certainty() (notes []string) {
	low, high := -1, 0
	reach := map[string]float64{}
	var units []string
	for _, e := range l.figures {
		if !e.Value.Defined() {
			continue
		}
		if low < 0 || e.N < low {
			low = e.N
		}
		high = max(high, e.N)
		if e.Interval == nil {
			continue
		}
		if _, seen := reach[e.Unit]; !seen {
			units = append(units, e.Unit)
		}
		v := float64(e.Value)
		reach[e.Unit] = max(reach[e.Unit], e.Interval.High-v, v-e.Interval.Low)
	}
	if low < 0 {
		return nil
	}
	note := fmt.Sprintf("n: %d items for each figure", low)
	if low < high {
		note = fmt.Sprintf("n: %d to %d items for each figure", low, high)
	}
	for _, unit := range units {
		note += fmt.Sprintf("; %s intervals reach up to %s %s from it", report.Level(l.figures),
			numbers.Value(crosstalk.Value(reach[unit]), unit), cmp.Or(unit, "points"))
	}
	return append(notes, note)
}
