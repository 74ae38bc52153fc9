package segment

import (
	"slices"
	"strings"
	"testing"
	"unicode"
)

func TestIsSpace(t *testing.T) {
	// [hex(c) for c in range(0x110000) if chr(c).isspace()] in CPython 3.11.
	want := []rune{
		0x9, 0xa, 0xb, 0xc, 0xd, 0x1c, 0x1d, 0x1e, 0x1f, 0x20, 0x85, 0xa0, 0x1680,
		0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200a,
		0x2028, 0x2029, 0x202f, 0x205f, 0x3000,
	}
	var got []rune
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if IsSpace(r) {
			got = append(got, r)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("white space is %x, want %x", got, want)
	}
}

func TestSpace(t *testing.T) {
	for text, want := range map[string][]string{
		"":                          nil,
		" \t\n":                     nil,
		"word":                      {"word"},
		"  two  words ":             {"two", "words"},
		"a\x1cb\x1fc\u3000d\u00a0e": {"a", "b", "c", "d", "e"},
		"zero\u200bwidth \ufeffbom": {"zero\u200bwidth", "\ufeffbom"},
		"\xff \xe4\xbd":             {"\xff", "\xe4\xbd"},
	} {
		if got := Words(Space{}, text); !slices.Equal(got, want) {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
	}
	if got := (Space{}).AppendWords([]string{"kept"}, "new"); !slices.Equal(got, []string{"kept", "new"}) {
		t.Errorf("appending gives %q", got)
	}
}

func FuzzSpace(f *testing.F) {
	for _, seed := range []string{"", " a b ", "\x1c", "\xff \u3000x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		bare := strings.Map(func(r rune) rune {
			if IsSpace(r) {
				return -1
			}
			return r
		}, strings.ToValidUTF8(text, "?"))
		words := Words(Space{}, strings.ToValidUTF8(text, "?"))
		if strings.Join(words, "") != bare || slices.Contains(words, "") {
			t.Errorf("%q gives %q", text, words)
		}
	})
}
