package watch

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/ask/journal"
	"crosstalk/run"
	"crosstalk/run/shard"
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
	d, err := run.Create(p.shard.Dir(dir),
		run.Plan{Instrument: "leakage", Suite: "s@1", Conditions: []run.Condition{{Model: model}}, Shard: p.shard})
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
			Answer: crosstalk.Answer{Status: crosstalk.Text, Usage: crosstalk.Usage{Prompt: 1000, Completion: 100},
				Time: now.Add(-p.last - time.Duration(p.done-1-i)*p.each)}}
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
	if r.Path != all || r.Shards != 7 || !slices.Equal(r.Missing, []int{7}) || r.State != Running || r.Requests != 198 ||
		r.Done != 80 || r.Failed != 2 ||
		math.Abs(r.Rate-2.25) > 1e-9 || r.Left != 80*second || !r.Last.Equal(now.Add(-second)) ||
		math.Abs(*r.Cost-78*0.002) > 1e-9 {
		t.Errorf("%+v, cost %v", r, *r.Cost)
	}
	for i, want := range []struct {
		state State
		slow  bool
		left  time.Duration
	}{{Finished, false, 0}, {Running, false, 20 * second}, {Running, true, 80 * second}, {Running, false, 10 * second},
		{Quiet, false, 0}, {Quiet, false, 0}} {
		if p := r.Parts[i]; p.Shard != of(i+1) || p.State != want.state || p.Slow != want.slow || p.Left != want.left {
			t.Errorf("%+v, want %+v", p, want)
		}
	}
}

// The totals of 50 shards, of which 15 have ended, 10 run, 5 stopped and 20 have not begun: every answer is counted
// once, and those that have not begun take as long as the others at the rate of those that run.
func TestManyShards(t *testing.T) {
	const count, asks = 50, 30
	dir := t.TempDir()
	for i := 1; i <= 30; i++ {
		p := part{shard: shard.Shard{Index: i, Count: count}, asks: asks, done: asks, last: time.Hour, finished: true}
		switch {
		case i > 25:
			p.done, p.failed, p.finished = 6, 1, false
		case i > 15:
			p.done, p.last, p.each, p.finished = 12, time.Second, time.Second, false
		}
		makeRun(t, dir, p)
	}
	runs, err := Read(dir, nil, now)
	if err != nil || len(runs) != 1 {
		t.Fatal(runs, err)
	}
	r := runs[0]
	const done = 15*asks + 10*12 + 5*6
	// 10 shards have an answer a second each
	if left := time.Duration(count*asks-done) * time.Second / 10; r.Requests != count*asks || r.Done != done ||
		r.Failed != 5 || r.Rate != 10 || r.Left != left || len(r.Missing) != 20 || r.Missing[19] != 50 {
		t.Errorf("%d of %d requests, %d failed, %v/s, %v left, %d missing; want %d of %d and %v", r.Done, r.Requests, r.Failed,
			r.Rate, r.Left, len(r.Missing), done, count*asks, left)
	}
	if text := r.Amounts(); text != "600 of about 1500 requests, 5 failed, 10.0/s, 1m30s left" {
		t.Error(text)
	}
}

// A shard is slow at less than half the rate of the usual one, of three or more.
func TestSlow(t *testing.T) {
	for _, c := range []struct {
		each []time.Duration
		slow bool // the first
	}{{[]time.Duration{9, 1}, false}, {[]time.Duration{2, 1, 1}, false}, {[]time.Duration{3, 1, 1}, true}} {
		dir := t.TempDir()
		for i, each := range c.each {
			makeRun(t, dir, part{shard: shard.Shard{Index: i + 1, Count: len(c.each)}, asks: 30, done: 10, last: time.Second,
				each: each * time.Second})
		}
		runs, err := Read(dir, nil, now)
		if err != nil || len(runs) != 1 || runs[0].Parts[0].Slow != c.slow || runs[0].Parts[1].Slow {
			t.Errorf("%v: %+v, %v", c.each, runs, err)
		}
	}
}

// The usual rate is the median over shards; a quiet shard has none.
func TestUsualRate(t *testing.T) {
	dir := t.TempDir()
	for i, each := range []time.Duration{1, 10, 1, 3, 1} {
		makeRun(t, dir, part{shard: shard.Shard{Index: i + 1, Count: 6}, asks: 30, done: 10, last: time.Second,
			each: each * time.Second})
	}
	makeRun(t, dir, part{shard: shard.Shard{Index: 6, Count: 6}, asks: 30, done: 10, last: time.Hour, each: time.Second})
	runs, err := Read(dir, nil, now)
	if err != nil || len(runs) != 1 {
		t.Fatal(runs, err)
	}
	for i, want := range []bool{false, true, false, true, false, false} {
		if p := runs[0].Parts[i]; p.Slow != want {
			t.Errorf("shard %d at %.2f/s is slow: %v", i+1, p.Rate, p.Slow)
		}
	}
}

// The states of a run at their bounds.
func TestStates(t *testing.T) {
	for want, p := range map[State]part{
		Running: {asks: 4, done: 2, last: Silence},
		Quiet:   {asks: 4, done: 2, last: Silence + time.Second},
		Cut:     {asks: 4, done: 2, last: time.Hour, finished: true, cut: 1},
		// a shard is finished, and the other has not begun
		Quiet + " shards": {shard: shard.Shard{Index: 1, Count: 2}, asks: 4, done: 4, last: time.Hour, finished: true},
		Finished:          {shard: shard.Shard{Index: 1, Count: 1}, asks: 4, done: 4, last: time.Hour, finished: true},
	} {
		dir := t.TempDir()
		makeRun(t, dir, p)
		runs, err := Read(dir, nil, now)
		if err != nil || len(runs) != 1 || !strings.HasPrefix(string(want), string(runs[0].State)) {
			t.Errorf("%+v, %v; want %s", runs, err, want)
		}
	}
}

// A run is not finished without figures that its manifest knows.
func TestWithoutFigures(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a-unknown", "b-gone", "c-finished"} {
		makeRun(t, filepath.Join(dir, name), part{asks: 2, done: 4, last: time.Hour, finished: true})
	}
	manifest, err := os.ReadFile(filepath.Join(dir, "a-unknown", "manifest.json"))
	if err := errors.Join(err, os.Remove(filepath.Join(dir, "b-gone", "estimates.json")),
		os.WriteFile(filepath.Join(dir, "a-unknown", "manifest.json"), bytes.Replace(manifest, []byte("estimates_sha256"), []byte("x"), 1), 0o600)); err != nil {
		t.Fatal(err)
	}
	runs, err := Read(dir, ask.Prices{"other": {Input: 1}}, now)
	if err != nil || len(runs) != 3 || runs[0].State != Quiet || runs[1].State != Quiet || runs[2].State != Finished {
		t.Errorf("%+v, %v", runs, err)
	}
	for _, r := range runs {
		if r.Requests != 4 || r.Cost != nil {
			t.Errorf("%+v; want the four requests that were done, and no cost, since the model has no price", r)
		}
	}
}

// Shards of different measurements in a directory are different runs.
func TestDifferentShards(t *testing.T) {
	dir := t.TempDir()
	makeRun(t, dir, part{shard: shard.Shard{Index: 1, Count: 2}, asks: 1})
	makeRun(t, dir, part{shard: shard.Shard{Index: 1, Count: 3}, asks: 1})
	if runs, err := Read(dir, nil, now); err != nil || len(runs) != 2 || runs[0].Shards != 2 || runs[1].Shards != 3 ||
		len(runs[0].Parts) != 1 || len(runs[1].Parts) != 1 {
		t.Errorf("%+v, %v", runs, err)
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
