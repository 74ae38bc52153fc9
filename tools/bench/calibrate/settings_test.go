package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"crosstalk/instrument/consistency"
	"crosstalk/instrument/leakage"
)

const small = `suite: small
instrument: leakage
items:
  - {id: shark, concept: shark, test: He likes sharks. It is a, control: It is a, leaks: [fish], neutral: [car, bus]}
  - {id: bread, concept: bread, test: She bakes bread. Her car is, control: Her car is, leaks: [full of flour],
	neutral: [blue]}
`

// Each value of the settings is calibrated. (Those of confusion, which take seconds,
// are in the script of the command.)
func TestSettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "small.yaml")
	if err := os.WriteFile(file, []byte(small), 0o600); err != nil {
		t.Fatal(err)
	}
	type calibration = func(context.Context, Settings) ([]Result, error)
	for _, c := range []struct {
		of       calibration
		rates    []float64
		measures []string
	}{
		{Leakage, []float64{0.3, 0.6}, []string{leakage.Measure, leakage.Measure}}, // the suite has no texts to copy
		{Consistency, []float64{0.5}, []string{consistency.Consistency, consistency.Accuracy, "accuracy_change"}},
	} {
		results, err := c.of(t.Context(), Settings{Rates: c.rates, Suite: file, Similarity: "gloss", Seeds: 1, Samples: 1})
		var measures []string
		for _, r := range results {
			measures = append(measures, r.Measure)
		}
		if err != nil || strings.Join(measures, " ") != strings.Join(c.measures, " ") {
			t.Errorf("%v, %v; want %v", measures, err, c.measures)
		}
	}
	for _, c := range []struct {
		of    calibration
		rates []float64
		want  string
	}{
		{Leakage, []float64{}, "rate is empty; expected numbers from 0 to 1"},
		{Confusion, []float64{}, "rate is empty; expected numbers from 0 to 1"},
		{Consistency, []float64{}, "rate is empty; expected numbers from 0 to 1"},
		{Confusion, []float64{1.5}, "reference:confused: line is 1.5; expected a"},
	} {
		_, err := c.of(t.Context(), Settings{Rates: c.rates, Suite: file, Similarity: "gloss", Seeds: 1, Samples: 1})
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
