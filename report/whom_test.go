package report

import (
	"slices"
	"testing"

	"crosstalk"
	"crosstalk/instrument"
)

// Groups come by the number of answers with a fault, or by their share where the instrument
// says so; groups without one and of other columns
// are left out, and several conditions have their names.
func TestWhom(t *testing.T) {
	of := func(kind, language, task string, share float64, n int) crosstalk.Estimate {
		return crosstalk.Estimate{Measure: instrument.Named(kind).Faults.Measure,
			Value: crosstalk.Value(share), Observations: n,
			By: map[string]string{"model": "m", "language": language, "task": task}}
	}
	all := func(kind string) []crosstalk.Estimate {
		return []crosstalk.Estimate{of(kind, "all", "all", 0.12, 340), of(kind, "de", "all", 0.1, 300), of(kind, "ko", "all", 0.5, 20),
			of(kind, "fr", "all", 0, 20), of(kind, "de", "monolingual", 0.1, 150)}
	}
	for kind, want := range map[string][]string{
		"confusion": {"de: 30 of 300 (10.0 %)", "ko: 10 of 20 (50.0 %)"},
		"leakage":   {"ko: 10 of 20 (50.0 %)", "de: 30 of 300 (10.0 %)"},
	} {
		got := Whom(all(kind))
		if byRate := instrument.Named(kind).Faults.ByRate; byRate != (kind == "leakage") {
			slices.Reverse(want)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q; want %q", kind, got, want)
		}
	}
	other := of("confusion", "de", "all", 0.2, 200)
	other.By["model"] = "n"
	if got := Whom(append(all("confusion"), other)); !slices.Equal(got,
		[]string{"n de: 40 of 200 (20.0 %)", "m de: 30 of 300 (10.0 %)", "m ko: 10 of 20 (50.0 %)"}) {
		t.Errorf("of two models: %q", got)
	}
	if got := Whom(all("confusion")[:1]); got != nil {
		t.Errorf("without groups: %q", got)
	}
}
