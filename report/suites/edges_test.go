package suites

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/suite"
)

// of is a suite of items in these languages.
func of(instrument string, languages ...string) *suite.Suite {
	s := &suite.Suite{Name: "s", Instrument: instrument, Items: suite.ItemsOf()}
	for _, l := range languages {
		s.Items.Add(crosstalk.Item{ID: "i" + l, Cluster: l[:1], Labels: map[string]string{"language": l, "category": "c" + l[:1], "task": l}})
	}
	return s
}

func TestLanguages(t *testing.T) {
	for _, c := range []struct {
		languages []string
		want      string
		summary   string
		details   string
	}{
		{nil, "-", "0 items, 0 controls", ", no categories"},
		{[]string{"de"}, "de", "1 items, 1 controls, in de", ", 1 categories: cd"},
		{[]string{"de", "da", "fr"}, "da, de, fr", "3 items, 2 controls, in da, de, fr", ", 2 categories: cd, cf"},
		{[]string{"de", "da", "fr", "ko"}, "4 languages", "4 items, 3 controls, in 4 languages", ", 3 categories: cd, cf, ck"},
	} {
		s := of("leakage", c.languages...)
		got := []string{Languages(s), Summary(s), Details(s)}
		if !slices.Equal(got, []string{c.want, c.summary, c.details}) {
			t.Errorf("%q: %q", c.languages, got)
		}
		s.Instrument = "confusion"
		if got := Details(s); got != "" {
			t.Errorf("%q: %q", c.languages, got)
		}
		s.Tasks = []crosstalk.Task{{Name: "de"}, {Name: "none"}}
		want := map[bool]string{true: ", 2 tasks: de 1, none 0", false: ", 2 tasks: de 0, none 0"}[len(c.languages) > 0]
		if got := Details(s); got != want {
			t.Errorf("%q: %q, want %q", c.languages, got, want)
		}
	}
}

func TestTextLines(t *testing.T) {
	for _, c := range []struct{ mark, name, text, want string }{
		{"", "test", "", ""}, {"*", "test", "one", "* test    one\n"},
		{"", "test", "one\n\n two\n", "  test    one\n\n           two\n\n"}, {"*", "control", "a\nb", "* control  a\n          b\n"},
	} {
		if got := text(c.mark, 6, c.name, c.text); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	if got := parts("{b} and {a}{c}", map[string]string{"a": "", "b": "", "c": ""}); strings.Join(got, " ") != "b a c" {
		t.Error(got)
	}
}

func TestEntries(t *testing.T) {
	labels := map[string]string{"task": "t", "source": "s", "language": "l", "category": "c"}
	for instrument, want := range map[string]string{"leakage": "c", "confusion": "t s l", "consistency": "t c", "other": ""} {
		s := of(instrument)
		s.Tasks = []crosstalk.Task{{Name: "x", Fields: []string{"f"}}, {Name: "t", Fields: []string{"g", "h"}}}
		e := entryOf(s, crosstalk.Item{Labels: labels, Input: &crosstalk.Input{Task: "t"}})
		if got := strings.Join(e.Columns, " "); got != want || strings.Join(e.Fields, " ") != "g h" {
			t.Errorf("%s: %q %q", instrument, got, e.Fields)
		}
		if e := entryOf(s, crosstalk.Item{}); e.Columns != nil || e.Fields != nil {
			t.Errorf("%s: %+v", instrument, e)
		}
	}
}

type full struct{}

var errFull = errors.New("no space left")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestFull(t *testing.T) {
	many := of("leakage", strings.Split(strings.Repeat("de ", 2000)+"de", " ")...) // more than is buffered
	for _, s := range []*suite.Suite{of("leakage", "de"), many} {
		if err := Write(full{}, s); !errors.Is(err, errFull) {
			t.Errorf("%d items: %v", s.Items.Len(), err)
		}
	}
}
