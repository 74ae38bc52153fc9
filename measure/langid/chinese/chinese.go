// Package chinese tells simplified from traditional Chinese by the characters that only one of the two has.
package chinese

import (
	_ "embed"
	"strings"
	"sync"
)

//go:generate go -C ../../../tools run ./build/chinese

// characters has five lines: characters of simplified text alone, characters of traditional text alone, the simplified
// form of each of these, characters of both that may stand for another one in traditional text, and that one. Derived
// from OpenCC; see NOTICE.
//
//go:embed characters.txt
var characters string

// The characters of the file are between these.
const (
	lowest  = 0x4e00
	highest = 0x9fff
)

// tables have a place for each character; 0 stands for none.
type tables struct {
	only [highest - lowest + 1]uint16 // in one of the two alone: itself if that is simplified, else its simplified form
	both [highest - lowest + 1]uint16 // what a character of both may stand for in traditional text
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

// Count returns how many characters of text only simplified and only traditional Chinese have.
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

// Simplify returns the two forms that a character of traditional text may have in simplified text, mostly the same: a
// character that only traditional text has has one form, others may stay or, as 於 and 著, stand for another (于, 着).
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
