package guard

import (
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"crosstalk/measure/langid/chinese"
	"crosstalk/measure/prose"
)

// ownBlocks returns the blocks that are not in another language as a whole.
func (c *check) ownBlocks() (own []prose.Span) {
	for _, b := range c.blocks {
		if start, end := c.trim(b.Start, b.End); start < end && !covered(c.lines, start) {
			own = append(own, prose.Span{Start: start, End: end})
		}
	}
	return own
}

// sentences returns the sentences of these blocks, without the marks and masked parts that they begin with.
func (c *check) sentences() (all []prose.Span) {
	for _, b := range c.ownBlocks() {
		for at := b.Start; at < b.End; {
			end := c.sentenceEnd(at, b.End)
			if start, end := c.trim(at, end); start < end {
				all = append(all, prose.Span{Start: start, End: end})
			}
			at = end
		}
	}
	return all
}

// sentenceEnd returns where the sentence at a byte ends, at most end: after a Chinese full stop, or after another one
// that a space follows.
func (c *check) sentenceEnd(at, end int) int {
	for i, r := range c.text[at:end] {
		after := at + i + utf8.RuneLen(r)
		if strings.ContainsRune("。！？", r) ||
			strings.ContainsRune(".!?;·؟", r) && (after == end || c.text[after] == ' ') {
			return after
		}
	}
	return end
}

// chineseSentences extends Chinese words in Japanese to their sentence, if it has Chinese characters alone.
func (c *check) chineseSentences() {
	if c.want.base != "ja" {
		return
	}
	slices.SortFunc(c.spans, byStart)
	kana := func(r rune) bool { return isKana(r) || unicode.Is(unicode.Latin, r) }
	for _, s := range c.sentences() {
		if strings.ContainsFunc(c.text[s.Start:s.End], kana) {
			continue
		}
		from := sort.Search(len(c.spans), func(i int) bool { return c.spans[i].Start >= s.Start })
		to := sort.Search(len(c.spans), func(i int) bool { return c.spans[i].Start >= s.End })
		if from == to || !strings.HasPrefix(c.spans[from].Language, "zh") {
			continue
		}
		whole := c.spans[from]
		for _, part := range c.spans[from:to] {
			whole.P, whole.Risk = max(whole.P, part.P), max(whole.Risk, part.Risk)
		}
		whole.Start, whole.End = s.Start, s.End
		whole.Language = c.name("zh", s.Start, s.End)
		c.spans = slices.Replace(c.spans, from, to, whole)
	}
}

// scripts adds lines, and sentences, of Chinese in the script that is not expected: with at least two characters that
// only this one has, and few that only the expected one has.
func (c *check) scripts() {
	if c.want.base != "zh" || c.want.script == "" {
		return
	}
	var found []Span
	find := func(parts []prose.Span, kind string, lines []Span) {
		for _, p := range parts {
			simplified, traditional := chinese.Count(c.text[p.Start:p.End])
			wrong, right, tag := simplified, traditional, "zh-Hans"
			if c.want.script == "Hans" {
				wrong, right, tag = traditional, simplified, "zh-Hant"
			}
			if wrong >= 2 && wrong > 3*right && !covered(lines, p.Start) {
				s := Span{Start: p.Start, End: p.End, Language: tag, Kind: kind, P: probability(1.6 * float64(wrong-right))}
				s.Risk = s.risk(c.want.base)
				found = append(found, s)
			}
		}
	}
	find(c.ownBlocks(), Line, nil)
	find(c.sentences(), Word, found)
	slices.SortFunc(found, byStart)
	inside := func(s Span) bool { return covered(found, s.Start) }
	c.excused = slices.DeleteFunc(c.excused, inside)
	c.spans = append(slices.DeleteFunc(c.spans, inside), found...)
}
