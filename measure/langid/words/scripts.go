package words

import (
	"unicode"

	"golang.org/x/text/language"
)

type script uint8

const (
	none script = iota
	latin
	cyrillic
	arabic
	han // with kana
	devanagari
	hangul
	others // the first of the further scripts
)

// groupScripts are the scripts of Groups.
var groupScripts = []script{latin, cyrillic, arabic, han}

const (
	hanGroup  = 3
	maxGroup  = 9 // languages of a group
	maxStates = 48
)

// single lists the scripts that one language, or one first of all, is written in.
var single = []struct {
	table    *unicode.RangeTable
	language string
}{
	{unicode.Devanagari, "hi"}, {unicode.Hangul, "ko"}, {unicode.Greek, "el"}, {unicode.Hebrew, "he"}, {unicode.Thai, "th"},
	{unicode.Bengali, "bn"}, {unicode.Tamil, "ta"}, {unicode.Telugu, "te"}, {unicode.Gujarati, "gu"}, {unicode.Kannada, "kn"},
	{unicode.Malayalam, "ml"}, {unicode.Gurmukhi, "pa"}, {unicode.Oriya, "or"}, {unicode.Sinhala, "si"}, {unicode.Myanmar, "my"},
	{unicode.Khmer, "km"}, {unicode.Lao, "lo"}, {unicode.Georgian, "ka"}, {unicode.Armenian, "hy"}, {unicode.Ethiopic, "am"},
}

// states are the languages that words can be found to be in; stateOf gives their places and scripts their scripts.
var states, stateOf, scripts = listStates()

func listStates() (states []string, stateOf map[string]int, scripts map[string]script) {
	stateOf, scripts = map[string]int{}, map[string]script{}
	add := func(language string, s script) {
		stateOf[language], scripts[language] = len(states), s
		states = append(states, language)
	}
	for i, g := range Groups {
		for _, l := range g.Languages {
			add(l, groupScripts[i])
		}
	}
	for i, s := range single {
		add(s.language, devanagari+script(i))
	}
	return states, stateOf, scripts
}

// scriptOf returns the script of a letter or mark, none for other characters and for scripts that are not known.
func scriptOf(r rune) script {
	switch {
	case r < 0x80:
		if 'a' <= r|0x20 && r|0x20 <= 'z' {
			return latin
		}
		return none
	case r == 'º' || r == 'ª':
		return none
	case r < 0x250:
		if unicode.IsLetter(r) {
			return latin
		}
		return none
	case r >= 0xac00 && r <= 0xd7a3:
		return hangul
	case r >= 0x4e00 && r <= 0x9fff, r == 'ー', r == '々':
		return han
	case !unicode.IsLetter(r) && !unicode.IsMark(r):
		return none
	case unicode.Is(unicode.Cyrillic, r):
		return cyrillic
	case unicode.Is(unicode.Arabic, r):
		return arabic
	case unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Han):
		return han
	case unicode.Is(unicode.Latin, r):
		return latin
	}
	for i, s := range single {
		if unicode.Is(s.table, r) {
			return devanagari + script(i)
		}
	}
	return none
}

// scriptFor returns the script that a language is written in.
func scriptFor(code string) script {
	if s, ok := scripts[code]; ok {
		return s
	}
	s, _ := language.Make(code).Script()
	switch s.String() {
	case "Latn":
		return latin
	case "Cyrl":
		return cyrillic
	case "Arab":
		return arabic
	case "Deva":
		return devanagari
	case "Hans", "Hant", "Jpan":
		return han
	case "Beng":
		return scripts["bn"]
	}
	return none
}
