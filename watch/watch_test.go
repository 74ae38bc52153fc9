package watch

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/ask/journal"
	"crosstalk/run"
	"crosstalk/shard"
)

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// part is what makeRun makes of a run.
type part struct {
	shard    shard.Shard
	asks     int // planned
	done     int
	failed   int           // of done
	last     time.Duration // before now
	each     time.Duration // between answers
	finished bool
	cut      int // items not measured
}

func makeRun(t *testing.T, dir string, p part) {
	t.Helper()
	model := crosstalk.Identity{Provider: "test", Name: "m"}
	d, err := run.Create(p.shard.Dir(dir), run.Plan{Instrument: "leakage", Suite: "s@1", Conditions: []run.Condition{{Model: model}}, Shard: p.shard})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(d.SetAsks(p.asks))
	for i := range p.done {
		r := journal.Record{Identity: model, Request: crosstalk.Request{Prompt: fmt.Sprint(p.shard, i)},
			Answer: crosstalk.Answer{Status: crosstalk.Text, Usage: crosstalk.Usage{Prompt: 1000, Completion: 100}, Time: now.Add(-p.last - time.Duration(p.done-1-i)*p.each)}}
		if i < p.failed {
			r.Answer.Status, r.Answer.Usage = crosstalk.Failed, crosstalk.Usage{}
		}
		r.Answer.Key = crosstalk.KeyOf(model, r.Request)
		check(d.Journal.Put(r))
	}
	if p.finished {
		check(d.SetScoring([]run.Scoring{{Protocol: "p"}}, crosstalk.SuiteIDs{}, p.cut, nil))
		check(d.WriteEstimates(nil))
		check(os.Chtimes(filepath.Join(d.Path, "estimates.json"), now, now.Add(-30*time.Minute)))
	}
}

// All shards in a directory are one run, wherever it is below the one that is
// named.
func TestShards(t *testing.T) {
	dir := t.TempDir()
	all := filepath.Join(dir, "below", "all")
	of := func(i int) shard.Shard { return shard.Shard{Index: i, Count: 7} }
	second := time.Second
	makeRun(t, all, part{shard: of(1), asks: 20, done: 20, failed: 2, last: time.Hour, each: second, finished: true})
	makeRun(t, all, part{shard: of(2), asks: 30, done: 10, last: second, each: second})
	makeRun(t, all, part{shard: of(3), asks: 30, done: 10, last: second, each: 4 * second})
	makeRun(t, all, part{shard: of(4), asks: 30, done: 20, last: second, each: second})
	makeRun(t, all, part{shard: of(5), asks: 30, done: 20, last: 2 * time.Minute, each: second})
	makeRun(t, all, part{shard: of(6), asks: 30})
	runs, err := Read(dir, ask.Prices{"m": {Input: 1, Output: 10}}, now)
	if err != nil || len(runs) != 1 {
		t.Fatalf("%+v, %v", runs, err)
	}
	r := runs[0]
	if r.Path != all || r.Shards != 7 || !slices.Equal(r.Missing, []int{7}) || r.State != Running || r.Requests != 170 || r.Done != 80 || r.Failed != 2 ||
		math.Abs(r.Rate-2.25) > 1e-9 || r.Left != 80*second || !r.Last.Equal(now.Add(-second)) || math.Abs(*r.Cost-78*0.002) > 1e-9 {
		t.Errorf("%+v, cost %v", r, *r.Cost)
	}
	for i, want := range []struct {
		state State
		slow  bool
		left  time.Duration
	}{{Finished, false, 0}, {Running, false, 20 * second}, {Running, true, 80 * second}, {Running, false, 10 * second}, {Quiet, false, 0}, {Quiet, false, 0}} {
		if p := r.Parts[i]; p.Shard != of(i+1) || p.State != want.state || p.Slow != want.slow || p.Left != want.left {
			t.Errorf("%+v, want %+v", p, want)
		}
	}
}

func TestRuns(t *testing.T) {
	dir := t.TempDir()
	makeRun(t, filepath.Join(dir, "a-finished"), part{asks: 4, done: 4, finished: true, last: time.Hour})
	makeRun(t, filepath.Join(dir, "b-cut"), part{asks: 8, done: 4, finished: true, cut: 2, last: time.Hour})
	makeRun(t, filepath.Join(dir, "c-resumed"), part{asks: 8, done: 6, finished: true, cut: 2, last: time.Second, each: time.Second})
	makeRun(t, filepath.Join(dir, "d-broken"), part{asks: 4})
	makeRun(t, filepath.Join(dir, "e-nonsense"), part{asks: 4})
	makeRun(t, filepath.Join(dir, ".hidden"), part{asks: 4})
	for file, text := range map[string]string{"d-broken/answers.db": "nonsense, and more than a header's worth of it", "e-nonsense/manifest.json": "{"} {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(file)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	runs, err := Read(dir, nil, now)
	if err != nil {
		t.Fatal(err)
	}
	var states []State
	for _, r := range runs {
		states = append(states, r.State)
		if (r.Parts[0].Error != "") != (r.State == Broken) || r.Cost != nil {
			t.Errorf("%+v", r)
		}
	}
	if !slices.Equal(states, []State{Finished, Cut, Running, Broken, Broken}) {
		t.Errorf("%v", states)
	}
	if _, err := Read(filepath.Join(dir, "none"), nil, now); err == nil {
		t.Error("read a directory that is not there")
	}
}
