package visible

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"plain, žluť 是 مرحبا":         "plain, žluť 是 مرحبا",
		"\x1b[31mred\x1b[0m":          "␛[31mred␛[0m",
		"a\r\nb\x00\x07\x7f":          "a␍\nb␀␇␡",
		"a\tb":                        "a\tb",
		"abc\u202edcba\u202c \u2066x": "abc⟨RLO⟩dcba⟨PDF⟩ ⟨LRI⟩x",
		"\u0085 \u009b31m":            "⟨U+0085⟩ ⟨U+009B⟩31m",
		"\xff\xfea":                   "��a",
		"zero\u200bwidth \ufeffbom":   "zero⟨ZWSP⟩width ⟨BOM⟩bom",
		"tag \U000e0041":              "tag ⟨U+E0041⟩",
		"می\u200cخواهم 👩\u200d👩":      "می\u200cخواهم 👩\u200d👩",
		"":                            "",
		"�":                           "�",
	} {
		if got := Text(in); got != want {
			t.Errorf("Text(%q) = %q; want %q", in, got, want)
		}
	}
	if got := Line("a\n\tb"); got != "a␊␉b" {
		t.Errorf("Line: %q", got)
	}
}

func TestMessage(t *testing.T) {
	for message, want := range map[string]string{
		"item \x1b[2J: \xff":                              "item ␛[2J: �",
		`model "compatible:m@http://u:p%20w@h/v1": no`:    `model "compatible:m@http://[hidden]@h/v1": no`,
		"a HTTPS://only-user@h/, http://h/@x and a@b.c\n": "a HTTPS://[hidden]@h/, http://h/@x and a@b.c\n",
	} {
		if got := Message(message); got != want {
			t.Errorf("%q becomes %q; want %q", message, got, want)
		}
	}
}

func TestWrap(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "",
		"one":                      "one",
		"zwölf é 5 zeichen":        "zwölf é 5|zeichen",
		"a  word\nof 10: 12345678": "a word of|10:|12345678",
		"unbreakable words":        "unbreakable|words",
	} {
		if got := strings.Join(Wrap(text, 9), "|"); got != want {
			t.Errorf("Wrap(%q) = %q; want %q", text, got, want)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("a\x1b\u202e\xff")
	f.Fuzz(func(t *testing.T, s string) {
		got := Text(s)
		if !utf8.ValidString(got) || strings.ContainsAny(got, "\x1b\r\x00\u202e\u2066\u009b") || Text(got) != got {
			t.Errorf("Text(%q) = %q", s, got)
		}
	})
}
