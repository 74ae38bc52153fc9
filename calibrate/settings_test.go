package calibrate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"crosstalk/instrument/consistency"
	"crosstalk/instrument/leakage"
	"crosstalk/study"
)

const small = `suite: small
instrument: leakage
items:
  - {id: shark, concept: shark, test: He likes sharks. It is a, control: It is a, leaks: [fish], neutral: [car, bus]}
  - {id: bread, concept: bread, test: She bakes bread. Her car is, control: Her car is, leaks: [full of flour], neutral: [blue]}
`

// Each value of the settings is calibrated. (Those of confusion, which take seconds,
// are in the script of the command.)
func TestSettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "small.yaml")
	if err := os.WriteFile(file, []byte(small), 0o600); err != nil {
		t.Fatal(err)
	}
	of := study.Leakage{Suite: file, Similarities: []string{"gloss"}}
	for _, c := range []struct {
		settings Settings
		measures []string
	}{
		{LeakageSettings{Leakage: of, Rates: []float64{0.3, 0.6}, Copying: 0.2}, []string{leakage.Measure, leakage.Measure}}, // the suite has no texts to copy
		{ConsistencySettings{Flips: []float64{0.5}}, []string{consistency.Consistency, consistency.Accuracy, "accuracy_change"}},
	} {
		results, err := c.settings.Calibrate(t.Context(), 1, 1)
		var measures []string
		for _, r := range results {
			measures = append(measures, r.Measure)
		}
		if err != nil || strings.Join(measures, " ") != strings.Join(c.measures, " ") {
			t.Errorf("%T: %v, %v; want %v", c.settings, measures, err, c.measures)
		}
	}
}

func TestSettingsRefused(t *testing.T) {
	two := study.Leakage{Suite: "leakage-en", Similarities: []string{"gloss"}}
	two.Protocols = []string{leakage.Protocols[0].Name, leakage.Protocols[1].Name}
	for want, s := range map[string]Settings{
		"rate is empty; expected numbers from 0 to 1": LeakageSettings{},
		"protocol names 2 protocols; expected one":    LeakageSettings{Leakage: two, Rates: []float64{0.5}},
		"line is empty; expected":                     ConfusionSettings{Words: []float64{0}},
		"word is empty; expected":                     ConfusionSettings{Lines: []float64{0}},
		"reference:confused: line is 1.5; expected a": ConfusionSettings{Lines: []float64{1.5}, Words: []float64{0}},
		"flip is empty; expected":                     ConsistencySettings{},
	} {
		if _, err := s.Calibrate(t.Context(), 1, 1); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
