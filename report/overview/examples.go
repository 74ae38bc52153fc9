package overview

import (
	"cmp"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/internal/ordered"
)

const maxKept = 256  // bounds the examples that are kept until it is known which groups are worst
const maxAlike = 3   // how many examples of the same finding in the same group are kept
const maxText = 1000 // bounds the text of an example in bytes, which is more than a line shows

// Examples keeps faults from a stream of observations: the first few of each finding
// in each group. Its memory is bounded.
type Examples struct {
	kind crosstalk.Kind
	by   []string       // columns by which figures are grouped
	seen map[string]int // by finding and group
	kept []example

	last crosstalk.Observation // with texts: of the answer whose texts are known
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

// Add considers an observation. Those of one answer come one after the other, and
// only the first has the answer's text.
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
	title := finding.Key
	if n := len(finding.Titles); n > 0 {
		title = finding.Titles[n-1]
	}
	title += languages(o.Spans, o.Labels[x.kind.Target])
	x.kept = append(x.kept, example{o, title, text})
}

// languages names those that were found and the one that should be: ": en, not ko".
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

// textOf is the text of an example: the fault in its text or, of several texts, each with its name.
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

// pick chooses examples from the worst groups, of different findings if it can.
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
	left := slices.Clone(x.kept)
	slices.SortStableFunc(left, func(a, b example) int { return cmp.Compare(rank(a), rank(b)) })
	for _, fresh := range []bool{true, false} {
		left = slices.DeleteFunc(left, func(e example) bool {
			if len(chosen) == n || slices.ContainsFunc(chosen, func(c example) bool {
				return c.observation.Item == e.observation.Item || fresh && c.observation.Finding == e.observation.Finding
			}) {
				return false
			}
			chosen = append(chosen, e)
			return true
		})
	}
	return chosen
}
