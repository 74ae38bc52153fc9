package confusion

import (
	"strings"
	"unicode"

	"crosstalk"
	"crosstalk/measure/pytext"

	"golang.org/x/text/language"
)

// begins returns the bytes of the answer at which its confusions begin, in
// order. A confusion is a run of wrong lines that were taken for one language,
// with no right line among them, or, in an answer without wrong lines, a run of
// wrong words with no other letters or digits between them.
func (c checked) begins(expected, answer string) (at []int) {
	for _, i := range c.runs {
		at = append(at, foreignFrom(expected, c.wrong[i], answer))
	}
	if len(c.wrong) > 0 {
		return at
	}
	for i, word := range c.words {
		if i == 0 || strings.ContainsFunc(answer[c.words[i-1].End:word.Start], isWordRune) {
			at = append(at, word.Start)
		}
	}
	return at
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// foreignFrom returns where a wrong line leaves the expected language. If the
// language that it was taken for shares no script with the expected one, that
// is its first letter of another script than the expected one's: a line may
// begin in the right language. Else nobody can say where, and it is the
// line's first character.
func foreignFrom(expected string, line crosstalk.Span, answer string) int {
	text := answer[line.Start:line.End]
	own, other := scriptsOf(expected), scriptsOf(line.Language)
	if own != nil && other != nil && !share(own, other) {
		for i, r := range text {
			if unicode.IsLetter(r) && !unicode.In(r, own...) && !unicode.In(r, unicode.Common, unicode.Inherited) {
				return line.Start + i
			}
		}
	}
	return line.Start + len(text) - len(strings.TrimLeftFunc(text, pytext.IsSpace))
}

// scriptsOf returns the scripts that a language is written in, nil where that
// is not known.
func scriptsOf(code string) []*unicode.RangeTable {
	if code == "" {
		return nil
	}
	script, _ := language.Make(code).Script()
	return scripts[script.String()]
}

// scripts are the letters of ISO 15924's codes.
var scripts = map[string][]*unicode.RangeTable{
	"Latn": {unicode.Latin}, "Cyrl": {unicode.Cyrillic}, "Grek": {unicode.Greek}, "Armn": {unicode.Armenian}, "Geor": {unicode.Georgian},
	"Arab": {unicode.Arabic}, "Hebr": {unicode.Hebrew}, "Syrc": {unicode.Syriac}, "Thaa": {unicode.Thaana}, "Ethi": {unicode.Ethiopic},
	"Deva": {unicode.Devanagari}, "Beng": {unicode.Bengali}, "Guru": {unicode.Gurmukhi}, "Gujr": {unicode.Gujarati}, "Orya": {unicode.Oriya},
	"Taml": {unicode.Tamil}, "Telu": {unicode.Telugu}, "Knda": {unicode.Kannada}, "Mlym": {unicode.Malayalam}, "Sinh": {unicode.Sinhala},
	"Thai": {unicode.Thai}, "Laoo": {unicode.Lao}, "Mymr": {unicode.Myanmar}, "Khmr": {unicode.Khmer}, "Tibt": {unicode.Tibetan}, "Mong": {unicode.Mongolian},
	"Hans": {unicode.Han}, "Hant": {unicode.Han}, "Hani": {unicode.Han},
	"Jpan": {unicode.Han, unicode.Hiragana, unicode.Katakana}, "Kore": {unicode.Hangul, unicode.Han}, "Hang": {unicode.Hangul},
}

func share(a, b []*unicode.RangeTable) bool {
	for _, x := range a {
		for _, y := range b {
			if x == y {
				return true
			}
		}
	}
	return false
}
