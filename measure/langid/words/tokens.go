package words

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A token is a word, or a character of Chinese or Japanese.
type token struct {
	start, end int
	text       string // lower case
	script     script
	form       form
	glued      bool // follows the token before at once
	line       bool // is the first of its line
	starts     bool // is the first of a sentence, or behind a quotation mark or the like
	hyphen     bool // there is nothing but a hyphen between the token before and it
}

// form says how much a word's letters can say.
type form uint8

const (
	plain   form = iota // lower case, or a script without cases
	first               // a capital at the start of a sentence
	capital             // a capital elsewhere: a name, or a noun in German
	letter              // one in lower case, which cannot say anything
	silent              // cannot say anything: code, abbreviations, parts of numbers, half words
)

// longAnswer is the length of texts, in bytes, that may have been cut at a limit of tokens.
const longAnswer = 200

// tokenize appends the words of text to dst. Bytes that mask has are left out.
func tokenize(dst []token, text, language string, mask []Range) []token {
	start := true // of a sentence
	last := -1
	lines := 0 // tokens before this line
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
		s := scriptOf(r)
		if s == none {
			if r == '\n' {
				lines = len(dst)
			}
			start = start || r == '\n' || !unicode.IsSpace(r) && r != ',' && r != '،' && r != '、'
			i += n
			continue
		}
		j := i + n
		for j < stop {
			r, n := utf8.DecodeRuneInString(text[j:stop])
			if !(scriptOf(r) == s || unicode.IsMark(r) && s != han || joins(text[j+n:stop], r, s)) {
				break
			}
			j += n
		}
		if s == han {
			for at, r := range text[i:j] {
				f := plain
				if scriptOf(r) == none {
					f = silent
				}
				c := text[i+at : i+at+utf8.RuneLen(r)]
				dst = append(dst, token{i + at, i + at + len(c), c, s, f, last == i+at, len(dst) == lines, start && at == 0, false})
				last = i + at + len(c)
			}
		} else {
			word := text[i:j]
			dst = append(dst, token{i, j, lower(word, language), s, formOf(text, i, j, start), last == i, len(dst) == lines, start, i > 0 && last == i-1 && text[last] == '-'})
			last = j
		}
		i, start = j, false
	}
	if n := len(dst); n > 0 && len(text) > longAnswer && dst[n-1].end == len(text) && dst[n-1].script != han {
		dst[n-1].form = silent // it may be half a word
	}
	return dst
}

// joins reports whether r, before rest, is inside a word: an apostrophe or a joiner between letters.
func joins(rest string, r rune, s script) bool {
	switch r {
	case '\'', '’', '\u200c', '\u200d':
		next, _ := utf8.DecodeRuneInString(rest)
		return s != han && scriptOf(next) == s
	}
	return false
}

func lower(word, language string) string {
	if language == "tr" {
		word = strings.ToLowerSpecial(unicode.TurkishCase, word)
	} else {
		word = strings.ToLower(word)
	}
	if strings.Contains(word, "’") || strings.Contains(word, "ß") { // which most words have not, and is soon known
		word = unify.Replace(word)
	}
	return word
}

func formOf(text string, i, j int, start bool) form {
	word := text[i:j]
	r, n := utf8.DecodeRuneInString(word)
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	after, _ := utf8.DecodeRuneInString(text[j:])
	if partOfName(before) || before == '\\' || partOfName(after) {
		return silent
	}
	if len(word) == n {
		if unicode.IsLower(r) {
			return letter
		}
		return silent
	}
	for _, r := range word[n:] {
		if unicode.IsUpper(r) {
			return silent
		}
	}
	switch {
	case !unicode.IsUpper(r):
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
