package confusion

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/guard"
	"crosstalk/measure/prose"
)

// longest is the longest answer that is judged, in bytes: judging takes a hundred times as much memory.
const longest = 2 << 20

// checkProse leaves the judgement to package guard.
func (in *Instrument) checkProse(expected crosstalk.Prompt, answer string) (c checked, notScored string) {
	if len(answer) > longest {
		return c, CannotTell
	}
	checker := guard.Checker{Identifier: in.Identifier, Threshold: in.Protocol.Risk}
	j, start, err := judgement(checker, cmp.Or(expected.Tag, expected.Language), answer)
	if err != nil {
		return c, NoLanguage
	}
	c.mix = j.Mix
	at := place{text: answer}
	for _, m := range j.Masked {
		span := at.span(start+m.Start, start+m.End)
		span.Text, span.Reason = "", string(m.Kind)
		c.masked = append(c.masked, span)
	}
	at = place{text: answer}
	for _, s := range j.Spans {
		span := at.span(start+s.Start, start+s.End)
		if s.Excuse != "" {
			if s.Excuse != prose.Quote || s.Kind == guard.Line { // other quotations are masked
				span.Text, span.Reason = "", string(s.Excuse)
				c.masked = append(c.masked, span)
			}
			continue
		}
		span.Language, span.Probability, span.Reason = s.Language, float32(s.P), s.Kind
		if s.Kind == guard.Word {
			c.words = append(c.words, span)
		} else {
			c.wrong = append(c.wrong, span)
		}
	}
	var right []int // where lines in the right language start
	at = place{text: answer}
	first := math.MaxInt
	for _, p := range j.Parts {
		if p.Verdict == guard.CannotTell {
			c.unclear += len(p.Lines)
			continue
		}
		if p.Lines[0].Start < first {
			first, c.firstRight = p.Lines[0].Start, p.Verdict == guard.Right
		}
		if margin := p.P - in.Protocol.Threshold; c.lines == 0 || margin < c.margin {
			c.margin, c.marginLine = margin, 1+strings.Count(answer[:start+p.Lines[0].Start], "\n")
		}
		c.lines += len(p.Lines)
		if p.Verdict == guard.Right {
			for _, l := range p.Lines {
				right = append(right, start+l.Start)
			}
		}
	}
	slices.Sort(right)
	for i, s := range c.wrong {
		if i > 0 && s.Language == c.wrong[i-1].Language {
			if k, _ := slices.BinarySearch(right, c.wrong[i-1].End); k == len(right) || right[k] > s.Start {
				continue
			}
		}
		c.runs = append(c.runs, i)
	}
	return c, ""
}

// judgement judges the part of a text that is scored, and returns where it starts.
func judgement(k guard.Checker, tag, text string) (j guard.Judgement, start int, err error) {
	start, end := scored(text)
	j, err = k.Check(text[start:end], tag)
	return j, start, err
}

// place finds the lines of spans that are in order.
type place struct {
	text string
	line int // that has byte at, from 0
	at   int
}

func (p *place) span(start, end int) crosstalk.Span {
	p.line += strings.Count(p.text[p.at:start], "\n")
	p.at = start
	return crosstalk.Span{Line: 1 + p.line, Start: start, End: end, Text: p.text[start:end]}
}

// Lines are the lines of an answer in a language that are checked under the rules. Their texts are as received.
func (r Rules) Lines(language, answer string) (checked []crosstalk.Span) {
	if !r.Prose {
		return longLines(language, answer, r.MinWords)
	}
	j, start, err := judgement(guard.Checker{Threshold: r.Risk}, language, answer)
	if err != nil {
		return nil
	}
	var all []prose.Span
	for _, p := range j.Parts {
		if p.Verdict != guard.CannotTell {
			all = append(all, p.Lines...)
		}
	}
	slices.SortFunc(all, func(a, b prose.Span) int { return cmp.Compare(a.Start, b.Start) })
	at := place{text: answer}
	for _, l := range all {
		checked = append(checked, at.span(start+l.Start, start+l.End))
	}
	return checked
}
