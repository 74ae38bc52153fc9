package confusion

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"crosstalk"
	"crosstalk/guard"
	"crosstalk/measure/prose"
	"crosstalk/measure/pytext"
	"crosstalk/measure/segment"
	"crosstalk/measure/segment/japanese"
	"crosstalk/measure/segment/jieba"

	"golang.org/x/text/language"
)

type line struct {
	number int    // in the answer, from 1
	start  int    // offset of raw in the answer, in bytes
	raw    string // as received
	text   string // for checking
}

// span returns the part of a line from byte start to byte end of raw.
func (l line) span(start, end int, text string) crosstalk.Span {
	return crosstalk.Span{Line: l.number, Start: l.start + start, End: l.start + end, Text: text}
}

// lines yields the lines of the scored part of an answer. Only \n separates lines.
func lines(answer string) iter.Seq[line] {
	return func(yield func(line) bool) {
		start, end := scored(answer)
		number := 1 + strings.Count(answer[:start], "\n")
		for raw := range strings.SplitSeq(answer[start:end], "\n") {
			if !yield(line{number, start, raw, normalise(raw)}) {
				return
			}
			start += len(raw) + 1
			number++
		}
	}
}

// scored returns the offsets of the scored part of an answer: it ends before the next question that a base model writes
// in a Q/A template, and has no white space around it.
func scored(answer string) (start, end int) {
	if i := strings.Index(answer, crosstalk.NextQuestion); i >= 0 {
		answer = answer[:i]
	}
	answer = pytext.TrimRightSpace(answer)
	return len(answer) - len(strings.TrimLeftFunc(answer, pytext.IsSpace)), len(answer)
}

// normalise removes the 32 ASCII punctuation marks and the Arabic comma, and replaces em dashes by spaces. Other
// characters stay.
func normalise(raw string) string {
	var b strings.Builder
	b.Grow(len(raw))
	for i := 0; i < len(raw); {
		n, out := step(raw[i:])
		b.WriteString(out)
		i += n
	}
	return b.String()
}

// step normalises the first character of s, which has n bytes.
func step(s string) (n int, out string) {
	r, n := utf8.DecodeRuneInString(s)
	switch {
	case r == '—':
		return n, " "
	case r == '،', r < utf8.RuneSelf && (unicode.IsPunct(r) || unicode.IsSymbol(r)):
		return n, ""
	}
	return n, s[:n]
}

// cursor walks along a line as received and its normalised form in parallel.
type cursor struct {
	raw    string
	at     int // in raw
	normal int // in the normalised form
}

// locate advances to the bytes [from, to) of the normalised form and returns their offsets in raw. Marks removed within
// them belong to the part, marks around it do not.
func (c *cursor) locate(from, to int) (start, end int) {
	for c.at < len(c.raw) {
		n, out := step(c.raw[c.at:])
		if c.normal == from && out != "" {
			break
		}
		c.at += n
		c.normal += len(out)
	}
	start = c.at
	for c.at < len(c.raw) && c.normal < to {
		n, out := step(c.raw[c.at:])
		c.at += n
		c.normal += len(out)
	}
	return start, c.at
}

// Words returns the checked words of an answer in a language, with their offsets.
func Words(language, answer string) (words []crosstalk.Span) {
	segmenter := segmenterOf(language)
	for l := range lines(answer) {
		words = l.appendWrong(words, segmenter.AppendWords(nil, l.text), func(string) bool { return true })
	}
	return words
}

// checkLines checks an answer line by line, as the paper does.
func (in *Instrument) checkLines(expected, answer string, isWrong func(word string) bool) (c checked) {
	var words []string
	segmenter := segmenterOf(expected)
	wrongBefore := false // whether the last checked line was wrong
	for l := range lines(answer) {
		words = segmenter.AppendWords(words[:0], l.text)
		if len(words) < in.Protocol.MinWords {
			continue
		}
		c.lines++
		guess := in.Identifier.Identify(l.text)
		if margin := math.Abs(float64(guess.Probability) - in.Protocol.Threshold); c.lines == 1 || margin < c.margin {
			c.margin, c.marginLine = margin, l.number
		}
		if guess.Language != expected || !(float64(guess.Probability) > in.Protocol.Threshold) {
			if n := len(c.wrong); !wrongBefore || c.wrong[n-1].Language != guess.Language {
				c.runs = append(c.runs, n)
			}
			wrongBefore = true
			span := l.span(0, len(l.raw), l.text)
			span.Language, span.Probability = guess.Language, guess.Probability
			c.wrong = append(c.wrong, span)
			continue
		}
		wrongBefore = false
		if isWrong != nil {
			c.words = l.appendWrong(c.words, words, isWrong)
		}
	}
	own := scriptsOf(expected)
	for i, word := range c.words {
		if i == 0 || strings.ContainsFunc(answer[c.words[i-1].End:word.Start],
			func(r rune) bool { return unicode.IsLetter(r) && unicode.In(r, own...) }) {
			c.points = append(c.points, word.Start)
		}
	}
	return c
}

func (l line) appendWrong(spans []crosstalk.Span, words []string, isWrong func(string) bool) []crosstalk.Span {
	from, raw := 0, cursor{raw: l.raw}
	for _, word := range words {
		from += strings.Index(l.text[from:], word) // only white space separates words
		if isWrong(word) {
			start, end := raw.locate(from, from+len(word))
			spans = append(spans, l.span(start, end, word))
		}
		from += len(word)
	}
	return spans
}

// segmenters names the word segmenters, for signatures. In other languages, words are split at white space.
const segmenters = "ja=unidic-3.1.1,zh=jieba"

func segmenterOf(language string) segment.Segmenter {
	switch language {
	case "ja":
		return japanese.Segmenter{}
	case "zh":
		return jieba.Segmenter{}
	}
	return segment.Space{}
}

// englishStandsOut are languages in which a word of the English list is an error (Marchisio et al. 2024, section 2.2).
var englishStandsOut = []string{"ar", "hi", "ja", "ko", "ru", "zh"}

// wordCheck returns a function that recognises wrong words in a language, nil if they are not checked.
func (in *Instrument) wordCheck(expected string) (isWrong func(word string) bool) {
	switch {
	case slices.Contains(englishStandsOut, expected):
		return in.Words.Contains
	case in.Protocol.Latin == LatinInWPR:
		if script, _ := language.Make(expected).Script(); script.String() == "Latn" {
			// Letters without a single script in Unicode (µ, ʻ, ー) are not foreign.
			foreign := func(r rune) bool {
				return unicode.IsLetter(r) && !unicode.In(r, unicode.Latin, unicode.Common)
			}
			return func(word string) bool { return strings.ContainsFunc(word, foreign) }
		}
	}
	return nil
}

// longest is the longest answer that is judged, in bytes: judging needs a hundred times as much memory.
const longest = 2 << 20

// checkProse judges an answer with package guard.
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
	for _, at := range j.Runs {
		c.points = append(c.points, start+at)
	}
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
	var right []int // starts of lines in the right language
	at = place{text: answer}
	for _, p := range j.Parts {
		if p.Verdict == guard.CannotTell {
			c.unclear += len(p.Lines)
			continue
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

// judgement judges the scored part of a text, and returns its offset.
func judgement(k guard.Checker, tag, text string) (j guard.Judgement, start int, err error) {
	start, end := scored(text)
	j, err = k.Check(text[start:end], tag)
	return j, start, err
}

// place finds the lines of spans, which must be in order.
type place struct {
	text string
	line int // the line with byte at, from 0
	at   int
}

func (p *place) span(start, end int) crosstalk.Span {
	p.line += strings.Count(p.text[p.at:start], "\n")
	p.at = start
	return crosstalk.Span{Line: 1 + p.line, Start: start, End: end, Text: p.text[start:end]}
}

// Lines returns the lines of an answer in a language that the rules check. Their texts are as received.
func (r Rules) Lines(language, answer string) (checked []crosstalk.Span) {
	if !r.Prose {
		segmenter := segmenterOf(language)
		for l := range lines(answer) {
			if len(segmenter.AppendWords(nil, l.text)) >= r.MinWords {
				checked = append(checked, l.span(0, len(l.raw), l.raw))
			}
		}
		return checked
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
