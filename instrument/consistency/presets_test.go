package consistency

import (
	"strings"
	"testing"
)

// Flags at both sides of their limits.
func TestFlagLimits(t *testing.T) {
	const nine, eight = "123456789", "12345678"
	for _, c := range []struct {
		sources, texts []string
		want           string
	}{
		{[]string{eight}, []string{eight + eight + eight}, ""}, {[]string{eight}, []string{eight + eight + eight + "1"}, "length"},
		{[]string{"1234567"}, []string{nine + eight + "123456"}, ""}, {[]string{"1234567"}, []string{nine + eight + "1234567"}, "length"},
		{[]string{eight + eight + eight + "1"}, []string{eight}, "length"}, {[]string{"A b"}, []string{"a\tB "}, "unchanged"},
		{[]string{"one\ntwo"}, []string{"eins\nzwei"}, ""}, {[]string{"one"}, []string{"eins\nzwei"}, "lines"}, {[]string{"one"}, []string{"\neins\n"}, ""},
		{[]string{"one", "two"}, []string{"x", "x"}, "identical"}, {[]string{"one", "one"}, []string{"x", "x"}, ""},
		{[]string{"one"}, []string{"x", "one"}, ""}, {[]string{"one", "x"}, []string{"one"}, "unchanged"},
		{[]string{"one", "two", "six"}, []string{"one", "zwei", "zwei"}, "unchanged, identical"},
	} {
		if got := strings.Join(FlagTexts("en>de", c.sources, c.texts, nil), ", "); got != c.want {
			t.Errorf("%q to %q: %q, want %q", c.sources, c.texts, got, c.want)
		}
	}
}
