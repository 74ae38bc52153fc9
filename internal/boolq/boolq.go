// Package boolq formats the questions of BoolQ (Clark et al. 2019).
package boolq

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"crosstalk/measure/pytext"
)

// Question formats a question of BoolQ, which has neither capitals nor a question mark, as Ohmer et al. (2023) do: the
// first letter upper case, all others lower case, and a question mark (full-width in Chinese).
func Question(text, language string) string {
	text = pytext.TrimSpace(text)
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return ""
	}
	text = string(unicode.ToTitle(first)) + pytext.Lower(text[size:])
	if strings.HasSuffix(text, "?") || strings.HasSuffix(text, "？") {
		return text
	}
	if language == "zh" || strings.HasPrefix(language, "zh-") || strings.HasPrefix(language, "zh_") {
		return text + "？"
	}
	return text + "?"
}
