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

// The characters of the file are between these.
const (
	lowest  = 0x4e00
	highest = 0x9fff
)

// forms are what only one of the two has: itself for a character of simplified text, the simplified form for one of
// traditional text, 0 for others.
var forms = sync.OnceValue(func() *[highest - lowest + 1]uint16 {
	var forms [highest - lowest + 1]uint16
	lines := strings.Split(characters, "\n")
	for _, r := range lines[0] {
		forms[r-lowest] = uint16(r)
	}
	simplified := []rune(lines[2])
	for i, r := range []rune(lines[1]) {
		forms[r-lowest] = uint16(simplified[i])
	}
	return &forms
})

// Count returns how many characters of text only simplified and only traditional Chinese have.
func Count(text string) (simplified, traditional int) {
	forms := forms()
	for _, r := range text {
		if r < lowest || r > highest {
			continue
		}
		switch forms[r-lowest] {
		case 0:
		case uint16(r):
			simplified++
		default:
			traditional++
		}
	}
	return simplified, traditional
}

// Simplify returns the simplified form of a character that only traditional Chinese has, and any other as it is.
func Simplify(r rune) rune {
	if r < lowest || r > highest {
		return r
	}
	if s := forms()[r-lowest]; s != 0 {
		return rune(s)
	}
	return r
}
