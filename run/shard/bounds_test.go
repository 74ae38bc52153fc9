package shard

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Parse accepts the smallest shards, and names the first thing that is wrong.
func TestParseAtItsBounds(t *testing.T) {
	const zero = "SLURM_ARRAY_TASK_MIN=0"
	for _, c := range []struct {
		text        string
		environment []string
		want        Shard
		wrong       string
	}{
		{"1/1", nil, Shard{1, 1}, ""},
		{"1/2", nil, Shard{1, 2}, ""},
		{"x/4", nil, Shard{}, `"x/4" is not a shard; expected I/N, as in 3/64, or auto`},
		{"3/x", nil, Shard{}, `"3/x" is not a shard; expected I/N, as in 3/64, or auto`},
		{"3", nil, Shard{}, `"3" is not a shard; expected I/N, as in 3/64, or auto`},
		{"auto", []string{"SLURM_ARRAY_TASK_ID=0", "SLURM_ARRAY_TASK_COUNT=4", zero}, Shard{1, 4}, ""},
		{"auto", []string{"SLURM_ARRAY_TASK_ID=0", "SLURM_ARRAY_TASK_COUNT=1", zero, "SLURM_ARRAY_TASK_MAX=0"}, Shard{1, 1}, ""},
		{"auto", []string{"JOB_COMPLETION_INDEX=0", "CROSSTALK_SHARDS=1"}, Shard{1, 1}, ""},
		{"auto", []string{"SLURM_ARRAY_TASK_ID=y", "SLURM_ARRAY_TASK_COUNT=1", "SLURM_ARRAY_TASK_MIN=x"}, Shard{},
			`auto: SLURM_ARRAY_TASK_MIN is "x"; expected a number from 0`},
		{"auto", []string{"SLURM_ARRAY_TASK_ID=y", "SLURM_ARRAY_TASK_COUNT=5", zero, "SLURM_ARRAY_TASK_MAX=9"}, Shard{},
			`auto: SLURM_ARRAY_TASK_ID is "y"; expected a number from 0`},
	} {
		got, err := Parse(c.text, environment(c.environment...))
		if c.wrong != "" && (err == nil || err.Error() != c.wrong) || c.wrong == "" && (err != nil || got != c.want) {
			t.Errorf("%q in %v: %v, %v; want %v %s", c.text, c.environment, got, err, c.want, c.wrong)
		}
	}
}

// An empty text is the whole measurement, also where a shard was before.
func TestUnmarshalWhole(t *testing.T) {
	s := Shard{3, 64}
	if err := s.UnmarshalText(nil); err != nil || !s.IsZero() {
		t.Errorf("%v, %v", s, err)
	}
	if dir := s.Dir("runs"); dir != "runs" {
		t.Errorf("the whole measurement is in %s", dir)
	}
}

// Runs finds directories and links to them, by their names alone.
func TestRuns(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	err := errors.Join(os.Mkdir(filepath.Join(dir, "shard-2-of-3"), 0o700), os.Mkdir(filepath.Join(dir, "other"), 0o700),
		os.Mkdir(filepath.Join(dir, "shard-2-of-3-old"), 0o700),
		os.WriteFile(filepath.Join(dir, "shard-3-of-3"), nil, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{filepath.Join(dir, "shard-2-of-3")}
	if os.Symlink(elsewhere, filepath.Join(dir, "shard-1-of-3")) == nil {
		want = []string{filepath.Join(dir, "shard-1-of-3"), want[0]}
	}
	if got, err := Runs(dir); err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	if _, err := Runs(filepath.Join(dir, "none")); err == nil {
		t.Error("found runs in a directory that is not there")
	}
}
