package watch

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"crosstalk/ask"
	"crosstalk/run/shard"
)

// found are the run directories in a directory, as Find finds them, relative to it.
func found(t *testing.T, dir string, links bool) (list []string) {
	t.Helper()
	err := Find(dir, links, func(path string) bool {
		name, err := filepath.Rel(dir, path)
		if err != nil {
			t.Error(err)
		}
		list = append(list, filepath.ToSlash(name))
		return true
	})
	if err != nil {
		t.Error(err)
	}
	return list
}

// Links are followed to runs of shards alone, and where links are wanted.
func TestFindLinks(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	makeRun(t, elsewhere, part{shard: shard.Shard{Index: 1, Count: 3}})
	makeRun(t, dir, part{shard: shard.Shard{Index: 2, Count: 3}})
	makeRun(t, filepath.Join(dir, "shard-2-of-3", "inside"), part{})
	if err := os.WriteFile(filepath.Join(dir, "shard-3-of-3"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"shard-1-of-3": "shard-1-of-3", "other": "shard-1-of-3", "shard-4-of-4": "none"} {
		if err := os.Symlink(filepath.Join(elsewhere, to), filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	if got := found(t, dir, true); !slices.Equal(got, []string{"shard-1-of-3", "shard-2-of-3"}) {
		t.Errorf("with links: %q", got)
	}
	if got := found(t, dir, false); !slices.Equal(got, []string{"shard-2-of-3"}) {
		t.Errorf("without links: %q", got)
	}
	runs, err := Read(dir, nil, now)
	if err != nil || len(runs) != 1 || !slices.Equal(runs[0].Missing, []int{3}) || len(runs[0].Parts) != 2 {
		t.Errorf("%+v, %v", runs, err)
	}
	n := 0
	if err := Find(dir, true, func(string) bool { n++; return false }); err != nil || n != 1 {
		t.Errorf("%d runs after the first was enough, %v", n, err)
	}
}

// Runs are searched eight directories deep.
func TestFindDeepest(t *testing.T) {
	dir := t.TempDir()
	makeRun(t, filepath.Join(dir, "1", "2", "3", "4", "5", "6", "7", "8"), part{})
	makeRun(t, filepath.Join(dir, "1", "2", "3", "4", "5", "6", "7", "x", "9"), part{})
	if got := found(t, dir, true); !slices.Equal(got, []string{"1/2/3/4/5/6/7/8"}) {
		t.Errorf("%q", got)
	}
}

// A run with figures is broken if its answers cannot be read, and finished as soon as
// its figures are newer than its answers.
func TestFinishedAtOnce(t *testing.T) {
	dir := t.TempDir()
	broken, finished := filepath.Join(dir, "a-broken"), filepath.Join(dir, "b-finished")
	makeRun(t, broken, part{asks: 4, done: 4, last: time.Hour, finished: true})
	makeRun(t, finished, part{asks: 4, done: 4, last: 10 * time.Second, each: time.Second, finished: true})
	if err := errors.Join(os.WriteFile(filepath.Join(broken, "answers.db"), []byte(strings.Repeat("nonsense ", 1000)), 0o600),
		os.Chtimes(filepath.Join(finished, "estimates.json"), now, now.Add(-5*time.Second))); err != nil {
		t.Fatal(err)
	}
	runs, err := Read(dir, nil, now)
	if err != nil || len(runs) != 2 || runs[0].State != Broken || runs[1].State != Finished || runs[1].Rate != 0 {
		t.Errorf("%+v, %v", runs, err)
	}
	// A file system without fractions of a second says that the figures are older than the last answer.
	for older, want := range map[time.Duration]State{2 * time.Second: Finished, 2001 * time.Millisecond: Running} {
		at := now.Add(-10*time.Second - older)
		if err := os.Chtimes(filepath.Join(finished, "estimates.json"), now, at); err != nil {
			t.Fatal(err)
		}
		if runs, err := Read(finished, nil, now); err != nil || len(runs) != 1 || runs[0].State != want {
			t.Errorf("%v older: %+v, %v", older, runs, err)
		}
	}
}

// A run has the cost of its answers if prices are known, also if that is nothing.
func TestCost(t *testing.T) {
	for name, c := range map[string]struct {
		done   int
		prices ask.Prices
		want   float64 // or less than 0: unknown
	}{
		"answers":           {4, ask.Prices{"m": {Input: 1, Output: 10}}, 4 * 0.002},
		"no answers":        {0, ask.Prices{"m": {Input: 1}}, 0},
		"no prices":         {0, nil, -1},
		"of another model":  {4, ask.Prices{"n": {Input: 1}}, -1},
		"answers, no price": {4, nil, -1},
	} {
		dir := t.TempDir()
		makeRun(t, dir, part{asks: 4, done: c.done, last: time.Hour})
		runs, err := Read(dir, c.prices, now)
		if err != nil || len(runs) != 1 || (runs[0].Cost == nil) != (c.want < 0) || c.want >= 0 &&
			math.Abs(*runs[0].Cost-c.want) > 1e-9 {
			t.Errorf("%s: %+v, %v; want %v", name, runs, err, c.want)
		}
	}
}

// The cost of a run is unknown if that of a shard is, wherever the shard comes.
func TestCostOfShards(t *testing.T) {
	one := 1.0
	for _, costs := range [][]*float64{{nil, &one}, {&one, nil}, {&one, nil, &one}} {
		r := Run{Shards: len(costs)}
		for i, cost := range costs {
			r.Parts = append(r.Parts, Part{Shard: shard.Shard{Index: i + 1, Count: len(costs)}, Totals: Totals{Cost: cost}})
		}
		if r.sum(now); r.Cost != nil {
			t.Errorf("%v: %g, want unknown", costs, *r.Cost)
		}
	}
}

// Show shows a session until it is stopped.
func TestShowUntilStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := ask.NewSession(&ask.Memory{}, ask.Options{})
		var b bytes.Buffer
		stop := Show(&b, s, 7)
		time.Sleep(3 * time.Second)
		stop()
		stop()
		if !strings.HasPrefix(b.String(), "0/7 requests\n") {
			t.Errorf("%q", b.String())
		}
		length := b.Len()
		time.Sleep(time.Hour)
		if b.Len() != length {
			t.Errorf("%q is shown after the end", b.String()[length:])
		}
	})
}
