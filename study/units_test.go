package study

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/instrument/consistency/review"
	"crosstalk/run"
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

// Instructions of other models and of other tasks stay in a run's file, and are not used; a file that cannot be read is
// an error, of a run, of a round and of a shard.
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
		list, err := review.ReadRunInstructions(filepath.Join(dir, InstructionsFile))
		return s, list, err
	}
	s, own, err := prepared()
	if err != nil || len(own) != len(s.Suite.Tasks) {
		t.Fatalf("%d instructions, %v", len(own), err)
	}
	model, task := own[0], own[0]
	model.Model, task.Task = "other:model", "another task"
	file := filepath.Join(dir, InstructionsFile)
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
	if _, _, err := prepared(); err == nil || !strings.Contains(err.Error(), InstructionsFile) {
		t.Errorf("a round: %v", err)
	}
	if _, err := rewriting(t).Run(t.Context(), dir, ask.Options{}); err == nil ||
		!strings.Contains(err.Error(), InstructionsFile) {
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
	if err := os.WriteFile(filepath.Join(all, InstructionsFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := part.Run(t.Context(), all, ask.Options{}); err == nil ||
		!strings.Contains(err.Error(), InstructionsFile) {
		t.Errorf("a shard: %v", err)
	}
}

// Figures of other values than the chosen ones are left out, not those over all values or of another column; items that
// were not measured are counted in every figure.
func TestChosenAndMarked(t *testing.T) {
	choices := []view.Choice{{Column: "language", Values: []string{"de", "fr"}}, {Column: "task", Values: []string{"x"}}}
	for _, c := range []struct {
		by   map[string]string
		want bool
	}{
		{map[string]string{}, true}, {map[string]string{"model": "m"}, true}, {map[string]string{"language": "de"}, true},
		{map[string]string{"language": "es"}, false}, {map[string]string{"language": crosstalk.All}, true},
		{map[string]string{"language": "fr", "task": "y"}, false}, {map[string]string{"language": "fr", "task": "x"}, true},
	} {
		if got := chosen(crosstalk.Estimate{By: c.by}, choices); got != c.want {
			t.Errorf("%v: %v", c.by, got)
		}
	}
	for n, want := range map[int]string{0: "", 1: "1 of the items were not measured", 7: "7 of the items were not measured"} {
		list := []crosstalk.Estimate{{Measure: "lpr", Counts: map[string]int{}}, {Measure: "wpr", Counts: map[string]int{}}}
		mark(run.Manifest{Plan: run.Plan{Instrument: "confusion"}, NotMeasured: n}, list)
		for _, e := range list {
			if got := strings.Join(e.Warnings, "; "); got != want || e.Counts[crosstalk.NotMeasured] != n {
				t.Errorf("%d: %q, %v", n, got, e.Counts)
			}
		}
	}
}
