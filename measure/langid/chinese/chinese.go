// Package chinese distinguishes simplified and traditional Chinese by the characters that only one of them has.
package chinese

import (
	_ "embed"
	"strings"
	"sync"
)

//go:generate go -C ../../../tools run ./build/chinese

// characters has five lines: the characters of only simplified text; those of only traditional text, and the
// simplified form of each; characters of both that in traditional text may replace another one, and that one. Derived
// from OpenCC; see NOTICE.
//
//go:embed characters.txt
var characters string

// The range of the characters in the file.
const (
	lowest  = 0x4e00
	highest = 0x9fff
)

// tables have an entry for each character; 0 means none.
type tables struct {
	only [highest - lowest + 1]uint16 // characters of only one: itself if simplified, else the simplified form
	both [highest - lowest + 1]uint16 // the character that one of both may replace in traditional text
}

var forms = sync.OnceValue(func() *tables {
	var t tables
	lines := strings.Split(characters, "\n")
	set := func(table *[highest - lowest + 1]uint16, from, to string) {
		forms := []rune(to)
		for i, r := range []rune(from) {
			table[r-lowest] = uint16(forms[i])
		}
	}
	set(&t.only, lines[0], lines[0])
	set(&t.only, lines[1], lines[2])
	set(&t.both, lines[3], lines[4])
	return &t
})

// Count returns how many characters of text exist only in simplified and only in traditional Chinese.
func Count(text string) (simplified, traditional int) {
	forms := &forms().only
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

// Simplify returns the two forms that a character of traditional text may have in simplified text, mostly the same
// one: a character of only traditional text has one form; others may stay or, like 於 and 著, become another (于, 着).
func Simplify(r rune) (form, other rune) {
	if r < lowest || r > highest {
		return r, r
	}
	t := forms()
	if s := t.only[r-lowest]; s != 0 {
		return rune(s), rune(s)
	}
	if s := t.both[r-lowest]; s != 0 {
		return r, rune(s)
	}
	return r, r
}
