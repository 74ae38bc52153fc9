package report

import (
	"maps"
	"slices"
	"strings"
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

// Groups stand in the order of their answers with a fault, below the figure over all, in every condition and measure.
func TestWorstFirst(t *testing.T) {
	of := func(measure, model, language, task string, share float64, n int) crosstalk.Estimate {
		return crosstalk.Estimate{Measure: measure, Value: crosstalk.Value(share), Observations: n,
			By: map[string]string{"model": model, "language": language, "task": task}}
	}
	for kind, want := range map[string]string{
		"confusion": "all/all de/all ko/all fr/all de/mono · all/all ko/all de/all fr/all ko/mono · ko/all de/all",
		"leakage":   "all/all ko/all de/all fr/all de/mono · all/all ko/all de/all fr/all ko/mono · ko/all de/all",
	} {
		fault := instrument.Named(kind).Faults.Measure
		list := []crosstalk.Estimate{of(fault, "m", "all", "all", 0.12, 340), of(fault, "m", "de", "all", 0.1, 300),
			of(fault, "m", "de", "mono", 0.1, 150), of(fault, "m", "fr", "all", 0, 20), of(fault, "m", "ko", "all", 0.5, 20)}
		of2 := []crosstalk.Estimate{of("lpr", "n", "all", "all", 1, 1), of("lpr", "n", "de", "all", 1, 1), of("lpr", "n", "fr", "all", 1, 1),
			of("lpr", "n", "ko", "all", 1, 1), of("lpr", "n", "ko", "mono", 1, 1)}
		more := []crosstalk.Estimate{of(fault, "n", "ko", "all", 0.5, 2), of(fault, "n", "de", "all", 0, 2)}
		var got []string
		whole := slices.Concat(list, of2, more)
		before := slices.Clone(whole)
		for i, e := range WorstFirst(whole) {
			if i == len(list) || i == len(list)+len(of2) {
				got = append(got, "·")
			}
			got = append(got, e.By["language"]+"/"+e.By["task"])
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s: %s; want %s", kind, text, want)
		}
		same := func(a, b crosstalk.Estimate) bool { return a.Measure == b.Measure && maps.Equal(a.By, b.By) }
		if !slices.EqualFunc(whole, before, same) {
			t.Error("the estimates themselves have changed places")
		}
	}
	if got := WorstFirst(nil); len(got) != 0 {
		t.Errorf("%v", got)
	}
	// Groups with as many faults keep their places, below those with more; other models stay apart.
	fault := instrument.Named("confusion").Faults.Measure
	var tied []crosstalk.Estimate
	for _, g := range strings.Fields("m/all m/sv m/de m/fr m/ar m/ko n/all n/de n/sv") {
		model, language, _ := strings.Cut(g, "/")
		share := 0.1
		if language == "fr" {
			share = 0.2
		}
		tied = append(tied, of(fault, model, language, "all", share, 100))
	}
	var got []string
	for _, e := range WorstFirst(tied) {
		got = append(got, e.By["model"]+"/"+e.By["language"])
	}
	if text := strings.Join(got, " "); text != "m/all m/fr m/sv m/de m/ar m/ko n/all n/de n/sv" {
		t.Error(text)
	}
}
