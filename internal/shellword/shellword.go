// Package shellword quotes words for a POSIX shell.
package shellword

import (
	"regexp"
	"strings"
)

// plain matches a text that a shell takes as one word.
var plain = regexp.MustCompile(`^[\pL\pN_@%+=:,./-]+$`)

// Quote returns a text as one word, in quotes where it needs them.
func Quote(text string) string {
	if plain.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
