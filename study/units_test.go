package study

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/instrument/consistency/review"
	"crosstalk/internal/testing/golden"
	"crosstalk/run"
	"crosstalk/run/figures"
	"crosstalk/run/shard"
	"crosstalk/run/view"
)

// rewriting is a study that rewrites the instructions of a few items.
func rewriting(t *testing.T) *Study {
	t.Helper()
	s, err := Consistency{Sweep: Sweep{Models: []string{"reference:inconsistent"}, Items: 2, Samples: 1}, To: []string{"de"},
		Parts: []string{"I"}}.Open()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Instructions for other models and tasks stay in a run's file unused. An unreadable file is an error of a run, of a
// round and of a shard.
func TestKeptInstructions(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	prepared := func() (*Study, []review.Instruction, error) {
		s := rewriting(t)
		m, err := s.Begin(t.Context(), dir, ask.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		if _, err := m.Round(t.Context(), []int{0}); err != nil {
			return s, nil, err
		}
		list, err := review.ReadRunInstructions(filepath.Join(dir, run.InstructionsFile))
		return s, list, err
	}
	s, own, err := prepared()
	if err != nil || len(own) != len(s.Suite.Tasks) {
		t.Fatalf("%d instructions, %v", len(own), err)
	}
	model, task := own[0], own[0]
	model.Model, task.Task = "other:model", "another task"
	file := filepath.Join(dir, run.InstructionsFile)
	if err := review.WriteInstructions(file, slices.Concat([]review.Instruction{model, task}, own)); err != nil {
		t.Fatal(err)
	}
	s, list, err := prepared()
	if err != nil || len(list) != len(own)+2 || len(s.reviews.made) != len(own) {
		t.Errorf("%d instructions, %d in use, %v", len(list), len(s.reviews.made), err)
	}
	for _, want := range []review.Instruction{model, task} {
		if !slices.ContainsFunc(list, func(in review.Instruction) bool {
			return in.Model == want.Model && in.Task == want.Task
		}) {
			t.Errorf("%s of %s is not kept", want.Task, want.Model)
		}
	}
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := prepared(); err == nil || !strings.Contains(err.Error(), run.InstructionsFile) {
		t.Errorf("a round: %v", err)
	}
	if _, err := rewriting(t).Run(t.Context(), dir, ask.Options{}); err == nil ||
		!strings.Contains(err.Error(), run.InstructionsFile) {
		t.Errorf("a run: %v", err)
	}
	all := filepath.Join(t.TempDir(), "all")
	part := rewriting(t)
	if err := part.Take(t.Context(), shard.Shard{Index: 1, Count: 2}); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(all, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(all, run.InstructionsFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := part.Run(t.Context(), all, ask.Options{}); err == nil ||
		!strings.Contains(err.Error(), run.InstructionsFile) {
		t.Errorf("a shard: %v", err)
	}
}

// A figure counts the items of its own groups. A column that only observations have is no reason to leave items out.
func TestMissingItems(t *testing.T) {
	var m missing
	for i, language := range []string{"de", "de", "ko", "fr"} {
		model := map[string]string{"model": []string{"a", "b"}[i/3]}
		m.add(model, crosstalk.Item{ID: "x", Labels: map[string]string{"kind": "k"}, Prompt: &crosstalk.Prompt{Language: language}})
	}
	m.add(map[string]string{"model": "a"}, crosstalk.Item{Labels: map[string]string{"kind": "l"}, Input: &crosstalk.Input{Task: "nli"}})
	known := run.Manifest{NotMeasured: 5, Missing: m.list(nil)}
	two, err := view.ParseGroup("language:Two=ko,fr")
	if err != nil {
		t.Fatal(err)
	}
	other := two
	other.Name, other.Values = "Other", []string{"es"}
	groups := view.View{Groups: []view.Group{other, two}}
	only := view.View{Only: []view.Choice{{Column: "kind", Values: []string{"k"}}, {Column: "pair", Values: []string{"en>de"}}}}
	for _, c := range []struct {
		of   run.Manifest
		view view.View
		by   map[string]string
		want int
	}{
		{known, view.View{}, nil, 5}, {known, view.View{}, map[string]string{"model": "a"}, 4},
		{known, view.View{}, map[string]string{"model": "c"}, 0},
		{known, view.View{}, map[string]string{"model": crosstalk.All, "language": "de", "task": ""}, 3},
		{known, view.View{}, map[string]string{"language": "de", "similarity": "gloss"}, 3}, {known, view.View{}, map[string]string{"task": "nli", "model": "a"}, 4},
		{known, view.View{}, map[string]string{"task": "qa", "model": "a"}, 3}, {known, only, map[string]string{"model": "a"}, 3},
		{known, groups, map[string]string{"group": "Two"}, 3}, {known, groups, map[string]string{"group": "Two", "model": "b"}, 1},
		{run.Manifest{NotMeasured: 7}, only, map[string]string{"model": "a", "language": "de"}, 7}, {run.Manifest{}, view.View{}, nil, 0},
	} {
		list := []crosstalk.Estimate{{Measure: "lpr", By: c.by, Counts: map[string]int{}}}
		figures.Set{View: c.view}.MarkMissing(list, c.of.MissingItems(), "!")
		e, want := list[0], ""
		if c.want > 0 {
			want = fmt.Sprintf("%d items were not measured!", c.want)
		}
		n, counted := e.Counts[crosstalk.NotMeasured]
		if n != c.want || counted != (n > 0) || strings.Join(e.Warnings, "") != want {
			t.Errorf("%v under %v: %d, %q; want %d", c.by, c.view, n, e.Warnings, c.want)
		}
	}
	// Of too many groups, those remain by which figures are grouped.
	for i := range maxGroups {
		m.add(map[string]string{"model": "c"}, crosstalk.Item{Labels: map[string]string{"title": strconv.Itoa(i), "kind": "k"}})
	}
	coarse := m.list([]string{"kind"})
	n := 0
	for _, of := range coarse {
		n += of.Items
	}
	if len(coarse) != 4 || n != maxGroups+5 || !maps.Equal(coarse[2].Labels, map[string]string{"kind": "k", "model": "c"}) {
		t.Errorf("%v", coarse)
	}
}

// TestCrossed compares figures of a run under other columns, views and measures with testdata/crossed.txt.
func TestCrossed(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	few := Sweep{Models: []string{"reference:inconsistent"}, Items: 6, Samples: 2}
	if _, err := Run(t.Context(), Consistency{Sweep: few}, dir); err != nil {
		t.Fatal(err)
	}
	only := func(column string, values ...string) view.View {
		return view.View{Only: []view.Choice{{Column: column, Values: values}}}
	}
	var b strings.Builder
	for _, f := range []figures.Set{
		{By: []string{}}, {By: []string{"class"}}, {By: []string{"pair"}}, {Cross: []string{"class"}}, {Cross: []string{"pair"}},
		{Cross: []string{"pair", "model"}}, {Cross: []string{"pair"}, By: []string{"part"}}, {Cross: []string{"nothing"}},
		{By: []string{"nothing"}}, {Measures: []string{"accuracy"}}, {Measures: []string{"label_share"}}, {Measures: []string{"transition", "quality"}}, {Measures: []string{"nothing"}},
		{View: only("class", "yes")}, {View: only("pair", "en-de")}, {View: only("part", "T"), By: []string{}},
		{View: only("part", "nowhere"), By: []string{}}, {View: only("nothing", "x"), By: []string{}},
		{View: view.View{Pool: []string{"part"}}, By: []string{}}, {View: view.View{Pool: []string{"nothing"}}, By: []string{}},
		{View: view.View{Only: []view.Choice{{Column: "part", Values: []string{"T"}},
			{Column: "part", Values: []string{"I"}}}}, By: []string{}},
		{View: view.View{Groups: []view.Group{{Name: "a"}, {Name: "a"}}}, By: []string{}},
		{View: view.View{Groups: []view.Group{{Name: "ts", Choice: view.Choice{Column: "part", Values: []string{"T"}}}}}, By: []string{},
			Cross: []string{view.GroupColumn}},
	} {
		estimates, err := f.Of(dir)
		fmt.Fprintf(&b, "== %+v: %d figures, %v\n", f, len(estimates), err)
		for i, e := range estimates {
			if i < 2 || i >= len(estimates)-2 {
				delete(e.By, "model")
				fmt.Fprintf(&b, "%s %v %.4f of %d, %d warnings %s\n", e.Measure, e.By, e.Value, e.N, len(e.Warnings), e.Signature)
			}
		}
		measured, observations, err := f.Compare(dir)
		n := 0
		if err == nil {
			for _, err := range observations {
				if err != nil {
					t.Fatal(err)
				}
				n++
			}
		}
		fmt.Fprintf(&b, "compared: %d figures, %d observations, %v\n", len(measured), n, err)
	}
	golden.Check(t, "testdata/crossed.txt", b.String())
}

// Requests that differ in any text are distinct.
func TestSaid(t *testing.T) {
	seen := map[string]bool{}
	list := []crosstalk.Request{{}, {Sample: 1}, {Prompt: "a"}, {Messages: []crosstalk.Message{{Role: "user", Content: "a"}}},
		{Messages: []crosstalk.Message{{Role: "usera"}}}, {Input: []string{"a"}}, {Input: []string{"a", "b"}}, {Input: []string{"ab"}},
		{Prompt: "a", Input: []string{"b"}}}
	for _, r := range list {
		seen[string(appendSaid(nil, r))] = true
	}
	if len(seen) != len(list) {
		t.Errorf("%d of %d", len(seen), len(list))
	}
}

// An option that one model refuses is left out of its own requests only.
func TestLeftOut(t *testing.T) {
	t.Parallel()
	talk := crosstalk.Request{API: crosstalk.Chat, Messages: []crosstalk.Message{{Role: "user", Content: "a"},
		{Role: "assistant", Content: "b"}, {Role: "user", Content: "c"}}}
	if got, _, possible := without("compatible:m", talk, crosstalk.ParamSystem); possible || len(got.Messages) != 3 {
		t.Errorf("%+v, %v", got, possible)
	}
	talk.Messages[0].Role = "system"
	if got, _, possible := without("compatible:m", talk, crosstalk.ParamSystem); !possible || len(got.Messages) != 2 {
		t.Errorf("%+v, %v", got, possible)
	}
	c := Condition{name: "compatible:m"}
	if got := c.without([]string{"top_k", crosstalk.ParamTemperature, "nothing"}); len(got.Changes) > 1 || len(c.Changes) > 0 {
		t.Errorf("%+v", got.Changes)
	}
	var n run.Count
	prices := ask.Prices{"m": {Input: 1}}
	for i, want := range []bool{true, false, false} {
		if add(&n, crosstalk.Usage{Prompt: 1}, prices, []string{"m", "other", "m"}[i]); n.Priced != want || n.Asks != i+1 {
			t.Errorf("%d: %+v", i, n)
		}
	}
	s, err := Leakage{Sweep: Sweep{Models: []string{"reference:leaky?seed=1", "reference:leaky?seed=2"}, Items: 1}}.Open()
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.Begin(t.Context(), filepath.Join(t.TempDir(), "run"), ask.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	m.Dir.Manifest.Adapted = []run.Adapted{{Condition: 1, Without: []string{crosstalk.ParamTemperature}}}
	askers := newAskers(m)
	for i, c := range s.Protocols[0].Conditions {
		of := askers.of(s.Protocols[0], c)
		if len(of.dropped) != i || askers.of(s.Protocols[0], c) != of {
			t.Errorf("%d: %+v", i, of.dropped)
		}
	}
}
