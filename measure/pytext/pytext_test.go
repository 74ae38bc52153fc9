package pytext

import (
	"slices"
	"testing"
	"unicode"
	"unicode/utf8"
)

// Expected values were printed by CPython 3.11 for the same strings.
func TestLower(t *testing.T) {
	for in, want := range map[string]string{
		"":             "",
		"already":      "already",
		"ÄRGER Straße": "ärger straße",
		"İstanbul":     "i\u0307stanbul",
		"ΟΔΥΣΣΕΥΣ":     "οδυσσευς",
		"Σ":            "σ",
		"ΑΣ.":          "ας.",
		"ΑΣ.Β":         "ασ.β",
		"Α.Σ":          "α.ς",
		"ΑΣ\u0301":     "ας\u0301",
		"1Σ":           "1σ",
		"ΑΣΑΣ ΣΑ":      "ασας σα",
		"\u212A":       "k",
		"ǅ":            "ǆ",
		"ꭰᏸ":           "ꭰᏸ",
	} {
		if got := Lower(in); got != want {
			t.Errorf("Lower(%+q) = %+q, want %+q", in, got, want)
		}
	}
}

func TestSpace(t *testing.T) {
	var got []rune
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if IsSpace(r) {
			got = append(got, r)
		}
	}
	want := []rune{9, 10, 11, 12, 13, 0x1C, 0x1D, 0x1E, 0x1F, 0x20, 0x85, 0xA0, 0x1680, 0x2000, 0x2001, 0x2002,
		0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000}
	if !slices.Equal(got, want) {
		t.Errorf("white space: got %x, want %x", got, want)
	}
	const s = "\x1c a\u3000b\u00a0"
	if got := Fields(s); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("Fields: %q", got)
	}
	if got := TrimSpace(s); got != "a\u3000b" {
		t.Errorf("TrimSpace: %q", got)
	}
	if got := TrimRightSpace(s); got != "\x1c a\u3000b" {
		t.Errorf("TrimRightSpace: %q", got)
	}
}

func FuzzLower(f *testing.F) {
	for _, s := range []string{"Σ", "ΑΣ'Σ", "İ", "\xff", "aB\u0345Σ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(Lower(s)) {
			t.Errorf("Lower(%+q) is not UTF-8", s)
		}
	})
}

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
