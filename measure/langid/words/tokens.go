package words

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"crosstalk/measure/prose"

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
	hangul // the first script in single

	firstSingle = hangul
)

var groupScripts = []script{latin, latin, latin, latin, latin, cyrillic, cyrillic, arabic, han, devanagari}

const (
	hanGroup     = 8
	hanLanguages = 2
	maxGroup     = 48 // languages of a script
	maxStates    = 96
)

// single lists the scripts that only one language uses, or mainly one.
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

// states are the languages in which words can be found; stateOf maps languages to their indexes, and scripts holds
// their scripts.
var states, stateOf, scripts = func() (states []string, stateOf map[string]int, scripts map[string]script) {
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
}()

// A class is a character's script, with other properties for the tokenizer.
type class uint16

const (
	scriptBits class = 1<<5 - 1
	letterBit  class = 1 << (iota + 4)
	markBit
	upperBit
	digitBit
	spaceBit
	rewriteBit // the lists, or lower case, write it differently
)

// script returns the script of a letter or mark, none for other characters and unknown scripts.
func (c class) script() script { return script(c & scriptBits) }

// tabled is the number of characters with classes in the table: alphabets and kana.
const tabled = 0x3100

// classes is the table. Building it takes almost a millisecond, which a program that checks nothing can avoid.
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

var properties = []struct {
	table *unicode.RangeTable
	bits  class
}{
	{unicode.Letter, letterBit}, {unicode.Mark, markBit}, {unicode.Upper, upperBit | rewriteBit},
	{unicode.Title, rewriteBit}, {unicode.Digit, digitBit}, {unicode.White_Space, spaceBit},
}

type scriptTable struct {
	table  *unicode.RangeTable
	script script
}

// scriptTables lists the scripts' characters; those of Chinese and Japanese are in three tables.
var scriptTables = func() (all []scriptTable) {
	for i, g := range Groups {
		for _, t := range g.Scripts {
			all = append(all, scriptTable{t, groupScripts[i]})
		}
	}
	for i, s := range single {
		all = append(all, scriptTable{s.table, firstSingle + script(i)})
	}
	return all
}()

// each calls f with the characters of a range table that the table of classes covers.
func each(t *unicode.RangeTable, f func(rune)) {
	for _, in := range t.R16 {
		for r := rune(in.Lo); r <= rune(in.Hi) && r < tabled; r += rune(in.Stride) {
			f(r)
		}
	}
}

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

func scriptFor(code string) script {
	if s, ok := scripts[code]; ok {
		return s
	}
	s, _ := language.Make(code).Script()
	return scripts[writtenIn[s.String()]]
}

// writtenIn maps scripts of several languages, by ISO 15924, to one of these.
var writtenIn = map[string]string{
	"Latn": "en", "Cyrl": "ru", "Arab": "ar", "Deva": "hi", "Hans": "zh", "Hant": "zh", "Jpan": "ja", "Beng": "bn",
}

// A token is a word, or a character of Chinese or Japanese.
type token struct {
	start, end int
	text       string // lower case
	script     script
	form       form
	glued      bool // directly follows the token before
	line       bool // the first of its line
	starts     bool // the first of a sentence, or after a quotation mark or the like
	hyphen     bool // only a hyphen is between it and the token before
}

// form tells how much evidence a word's letters are.
type form uint8

const (
	plain   form = iota // lower case, or a script without case
	first               // a capital at the start of a sentence
	capital             // a capital elsewhere: a name, or a noun in German
	letter              // a single lower-case letter, which may name a thing: "x"
	silent              // no evidence: code, abbreviations, parts of numbers, half words
)

// tokenize appends the words of text to dst. It skips the bytes in mask.
func tokenize(dst []token, text, language string, mask []prose.Span) []token {
	const longAnswer = 200 // bytes above which a text may have been cut at a limit of tokens
	table := classes()
	start := true // at the start of a sentence
	last := -2    // the end of the word before
	lines := 0    // tokens before this line
	mixed := 0    // pieces of words in two alphabets
	for i := 0; i < len(text); {
		for len(mask) > 0 && mask[0].End <= i {
			mask = mask[1:]
		}
		if len(mask) > 0 && mask[0].Start <= i {
			i, start = mask[0].End, true
			continue
		}
		stop := len(text)
		if len(mask) > 0 {
			stop = mask[0].Start
		}
		r, n := utf8.DecodeRuneInString(text[i:stop])
		c := classOf(table, r)
		s := c.script()
		if s == none {
			if r == '\n' {
				lines = len(dst)
			}
			start = start || r == '\n' || c&spaceBit == 0 && r != ',' && r != '،' && r != '、'
			i += n
			continue
		}
		if s == han {
			dst = append(dst, token{i, i + n, text[i : i+n], s, plain, last == i, len(dst) == lines, start, false})
			i += n
			last, start = i, false
			continue
		}
		initial, rest := c, class(0) // of the first character, and all bits of the others
		j := i + n
		for j < stop {
			r, n := utf8.DecodeRuneInString(text[j:stop])
			c := classOf(table, r)
			if c.script() != s && c&markBit == 0 && !joins(table, text[j+n:stop], r, s) {
				break
			}
			rest |= c
			j += n
		}
		word := text[i:j]
		if (initial|rest)&rewriteBit != 0 {
			word = lower(word, language)
		}
		form := formOf(text, i, j, j == i+n, initial, rest, start)
		hyphen := last == i-1 && text[last] == '-'
		if hyphen && form == plain && s == dst[len(dst)-1].script {
			if before := dst[len(dst)-1].form; before == capital || before == first {
				form = capital // "Jong-un"
			}
		}
		dst = append(dst, token{i, j, word, s, form, last == i, len(dst) == lines, start, hyphen})
		if n := len(dst) - 1; last == i && mixedUp(&dst[n-1], &dst[n]) {
			dst[n-1].form, dst[n].form = silent, silent
			mixed++
		}
		last = j
		i, start = j, false
	}
	if mixed > 2 { // all of the text's Latin letters that look Cyrillic may be meant as such
		for i := range dst {
			if t := &dst[i]; t.script == latin && strings.Trim(t.text, lookalikes) == "" {
				t.form = silent
			}
		}
	}
	if n := len(dst); n > 0 && len(text) > longAnswer && dst[n-1].end == len(text) && dst[n-1].script != han {
		dst[n-1].form = silent // it may be half a word
	}
	return dst
}

// mixedUp reports whether two adjacent tokens are a Cyrillic word with Latin letters that look like Cyrillic ones.
func mixedUp(a, b *token) bool {
	if a.script == cyrillic {
		a, b = b, a
	}
	return a.script == latin && b.script == cyrillic && strings.Trim(a.text, lookalikes) == ""
}

// lookalikes are the Latin letters that look like Cyrillic ones, in lower case or as capitals.
const lookalikes = "abcehijkmopstxy"

// joins reports whether r, before rest, is inside a word: an apostrophe or a joiner between letters.
func joins(table *[tabled]class, rest string, r rune, s script) bool {
	switch r {
	case '\'', '’', 'ʼ', '\u200c', '\u200d':
		next, _ := utf8.DecodeRuneInString(rest)
		return classOf(table, next).script() == s
	}
	return false
}

func lower(word, language string) string {
	if language == "tr" {
		word = strings.ToLowerSpecial(unicode.TurkishCase, word)
	} else {
		word = strings.ToLower(word)
	}
	if strings.Contains(word, "’") || strings.Contains(word, "ß") { // few words have either
		word = unify.Replace(word)
	}
	return word
}

// formOf returns the form of the word from byte i to byte j. single tells whether it is one letter; initial is the
// class of the first letter, and rest has all bits of the others; start tells whether a sentence starts there.
func formOf(text string, i, j int, single bool, initial, rest class, start bool) form {
	before, n := utf8.DecodeLastRuneInString(text[:i])
	after, _ := utf8.DecodeRuneInString(text[j:])
	// An ending after something that is not a word in this script: "example.com'un", "3'te".
	if before == '\'' || before == '’' || before == 'ʼ' {
		before, _ = utf8.DecodeLastRuneInString(text[:i-n])
		if unicode.IsLetter(before) {
			return silent
		}
	}
	switch {
	case partOfName(before), before == '\\', partOfName(after):
		return silent
	case single:
		if r, _ := utf8.DecodeRuneInString(text[i:j]); unicode.IsLower(r) {
			return letter
		}
		return silent
	case rest&upperBit != 0:
		return silent
	case initial&upperBit == 0:
		return plain
	case start:
		return first
	}
	return capital
}

// partOfName reports whether a letter beside r belongs to a number, an identifier or an account.
func partOfName(r rune) bool { return unicode.IsDigit(r) || r == '_' || r == '@' }

// unify spells words like the lists.
var unify = strings.NewReplacer("’", "'", "ß", "ss")
