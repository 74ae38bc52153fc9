// Package shell quotes commands for a POSIX shell.
package shell

import (
	"strings"

	"crosstalk/internal/lazyregexp"
)

// plain matches a word that needs no quotes.
var plain = lazyregexp.New(`^[\pL\pN_@%+=:,./-]+$`)

// Quote quotes a word if it needs quotes.
func Quote(word string) string {
	if plain().MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Line returns the command that consists of these words.
func Line(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = Quote(w)
	}
	return strings.Join(quoted, " ")
}
