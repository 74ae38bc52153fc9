package words

import (
	"sync"
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
	hangul // the first of the scripts of single

	firstSingle = hangul
)

// groupScripts are the scripts of Groups.
var groupScripts = []script{latin, latin, latin, latin, latin, cyrillic, cyrillic, arabic, han, devanagari}

const (
	hanGroup     = 8
	hanLanguages = 2
	maxGroup     = 48 // languages of a script
	maxStates    = 96
)

// single lists the scripts that only one language is written in, or one above all.
var single = []struct {
	table    *unicode.RangeTable
	language string
}{
	{unicode.Hangul, "ko"}, {unicode.Greek, "el"}, {unicode.Hebrew, "he"},
	{unicode.Thai, "th"}, {unicode.Bengali, "bn"}, {unicode.Tamil, "ta"}, {unicode.Telugu, "te"},
	{unicode.Gujarati, "gu"}, {unicode.Kannada, "kn"}, {unicode.Malayalam, "ml"}, {unicode.Gurmukhi, "pa"},
	{unicode.Oriya, "or"}, {unicode.Sinhala, "si"}, {unicode.Myanmar, "my"}, {unicode.Khmer, "km"},
	{unicode.Lao, "lo"}, {unicode.Georgian, "ka"}, {unicode.Armenian, "hy"}, {unicode.Ethiopic, "am"},
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
		add(s.language, firstSingle+script(i))
	}
	return states, stateOf, scripts
}

// A class is a character's script, and what else a tokenizer asks of it.
type class uint16

const (
	scriptBits class = 1<<5 - 1
	letterBit  class = 1 << (iota + 4)
	markBit
	upperBit
	digitBit
	spaceBit
	rewriteBit // it is written otherwise in the lists, or in lower case
)

// script returns the script of a letter or mark, none for other characters and for scripts that are not known.
func (c class) script() script { return script(c & scriptBits) }

// tabled is the number of characters whose classes are in a table: those of alphabets, and kana.
const tabled = 0x3100

// classes is the table. Making it takes less than a millisecond, but a program that checks nothing need not wait for
// it.
var classes = sync.OnceValue(func() *[tabled]class {
	var table [tabled]class
	for _, p := range properties {
		each(p.table, func(r rune) { table[r] |= p.bits })
	}
	table['’'] |= rewriteBit
	table['ß'] |= rewriteBit
	for _, s := range scriptTables {
		each(s.table, func(r rune) {
			if c := &table[r]; c.script() == none && *c&(letterBit|markBit) != 0 {
				*c |= class(s.script)
			}
		})
	}
	for _, r := range "ºª" {
		table[r] &^= scriptBits
	}
	table['µ'] |= class(latin)
	table['ー'] |= class(han)
	return &table
})

// properties lists the character properties that classes have.
var properties = []struct {
	table *unicode.RangeTable
	bits  class
}{
	{unicode.Letter, letterBit}, {unicode.Mark, markBit}, {unicode.Upper, upperBit | rewriteBit},
	{unicode.Title, rewriteBit}, {unicode.Digit, digitBit}, {unicode.White_Space, spaceBit},
}

// scriptTables are the scripts' characters; those of Chinese and Japanese are in three.
var scriptTables = listScriptTables()

type scriptTable struct {
	table  *unicode.RangeTable
	script script
}

func listScriptTables() (all []scriptTable) {
	for i, g := range Groups {
		for _, t := range g.Scripts {
			all = append(all, scriptTable{t, groupScripts[i]})
		}
	}
	for i, s := range single {
		all = append(all, scriptTable{s.table, firstSingle + script(i)})
	}
	return all
}

// each calls f with the characters of a range table that have a place in the table of classes.
func each(t *unicode.RangeTable, f func(rune)) {
	for _, in := range t.R16 {
		for r := rune(in.Lo); r <= rune(in.Hi) && r < tabled; r += rune(in.Stride) {
			f(r)
		}
	}
}

// classOf looks up the class of a character in the table.
func classOf(table *[tabled]class, r rune) (c class) {
	switch {
	case uint32(r) < tabled:
		return table[r]
	case r >= 0x4e00 && r <= 0x9fff:
		return class(han) | letterBit
	case r >= 0xac00 && r <= 0xd7a3:
		return class(hangul) | letterBit
	}
	for _, p := range properties {
		if unicode.Is(p.table, r) {
			c |= p.bits
		}
	}
	if c&(letterBit|markBit) != 0 {
		for _, s := range scriptTables {
			if unicode.Is(s.table, r) {
				return c | class(s.script)
			}
		}
	}
	return c
}

// scriptFor returns the script that a language is written in.
func scriptFor(code string) script {
	if s, ok := scripts[code]; ok {
		return s
	}
	s, _ := language.Make(code).Script()
	return scripts[writtenIn[s.String()]]
}

// writtenIn has a language for each script that several are written in, by ISO 15924.
var writtenIn = map[string]string{
	"Latn": "en", "Cyrl": "ru", "Arab": "ar", "Deva": "hi", "Hans": "zh", "Hant": "zh", "Jpan": "ja", "Beng": "bn",
}
