// Package chinese tells simplified from traditional Chinese by the characters that only one of the two has.
package chinese

import (
	_ "embed"
	"strings"
	"sync"
)

//go:generate go -C ../../../tools run ./build/chinese

// characters has three lines: characters of simplified text alone, characters of traditional text alone, and the
// simplified form of each of the latter. Derived from OpenCC; see NOTICE.
//
//go:embed characters.txt
var characters string

type tables struct {
	simplified map[rune]bool
	forms      map[rune]rune // traditional to simplified
}

var load = sync.OnceValue(func() tables {
	lines := strings.Split(characters, "\n")
	t := tables{map[rune]bool{}, map[rune]rune{}}
	for _, r := range lines[0] {
		t.simplified[r] = true
	}
	forms := []rune(lines[2])
	for i, r := range []rune(lines[1]) {
		t.forms[r] = forms[i]
	}
	return t
})

// Count returns how many characters of text only simplified and only traditional Chinese have.
func Count(text string) (simplified, traditional int) {
	t := load()
	for _, r := range text {
		if r < 0x4e00 || r > 0x9fff {
			continue
		}
		if t.simplified[r] {
			simplified++
		} else if _, ok := t.forms[r]; ok {
			traditional++
		}
	}
	return simplified, traditional
}

// Simplify returns the simplified form of a character that only traditional Chinese has, and any other as it is.
func Simplify(r rune) rune {
	if s, ok := load().forms[r]; ok {
		return s
	}
	return r
}
