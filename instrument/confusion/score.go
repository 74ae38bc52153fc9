package confusion

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"crosstalk"
	"crosstalk/measure/langid"
	"crosstalk/measure/segment"
	"crosstalk/measure/segment/japanese"
	"crosstalk/measure/segment/jieba"

	"golang.org/x/text/language"
)

// Score makes observations of an answer to the item's prompt: of LPR and
// LineAccuracy, and of WPR or LatinWPR if the expected language has a word check.
// Their spans are the wrong lines for LPR and the wrong words for the others. If
// log probabilities were requested, observations of Entropy and NucleusSize
// follow.
func (in *Instrument) Score(item crosstalk.Item, sample int, answer crosstalk.Answer) []crosstalk.Observation {
	base := crosstalk.Observation{Item: item.ID, Cluster: cmp.Or(item.Cluster, item.ID), Sample: sample,
		Value: crosstalk.Undefined, Condition: in.Condition, Labels: item.Labels}
	if base.Labels[LanguageColumn] == "" {
		base.Labels = maps.Clone(base.Labels)
		if base.Labels == nil {
			base.Labels = map[string]string{}
		}
		base.Labels[LanguageColumn] = item.Prompt.Language
	}
	if answer.Key != (crosstalk.Key{}) {
		base.Answers = []crosstalk.Key{answer.Key}
	}
	words := in.wordCheck(item.Prompt.Language)
	observations := []crosstalk.Observation{base, base, base}[:2]
	observations[0].Measure, observations[1].Measure = LPR, LineAccuracy
	if words.measure != "" {
		observations = append(observations, base)
		observations[2].Measure = words.measure
	}
	if answer.Key == (crosstalk.Key{}) && item.Prompt.Text != "" { // there is no request that shows it
		observations[0].AddText(crosstalk.Given, PromptText, item.Prompt.Text)
	}
	notScored := ""
	switch {
	case item.Prompt.Language == "":
		notScored = NoLanguage
	case answer.Status != crosstalk.Text:
		notScored = string(answer.Status)
	}
	if notScored != "" {
		for i := range observations {
			observations[i].NotScored = notScored
		}
		return observations
	}
	c := in.check(item.Prompt.Language, answer.Text, words.isWrong)
	in.judge(observations, c)
	observations[0].AddText(crosstalk.Side, AnswerText, answer.Text)
	if in.Prompting.Logprobs > 0 && c.lines > 0 {
		d := in.uncertaintyIn(answer, c.begins(item.Prompt.Language, answer.Text))
		for i := range observations {
			if observations[i].Finding != "" {
				observations[i].Tokens = d.strip()
			}
		}
		observations = append(observations, in.observeUncertainty(base, d)...)
	}
	return observations
}

// judge sets the values of the observations.
func (in *Instrument) judge(observations []crosstalk.Observation, c checked) {
	numbers := map[string]float64{LinesChecked: float64(c.lines), LinesWrong: float64(len(c.wrong))}
	if c.lines > 0 {
		numbers[Margin], numbers[MarginLine] = c.margin, float64(c.marginLine)
	}
	lpr, accuracy := &observations[0], &observations[1]
	lpr.Numbers, accuracy.Numbers = numbers, numbers
	switch {
	case c.lines == 0:
		for i := range observations {
			if in.Protocol.AllAnswers && &observations[i] != accuracy {
				observations[i].Value = 1
			} else {
				observations[i].NotScored = Unchecked
			}
		}
		return
	case len(c.wrong) == 0:
		lpr.Value = 1
	default:
		lpr.Value, lpr.Spans, lpr.Finding = 0, c.wrong, SomeLines
		if len(c.wrong) == c.lines {
			lpr.Finding = FullAnswer
		}
	}
	accuracy.Value = crosstalk.Value(c.lines-len(c.wrong)) / crosstalk.Value(c.lines)
	for i := range observations[2:] {
		switch o := &observations[2+i]; {
		case len(c.wrong) > 0:
			o.NotScored, o.Implied = LineError, true // the line says it
		case len(c.words) > 0:
			o.Value, o.Spans, o.Finding = 0, c.words, SingleWords
		default:
			o.Value = 1
		}
	}
}

// checked is the result of checking an answer.
type checked struct {
	lines int              // checked
	wrong []crosstalk.Span // lines
	runs  []int            // where in wrong a run of lines begins that were taken for the same language
	words []crosstalk.Span // wrong words, if no line is wrong

	margin     float64 // least distance of a line's probability from the threshold
	marginLine int
}

func (in *Instrument) check(expected, answer string, isWrong func(word string) bool) (c checked) {
	var words []string
	segmenter := segmenterOf(expected)
	wrongBefore := false // the last line that was checked
	for l := range lines(answer) {
		words = segmenter.AppendWords(words[:0], l.text)
		if len(words) < in.Protocol.MinWords {
			continue
		}
		c.lines++
		guess := in.identify(l.text)
		if margin := math.Abs(float64(guess.Probability) - in.Protocol.Threshold); c.lines == 1 || margin < c.margin {
			c.margin, c.marginLine = margin, l.number
		}
		if guess.Language != expected || !(float64(guess.Probability) > in.Protocol.Threshold) {
			if n := len(c.wrong); !wrongBefore || c.wrong[n-1].Language != guess.Language {
				c.runs = append(c.runs, n)
			}
			wrongBefore = true
			c.wrong = append(c.wrong, crosstalk.Span{Line: l.number, Start: l.start, End: l.start + len(l.raw), Text: l.text,
				Language: guess.Language, Probability: guess.Probability})
			continue
		}
		wrongBefore = false
		if isWrong != nil && len(c.wrong) == 0 {
			c.words = l.appendWrong(c.words, words, isWrong)
		}
	}
	return c
}

// appendWrong appends the wrong ones of a line's words to spans.
func (l line) appendWrong(spans []crosstalk.Span, words []string, isWrong func(string) bool) []crosstalk.Span {
	from, raw := 0, cursor{raw: l.raw}
	for _, word := range words {
		from += strings.Index(l.text[from:], word) // what lies between words is white space
		if isWrong(word) {
			start, end := raw.locate(from, from+len(word))
			spans = append(spans, crosstalk.Span{Line: l.number, Start: l.start + start, End: l.start + end, Text: word})
		}
		from += len(word)
	}
	return spans
}

func (in *Instrument) identify(text string) langid.Guess {
	guess := in.Identifier.Identify(text)
	if in.Protocol.Kana {
		guess.Language = byKana(guess.Language, text)
	}
	return guess
}

// byKana corrects small identifiers that confuse Chinese and Japanese: Japanese
// has kana, Chinese does not.
func byKana(language, text string) string {
	kana := func() bool {
		return strings.ContainsFunc(text, func(r rune) bool { return unicode.In(r, unicode.Hiragana, unicode.Katakana) })
	}
	han := func() bool {
		return strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) })
	}
	switch {
	case language == "ja" && han() && !kana():
		return "zh"
	case language == "zh" && kana():
		return "ja"
	}
	return language
}

// Segmenters names the word segmenters, for signatures. Other languages are split
// at white space.
const Segmenters = "ja=unidic-3.1.1,zh=jieba"

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
// word error (Marchisio et al. 2024, section 3.2).
var englishStandsOut = []string{"ar", "hi", "ja", "ko", "ru", "zh"}

// wordCheck is a language's word check; the zero value checks nothing.
type wordCheck struct {
	measure string
	isWrong func(word string) bool
}

func (in *Instrument) wordCheck(expected string) wordCheck {
	if expected == "" {
		return wordCheck{}
	}
	if slices.Contains(englishStandsOut, expected) {
		return wordCheck{WPR, in.Words.Contains}
	}
	if in.Protocol.Latin == LatinOff || !inLatinScript(expected) {
		return wordCheck{}
	}
	if in.Protocol.Latin == LatinInWPR {
		return wordCheck{WPR, hasForeignLetter}
	}
	return wordCheck{LatinWPR, hasForeignLetter}
}

func inLatinScript(code string) bool {
	script, _ := language.Make(code).Script()
	return script.String() == "Latn"
}

// hasForeignLetter reports whether a word has a letter that is not Latin. Letters
// without a single script in Unicode (µ, ʻ, ー) are not foreign.
func hasForeignLetter(word string) bool {
	return strings.ContainsFunc(word, func(r rune) bool {
		return r > unicode.MaxASCII && unicode.IsLetter(r) && !unicode.In(r, unicode.Latin, unicode.Common, unicode.Inherited)
	})
}
