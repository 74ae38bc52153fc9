package guard

import (
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"crosstalk/measure/langid/chinese"
	"crosstalk/measure/langid/embedded"
	"crosstalk/measure/langid/words"
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

// sentences returns the sentences of these blocks, without leading marks and masked parts.
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

// sentenceEnd returns the end of the sentence around a byte: after a Chinese full stop, or another one before a space.
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

// chineseSentences extends Chinese words in Japanese to their sentence, if it has Chinese characters only.
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

// foreignSentences adds sentences in another language whose single words are too weak evidence: in related languages,
// if the expected language's model is not thorough.
func (c *check) foreignSentences() {
	if words.Thorough(c.want.base) || !words.Supports(c.want.base) {
		return
	}
	c.sort()
	for _, s := range c.sentences() {
		if !nagari[c.want.base] && !c.analysis.Suspect(s.Start, s.End, suspect) {
			continue
		}
		e := c.analysis.Weigh(s)
		if nagari[c.want.base] {
			guess := embedded.Identifier().Identify(c.plain(s))
			if guess.Language == c.want.base || !nagari[guess.Language] || guess.Probability < 0.8 ||
				e.Words < fewWords && c.analysis.Ratio(guess.Language, s) < 0 {
				continue
			}
			e.Language, e.LogRatio = guess.Language, max(e.LogRatio, sentenceWrong)
		}
		if e.Words < leastSentence || e.LogRatio < sentenceWrong || script(e.Language) != script(c.want.base) {
			continue
		}
		found := Span{Start: s.Start, End: s.End, Language: e.Language, Kind: Word, P: probability(e.LogRatio)}
		flagged := 0
		for _, inside := range overlapping(c.spans, s.Start, s.End) {
			flagged += inside.End - inside.Start
			found.P = max(found.P, inside.P)
		}
		excused := overlapping(c.excused, s.Start, s.End)
		if 2*flagged > s.End-s.Start || slices.ContainsFunc(excused, func(x Span) bool {
			return x.Excuse != Doubt && x.Excuse != Loan && x.Excuse != Name
		}) {
			continue
		}
		c.drop(func(x Span) bool { return x.Start >= s.Start && x.Start < s.End })
		c.settle(&found)
		c.put(found)
		c.sort()
	}
}

const (
	leastSentence = 5    // least words in a sentence that is judged as a whole
	fewWords      = 8    // words in a sentence that is too short for the identifier alone
	suspect       = -7.0 // least log odds of one of them
	sentenceWrong = 6.0  // log odds of the sentence
)

// scripts adds lines, sentences and words of Chinese in the other script: lines and sentences with at least two
// characters that exist only in it, and few that exist only in the expected one.
func (c *check) scripts() {
	const scriptDoubt = 1.8 // odds for one character of the other script, a doubtful word: it may be in a name
	if c.want.base != "zh" || c.want.script == "" {
		return
	}
	tag := "zh-Hans"
	if c.want.script == "Hans" {
		tag = "zh-Hant"
	}
	count := func(p prose.Span) (wrong, right int) {
		wrong, right = chinese.Count(c.text[p.Start:p.End])
		if c.want.script == "Hans" {
			return right, wrong
		}
		return wrong, right
	}
	var found []Span
	add := func(p prose.Span, kind string, odds float64) {
		s := Span{Start: p.Start, End: p.End, Language: tag, Kind: kind, P: probability(odds)}
		if odds < 0 {
			s.Excuse = Doubt
		}
		c.settle(&s)
		found = append(found, s)
	}
	whole := func(parts []prose.Span, kind string, lines []Span) {
		for _, p := range parts {
			if wrong, right := count(p); wrong >= 2 && wrong > 3*right && !covered(lines, p.Start) {
				add(p, kind, 1.6*float64(wrong-right))
			}
		}
	}
	whole(c.ownBlocks(), Line, nil)
	whole(c.sentences(), Word, found)
	slices.SortFunc(found, byStart)
	sentences := found
	c.sort()
	for _, b := range c.ownBlocks() {
		for _, p := range c.otherScript(b, count) {
			others := len(overlapping(c.spans, p.Start, p.End)) + len(overlapping(c.excused, p.Start, p.End))
			if wrong, _ := count(p); !covered(sentences, p.Start) && others == 0 {
				add(p, Word, 1.6*float64(wrong)-scriptDoubt)
			}
		}
	}
	slices.SortFunc(found, byStart)
	c.drop(func(s Span) bool { return covered(found, s.Start) })
	for _, s := range found {
		c.put(s)
	}
}

// otherScript returns the parts of a block between characters of the other script that are few characters apart, with
// up to two neighbours on each side, if no character between them is only in the expected script.
func (c *check) otherScript(b prose.Span, count func(prose.Span) (wrong, right int)) (parts []prose.Span) {
	const (
		near   = 4 // characters
		beside = 2
	)
	n, last := 0, 0
	var neighbours []int // starts of the preceding characters that may belong to a part
	open := false        // a part may continue
	masks := c.masksIn(b)
	for at := (prose.Span{End: b.Start}); at.End < b.End; {
		r, size := utf8.DecodeRuneInString(c.text[at.End:b.End])
		at = prose.Span{Start: at.End, End: at.End + size}
		for len(masks) > 0 && masks[0].End <= at.Start {
			masks = masks[1:]
		}
		n++
		wrong, right := count(at)
		switch {
		case !unicode.Is(unicode.Han, r), right > 0, len(masks) > 0 && masks[0].Start <= at.Start:
			open, neighbours = false, nil
			continue
		case wrong > 0 && open && n-last <= near:
			parts[len(parts)-1].End = at.End
			last = n
		case wrong > 0:
			start := at.Start
			if len(neighbours) > 0 {
				start = neighbours[max(0, len(neighbours)-beside)]
			}
			parts = append(parts, prose.Span{Start: start, End: at.End})
			open, last = true, n
		case open && n <= last+beside:
			parts[len(parts)-1].End = at.End
			continue // it belongs to that part
		}
		if wrong > 0 {
			neighbours = nil
		} else {
			neighbours = append(neighbours, at.Start)
		}
	}
	return parts
}

// cantonese reports whether a text has characters of Cantonese function words, which Mandarin lacks.
func cantonese(text string) bool {
	n, all := 0, 0
	for _, r := range text {
		if !unicode.Is(unicode.Han, r) {
			continue
		}
		all++
		if strings.ContainsRune("嘅咗唔佢哋嚟冇啲喺嗰乜咁噉嘢睇攞搵瞓諗㗎啱俾", r) {
			n++
		}
	}
	return n >= 2 && 50*n >= all
}
