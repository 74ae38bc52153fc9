package guard

import (
	"slices"
	"sort"
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
	case end-start <= 60 && c.gloss(start, end, line):
		return Gloss
	case end-start <= 60 && mentions(c.want.base, c.text[line.Start:line.End], language):
		return Mention
	case len(run) <= 4 && all(run, func(w words.Word) bool { return w.Name }) && (run[0].Foreign || !c.starts(start)):
		return Name
	case c.paired(start):
		return Gloss
	case len(run) <= 2 && all(run, func(w words.Word) bool { return w.Loan }), c.term(run):
		return Loan
	}
	return ""
}

// term reports whether up to three words look like a term that speakers of the expected language use: they are in Latin
// script, and none of them is among the frequent words of its language, which are hardly ever borrowed. A word that
// English has too counts as English, from where most are.
func (c *check) term(run []words.Word) bool {
	const (
		frequentEnglish = 1.5e-4
		listedEnglish   = 1e-6
		frequent        = 1e-5
	)
	return len(run) <= 3 && latin(c.text[run[0].Start:run[0].End]) && all(run, func(w words.Word) bool {
		if w.English >= listedEnglish {
			return w.English < frequentEnglish
		}
		return w.Share < frequent
	})
}

func latin(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return unicode.Is(unicode.Latin, r)
}

// mentions reports whether a line names a language, or, since short words of other scripts are hard to tell apart, one
// of the same script.
func mentions(base, line, language string) bool {
	if names(base, line, language) {
		return true
	}
	for _, g := range words.Groups[1:] {
		if slices.Contains(g.Languages, language) {
			return slices.ContainsFunc(g.Languages, func(l string) bool { return l != base && names(base, line, l) })
		}
	}
	return false
}

func all(run []words.Word, is func(words.Word) bool) bool {
	for _, w := range run {
		if !is(w) {
			return false
		}
	}
	return true
}

// nearby is how far the text around words is looked at, in bytes.
const nearby = 300

// line returns the line around a byte, as far as it is nearby.
func (c *check) line(at int) words.Range {
	start, end := max(0, at-nearby), min(len(c.text), at+nearby)
	start += strings.LastIndexByte(c.text[start:at], '\n') + 1
	if n := strings.IndexByte(c.text[at:end], '\n'); n >= 0 {
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
	before := c.text[min(line.Start, start):start]
	after := strings.TrimLeft(c.text[end:max(end, line.End)], " \"”»'*?!.。？！,")
	if open := strings.LastIndexAny(before, "(（"); open >= 0 && !strings.ContainsAny(before[open:], ")）") &&
		strings.IndexFunc(before[:open], unicode.IsLetter) >= 0 && strings.ContainsAny(c.text[end:max(end, line.End)], ")）") {
		return true
	}
	return (strings.HasPrefix(after, "(") || strings.HasPrefix(after, "（")) && end-start > 8
}

// separators stand between a word and its translation.
var separators = []string{":", "：", " – ", " — ", " - ", "=", "→"}

// paired reports whether words are in a line of a list of words and their translations.
func (c *check) paired(start int) bool {
	if c.pairs == nil {
		c.pairs = c.findPairs()
	}
	i := sort.Search(len(c.pairs), func(i int) bool { return c.pairs[i].End > start })
	return len(c.pairs) >= 2 && i < len(c.pairs) && c.pairs[i].Start <= start
}

// findPairs returns the blocks that are a part in the expected language and one in another, with a separator between.
func (c *check) findPairs() []prose.Block {
	pairs := []prose.Block{}
	for _, b := range c.doc.Blocks {
		if b.Form == prose.Heading || b.Form == prose.Cell || b.Form == prose.Paragraph && len(c.doc.Blocks) < 4 {
			continue
		}
		s := c.text[b.Start:min(b.End, b.Start+nearby)]
		for _, sep := range separators {
			at := strings.Index(s, sep)
			if at <= 0 {
				continue
			}
			left := c.analysis.Weigh(words.Range{Start: b.Start, End: b.Start + at})
			right := c.analysis.Weigh(words.Range{Start: b.Start + at, End: b.End})
			if (left.LogRatio > 2) != (right.LogRatio > 2) && left.Words > 0 && right.Words > 0 {
				pairs = append(pairs, b)
			}
			break
		}
	}
	return pairs
}
