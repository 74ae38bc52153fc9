package read

import (
	"strings"
	"unicode/utf8"
)

// StripQuotes removes the quotation marks that a model put around a rewritten text, as the published analysis of
// Ohmer et al. (2023) does. It counts marks that open and marks that close (the straight ones do both), so that a
// mark without a partner goes and quotations within the text stay:
//
//  1. If more marks close than open, two trailing apostrophes or one trailing
//     closing mark are dropped.
//  2. If the number of straight double marks is odd and the text ends in one,
//     that is dropped.
//  3. A pair that encloses the text is stripped, and once more if another does:
//     straight double marks, then straight single ones, then a grave and an
//     acute accent, then curly double marks.
//
// White space stays as it is.
func StripQuotes(text string) string {
	if count(text, "\"'´”’»") > count(text, "\"'`“‘«") {
		if short, ok := strings.CutSuffix(text, "''"); ok {
			text = short
		} else if mark, n := utf8.DecodeLastRuneInString(text); n > 0 && strings.ContainsRune("\"'´”’»", mark) {
			text = text[:len(text)-n]
		}
	}
	if strings.Count(text, `"`)%2 == 1 {
		text = strings.TrimSuffix(text, `"`)
	}
	for _, pair := range [][2]string{{`"`, `"`}, {"'", "'"}, {"`", "´"}, {"“", "”"}} {
		for range 2 {
			inner, opened := strings.CutPrefix(text, pair[0])
			inner, closed := strings.CutSuffix(inner, pair[1])
			if opened && closed {
				text = inner
			}
		}
	}
	return text
}

func count(text, marks string) (n int) {
	for _, r := range text {
		if strings.ContainsRune(marks, r) {
			n++
		}
	}
	return n
}
