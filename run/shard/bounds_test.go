package shard

import (
	"errors"
	"fmt"
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
		{"auto", []string{"SLURM_ARRAY_TASK_ID=-1", "SLURM_ARRAY_TASK_COUNT=1", zero}, Shard{},
			`auto: SLURM_ARRAY_TASK_ID is "-1"; expected a number from 0`},
		{"auto", []string{"SLURM_ARRAY_TASK_ID=1", "SLURM_ARRAY_TASK_COUNT=0", zero}, Shard{},
			`auto: SLURM_ARRAY_TASK_COUNT is "0"; expected a number from 1`},
		{"auto", []string{"SLURM_ARRAY_TASK_ID=3", "SLURM_ARRAY_TASK_COUNT=5", "SLURM_ARRAY_TASK_MIN=2", "SLURM_ARRAY_TASK_MAX=9"}, Shard{},
			"auto: the job array has 5 tasks, from 2 to 9; expected one without gaps, as in --array=1-5"},
		{"auto", []string{"JOB_COMPLETION_INDEX=0", "CROSSTALK_SHARDS=0"}, Shard{},
			`auto: CROSSTALK_SHARDS is "0"; expected a number from 1`},
		{"auto", []string{"JOB_COMPLETION_INDEX=-1", "CROSSTALK_SHARDS=1"}, Shard{},
			`auto: JOB_COMPLETION_INDEX is "-1"; expected a number from 0`},
		{"1/-1", nil, Shard{}, "1/-1 is not a shard; expected I/N with I from 1 to N, as in 3/64"},
		{"0/0", nil, Shard{}, "0/0 is not a shard; expected I/N with I from 1 to N, as in 3/64"},
		{"2/1048577", nil, Shard{}, "2/1048577 is not a shard; expected at most 1048576 shards"},
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

// Runs of shards that were begun with an earlier version find their items again: which items a shard has never changes.
func TestSameItems(t *testing.T) {
	var c Clusters
	for i := range 14 {
		cluster := ""
		if i >= 10 {
			cluster = fmt.Sprint("cluster ", i%2)
		}
		c.Add(fmt.Sprint("item ", i), cluster)
	}
	has := ""
	for i := range 9 {
		if (Shard{2, 3}).Has(fmt.Sprint(i)) {
			has += fmt.Sprint(i)
		}
	}
	got := fmt.Sprint(Shard{1, 3}.Of(&c), Shard{2, 3}.Of(&c), Shard{3, 3}.Of(&c)) + has
	if want := "[2 5 7 10 12] [3 4 8 11 13] [0 1 6 9]12358"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if n := (Shard{}).Part(7); n != 7 {
		t.Errorf("the whole measurement has %d of a budget of 7", n)
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
		if err := os.Symlink(filepath.Join(dir, "gone"), filepath.Join(dir, "shard-4-of-3")); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := Runs(dir); err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	if _, err := Runs(filepath.Join(dir, "none")); err == nil {
		t.Error("found runs in a directory that is not there")
	}
}
