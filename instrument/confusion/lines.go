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

// Split returns the words of an answer in a language that are checked, with their offsets.
func (Rules) Split(language, answer string) (words []crosstalk.Span) {
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

// checkProse judges an answer with the instrument's judge.
func (in *Instrument) checkProse(expected crosstalk.Prompt, answer string) (c checked, notScored string) {
	if len(answer) > longest {
		return c, cannotTell
	}
	j, err := judgeBy(in.Judge, cmp.Or(expected.Tag, expected.Language), answer)
	if err != nil {
		return c, NoLanguage
	}
	c.mix, c.points, c.wrong, c.words, c.masked = j.Mix, j.Runs, j.Wrong, j.Words, j.Masked
	for i := range c.masked {
		c.masked[i].Text = ""
	}
	var right []int // starts of lines in the right language
	for _, p := range j.Parts {
		if p.Unclear {
			c.unclear += len(p.Lines)
			continue
		}
		if margin := p.P - in.Protocol.Threshold; c.lines == 0 || margin < c.margin {
			c.margin, c.marginLine = margin, p.Lines[0].Line
		}
		c.lines += len(p.Lines)
		if p.Right {
			for _, l := range p.Lines {
				right = append(right, l.Start)
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

// judgeBy judges the scored part of an answer. The result is of the answer, with the lines and texts of spans.
func judgeBy(judge crosstalk.Judge, tag, answer string) (crosstalk.Judged, error) {
	start, end := scored(answer)
	j, err := judge.Judge(answer[start:end], tag)
	var ends []int // of lines
	for i, c := range []byte(answer) {
		if c == '\n' {
			ends = append(ends, i)
		}
	}
	locate := func(spans []crosstalk.Span) {
		for i := range spans {
			s := &spans[i]
			s.Start, s.End = start+s.Start, start+s.End
			line, _ := slices.BinarySearch(ends, s.Start)
			s.Line, s.Text = 1+line, answer[s.Start:s.End]
		}
	}
	for _, spans := range [][]crosstalk.Span{j.Wrong, j.Words, j.Masked} {
		locate(spans)
	}
	for _, p := range j.Parts {
		locate(p.Lines)
	}
	for i := range j.Runs {
		j.Runs[i] += start
	}
	return j, err
}

// Lines returns the lines of an answer in a language that the rules check. Their texts are as received. Rules without
// a judge need none.
func (r Rules) Lines(judge crosstalk.Judge, language, answer string) (checked []crosstalk.Span) {
	if !r.Prose {
		segmenter := segmenterOf(language)
		for l := range lines(answer) {
			if len(segmenter.AppendWords(nil, l.text)) >= r.MinWords {
				checked = append(checked, l.span(0, len(l.raw), l.raw))
			}
		}
		return checked
	}
	j, err := judgeBy(judge, language, answer)
	if err != nil {
		return nil
	}
	for _, p := range j.Parts {
		if !p.Unclear {
			checked = append(checked, p.Lines...)
		}
	}
	slices.SortFunc(checked, func(a, b crosstalk.Span) int { return cmp.Compare(a.Start, b.Start) })
	return checked
}

// JudgedLines implements crosstalk.LineRules.
func (r Rules) JudgedLines(judge func(risk float64) crosstalk.Judge, o crosstalk.Observation) (
	list []crosstalk.JudgedLine) {
	wrong := map[int]crosstalk.Span{}
	for _, span := range o.Spans {
		wrong[span.Line] = span
	}
	margin, known := o.Numbers[Margin]
	for _, line := range r.Lines(judge(r.Risk), o.Labels["language"], o.Text(AnswerText)) {
		of := crosstalk.JudgedLine{Span: line, Doubt: math.NaN()}
		switch span, found := wrong[line.Line]; {
		case found:
			of.Wrong, of.Language = true, span.Language
			of.Doubt = math.Abs(float64(span.Probability) - r.Threshold)
		case known && line.Line == int(o.Numbers[MarginLine]):
			of.Doubt = margin
		case known:
			of.Doubt = math.Inf(1) // farther than the answer's nearest line
		}
		list = append(list, of)
	}
	return list
}
