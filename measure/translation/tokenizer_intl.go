package translation

import (
	"unicode"
	"unicode/utf8"
)

// rewriteIntl is the international tokenizer of mteval-v14.pl as sacreBLEU has
// it: three rules over Unicode categories, each applied to the result of the
// one before.
//
//	(\P{N})(\p{P})  ->  `\1 \2 `
//	(\p{P})(\P{N})  ->  ` \1 \2`
//	(\p{S})         ->  ` \1 `
//
// A match consumes both characters. Punctuation at the very start or end of
// the line has a neighbour on one side only, so "in 2005." keeps its full
// stop; mteval-v14.pl does the same.
func (r *rewriter) rewriteIntl(line string) []byte {
	r.a = append(r.a[:0], line...)
	r.b = spacePairs(r.b[:0], r.a, func(c, next category) bool { return c != number && next == punctuation }, "", " ", " ")
	r.a = spacePairs(r.a[:0], r.b, func(c, next category) bool { return c == punctuation && next != number }, " ", " ", "")
	r.b = r.b[:0]
	for i := 0; i < len(r.a); {
		c, n := categoryAt(r.a[i:])
		if c == symbol {
			r.b = append(append(append(r.b, ' '), r.a[i:i+n]...), ' ')
		} else {
			r.b = append(r.b, r.a[i:i+n]...)
		}
		i += n
	}
	return r.b
}

// spacePairs copies src to dst, with before, between and after around the two
// characters of each pair that match accepts. Pairs do not overlap.
func spacePairs(dst, src []byte, match func(c, next category) bool, before, between, after string) []byte {
	for i := 0; i < len(src); {
		c, n := categoryAt(src[i:])
		if i+n < len(src) {
			if next, m := categoryAt(src[i+n:]); match(c, next) {
				dst = append(append(dst, before...), src[i:i+n]...)
				dst = append(append(dst, between...), src[i+n:i+n+m]...)
				dst = append(dst, after...)
				i += n + m
				continue
			}
		}
		dst = append(dst, src[i:i+n]...)
		i += n
	}
	return dst
}

// A category is what the intl tokenizer needs of a Unicode general category.
type category uint8

const (
	other category = iota
	number
	punctuation
	symbol
)

// categoryAt returns the category and the length in bytes of the first
// character of text.
func categoryAt(text []byte) (category, int) {
	if c := text[0]; c < utf8.RuneSelf {
		return asciiCategory[c], 1
	}
	c, n := utf8.DecodeRune(text)
	return categoryOf(c), n
}

func categoryOf(c rune) category {
	switch {
	case unicode.IsLetter(c):
		return other
	case unicode.IsNumber(c):
		return number
	case unicode.IsPunct(c):
		return punctuation
	case unicode.IsSymbol(c):
		return symbol
	}
	return other
}

var asciiCategory = func() (t [utf8.RuneSelf]category) {
	for c := range rune(utf8.RuneSelf) {
		t[c] = categoryOf(c)
	}
	return t
}()
