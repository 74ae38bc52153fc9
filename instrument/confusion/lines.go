package confusion

import (
	"math"
	"slices"
	"strings"
	"unicode"

	"crosstalk"
	"crosstalk/measure/segment"
	"crosstalk/measure/segment/japanese"
	"crosstalk/measure/segment/jieba"

	"golang.org/x/text/language"
)

// checkLines checks an answer line by line, as the paper does.
func (in *Instrument) checkLines(expected, answer string, isWrong func(word string) bool) (c checked) {
	var words []string
	segmenter := segmenterOf(expected)
	wrongBefore := false // the last line that was checked
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
		if isWrong != nil && len(c.wrong) == 0 {
			c.words = l.appendWrong(c.words, words, isWrong)
		}
	}
	return c
}

func (l line) appendWrong(spans []crosstalk.Span, words []string, isWrong func(string) bool) []crosstalk.Span {
	from, raw := 0, cursor{raw: l.raw}
	for _, word := range words {
		from += strings.Index(l.text[from:], word) // what lies between words is white space
		if isWrong(word) {
			start, end := raw.locate(from, from+len(word))
			spans = append(spans, l.span(start, end, word))
		}
		from += len(word)
	}
	return spans
}

// segmenters names the word segmenters, for signatures. Other languages are split at white space.
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

// englishStandsOut are the languages in which a word of the English list is a
// word error (Marchisio et al. 2024, section 2.2).
var englishStandsOut = []string{"ar", "hi", "ja", "ko", "ru", "zh"}

// wordCheck returns what tells the wrong words of a language, nil if they are not checked.
func (in *Instrument) wordCheck(expected string) (isWrong func(word string) bool) {
	switch {
	case slices.Contains(englishStandsOut, expected):
		return in.Words.Contains
	case in.Protocol.Latin == LatinInWPR && inLatinScript(expected):
		return hasForeignLetter
	}
	return nil
}

func inLatinScript(code string) bool {
	script, _ := language.Make(code).Script()
	return script.String() == "Latn"
}

// hasForeignLetter reports whether a word has a letter that is not Latin. Letters
// without a single script in Unicode (µ, ʻ, ー) are not foreign.
func hasForeignLetter(word string) bool {
	return strings.ContainsFunc(word, func(r rune) bool {
		return r > unicode.MaxASCII && unicode.IsLetter(r) &&
			!unicode.In(r, unicode.Latin, unicode.Common, unicode.Inherited)
	})
}
