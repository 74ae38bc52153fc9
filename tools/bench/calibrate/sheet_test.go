package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"crosstalk/internal/testing/golden"
	"crosstalk/measure/stats"
)

// Truths, figures and coverage of all instruments are what they were when they were checked by enumeration.
func TestSheet(t *testing.T) {
	file := filepath.Join(t.TempDir(), "small.yaml")
	if err := os.WriteFile(file, []byte(small), 0o600); err != nil {
		t.Fatal(err)
	}
	var sheet strings.Builder
	for _, c := range []struct {
		name string
		of   func(context.Context, Settings) ([]Result, error)
		s    Settings
	}{
		{"leakage", Leakage, Settings{Suite: file, Rates: []float64{0, .3, 1}}},
		{"leakage by default", Leakage, Settings{Suite: file}},
		{"in context", Leakage, Settings{Suite: "leakage-context"}},
		{"without such a suite", Leakage, Settings{Suite: "confusion"}},
		{"in another language", Leakage, Settings{Suite: "leakage-de"}},
		{"without such a similarity", Leakage, Settings{Suite: file, Similarity: "nonsense"}},
		{"confusion", Confusion, Settings{}},
		{"consistency", Consistency, Settings{}},
		{"consistency with many faults", Consistency, Settings{Rates: []float64{.8, 2}}},
	} {
		if c.s.Similarity == "" {
			c.s.Similarity = "gloss"
		}
		c.s.Seeds, c.s.Samples = 2, 1
		results, err := c.of(t.Context(), c.s)
		fmt.Fprintf(&sheet, "== %s: %v\n", c.name, err)
		if c.name == "leakage" {
			results[0].Estimate.Interval = nil
		}
		if err := write(&sheet, results); err != nil {
			t.Fatal(err)
		}
	}
	golden.Check(t, "testdata/sheet.txt", golden.Rounded(strings.ReplaceAll(sheet.String(), filepath.Dir(file), "DIR")))
}

// Coverage may be at the ends of the range.
func TestVerdictAtEnds(t *testing.T) {
	for certainty, good := range map[stats.Interval]bool{{Low: .9, High: .93}: true, {Low: .9, High: .929}: false,
		{Low: .97, High: .99}: true, {Low: .971, High: .99}: false} {
		if err := Verdict([]Result{{Certainty: certainty}}); (err == nil) != good {
			t.Errorf("%+v: %v", certainty, err)
		}
	}
}
