// Package shell writes commands that a POSIX shell reads as they were meant.
package shell

import (
	"strings"

	"crosstalk/internal/lazyregexp"
)

// plain matches a word that a shell takes as it is.
var plain = lazyregexp.New(`^[\pL\pN_@%+=:,./-]+$`)

// Quote quotes a word, where it needs quotes.
func Quote(word string) string {
	if plain().MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Line is a command of these words.
func Line(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = Quote(w)
	}
	return strings.Join(quoted, " ")
}
