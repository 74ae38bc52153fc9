package study

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A directory is named after its models: one, or the first and how many more.
func TestDirectoryNames(t *testing.T) {
	for want, sweep := range map[string]Sweep{
		`^runs/leakage-.*leaky[^/]*-[0-9a-f]+$`:            {Models: []string{"reference:leaky"}, Temperatures: []string{"0", "1"}},
		`^runs/leakage-.*leaky[^/]*-and-1-more-[0-9a-f]+$`: {Models: []string{"reference:leaky", "reference:leaky?seed=2"}, Temperatures: []string{"0", "1"}},
	} {
		s, err := Leakage{Sweep: sweep}.Open()
		if err != nil {
			t.Fatal(err)
		}
		got := filepath.ToSlash(s.Directory())
		if !regexp.MustCompile(want).MatchString(got) || strings.Contains(got, "-more-") != strings.Contains(want, "-more-") {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for name, want := range map[string]bool{embeddedIdentifier: true, "lid.bin": true, "x/lid.ftz": true, "de": false, "bin": false} {
		if NamesIdentifier(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}
