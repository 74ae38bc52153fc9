package suite

import (
	"strings"
	"testing"
)

// A starter is a suite without mistakes, but too small for intervals.
func TestStarter(t *testing.T) {
	for _, in := range instruments {
		text, err := Starter("my-suite", in.name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Parse("my-suite.yaml", text)
		if err != nil {
			t.Fatal(err)
		}
		if s.Name != "my-suite" || s.Instrument != in.name || s.Card == nil {
			t.Errorf("%s: %s, %s, card %v", in.name, s.Name, s.Instrument, s.Card)
		}
		for _, r := range Check(s) {
			if !strings.Contains(r, "intervals need at least") {
				t.Errorf("%s: %s", in.name, r)
			}
		}
	}
	for _, c := range []struct{ name, instrument, want string }{
		{"a/b", "leakage", `"a/b" is not a valid suite name`},
		{"a", "taste", `unknown instrument "taste"; choose one of: leakage, confusion, consistency`},
		{"a", "../data/leakage-en", `unknown instrument "../data/leakage-en"`},
	} {
		if _, err := Starter(c.name, c.instrument); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v: %v", c, err)
		}
	}
}
