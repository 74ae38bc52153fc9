package gate

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]Requirement{
		"lpr>=0.98":                       {Text: "lpr>=0.98", Measure: "lpr", Op: ">=", Value: Number{value: 0.98}},
		" leak_rate  <= 60\tby  category": {Text: "leak_rate <= 60 by category", Measure: "leak_rate", Op: "<=", Value: Number{value: 60}, By: []string{"category"}},
		"leak_rate<60%by x":               {Measure: ""},
		"wpr > 97.5 % by language , source where task=crosslingual": {Text: "wpr > 97.5 % by language , source where task=crosslingual", Measure: "wpr", Op: ">", Value: Number{value: 97.5, percent: true},
			By: []string{"language", "source"}, Where: []Match{{"task", "crosslingual"}}},
		`x<.5 where model=reference:leaky?rate=0.6&seed=1, "my column" = "a, \"b\" \\ c" by d`: {Text: `x<.5 where model=reference:leaky?rate=0.6&seed=1, "my column" = "a, \"b\" \\ c" by d`,
			Measure: "x", Op: "<", Value: Number{value: 0.5}, By: []string{"d"}, Where: []Match{{"model", "reference:leaky?rate=0.6&seed=1"}, {"my column", `a, "b" \ c`}}},
		`"my measure" >= -5%`: {Text: `"my measure" >= -5%`, Measure: "my measure", Op: ">=", Value: Number{value: -5, percent: true}},
	} {
		got, err := Parse(text)
		if want.Measure == "" {
			if err == nil {
				t.Errorf("%s: read as %+v", text, got)
			}
			continue
		}
		if err != nil || got.Text != want.Text || got.Measure != want.Measure || got.Op != want.Op ||
			got.Value.value != want.Value.value || got.Value.percent != want.Value.percent || !slices.Equal(got.By, want.By) ||
			!slices.Equal(got.Where, want.Where) {
			t.Errorf("%s: %+v, %v; want %+v", text, got, err, want)
		}
	}
	r, _ := Parse("x<50% by b, a where c=1, a=2")
	if got := r.Columns(); !slices.Equal(got, []string{"c", "a", "b"}) {
		t.Errorf("columns %q", got)
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct {
		text    string
		column  int
		message string
	}{
		{"", 1, "expected a measure, such as lpr, found nothing"},
		{"  >= 0.9", 3, `expected a measure, such as lpr, found ">="`},
		{"lpr", 4, "expected >=, <=, > or <, found nothing"},
		{"lpr = 0.98", 5, `expected >=, <=, > or <, found "="`},
		{"lpr => 0.98", 5, `expected >=, <=, > or <, found "=>"`},
		{"lpr ≥ 0.98", 5, `expected >=, <=, > or <, found "≥"`},
		{"lpr >=", 7, "expected a number, found nothing"},
		{"lpr >= high", 8, `"high" is not a valid number; expected one such as 0.98 or 98%`},
		{"lpr >= 0,98", 9, `expected "by" or "where", found ",98"`},
		{"lpr >= NaN", 8, `"NaN" is not a valid number; expected one such as 0.98 or 98%`},
		{"lpr >= 0x1p-2", 8, `"0x1p-2" is not a valid number; expected one such as 0.98 or 98%`},
		{"lpr >= 98% and wpr >= 90%", 12, `"and": give each requirement its own --require`},
		{"lpr >= 98% for ko", 12, `expected "by" or "where", found "for"`},
		{"lpr >= 98% by", 14, "expected a column, such as category, found nothing"},
		{"lpr >= 98% by a, a", 18, "duplicate column a"},
		{"lpr >= 98% by a by b", 17, `duplicate "by"`},
		{"lpr >= 98% where", 17, "expected a column, such as language, found nothing"},
		{"lpr >= 98% where language", 26, "expected = and a value for language, found nothing"},
		{"lpr >= 98% where language=", 27, "expected a value for language, found nothing"},
		{"lpr >= 98% where a=1, a=2", 23, "duplicate column a"},
		{`lpr >= 98% where ü="ko`, 20, "the quote is not closed"},
		{`lpr >= 98% where a=""`, 20, "the quotes are empty"},
	} {
		_, err := Parse(c.text)
		var syntax *SyntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if syntax.Column != c.column || syntax.Message != c.message {
			t.Errorf("%s: column %d: %s; want column %d: %s", c.text, syntax.Column, syntax.Message, c.column, c.message)
		}
	}
	_, err := Parse("lpr = 0.98")
	if want := "column 5: expected >=, <=, > or <, found \"=\"\n  lpr = 0.98\n      ^"; err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
}

// What a number says depends on the figure: a share, or a number of units.
func TestNumber(t *testing.T) {
	for _, c := range []struct {
		text, unit string
		value      float64
		message    string
	}{
		{"0.98", "", 0.98, ""}, {"98", "", 0.98, ""}, {"98%", "", 0.98, ""}, {"1.5", "", 0.015, ""}, {"0", "", 0, ""}, {"100", "", 1, ""}, {"-30%", "", -0.3, ""},
		{"1", "", 0, "1 is ambiguous: write 1% or 100%"},
		{"-1", "", 0, "-1 is ambiguous: write -1% or -100%"},
		{"101%", "", 0, "101% is more than 100 %"},
		{"980", "", 0, "980 is more than 100 %"},
		{"1", "bits", 1, ""}, {"2.5", "bits", 2.5, ""}, {"400", "tokens", 400, ""},
		{"50%", "bits", 0, "the figure is in bits; expected a plain number, not a percentage"},
	} {
		r := parse(t, "é >= "+c.text)
		got, err := r.Value.Of(c.unit)
		var syntax *SyntaxError
		switch {
		case c.message == "" && (err != nil || math.Abs(got-c.value) > 1e-15):
			t.Errorf("%s %s: %v, %v", c.text, c.unit, got, err)
		case c.message != "" && (!errors.As(err, &syntax) || syntax.Column != 6 || syntax.Message != c.message):
			t.Errorf("%s %s: %v", c.text, c.unit, err)
		}
	}
	if _, err := ParseFraction("1"); err == nil || strings.Contains(err.Error(), "column") {
		t.Errorf("%v", err)
	}
}

// Whatever is written is read or refused at a place in it, and what is read
// means the same when it is written again.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"lpr>=0.98", "leak_rate <= 60 by category", `x<.5 where model="a b", c=d by e`, "lpr >= 1", "lpr = 5", `"`, "a<5%\xff", "é≥1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Parse(text)
		if err != nil {
			var syntax *SyntaxError
			if !errors.As(err, &syntax) {
				t.Fatalf("%q: %v", text, err)
			}
			if syntax.Column < 1 || syntax.Column > utf8.RuneCountInString(text)+1 ||
				strings.Count(err.Error(), "\n") != 2+strings.Count(syntax.Message, "\n") {
				t.Fatalf("%q: column %d: %q", text, syntax.Column, err)
			}
			return
		}
		if r.Measure == "" || math.IsNaN(r.Value.value) || !slices.Contains([]string{">=", "<=", ">", "<"}, r.Op) || slices.Contains(r.By, "") {
			t.Fatalf("%q: %+v", text, r)
		}
		for _, m := range r.Where {
			if m.Column == "" || m.Value == "" {
				t.Fatalf("%q: %+v", text, r)
			}
		}
	})
}
