package accept

import (
	"path/filepath"
	"testing"

	"crosstalk/ask"
	"crosstalk/internal/testing/testserver"
	"crosstalk/measure/stats"
	"crosstalk/study"
)

const (
	german  = "Der Zug hatte wegen des Schnees mehr als eine Stunde Verspätung, und alle mussten warten."
	english = "The train was more than an hour late because of the snow, and everybody had to wait."
	number  = "42" // has no language
)

// served is a study of a model that gives the first answer to a quarter of the prompts, which want German, and the
// second to the others.
func served(t *testing.T, first, second string) *study.Study {
	t.Helper()
	answer := func(r testserver.Request) testserver.Reply {
		if r.Hash < "4" { // in hexadecimal
			return testserver.Reply{Text: first}
		}
		return testserver.Reply{Text: second}
	}
	server := testserver.New(testserver.Options{Profile: testserver.NoProfile, Answer: answer})
	t.Cleanup(server.Close)
	s, err := study.Confusion{Languages: []string{"de"}, Sweep: study.Sweep{Models: []string{"compatible:m"}, Items: 60,
		BaseURLs: []string{server.URL + "/v1"}}}.Open()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// An answer that cannot be checked is the worst for either verdict: one after the other, they decide nothing, and among
// others they delay both verdicts.
func TestUnchecked(t *testing.T) {
	t.Parallel()
	old := filepath.Join(t.TempDir(), "old")
	if _, err := served(t, german, german).Run(t.Context(), old, ask.Options{}); err != nil {
		t.Fatal(err)
	}
	judged := func(a Acceptance, first, second string) Result {
		t.Helper()
		a.Level, a.Seed = .95, 2
		got, err := acceptIn(t, a, served(t, first, second), filepath.Join(t.TempDir(), "new"), ask.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	for name, a := range map[string]Acceptance{
		"baseline": {Measure: "lpr", Baseline: old, Margin: .05}, "bound": {Require: "lpr>=50%"},
		"large margin": {Measure: "lpr", Baseline: old, Margin: .6},
		"faults":       {Measure: "faults", Baseline: old, Margin: .05},
	} {
		got := judged(a, number, number)
		if got.Outcome != CannotTell || got.Read != 60 || got.Unchecked != 60 || got.Better != 0 || got.Worse != 0 ||
			got.Loss.Defined() || got.Interval.Low > 0 || got.Interval.High < 1 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	a := Acceptance{Measure: "lpr", Baseline: old, Margin: .4}
	for answer, outcome := range map[string]stats.Outcome{german: stats.Accepted, english: stats.Rejected} {
		all, some := judged(a, answer, answer), judged(a, number, answer)
		if all.Outcome != outcome || some.Outcome != outcome || all.Read >= some.Read || some.Unchecked == 0 {
			t.Errorf("%s after %d, and %s after %d with %d unchecked",
				all.Outcome, all.Read, some.Outcome, some.Read, some.Unchecked)
		}
	}
}
