package guard

import (
	"cmp"
	"sort"
	"strings"

	"crosstalk/measure/langid/words"
	"crosstalk/measure/prose"
)

// endOdds is the least log odds of the first and last word of a span that is a line: often a line is in another
// language except for a word or two at its ends.
const endOdds = -1

// foreignLine adds a block in another language as a span.
func (c *check) foreignLine(b prose.Span, e words.Evidence) {
	start, end := c.trim(b.Start, b.End)
	s := Span{Kind: Line, P: probability(e.LogRatio)}
	if part, ok := c.paired(b.Start); ok {
		start, end = c.trim(part.Start, part.End)
		s.Excuse = Gloss
	} else {
		s.Excuse = cmp.Or(c.announced(b, e.Language), c.named(b, e.Language))
	}
	c.lines = append(c.lines, Span{Start: start, End: end})
	if words.Supports(c.want.base) && words.Supports(e.Language) && !han(e.Language) {
		if from, to := c.analysis.Foreign(start, end, endOdds); 2*(to-from) > end-start {
			start, end = from, to
		}
	}
	if start < end {
		s.Start, s.End, s.Language = start, end, c.name(e.Language, start, end)
		c.add(s)
	}
}

// announced returns why a block in another language is not a confusion: the line before it, the first row of its table
// or its own label names the language; or the line before it says that somebody or something speaks and ends in a
// colon, and the text continues in the expected language after the block.
func (c *check) announced(b prose.Span, language string) prose.Kind {
	i := sort.Search(len(c.blocks), func(i int) bool { return c.blocks[i].Start >= b.Start })
	first := c.series[i]
	if b.Kind == prose.Cell && c.headed(first, i, language) {
		return Mention
	}
	for _, colon := range colons {
		label, _, ok := strings.Cut(c.text[b.Start:b.End], colon)
		if ok && mentions(c.want.base, label, language) {
			return Mention
		}
	}
	own := func(i int) bool { return c.analysis.Weigh(c.blocks[i]).LogRatio < lineRight }
	next := i + 1
	if b.Kind == prose.Paragraph { // an address has several lines
		for i > 0 && i > next-mostQuoted && c.adjoins(i) && !own(i-1) {
			i--
		}
		for next < len(c.blocks) && next < i+mostQuoted && c.adjoins(next) && !own(next) {
			next++
		}
	} else if first > 0 {
		i = first
	}
	if i == 0 {
		return ""
	}
	announcement := strings.TrimRight(c.text[c.blocks[i-1].Start:c.blocks[i-1].End], " *_")
	colon := endsInColon(announcement)
	last := strings.LastIndexAny(strings.TrimRight(announcement, ".。"), ".!?。！？")
	if !colon && last >= 0 {
		announcement = announcement[last:]
	}
	quoted := quotes(c.want.base, announcement)
	switch {
	case (colon || quoted) && mentions(c.want.base, announcement, language):
		return Mention
	case colon && quoted && b.Kind == prose.Paragraph && own(i-1) && next < len(c.blocks) && own(next):
		return prose.Quote
	}
	return ""
}

// headed reports whether the first row of a table, which begins with one block and has another, names a language.
func (c *check) headed(first, cell int, language string) bool {
	row := c.line(c.blocks[first].Start)
	for _, head := range c.blocks[first:cell] {
		if c.line(head.Start) != row {
			break
		}
		if mentions(c.want.base, c.text[head.Start:head.End], language) {
			return true
		}
	}
	return false
}

// mostQuoted bounds the lines of a quotation that another line announces.
const mostQuoted = 8

var colons = []string{":", "："}

func endsInColon(text string) bool {
	return strings.HasSuffix(text, ":") || strings.HasSuffix(text, "：")
}

// adjoins reports whether the i-th block is the line after the one before it.
func (c *check) adjoins(i int) bool {
	before, b := c.blocks[i-1], c.blocks[i]
	return before.Kind == b.Kind && strings.Count(c.text[before.End:b.Start], "\n") == 1
}
