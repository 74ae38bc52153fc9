// Package pytext contains the few string functions whose meaning in Python differs from Go's.
//
// Published scripts and metrics (sacreBLEU, rouge_score, the papers' own readers) are written in Python. To reproduce
// their figures to the last digit, a port must lower-case and trim like Python's str.
package pytext

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsSpace reports whether r is white space to str.isspace, str.strip and str.split: Unicode white space and the
// four ASCII separators U+001C to U+001F, which unicode.IsSpace lacks.
func IsSpace(r rune) bool {
	return r >= 0x1C && r <= 0x1F || unicode.IsSpace(r)
}

// Fields splits s around runs of white space, as str.split() does.
func Fields(s string) []string { return strings.FieldsFunc(s, IsSpace) }

// TrimSpace removes white space from both ends of s, as str.strip() does.
func TrimSpace(s string) string { return strings.TrimFunc(s, IsSpace) }

// TrimRightSpace removes white space from the end of s, as str.rstrip() does.
func TrimRightSpace(s string) string { return strings.TrimRightFunc(s, IsSpace) }

// Lower maps s to lower case like str.lower(): one code point at a time, except that U+0130 (capital I with dot)
// becomes two code points and that a capital sigma ending a word becomes a final sigma (Unicode Standard, section
// 3.13, rule R2). Bytes that are not UTF-8 become U+FFFD.
func Lower(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf || 'A' <= r && r <= 'Z' }) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i, r := range s {
		switch {
		case r < utf8.RuneSelf:
			if 'A' <= r && r <= 'Z' {
				r += 'a' - 'A'
			}
			b.WriteByte(byte(r))
		case r == 'İ':
			b.WriteString("i\u0307")
		case r == 'Σ' && finalSigma(s, i):
			b.WriteRune('ς')
		default:
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

// finalSigma reports whether the capital sigma at s[i:] ends a word: a cased letter precedes it and none follows,
// where case-ignorable characters are skipped.
func finalSigma(s string, i int) bool {
	before := strings.TrimRightFunc(s[:i], caseIgnorable)
	r, _ := utf8.DecodeLastRuneInString(before)
	if before == "" || !cased(r) {
		return false
	}
	after := strings.TrimLeftFunc(s[i+len("Σ"):], caseIgnorable)
	r, _ = utf8.DecodeRuneInString(after)
	return after == "" || !cased(r)
}

// cased reports the derived property Cased.
func cased(r rune) bool {
	return unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lt, unicode.Other_Lowercase, unicode.Other_Uppercase)
}

// caseIgnorable reports the derived property Case_Ignorable: marks, modifiers and format characters, and what UAX #29
// calls MidLetter, MidNumLet and Single_Quote.
func caseIgnorable(r rune) bool {
	switch r {
	case '\'', '.', ':', '·', '\u0387', '\u055F', '\u05F4', '\u2018', '\u2019', '\u2024', '\u2027',
		'\uFE13', '\uFE52', '\uFE55', '\uFF07', '\uFF0E', '\uFF1A':
		return true
	}
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk)
}
