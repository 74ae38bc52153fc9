// Package visible prepares untrusted text for display, such as a model's answer: characters that control a terminal or
// a browser, or that are invisible, become readable marks.
package visible

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// named maps characters that reorder or hide the text around them to marks.
var named = map[rune]string{
	'\u061c': "ALM", '\u200e': "LRM", '\u200f': "RLM",
	'\u202a': "LRE", '\u202b': "RLE", '\u202c': "PDF", '\u202d': "LRO", '\u202e': "RLO",
	'\u2066': "LRI", '\u2067': "RLI", '\u2068': "FSI", '\u2069': "PDI",
	'\u00ad': "SHY", '\u200b': "ZWSP", '\u2060': "WJ", '\ufeff': "BOM", '\u2028': "LSEP", '\u2029': "PSEP",
}

// Text returns s with marks in place of control characters (␛, ⟨U+0085⟩), bidirectional controls (⟨RLO⟩), invisible
// characters and tags, and bytes that are not UTF-8 (�). It keeps line feeds and tabs, and the joiners that Persian,
// Indic scripts and emoji need.
func Text(s string) string {
	return mark(s, func(r rune) bool { return r == '\n' || r == '\t' })
}

// Line is like Text, for a single line: it also marks line feeds (␊) and tabs (␉).
func Line(s string) string { return mark(s, func(rune) bool { return false }) }

// Start returns the Line of a text, cut to its first most characters and "..." if it is longer.
func Start(s string, most int) string {
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "..."
	}
	return Line(s)
}

// userInfo matches the user and password of a URL.
var userInfo = regexp.MustCompile(`(?i)(https?://)[^/\s"'@]+@`)

// Message is like Text, for a message: it hides a password in a URL.
func Message(s string) string { return Text(userInfo.ReplaceAllString(s, "${1}[hidden]@")) }

func mark(s string, keep func(rune) bool) string {
	harmless := func(r rune) bool {
		if r < utf8.RuneSelf {
			return r >= ' ' && r != 0x7f || keep(r)
		}
		hidden := unicode.Is(unicode.Cc, r) || named[r] != "" || r >= 0xe0000 && r <= 0xe007f
		return r != utf8.RuneError && !hidden || keep(r)
	}
	if strings.IndexFunc(s, func(r rune) bool { return !harmless(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case harmless(r), r == utf8.RuneError:
			b.WriteRune(r)
		case r < ' ':
			b.WriteRune('␀' + r)
		case r == 0x7f:
			b.WriteRune('␡')
		case named[r] != "":
			b.WriteString("⟨" + named[r] + "⟩")
		default:
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		}
	}
	return b.String()
}

// Wrap breaks a text at spaces into lines of at most most characters, except for longer words.
func Wrap(text string, most int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && utf8.RuneCountInString(line+" "+word) > most {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, line)
}
