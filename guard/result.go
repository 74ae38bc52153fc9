package guard

import (
	"cmp"
	"math"
	"slices"

	"crosstalk/measure/langid/chinese"
	"crosstalk/measure/langid/words"
	"crosstalk/measure/prose"
)

func byStart(a, b Span) int { return cmp.Compare(a.Start, b.Start) }

// sort puts the spans in order.
func (c *check) sort() {
	slices.SortFunc(c.spans, byStart)
	slices.SortFunc(c.excused, byStart)
}

// listOf returns the list of a span: of those that count, or of the excused ones.
func (c *check) listOf(s Span) *[]Span {
	if s.Excuse == "" {
		return &c.spans
	}
	return &c.excused
}

// put adds a span whose risk is settled.
func (c *check) put(s Span) {
	to := c.listOf(s)
	*to = append(*to, s)
}

// drop removes spans.
func (c *check) drop(which func(Span) bool) {
	c.spans, c.excused = slices.DeleteFunc(c.spans, which), slices.DeleteFunc(c.excused, which)
}

// add settles and adds a span, or extends the last one that it continues.
func (c *check) add(s Span) {
	c.settle(&s)
	all := *c.listOf(s)
	if n := len(all); n > 0 && c.continues(all[n-1], s) {
		last := &all[n-1]
		last.End, last.P, last.Risk = s.End, max(last.P, s.P), max(last.Risk, s.Risk)
		return
	}
	c.put(s)
}

// disjoint joins spans that overlap: a word may begin with a mark before its line's first letter, and a sentence may
// have words that were found alone. Lines go before words, and what counts before what is excused.
func (c *check) disjoint() {
	all := slices.Concat(c.spans, c.excused)
	slices.SortStableFunc(all, byStart)
	c.spans, c.excused = c.spans[:0], c.excused[:0]
	for i := 0; i < len(all); {
		s, end := all[i], all[i].End
		for i++; i < len(all) && all[i].Start < end; i++ {
			other := all[i]
			end = max(end, other.End)
			if other.Kind == Line && s.Kind == Word || other.Kind == s.Kind && other.Excuse == "" && s.Excuse != "" {
				s, other = other, s
			}
			s.Start, s.P, s.Risk = min(s.Start, other.Start), max(s.P, other.P), max(s.Risk, other.Risk)
		}
		s.End = end
		c.put(s)
	}
}

func (c *check) result() Judgement {
	j := Unknown()
	j.Units = len(c.units)
	weight := map[string]int{}
	for _, u := range c.units {
		switch u.state {
		case CannotTell:
			j.Unclear++
		case Right:
			weight[c.want.name] += max(1, u.evidence.Words)
		case Wrong:
			weight[u.evidence.Language] += max(1, u.evidence.Words)
		}
	}
	for l, n := range weight {
		if n > weight[j.Language] || n == weight[j.Language] && l < j.Language {
			j.Language = l
		}
	}
	j.Language = c.name(j.Language, 0, len(c.text))
	j.Spans = append(append(j.Spans, c.spans...), c.excused...)
	slices.SortFunc(j.Spans, byStart)
	switch j.Judged = c.level(); {
	case j.Units == 0 && len(j.Spans) == 0:
		j.Judged, j.NotJudged = "", "no prose"
	case j.Judged == ByWords:
		j.NotJudged = ""
	default:
		j.NotJudged = "words: no model for " + c.want.name
	}
	switch {
	case len(c.spans) > 0:
		j.Risk = c.highest(j.Spans)
		j.Verdict, j.P = Wrong, j.Risk
	case weight[c.want.name] > 0:
		j.Risk = c.highest(j.Spans)
		j.Verdict, j.P = Right, rounded(1-j.Risk)
	}
	j.Masked = append(j.Masked, c.allMasks()...)
	j.Parts = c.parts()
	j.Mix = c.mix(j.Parts)
	return j
}

// allMasks returns the masked parts in order, with the thoughts. Code may have a thought in it, and is one part then.
func (c *check) allMasks() (masks []prose.Span) {
	all := slices.Concat(c.hidden, c.masks)
	slices.SortFunc(all, func(a, b prose.Span) int { return cmp.Compare(a.Start, b.Start) })
	end := 0
	for _, m := range all {
		if m.Start = max(m.Start, end); m.Start < m.End {
			masks, end = append(masks, m), m.End
		}
	}
	return masks
}

// name is the tag of a language: with the script of Chinese where the characters tell it.
func (c *check) name(language string, start, end int) string {
	if language != "zh" {
		return language
	}
	switch simplified, traditional := chinese.Count(c.text[start:end]); {
	case simplified > traditional:
		return "zh-Hans"
	case traditional > simplified:
		return "zh-Hant"
	}
	return "zh"
}

// probability of even odds times e^x.
func probability(x float64) float64 {
	return rounded(min(0.9999, 1/(1+math.Exp(-x))))
}

// level says what was judged: lines only if one was long enough for the identifier.
func (c *check) level() Level {
	switch alone := words.ByScript(c.want.base); {
	case words.Supports(c.want.base) && !alone:
		return ByWords
	case alone || !c.asked:
		return ByScript
	}
	return ByLines
}
