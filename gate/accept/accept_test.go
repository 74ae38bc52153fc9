package accept

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/gate"
	"crosstalk/instrument/confusion"
	"crosstalk/internal/testing/golden"
	"crosstalk/measure/stats"
	"crosstalk/study"
)

// confused is a study of models on some items of the suite.
func confused(t *testing.T, items int, models ...string) *study.Study {
	t.Helper()
	for i := range models {
		models[i] = "reference:confused?" + models[i]
	}
	s, err := study.Confusion{Sweep: study.Sweep{Models: models, Items: items}}.Open()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func baselineRun(t *testing.T, items int, model string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "old")
	if _, err := confused(t, items, model).Run(t.Context(), path, ask.Options{}); err != nil {
		t.Fatal(err)
	}
	return path
}

// acceptIn runs an acceptance in a directory.
func acceptIn(t *testing.T, a Acceptance, s *study.Study, path string, o ask.Options) (Result, error) {
	t.Helper()
	m, err := s.Begin(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	return a.Run(t.Context(), s, m)
}

// A model that is as good is accepted early, one that is worse is rejected early, and a
// small number of prompts cannot tell of all such prompts.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	const items = 200
	old := baselineRun(t, items, "line=0&word=0&seed=1")
	results := map[string]Result{}
	for name, c := range map[string]struct {
		a     Acceptance
		model string
		want  string
	}{
		"equal":         {Acceptance{Measure: "lpr", Baseline: old, Margin: .05}, "line=0&word=0&seed=2", "accepted"},
		"worse":         {Acceptance{Measure: "lpr", Baseline: old, Margin: .05}, "line=0.4&word=0&seed=2", "rejected"},
		"prompts":       {Acceptance{Measure: "lpr", Baseline: old, Margin: .4, Target: Prompts}, "line=0&word=0&seed=2", "accepted"},
		"prompts worse": {Acceptance{Measure: "lpr", Baseline: old, Margin: .05, Target: Prompts}, "line=0.4&word=0&seed=2", "rejected"},
		"few prompts":   {Acceptance{Measure: "lpr", Baseline: old, Margin: .036, Target: Prompts}, "line=0&word=0&seed=2", "cannot tell"},
		"any fault":     {Acceptance{Measure: "faults", Baseline: old, Margin: .05}, "line=0&word=0.3&seed=2", "rejected"},
		"unchecked":     {Acceptance{Measure: "lpr", Baseline: old, Margin: .1}, "line=0&word=0&short=0.2&seed=2", "accepted"},
		"bound":         {Acceptance{Require: "lpr>=95%"}, "line=0&word=0&seed=2", "accepted"},
		"broken bound":  {Acceptance{Require: "lpr>=95%"}, "line=0.5&word=0&seed=2", "rejected"},
	} {
		c.a.Level, c.a.Seed = .95, 7
		path := filepath.Join(t.TempDir(), "new")
		got, err := acceptIn(t, c.a, confused(t, items, c.model), path, ask.Options{})
		if err != nil || string(got.Outcome) != c.want {
			t.Fatalf("%s: %q, error %v; want %s", name, got.Outcome, err, c.want)
		}
		results[name] = got
		if early := got.Read < items; early == (c.want == "cannot tell") {
			t.Errorf("%s: stopped after %d", name, got.Read)
		}
		margin := got.Settings.Test.Margin
		if i := got.Interval; i.Low > i.High || c.want == "accepted" && i.High > margin+1e-4 || c.want == "rejected" && i.Low < margin-1e-4 {
			t.Errorf("%s: interval %+v", name, i)
		}
		// Running it again asks nothing and returns the same result; the file has it.
		m := confused(t, items, c.model)
		again, err := acceptIn(t, c.a, m, path, ask.Options{Budget: ask.Budget{Asks: 1}})
		if err != nil || string(crosstalk.Canonical(again)) != string(crosstalk.Canonical(got)) {
			t.Errorf("%s: again %+v, error %v; want %+v", name, again, err, got)
		}
		var kept Result
		if text, err := os.ReadFile(filepath.Join(path, "accept.json")); err != nil || json.Unmarshal(text, &kept) != nil ||
			kept.Outcome != got.Outcome || kept.Read != got.Read {
			t.Errorf("%s: %v, %s", name, err, text)
		}
		var text strings.Builder
		if err := Write(&text, "table", got); err != nil || !strings.HasPrefix(text.String(), c.want+": the ") {
			t.Errorf("%s: %v\n%s", name, err, &text)
		}
		// Any other setting would be another chance.
		for field, change := range map[string]func(*Acceptance){
			"seed": func(a *Acceptance) { a.Seed++ }, "level": func(a *Acceptance) { a.Level = .9 },
			"target": func(a *Acceptance) { a.Target = Prompts },
		} {
			if field == "target" && c.a.Target == Prompts {
				continue
			}
			other := c.a
			change(&other)
			if _, err := acceptIn(t, other, confused(t, items, c.model), path, ask.Options{}); err == nil ||
				!strings.Contains(err.Error(), "an acceptance with other settings was begun") {
				t.Errorf("%s: with another %s: %v", name, field, err)
			}
		}
	}
	text := strings.ReplaceAll(string(crosstalk.Canonical(results)), old, "OLD")
	text = strings.NewReplacer(",", ",\n", "{", "{\n").Replace(text) + "\n"
	text = golden.Rounded(text)
	text = regexp.MustCompile(`"baseline_sha256":"\w+",\n`).ReplaceAllString(text, "") // depends on the rules of guard
	golden.Check(t, "testdata/outcomes.json", text)
}

// What a limit stops goes on where it was, and ends as if nothing had been in the way;
// the settings are there before the first answer. Both models can be asked.
func TestResumes(t *testing.T) {
	t.Parallel()
	const items = 150
	a := Acceptance{Measure: "lpr", Baseline: "reference:confused?line=0.02&seed=1", Margin: .04, Level: .95, Seed: 3}
	models := func() []string { return []string{"line=0.02&seed=1", "line=0.02&seed=2"} }
	whole, err := acceptIn(t, a, confused(t, items, models()...), filepath.Join(t.TempDir(), "whole"), ask.Options{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "parts")
	for n := 0; ; n++ {
		got, err := acceptIn(t, a, confused(t, items, models()...), path, ask.Options{Budget: ask.Budget{Asks: 41}})
		if errors.As(err, new(*study.IncompleteError)) {
			if _, err := os.Stat(filepath.Join(path, "accept.json")); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err != nil || string(crosstalk.Canonical(got)) != string(crosstalk.Canonical(whole)) || n == 0 {
			t.Fatalf("after %d parts: %+v, error %v; want %+v", n, got, err, whole)
		}
		break
	}
	// The old model's run as the baseline: the same items, the same differences.
	a.Baseline = baselineRun(t, items, "line=0.02&seed=1")
	got, err := acceptIn(t, a, confused(t, items, "line=0.02&seed=2"), filepath.Join(t.TempDir(), "run"), ask.Options{})
	observed, failed := os.ReadFile(filepath.Join(a.Baseline, "observations.jsonl"))
	if failed != nil || got.Settings.Observed != fmt.Sprintf("%x", sha256.Sum256(observed)) {
		t.Errorf("the baseline's observations are %s: %v", got.Settings.Observed, failed)
	}
	if err != nil || got.Settings.Order != whole.Settings.Order || got.Settings.Test.Step != 1 ||
		got.Read == whole.Read && (got.Better != whole.Better || got.Worse != whole.Worse) {
		t.Errorf("%+v, error %v; asked beside: %+v", got, err, whole)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := confused(t, items, "line=0.02&seed=2")
	m, err := s.Begin(t.Context(), filepath.Join(t.TempDir(), "cancelled"), ask.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if _, err := (Acceptance{Require: "lpr>=50%", Measure: "lpr", Level: .95}).Run(ctx, s, m); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func leaky(t *testing.T, model string) *study.Study {
	t.Helper()
	s, err := study.Leakage{Sweep: study.Sweep{Models: []string{"reference:leaky?" + model}}}.Open()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Leakage is in clusters that share a control, and its values are 0, 0.5 and 1, where less is
// better.
func TestClusters(t *testing.T) {
	t.Parallel()
	old := filepath.Join(t.TempDir(), "old")
	if _, err := leaky(t, "rate=0&seed=1").Run(t.Context(), old, ask.Options{}); err != nil {
		t.Fatal(err)
	}
	a := Acceptance{Measure: "leak_rate", Baseline: old, Margin: .01, Level: .95, Target: Prompts}
	_, err := acceptIn(t, a, leaky(t, "rate=0&seed=2"), filepath.Join(t.TempDir(), "refused"), ask.Options{})
	if err == nil || !strings.Contains(err.Error(), "a margin of 1 % needs 300 or more: use --target suite") {
		t.Errorf("%v", err)
	}
	a.Margin = .1
	got, err := acceptIn(t, a, leaky(t, "rate=0.9&seed=2"), filepath.Join(t.TempDir(), "worse"), ask.Options{})
	if err != nil || got.Outcome != "rejected" || got.Settings.Units >= got.Settings.Items || got.Settings.Test.Together < 2 ||
		!got.Settings.Lower {
		t.Errorf("%+v, %v", got, err)
	}
	a.Target = Suite
	got, err = acceptIn(t, a, leaky(t, "rate=0&seed=3"), filepath.Join(t.TempDir(), "suite"), ask.Options{})
	plan := got.Settings.Test
	if err != nil || got.Outcome != "accepted" || plan.Together != 1 || plan.Step != .5 || got.Unchecked == 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

// What cannot be compared is refused with what to do.
func TestRefused(t *testing.T) {
	t.Parallel()
	const items = 40
	old := baselineRun(t, items, "seed=1")
	several, other := filepath.Join(t.TempDir(), "several"), filepath.Join(t.TempDir(), "other")
	if _, err := confused(t, items, "seed=1", "seed=2").Run(t.Context(), several, ask.Options{}); err != nil {
		t.Fatal(err)
	}
	s, err := study.Confusion{Sweep: study.Sweep{Models: []string{"reference:confused?seed=1"}, Items: items},
		Options: confusion.Options{Protocols: []string{"lcb-paper"}}}.Open()
	if err == nil {
		_, err = s.Run(t.Context(), other, ask.Options{})
	}
	if err != nil {
		t.Fatal(err)
	}
	for want, c := range map[string]struct {
		a     Acceptance
		items int
	}{
		"Others leave out answers with another fault":      {Acceptance{Measure: "wpr", Baseline: old, Margin: .1}, items},
		`measure is "lcpr"; expected one that each answer`: {Acceptance{Measure: "lcpr", Baseline: old, Margin: .1}, items},
		old + " is of the items confusion[40 of 961]@f47a5a7d, not confusion[30 of 961]@69cb0db6: give its --suite, --items or " +
			"--language after --": {
			Acceptance{Measure: "lpr", Baseline: old, Margin: .1}, 30},
		"the margin is 0; expected a number between 0 and 1": {Acceptance{Measure: "lpr", Baseline: old}, items},
		"expected a bound such as lpr>=98%":                  {Acceptance{Require: "lpr<=98%"}, items},
		"by and where are for":                               {Acceptance{Require: "lpr>=98% by language"}, items},
		"has several conditions or protocols":                {Acceptance{Measure: "lpr", Baseline: several, Margin: .1}, items},
		"was scored by other rules: its ":                    {Acceptance{Measure: "lpr", Baseline: other, Margin: .1}, items},
		`unknown target "all"`:                               {Acceptance{Measure: "lpr", Baseline: old, Margin: .1, Target: "all"}, items},
		"expected no sweep":                                  {Acceptance{Measure: "lpr", Baseline: "a:b", Margin: .1}, items},
	} {
		c.a.Level = .95
		_, err := acceptIn(t, c.a, confused(t, c.items, "seed=2"), filepath.Join(t.TempDir(), "new"), ask.Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
	path := filepath.Join(t.TempDir(), "new")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path, "accept.json"), []byte("[]"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := begin(path, Result{}); err == nil || !strings.Contains(err.Error(), "is not the file of an acceptance") {
		t.Errorf("%v", err)
	}
}

// Differences of items: ties, unknown values, several observations of an item.
func TestDifference(t *testing.T) {
	t.Parallel()
	o := func(value float64, variant string) crosstalk.Observation {
		return crosstalk.Observation{Measure: "lpr", Item: "a", Value: crosstalk.Value(value), Variant: variant,
			Condition: map[string]string{"model": "m", "sent": "x"}}
	}
	unknown := math.NaN()
	type list = []crosstalk.Observation
	for name, c := range map[string]struct {
		old, now list
		lower    bool
		want     between
	}{
		"tie":                {list{o(1, "")}, list{o(1, "")}, false, between{0, 0}},
		"loss":               {list{o(1, "")}, list{o(0, "")}, false, between{1, 1}},
		"win":                {list{o(0, "")}, list{o(1, "")}, false, between{-1, -1}},
		"loss where lower":   {list{o(0, "")}, list{o(1, "")}, true, between{1, 1}},
		"new unknown":        {list{o(1, "")}, list{o(unknown, "")}, false, between{0, 1}},
		"new unknown, wrong": {list{o(0, "")}, list{o(unknown, "")}, false, between{-1, 0}},
		"old unknown":        {list{o(unknown, "")}, list{o(1, "")}, false, between{-1, 0}},
		"old missing":        {nil, list{o(0, "")}, false, between{0, 1}},
		"new missing":        {list{o(1, "")}, nil, false, between{0, 1}},
		"both missing":       {nil, nil, false, between{-1, 1}},
		"two":                {list{o(1, "a"), o(0, "b")}, list{o(0, "a"), o(0, "b")}, false, between{.5, .5}},
		"samples": {list{o(1, "")}, list{o(1, ""), {Measure: "lpr", Sample: 1}, {Measure: "wpr"}}, false,
			between{0, 0}},
	} {
		of := Settings{Acceptance: Acceptance{Measure: "lpr"}, Lower: c.lower}
		got, err := of.difference([][]crosstalk.Observation{c.old, c.now}, score{})
		if err != nil || got != c.want {
			t.Errorf("%s: %v, error %v; want %v", name, got, err, c.want)
		}
	}
	of := Settings{Acceptance: Acceptance{Measure: "lpr", Require: "lpr>=98%"}}
	for value, want := range map[float64]between{1: {0, 0}, 0: {1, 1}, .25: {.75, .75}} {
		if got, err := of.difference([][]crosstalk.Observation{{o(value, "")}}, score{}); err != nil || got != want {
			t.Errorf("%v: %v, %v", value, got, err)
		}
	}
	if got, _ := of.difference([][]crosstalk.Observation{{o(unknown, "")}}, score{}); got != (between{0, 1}) {
		t.Errorf("%v", got)
	}
	if got, _ := of.difference([][]crosstalk.Observation{nil}, score{}); got != (between{0, 1}) {
		t.Errorf("%v", got)
	}
	of.Require, of.Test.Step = "", 1
	if _, err := of.difference([][]crosstalk.Observation{{o(.5, "")}, {o(1, "")}}, score{}); err == nil {
		t.Error("a difference off the steps")
	}
	if _, err := of.score(list{o(2, "")}); err == nil {
		t.Error("a value of 2")
	}
}

func TestSlack(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{"lpr>=98%": .02, "lpr>=0.9": .1, "lpr>98%": 0, "lpr<=5%": 0, "lpr>=100%": 0,
		"lpr>=0%": 0, "lpr>=0.5% by language": 0, "lpr>=98% where language=de": 0, "lpr>=98% by language where language=de": 0} {
		r, failed := gate.Parse(text)
		if failed != nil {
			t.Fatal(failed)
		}
		if got, err := slack(r, crosstalk.Higher); math.Abs(got-want) > 1e-12 || (err == nil) != (want > 0) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
		if got, _ := slack(r, crosstalk.Lower); text == "lpr<=5%" && math.Abs(got-.05) > 1e-12 {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// Any fault can be judged. In leakage, a value of 0.5 is no fault.
func TestAnyFault(t *testing.T) {
	t.Parallel()
	const items = 120
	old := baselineRun(t, items, "line=0.01&word=0.01&seed=1")
	for name, c := range map[string]struct {
		a     Acceptance
		model string
		want  stats.Outcome
	}{
		"words":       {Acceptance{Measure: "faults", Baseline: old, Margin: .1}, "line=0&word=0.4&seed=2", stats.Rejected},
		"equal":       {Acceptance{Measure: "faults", Baseline: old, Margin: .1}, "line=0.01&word=0.01&seed=1", stats.Accepted},
		"bound":       {Acceptance{Measure: "faults", Require: "faults<=10%"}, "line=0&word=0&seed=2", stats.Accepted},
		"words alone": {Acceptance{Measure: "lpr", Baseline: old, Margin: .1}, "line=0&word=0.4&seed=2", stats.Accepted},
	} {
		c.a.Level = .95
		got, err := acceptIn(t, c.a, confused(t, items, c.model), filepath.Join(t.TempDir(), "new"), ask.Options{})
		if err != nil || got.Outcome != c.want || got.Settings.Lower != (c.a.Measure == "faults") {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	of := Settings{Acceptance: Acceptance{Measure: "leaks"}, Lower: true}
	for value, want := range map[float64]between{1: {0, 0}, .5: {1, 1}, 0: {1, 1}} { // how good
		finding := map[float64]string{1: "leaked", .5: "tie", 0: "not leaked"}[value]
		got, err := of.score([]crosstalk.Observation{{Measure: "leak_rate", Item: "a", Value: crosstalk.Value(value), Finding: finding}})
		if err != nil || got != (score{want, 1}) {
			t.Errorf("%v: %v, %v; want %v", value, got, err, want)
		}
	}
}

// What was spent before a stop counts, too.
func TestSpent(t *testing.T) {
	t.Parallel()
	const items = 100
	price := ask.Prices{"confused?line=0&word=0&seed=2": {Input: 1, Output: 1}}
	a := Acceptance{Measure: "lpr", Require: "lpr>=90%", Level: .95}
	path, whole := filepath.Join(t.TempDir(), "parts"), filepath.Join(t.TempDir(), "whole")
	want, err := acceptIn(t, a, confused(t, items, "line=0&word=0&seed=2"), whole, ask.Options{Budget: ask.Budget{Prices: price}})
	if err != nil || !(want.Cost > 0 && want.Of > want.Cost) {
		t.Fatalf("%+v, %v", want, err)
	}
	for n := range 2 {
		budget := ask.Budget{Prices: price, Asks: []int{10, 0}[n]}
		got, err := acceptIn(t, a, confused(t, items, "line=0&word=0&seed=2"), path, ask.Options{Budget: budget})
		if n == 0 && !errors.As(err, new(*study.IncompleteError)) ||
			n == 1 && (err != nil || math.Abs(got.Cost-want.Cost) > 1e-9 || math.Abs(got.Of-want.Of) > 1e-9) {
			t.Errorf("part %d: %v of %v, error %v; in one: %v of %v", n, got.Cost, got.Of, err, want.Cost, want.Of)
		}
	}
}
