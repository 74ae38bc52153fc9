package free

import (
	"context"
	"math"
	"testing"

	"crosstalk"
	"crosstalk/instrument/consistency"
	"crosstalk/measure/similarity"
)

func TestOnly(t *testing.T) {
	none := math.NaN()
	for text, want := range map[string]float64{
		"5": 5, "5 times": 5, "five": 5, "Five times.": 5, "It is fünf.": 5, "cinq": 5, "cinco veces": 5, "五": 5, "5 (five)": 5,
		"-3": -3, "−3.50": -3.5, "1,000": 1000, "1.000.000": 1e6, "1,234.5": 1234.5, "1.234,5": 1234.5, "2,5": 2.5, "3.142": 3.142, "12’000": 12000,
		"twenty-one": 21, "twenty one": 21, "ninety-nine": 99, "three hundred": 300, "two hundred and five": 205, "one thousand two hundred": 1200, "two million": 2e6,
		"einundzwanzig": 21, "dreißig": 30, "soixante-dix": 70, "soixante et onze": 71, "quatre-vingts": 80, "quatre-vingt-dix-sept": 97, "vingt et un": 21, "deux mille": 2000,
		"treinta y uno": 31, "veintidós": 22, "cien": 100, "hundred": 100,
		"十": 10, "二十五": 25, "三百": 300, "三百零五": 305, "一万二千": 12000, "二〇二四": 2024, "两次": 2,
		"une": 1, "Ein.": 1,
		"": none, "none": none, "5 or 6": none, "from two to three": none, "un homme": none, "ein Haus": none, "one plus two": none,
	} {
		got, ok := Only(text)
		if ok != !math.IsNaN(want) || ok && got != want {
			t.Errorf("%q: got %v, %v; want %v", text, got, ok, want)
		}
	}
}

func FuzzOnly(f *testing.F) {
	f.Add("−1.234,5 两百 quatre-vingt et one")
	f.Fuzz(func(t *testing.T, text string) { Only(text) })
}

// said is an Asker that always returns the same answer.
type said string

func (s said) Ask(context.Context, crosstalk.Request) (crosstalk.Answer, error) {
	return crosstalk.Answer{Status: crosstalk.Text, Text: string(s), Key: crosstalk.Key{1}}, nil
}

func TestSame(t *testing.T) {
	length := similarity.Func("length",
		func(a, b string) (float64, bool) { return 1 / (1 + math.Abs(float64(len(a)-len(b)))), a != "" })
	for _, c := range []struct {
		by   consistency.Comparer
		ask  crosstalk.Asker
		a, b string
		want consistency.Verdict
	}{
		{Text{}, nil, "Paris.", " paris ", consistency.Yes},
		{Text{}, nil, "Paris", "London", consistency.No},
		{Text{}, nil, "ﬁne", "fine", consistency.Yes},
		{Text{}, nil, "-5", "5", consistency.No},
		{Number{}, nil, "5 times", "fünf", consistency.Yes},
		{Number{}, nil, "5", "6", consistency.No},
		{Number{}, nil, "5", "many", consistency.No},
		{Number{}, nil, "many", "Many.", consistency.Yes},
		{Similar{length, 0.5}, nil, "ab", "abc", consistency.Yes},
		{Similar{length, 0.5}, nil, "ab", "abcd", consistency.No},
		{Similar{length, 0.5}, nil, "", "abcd", consistency.Unknown},
		{Asked{}, said("Yes."), "Wien", "Vienna", consistency.Yes},
		{Asked{}, said("no"), "Wien", "Vienna", consistency.No},
		{Asked{}, said("who knows"), "Wien", "Vienna", consistency.Unknown},
		{Asked{}, said("no"), "Wien", "wien.", consistency.Yes},
	} {
		got, _, err := c.by.Same(t.Context(), c.ask, "Where?", c.a, c.b)
		if err != nil || got != c.want {
			t.Errorf("%s: %q and %q: got %v, %v; want %v", c.by.Name(), c.a, c.b, got, err, c.want)
		}
	}
	if _, _, err := (Asked{}).Same(t.Context(), nil, "Where?", "a", "b"); err == nil {
		t.Error("asked nobody")
	}
}
