package guard

import (
	"cmp"
	"slices"
	"sort"

	"crosstalk/measure/prose"
)

// A Part of a text was judged as a whole: a line, or short ones of a form (items of a list, headings, cells).
// Excused lines are in no part.
type Part struct {
	Lines    []prose.Span // of the text, in order
	Verdict  Verdict      // of the lines as wholes: words of another language in them do not make them Wrong
	Language string       // as in Span; empty if it cannot be told
	P        float64      // probability of the verdict
}

// A Mix says how the languages of a text's words alternate. It leaves out excused words, except doubtful ones, which
// count as the expected language, and words of parts that cannot be told.
type Mix struct {
	Words    int    // characters in Chinese and Japanese
	Own      int    // words in the expected language
	Switches int    // changes of the language from a word to the next
	First    string // the language of the first line, as in Span; empty if no line's can be told
}

func (c *check) parts() (parts []Part) {
	for _, u := range c.units {
		whole := Part{Verdict: u.state, P: 0.5}
		switch u.state {
		case Right:
			whole.Language, whole.P = c.want.name, probability(max(0, -u.evidence.LogRatio))
		case Wrong:
			whole.Language, whole.P = u.evidence.Language, probability(u.evidence.LogRatio)
		}
		for _, b := range u.blocks {
			lines := []prose.Span{b}
			s, wrong := c.wrongLine(b)
			switch {
			case wrong && u.state != Wrong: // the other script of Chinese
				parts = append(parts, Part{lines, Wrong, s.Language, s.P})
			case wrong:
				whole.Language = s.Language
				whole.Lines = append(whole.Lines, lines...)
			case u.state != Wrong:
				whole.Lines = append(whole.Lines, lines...)
			}
		}
		if whole.Lines != nil {
			parts = append(parts, whole)
		}
	}
	slices.SortStableFunc(parts, func(a, b Part) int { return cmp.Compare(a.Lines[0].Start, b.Lines[0].Start) })
	return parts
}

// wrongLine returns the span of a line in another language.
func (c *check) wrongLine(b prose.Span) (Span, bool) {
	i := sort.Search(len(c.spans), func(i int) bool { return c.spans[i].Start >= b.Start })
	if i == len(c.spans) || c.spans[i].Start >= b.End || c.spans[i].Kind != Line {
		return Span{}, false
	}
	return c.spans[i], true
}

// overlapping returns the spans, which are in order, that overlap a part.
func overlapping(spans []Span, start, end int) []Span {
	from := sort.Search(len(spans), func(i int) bool { return spans[i].End > start })
	n := sort.Search(len(spans)-from, func(i int) bool { return spans[from+i].Start >= end })
	return spans[from : from+n]
}

// mix counts the words of a text by their language.
func (c *check) mix(parts []Part) (m Mix) {
	var lines []prose.Span
	right := map[int]bool{} // by the start of a line
	for _, p := range parts {
		for _, l := range p.Lines {
			lines = append(lines, l)
			right[l.Start] = p.Verdict == Right
		}
		if m.First == "" {
			m.First = p.Language
		}
	}
	slices.SortFunc(lines, func(a, b prose.Span) int { return cmp.Compare(a.Start, b.Start) })
	before := ""
	add := func(from, to int, language string) {
		n := c.analysis.Count(from, to)
		if n == 0 {
			return
		}
		m.Words += n
		if language == c.want.base {
			m.Own += n
		}
		if before != "" && before != language {
			m.Switches++
		}
		before = language
	}
	for _, l := range lines {
		own := func(from, to int) {
			if !right[l.Start] {
				return
			}
			for _, x := range overlapping(c.excused, from, to) {
				if x.Excuse == Doubt {
					continue
				}
				add(from, x.Start, c.want.base)
				from = x.End
			}
			add(from, to, c.want.base)
		}
		at := l.Start
		for _, s := range overlapping(c.spans, l.Start, l.End) {
			own(at, s.Start)
			add(s.Start, s.End, s.Language)
			at = s.End
		}
		own(at, l.End)
	}
	return m
}
