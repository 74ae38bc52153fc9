package lexicon

import (
	"strings"
	"testing"
)

// Every character of ASCII, and those at the ends of the ranges that are folded.
func TestFoldCharacters(t *testing.T) {
	for c := range 128 {
		r := rune(c)
		want := " "
		switch {
		case strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789'-", r):
			want = string(r)
		case strings.ContainsRune("ABCDEFGHIJKLMNOPQRSTUVWXYZ", r):
			want = strings.ToLower(string(r))
		}
		if got := Fold(string(r)); got != want {
			t.Errorf("%q: %q, want %q", r, got, want)
		}
		if got := alphanumeric(byte(c)); got != (want == string(r) && want != "'" && want != "-" && want != " ") {
			t.Errorf("%q is a letter or a digit: %v", r, got)
		}
	}
	for text, want := range map[string]string{"\u00bf": " ", "\u00c0": "a", "\u017f": "s", "\u0180": " ", "\u02ff": " ", "a\u0300": "a", "a\u036f": "a", "\u0370": " ",
		"\u200f": " ", "\u2010": "-", "\u2011": "-", "\u2012": " ", "\u02bc": "'", "\u2018": "'", "\u2019": "'", "\u201a": " ", "\u00d7": " ", "\u00f7": " ", "Ĳĳ": "ijij"} {
		if got := Fold(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for folded, want := range map[string]string{"a-": "a", "a'": "a", "-a": "a", "a-b'c": "a-b'c", "a'-b": "a|b", "a- b": "a|b", "'": "", "z9 0a": "z9|0a"} {
		if got := strings.Join(Tokens(folded), "|"); got != want {
			t.Errorf("tokens of %q: %q, want %q", folded, got, want)
		}
	}
}
