package words

import (
	"strings"
	"testing"
	"unicode"
)

// The classes of the table are those of other characters: what package unicode says.
func TestClasses(t *testing.T) {
	table := classes()
	for r := rune(0); r < 0x20000; r++ {
		c := classOf(table, r)
		for _, p := range properties {
			if bits := p.bits &^ rewriteBit; unicode.Is(p.table, r) != (c&bits != 0) && bits != 0 {
				t.Errorf("%q: class %b, bit %b", r, c, bits)
			}
		}
		if unicode.ToLower(r) != r && c&rewriteBit == 0 && c.script() != none {
			t.Errorf("%q has a lower case", r)
		}
		want := none
		if unicode.In(r, unicode.Letter, unicode.Mark) && !strings.ContainsRune("ºªµー", r) {
			for _, s := range scriptTables {
				if want == none && unicode.Is(s.table, r) {
					want = s.script
				}
			}
			if got := c.script(); got != want {
				t.Errorf("%q: script %d, want %d", r, got, want)
			}
		} else if want = c.script(); want != none && !strings.ContainsRune("µー", r) {
			t.Errorf("%q: script %d, but it is no letter", r, want)
		}
	}
	for r, want := range map[rune]script{'a': latin, 'ß': latin, 'ạ': latin, '1': none, 'º': none, 'ж': cyrillic,
		'ع': arabic, '漢': han,
		'㐷': han, 'か': han, 'ー': han, '々': han, 'ह': devanagari, 'ि': devanagari, '한': hangul, '€': none, -1: none} {
		if got := classOf(table, r).script(); got != want {
			t.Errorf("%q: script %d, want %d", r, got, want)
		}
	}
}
