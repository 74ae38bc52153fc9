package overview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/internal/numbers"
	"crosstalk/internal/ordered"
	"crosstalk/report"
)

// lines returns the lines of the answer, at most maxLines.
func (a *answer) lines(examples *Examples) (lines []string) {
	title := cmp.Or(a.kind.Title, a.kind.Name)
	if a.model != "" {
		title += " of " + a.model
	}
	title = strings.Join(append([]string{title}, a.common...), ", ")
	lines = append(lines, report.Cut(report.Line(title), maxColumns), "")
	for _, line := range a.plain() {
		for _, part := range report.Wrap(report.Line(line), maxColumns-2) {
			lines = append(lines, "  "+part)
		}
	}
	if len(lines) > 2 {
		lines = append(lines, "")
	}
	room := maxLines - len(lines) - 1 // without the header
	wanted := len(a.totals)
	if len(a.sections) > 0 {
		wanted += 2 + len(a.sections[0].rows)
	}
	most := maxExamples
	if wanted > room-(2+most)-(1+minNotes) {
		most--
	}
	chosen := examples.pick(a.sections, a.fixed, most)
	if len(chosen) > 0 {
		room -= 2 + len(chosen)
	}
	notes := a.noteLines(min(max(minNotes, room-wanted-1), maxNotes))
	if len(notes) > 0 {
		room -= 1 + len(notes)
	}
	shown := a.fit(room)
	t := a.table(shown)
	lines = append(lines, t.header)
	for i, block := range shown {
		if block.heading != "" {
			lines = append(lines, "", "  "+block.heading)
		}
		lines = append(lines, t.blocks[i]...)
		if block.more > 0 {
			lines = append(lines, fmt.Sprintf("  and %d more: --all", block.more))
		}
	}
	if len(chosen) > 0 {
		lines = append(lines, "", "  for example")
		for _, e := range chosen {
			lines = append(lines, report.Cut(e.line(), maxColumns))
		}
	}
	if len(notes) > 0 {
		lines = append(lines, "")
	}
	return append(lines, notes...)
}

// block is a set of rows under a heading.
type block struct {
	heading string
	column  string // names the rows; empty: they are totals
	rows    []*row
	more    int // rows left out for lack of space
}

// fit chooses the rows that fit: totals, the worst groups of the first section, then further sections as a whole.
func (a *answer) fit(room int) []block {
	totals := block{rows: a.totals}
	if n := len(a.totals); n > room {
		totals.rows, totals.more = a.totals[:room-1], n-room+1
	}
	blocks := []block{totals}
	room -= min(len(a.totals), room)
	for i, s := range a.sections {
		b := block{column: s.column, rows: s.rows}
		b.heading = fmt.Sprintf("by %s, worst first", crosstalk.Words(s.column))
		if a.byNumber() {
			b.heading = fmt.Sprintf("by %s, most faults first", crosstalk.Words(s.column))
		}
		if over := 2+len(b.rows) > room; over && len(a.totals) > 2 {
			b.heading, b.rows = fmt.Sprintf("by %s, each where it is worst", crosstalk.Words(s.column)), nil
			for _, of := range ordered.Groups(s.rows, func(r *row) string { return r.by[s.column] }) {
				b.rows = append(b.rows, of[0])
			}
		}
		if n := len(s.rows); 2+len(b.rows) > room || len(b.rows) < n {
			keep := min(len(b.rows), room-3)
			if i > 0 || keep < 2 {
				continue
			}
			b.rows, b.more = b.rows[:keep], n-keep
		}
		blocks = append(blocks, b)
		room -= len(b.rows) + 2 + min(1, b.more)
	}
	return blocks
}

// noteLines returns the first notes, wrapped into at most this number of lines.
func (a *answer) noteLines(most int) (lines []string) {
	for _, n := range a.notes {
		wrapped := report.Wrap(report.Line(n), maxColumns-2)
		if len(wrapped) > 2 {
			wrapped = []string{wrapped[0], report.Cut(strings.Join(wrapped[1:], " "), maxColumns-2)}
		}
		if len(lines)+len(wrapped) > most {
			continue
		}
		for _, l := range wrapped {
			lines = append(lines, "  "+l)
		}
	}
	return lines
}

// grid is the printed table: the header and the lines of each block.
type grid struct {
	header string
	blocks [][]string
}

// labelWidths are the widths of names, in the order of trying.
var labelWidths = []int{28, 24, 20, 17, 14, 12, 10}

// table lays out blocks in common columns. Until lines fit, it omits intervals from the right except the first, then
// shortens names, and finally omits all intervals.
func (a *answer) table(blocks []block) (g grid) {
	if _, fits := a.tableOf(blocks, len(a.measures), labelWidths[0]); !fits && a.kind.Faults.ByRate {
		a.counts = false // the rates tell it too
	}
	for _, fewest := range []int{1, 0} {
		for _, most := range labelWidths {
			for intervals := len(a.measures) * fewest; intervals >= fewest; intervals-- {
				var fits bool
				if g, fits = a.tableOf(blocks, intervals, most); fits {
					return g
				}
			}
		}
	}
	return g
}

func (a *answer) tableOf(blocks []block, intervals, most int) (g grid, fits bool) {
	var named []map[string]string
	for _, b := range blocks {
		for _, r := range b.rows {
			named = append(named, r.named)
		}
	}
	named = report.Shorten(named, most)
	header, labels := a.header(intervals)
	widths := make([]int, len(header))
	measure := func(cells []string) []string {
		for i, cell := range cells {
			widths[i] = max(widths[i], report.Width(cell))
		}
		return cells
	}
	measure(header)
	cells := make([][][]string, len(blocks))
	for i, b := range blocks {
		for _, r := range b.rows {
			cells[i] = append(cells[i], measure(a.cells(r, named[0], b.column, intervals)))
			named = named[1:]
		}
	}
	total := 0
	for _, w := range widths {
		total += 2 + w
	}
	g.header = "  " + report.Pad(header, widths, labels)
	for _, rows := range cells {
		var lines []string
		for _, row := range rows {
			lines = append(lines, report.Cut("  "+report.Pad(row, widths, labels), maxColumns))
		}
		g.blocks = append(g.blocks, lines)
	}
	return g, total <= maxColumns
}

func (a *answer) header(intervals int) (header []string, labels int) {
	for _, c := range a.fixed {
		header = append(header, crosstalk.Words(c))
	}
	if len(a.sections) > 0 || len(header) == 0 {
		header = append(header, "")
	}
	labels = len(header)
	if a.counts {
		header = append(header, a.kind.Measure(a.kind.Faults.Measure).Label)
	}
	for i, m := range a.measures {
		header = append(header, m.Label+" %")
		if i < intervals {
			header = append(header, a.level+" interval")
		}
	}
	return append(header, "not checked"), labels
}

func (a *answer) cells(r *row, named map[string]string, column string, intervals int) (cells []string) {
	for _, c := range a.fixed {
		cells = append(cells, report.Line(cmp.Or(named[c], "-")))
	}
	if len(a.sections) > 0 || len(cells) == 0 {
		cells = append(cells, report.Line(cmp.Or(named[column], crosstalk.All)))
	}
	if e := r.figures[a.kind.Faults.Measure]; a.counts && e.Observations > 0 {
		cells = append(cells, fmt.Sprintf("%d of %d", report.Faulty(e), e.Observations))
	} else if a.counts {
		cells = append(cells, "-")
	}
	for i, m := range a.measures {
		e, ok := r.figures[m.Key]
		if !ok {
			e.Value = crosstalk.Undefined
		}
		cells = append(cells, numbers.Percent(e.Value))
		if i < intervals {
			cells = append(cells, numbers.Interval(e.Interval, ""))
		}
	}
	unjudged, of := a.unjudged(r)
	return append(cells, fmt.Sprintf("%d of %d", unjudged, of))
}

// line formats an example as a line. The answer comes last: text from right to left would reorder what follows it.
func (e example) line() string {
	name := strings.TrimSuffix(e.observation.Item+" "+e.observation.Variant, " ")
	return "  " + report.Cut(report.Line(name), labelWidths[0]) + "  " + e.finding + "  " + e.text
}

func line(text string) string {
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "")
	}
	return report.Line(strings.Join(strings.Fields(text), " "))
}

// around returns a part of a text in brackets, after a little of the text before it.
func around(text string, start, end int) string {
	const before = 30
	from := max(0, start-before)
	for from > 0 && from < start && text[from]&0xc0 == 0x80 {
		from++
	}
	if i := strings.LastIndexAny(text[:start], "\n\r"); i >= from {
		from = i + 1
	}
	head := text[from:start]
	if from > 0 && head != "" {
		head = "…" + head
	}
	return head + "[" + text[start:end] + "]" + text[end:min(len(text), end+maxText)]
}

const maxKept = 256  // bounds the examples kept until the worst groups are known
const maxAlike = 3   // most examples kept of the same finding in the same group
const maxText = 1000 // bounds the text of an example in bytes; a line shows less

// Examples keeps faults from a stream of observations: the first few of each finding in each group.
type Examples struct {
	kind crosstalk.Kind
	by   []string       // columns by which figures are grouped
	seen map[string]int // by finding and group
	kept []example

	last crosstalk.Observation // with texts: the answer whose texts are known
}

type example struct {
	observation crosstalk.Observation
	finding     string // title
	text        string
}

// NewExamples returns an empty collection for an instrument whose figures are grouped by these columns.
func NewExamples(instrumentName string, by []string) *Examples {
	return &Examples{kind: instrument.Named(instrumentName), by: by[:min(1, len(by))], seen: map[string]int{}}
}

// Add considers an observation. Those of one answer are consecutive; only the first has the texts.
func (x *Examples) Add(o crosstalk.Observation) {
	switch {
	case len(x.kept) == maxKept:
		return
	case len(o.Texts) > 0:
		x.last = o
	}
	if o.Finding == "" || o.Implied || !x.kind.Measure(o.Measure).Headline {
		return
	}
	finding := x.kind.Finding(o.Finding)
	if !finding.Fault {
		return
	}
	key := o.Finding
	for _, column := range x.by {
		key += "\x00" + o.Column(column)
	}
	if x.seen[key] == maxAlike {
		return
	}
	if len(o.Texts) == 0 && o.Item == x.last.Item && o.Variant == x.last.Variant && o.Sample == x.last.Sample {
		o.Texts = x.last.Texts
	}
	text := x.textOf(o)
	if text == "" {
		return
	}
	x.seen[key]++
	o.Texts, o.Tokens, o.Numbers, o.Answers = nil, nil, nil, nil
	title := finding.Titles[len(finding.Titles)-1] + languages(o.Spans, o.Labels[x.kind.Target])
	x.kept = append(x.kept, example{o, title, text})
}

// languages names the languages found and the expected one: ": en, not ko".
func languages(spans []crosstalk.Span, expected string) string {
	named := slices.DeleteFunc(slices.Clone(spans), func(s crosstalk.Span) bool { return s.Language == "" })
	list := ordered.Distinct(named, func(s crosstalk.Span) string { return s.Language })
	if list == nil {
		return ""
	}
	names := ": " + strings.Join(list[:min(3, len(list))], ", ")
	if expected != "" {
		names += ", not " + expected
	}
	return names
}

// textOf returns the text of an example: the fault in its text or, if there are several texts, each with its name.
func (x *Examples) textOf(o crosstalk.Observation) string {
	var sides, parts []string
	for _, t := range o.Texts {
		text := t.Text
		if t.Role == crosstalk.Side {
			sides = append(sides, t.Name)
			if at := slices.IndexFunc(o.Spans, func(s crosstalk.Span) bool {
				return (s.Side == "" || s.Side == t.Name) && 0 <= s.Start && s.Start < s.End && s.End <= len(text)
			}); at >= 0 {
				text = around(text, o.Spans[at].Start, o.Spans[at].End)
			}
		} else if t.Role != crosstalk.Topic && t.Name != x.kind.Target {
			continue
		}
		parts = append(parts, t.Name+": "+line(text))
	}
	if len(parts) == 1 && len(sides) == 1 {
		return strings.TrimPrefix(parts[0], sides[0]+": ")
	}
	return strings.Join(parts, "  ")
}

// pick chooses examples from the worst groups, with different findings if possible.
func (x *Examples) pick(s []section, fixed []string, n int) (chosen []example) {
	if x == nil || n <= 0 {
		return nil
	}
	rank := func(e example) int {
		for _, worst := range s[:min(len(s), 1)] {
			for i, r := range worst.rows {
				if e.observation.Column(worst.column) == r.by[worst.column] &&
					!slices.ContainsFunc(fixed, func(c string) bool { v := e.observation.Column(c); return v != "" && v != r.by[c] }) {
					return i
				}
			}
		}
		return maxKept
	}
	ranked := slices.Clone(x.kept)
	slices.SortStableFunc(ranked, func(a, b example) int { return cmp.Compare(rank(a), rank(b)) })
	for _, fresh := range []bool{true, false} {
		for _, e := range ranked {
			if len(chosen) < n && !slices.ContainsFunc(chosen, func(c example) bool {
				return c.observation.Item == e.observation.Item || fresh && c.observation.Finding == e.observation.Finding
			}) {
				chosen = append(chosen, e)
			}
		}
	}
	return chosen
}
