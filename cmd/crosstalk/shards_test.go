package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"crosstalk/internal/testing/testserver"
	"crosstalk/run/shard"
)

// Shards run two at a time, some are killed and run again, and all are merged:
// each request was answered once, or as often more as its answer was in flight
// at a kill, and the figures are those of a single run. kills(4) of the shards are
// killed.
func TestKilledShards(t *testing.T) {
	t.Parallel()
	const concurrency = 8
	kills := kills(4)
	shards := 2 * kills
	asks := 20 * shards
	s := newServer(t, testserver.Options{Seed: 5, Latency: 5 * time.Millisecond, Jitter: 15 * time.Millisecond})
	suite, dir := writeSuite(t, asks/10), t.TempDir()
	out := filepath.Join(dir, "shards")
	run := func(i int) *process {
		return start(t, nil, runLeakage(s, suite, out, "--shard", fmt.Sprintf("%d/%d", i, shards), "--concurrency", fmt.Sprint(concurrency), "--quiet")...)
	}
	path := func(i int) string { return shard.Shard{Index: i, Count: shards}.Dir(out) }
	random := rand.New(rand.NewPCG(3, 4))
	lost := 0
	for i := 1; i <= shards; i += 2 {
		victim, other := run(i), run(i+1)
		want := random.IntN(15)
		until(t, "answers", func() bool { return len(journalled(t, path(i))) >= want })
		victim.cmd.Process.Kill()
		code := victim.code()
		if _, err := os.Stat(filepath.Join(path(i), "estimates.json")); code == -1 && err != nil { // a kill may come too late
			start(t, nil, "merge", out, "--out", filepath.Join(dir, "early")).expect(3, fmt.Sprintf("%d/%d", i, shards))
		}
		other.expect(0)
		saved := len(journalled(t, path(i)))
		run(i).expect(0, "")
		now := 0
		for _, r := range s.Stats().Requests {
			now += max(0, r.Answered-1)
		}
		if now-lost > concurrency {
			t.Errorf("%d answers were lost when shard %d was killed with %d answers; at most %d were in flight", now-lost, i, saved, concurrency)
		}
		lost = now
	}
	merged, single := filepath.Join(dir, "merged"), filepath.Join(dir, "single")
	start(t, nil, "merge", out, "--out", merged, "--format", "json").expect(0, fmt.Sprintf("%d shards, %d answers", shards, asks))
	if got := len(s.Stats().Requests); got != asks {
		t.Errorf("the server got %d different requests; want %d", got, asks)
	}
	t.Logf("%d requests; %d of %d shards killed, %d answers lost in flight", asks, kills, shards, lost)
	start(t, nil, runLeakage(s, suite, single)...).expect(0)
	sameResult(t, merged, single)
	if got := len(journalled(t, merged)); got != asks {
		t.Errorf("%d answers in the merged run, want %d", got, asks)
	}
	noKey(t, out)
}
