package suite

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/internal/testing/golden"
)

// Suites with every key, and with every likely mistake: their items, and what Check and Limits say of them, or the
// error. Line breaks of Windows and a byte order mark change nothing.
func TestSuites(t *testing.T) {
	golden.Cases(t, "testdata/suites.txt", func(text string) string {
		s, err := Parse("s.yaml", []byte(text))
		other, otherErr := Parse("s.yaml", []byte("\ufeff"+strings.ReplaceAll(text, "\n", "\r\n")))
		if err != nil {
			if otherErr == nil || len(err.Error()) > 300 {
				t.Errorf("%v\nwith other line breaks: %v", err, otherErr)
			}
			return err.Error()
		}
		if !reflect.DeepEqual(other, s) {
			t.Errorf("%+v\nwith other line breaks: %+v, %v", s, other, otherErr)
		}
		return described(s)
	})
}

// described is a suite as text, with what Check and Limits say of it.
func described(s *Suite) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s %d %d %s %q %q\n", s.ID(), s.Instrument, s.Version, s.MaxTokens, s.Windows, s.Prefix, s.ClusterNoun())
	if s.Card != nil {
		fmt.Fprintf(&b, "%q\n", s.Card.Lines())
	}
	for _, task := range s.Tasks {
		fmt.Fprintf(&b, "%s\n", crosstalk.Canonical(task))
	}
	for _, item := range s.Items.All() {
		fmt.Fprintf(&b, "%s\n", crosstalk.Canonical(item))
	}
	fmt.Fprintf(&b, "languages %q, %d clusters, demonstrations %v\n%s\nlimits %q", s.Languages(), s.Clusters(), s.Demonstrations,
		strings.Join(Check(s), "\n"), Limits(s))
	return b.String()
}

// Numbers and truth values are labels if a task has as many.
func TestLabelNumber(t *testing.T) {
	for text, want := range map[string]int{"0": 0, "1": 1, "2": -1, "-1": -1, "true": 1, "false": 0, "": -1, "x": -1} {
		if got := labelNumber(text, 2); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

// Of many files the first is named, and the number of the others.
func TestBaseNames(t *testing.T) {
	var files []string
	for i := range 22 {
		files = append(files, fmt.Sprintf("dir/f%d.csv.gz", i))
	}
	for n, want := range map[int]string{1: "f0", 2: "f0+f1", 21: "f0+20 more", 22: "f0+21 more"} {
		if got := BaseNames(files[:n]); got != want {
			t.Errorf("%d files: %q, want %q", n, got, want)
		}
	}
	if got := BaseNames(files[:20]); strings.Count(got, "+") != 19 {
		t.Errorf("20 files: %q", got)
	}
}
