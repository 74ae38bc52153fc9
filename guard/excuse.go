package guard

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"crosstalk/measure/langid/words"
	"crosstalk/measure/prose"
)

// excuse returns the reason why words of another language are no confusion, or "".
func (c *check) excuse(run []words.Word, language string) prose.Kind {
	start, end := run[0].Start, run[len(run)-1].End
	line := c.line(start)
	switch {
	case len(run) <= 2 && all(run, func(w words.Word) bool { return w.Loan }):
		return Loan
	case len(run) <= 8 && c.gloss(start, end, line):
		return Gloss
	case len(run) <= 8 && (names(c.want.base, c.text[line.Start:line.End], language)):
		return Mention
	case len(run) <= 4 && all(run, func(w words.Word) bool { return w.Name }) && (run[0].Foreign || !c.starts(start)):
		return Name
	case c.paired(start, end):
		return Gloss
	}
	return ""
}

func all(run []words.Word, is func(words.Word) bool) bool {
	for _, w := range run {
		if !is(w) {
			return false
		}
	}
	return true
}

// line returns the line around a byte.
func (c *check) line(at int) words.Range {
	start := strings.LastIndexByte(c.text[:at], '\n') + 1
	end := len(c.text)
	if n := strings.IndexByte(c.text[at:], '\n'); n >= 0 {
		end = at + n
	}
	return words.Range{Start: start, End: end}
}

// starts reports whether a sentence starts at a byte.
func (c *check) starts(at int) bool {
	before := strings.TrimRight(c.text[:at], " *_\"'“«„(¿¡")
	if before == "" {
		return true
	}
	r, _ := utf8.DecodeLastRuneInString(before)
	return strings.ContainsRune(".!?:\n。！？।؟", r)
}

// gloss reports whether words are in parentheses behind prose, or before prose in parentheses, as translations are.
func (c *check) gloss(start, end int, line words.Range) bool {
	before := strings.TrimRight(c.text[line.Start:start], " \"“«'*")
	after := strings.TrimLeft(c.text[end:line.End], " \"”»'*?!.。？！,")
	open := strings.HasSuffix(before, "(") || strings.HasSuffix(before, "（")
	if open && strings.IndexFunc(strings.TrimRight(before, "(（"), unicode.IsLetter) >= 0 &&
		strings.IndexAny(after, ")）") >= 0 && strings.IndexAny(after, ")）") < 40 {
		return true
	}
	return (strings.HasPrefix(after, "(") || strings.HasPrefix(after, "（")) && end-start > 8
}

// separators stand between a word and its translation.
var separators = []string{":", "：", " – ", " — ", " - ", "=", "→", " |", "|"}

// paired reports whether words begin a line of pairs: a list of words and their translations.
func (c *check) paired(start, end int) bool {
	pairs := 0
	here := false
	for _, b := range c.doc.Blocks {
		if b.Form == prose.Heading || b.Form == prose.Paragraph && len(c.doc.Blocks) < 4 {
			continue
		}
		s := c.text[b.Start:b.End]
		for _, sep := range separators {
			at := strings.Index(s, sep)
			if at <= 0 || b.Form == prose.Cell {
				continue
			}
			left := c.analysis.Weigh(words.Range{Start: b.Start, End: b.Start + at})
			right := c.analysis.Weigh(words.Range{Start: b.Start + at, End: b.End})
			if (left.LogRatio > 2) != (right.LogRatio > 2) && left.Words > 0 && right.Words > 0 {
				pairs++
				here = here || b.Start <= start && end <= b.End
			}
			break
		}
	}
	return here && pairs >= 2
}
