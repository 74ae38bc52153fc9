package segment

import (
	"slices"
	"strings"
	"testing"

	"crosstalk/measure/pytext"
)

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
			if pytext.IsSpace(r) {
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
