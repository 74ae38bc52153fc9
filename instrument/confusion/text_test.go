package confusion

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzLines compares with the published script's way: one replacement after
// the other over the whole answer.
func FuzzLines(f *testing.F) {
	for _, seed := range []string{"", "a.\n\nQ: b", " —،\n\x1c", "x\r\ny", "\nQ:", "é—'\"\n~", "\xe2\x80", "a\u3000b\nc"} {
		f.Add(seed)
	}
	space := func(r rune) bool {
		return strings.ContainsRune("\t\n\v\f\r\x1c\x1d\x1e\x1f \u0085\u00a0\u1680\u2028\u2029\u202f\u205f\u3000", r) || '\u2000' <= r && r <= '\u200a'
	}
	f.Fuzz(func(t *testing.T, answer string) {
		var got []string
		for l := range lines(answer) {
			got = append(got, l.text)
			if answer[l.start:l.start+len(l.raw)] != l.raw || l.number != 1+strings.Count(answer[:l.start], "\n") {
				t.Errorf("%q: line %d is not at byte %d", answer, l.number, l.start)
			}
			at := cursor{raw: l.raw}
			for from := range l.text {
				_, n := utf8.DecodeRuneInString(l.text[from:])
				to := from + n
				if start, end := at.locate(from, to); normalise(l.raw[start:end]) != l.text[from:to] {
					t.Errorf("%q: %q is located at %q", l.raw, l.text[from:to], l.raw[start:end])
				}
			}
		}
		if !utf8.ValidString(answer) {
			return
		}
		text, _, _ := strings.Cut(answer, "\nQ:")
		text = strings.TrimFunc(text, space)
		for _, mark := range "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~" {
			text = strings.ReplaceAll(text, string(mark), "")
		}
		text = strings.ReplaceAll(strings.ReplaceAll(text, "—", " "), "،", "")
		if want := strings.Split(text, "\n"); !slices.Equal(got, want) {
			t.Errorf("lines(%q) = %q, want %q", answer, got, want)
		}
	})
}

// The lcb protocols check lines of five words and more.
func TestLinesOfRules(t *testing.T) {
	p, err := ProtocolNamed("lcb-paper")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range (Rules{Protocol: p}).Lines(nil, "de", "eins zwei drei vier\n  eins zwei drei vier fünf \n\nsechs Wörter sind mehr als fünf") {
		got = append(got, fmt.Sprintf("%d %d-%d %q", s.Line, s.Start, s.End, s.Text))
	}
	want := `[2 20-48 "  eins zwei drei vier fünf " 4 50-83 "sechs Wörter sind mehr als fünf"]`
	if fmt.Sprint(got) != want {
		t.Errorf("%s, want %s", got, want)
	}
}
