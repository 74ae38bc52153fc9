package words

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"crosstalk/measure/prose"
)

// A token is a word, or a character of Chinese or Japanese.
type token struct {
	start, end int
	text       string // lower case
	script     script
	form       form
	glued      bool // follows the token before at once
	line       bool // is the first of its line
	starts     bool // is the first of a sentence, or after a quotation mark or the like
	hyphen     bool // there is nothing but a hyphen between the token before and it
}

// form says how much a word's letters can say.
type form uint8

const (
	plain   form = iota // lower case, or a script without cases
	first               // a capital at the start of a sentence
	capital             // a capital elsewhere: a name, or a noun in German
	letter              // a single one in lower case, which may name a thing: "x"
	silent              // cannot say anything: code, abbreviations, parts of numbers, half words
)

// longAnswer is the length, in bytes, from which texts may have been cut at a limit of tokens.
const longAnswer = 200

// tokenize appends the words of text to dst. Bytes that mask has are left out.
func tokenize(dst []token, text, language string, mask []prose.Span) []token {
	table := classes()
	start := true // of a sentence
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
	if mixed > 2 { // all of the text's Latin letters that look Cyrillic may be meant so
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

// formOf returns the form of the word from byte i to byte j. single says that it is one letter; the
// classes are that of the first letter and all bits of the others; start is the token's.
func formOf(text string, i, j int, single bool, initial, rest class, start bool) form {
	before, n := utf8.DecodeLastRuneInString(text[:i])
	after, _ := utf8.DecodeRuneInString(text[j:])
	// An ending after what is not a word of this script: "example.com'un", "3'te".
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

// unify writes words as the lists have them.
var unify = strings.NewReplacer("’", "'", "ß", "ss")
