package main

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"crosstalk/internal/testing/testserver"
)

// kills is how often a test kills the command: more often than usual if
// $CROSSTALK_TEST_KILLS says so, and twice at most in short tests.
func kills(usual int) int {
	if n, err := strconv.Atoi(os.Getenv("CROSSTALK_TEST_KILLS")); err == nil {
		return n
	}
	if testing.Short() {
		return min(usual, 2)
	}
	return usual
}

// kill -9 at random moments of a run against a server that misbehaves: each
// ask is answered at most once more than its answer was lost in flight, and the
// result is that of a run that nobody disturbed.
func TestKilledRun(t *testing.T) {
	t.Parallel()
	const concurrency = 32
	kills := kills(4)
	asks := 100 * kills
	var answers brake // the run cannot end before it is killed
	s := newServer(t, testserver.Options{Seed: 7, Latency: 3 * time.Millisecond, Jitter: 12 * time.Millisecond,
		Stall: 60 * time.Millisecond, RetryAfter: 3 * time.Millisecond,
		Faults: map[testserver.Fault]float64{"429": 0.02, "429-ms": 0.02,
			"500": 0.03, "cut": 0.03,
			"drop": 0.02, "invalid-json": 0.02, "slow": 0.03,
			"empty": 0.02, "refusal": 0.02},
		Answer: func(r testserver.Request) testserver.Reply { answers.begin(); return testserver.Continue(r) }})
	suite, out := writeSuite(t, asks/20), filepath.Join(t.TempDir(), "run")
	args := runLeakage(s, suite, out, "--samples", "2", "--seed", "3", "--temperature", "1", "--concurrency", "32", "--retries", "30", "--quiet")

	random := rand.New(rand.NewPCG(1, 2))
	lost := map[string]int{} // by the request's hash: how often its answer was in flight at a kill
	lostInAll, mostLost, saved := 0, 0, 0
	for kill := range kills {
		before := answers.begun.Load()
		answers.limit.Store(before + int64(2*asks/kills))
		p := start(t, nil, args...)
		if kill%4 == 0 { // at the start, perhaps before there is a run at all
			time.Sleep(time.Duration(random.IntN(150)) * time.Millisecond)
		} else {
			// Most of the run, in even parts on average.
			want := before + int64(random.IntN(2*asks*9/10/kills))
			until(t, "answers", func() bool { return answers.begun.Load() >= want })
			time.Sleep(time.Duration(random.IntN(5000)) * time.Microsecond)
		}
		p.cmd.Process.Kill()
		if p.code() != -1 {
			t.Fatalf("kill %d came too late; stderr:\n%s", kill, p.stderr.String())
		}
		answers.limit.Store(math.MaxInt64)
		until(t, "the server to notice", func() bool { return s.Stats().InFlight == 0 })
		durable := map[string]bool{}
		for _, r := range journalled(t, out) {
			durable[hash(t, r.Answer.Raw)] = true
		}
		if len(durable) < saved {
			t.Errorf("kill %d: the journal holds %d answers, and held %d", kill, len(durable), saved)
		}
		saved = len(durable)
		now := 0
		for full, r := range s.Stats().Requests {
			if h := full[:24]; r.Answered > lost[h] && !durable[h] {
				lost[h]++
				now++
			}
		}
		lostInAll, mostLost = lostInAll+now, max(mostLost, now)
	}
	start(t, nil, args...).expect(0)
	stats := s.Stats()
	answered, more := 0, 0
	for full, r := range stats.Requests {
		answered += r.Answered
		more += r.Answered - 1
		if most := 1 + lost[full[:24]]; r.Answered < 1 || r.Answered > most {
			t.Errorf("an ask was answered %d times; at most %d were in flight at a kill", r.Answered, most-1)
		}
	}
	if len(stats.Requests) != asks || more != lostInAll || mostLost > concurrency {
		t.Errorf("%d asks, answered %d times more than once; %d answers were lost, at most %d in a kill", len(stats.Requests), more, lostInAll, mostLost)
	}
	t.Logf("%d asks, %d attempts, %d answers: %d twice; %d kills lost %d answers in flight, at most %d at a time; %d saved before the last start",
		len(stats.Requests), stats.Attempts, answered, more, kills, lostInAll, mostLost, saved)
	for _, f := range []testserver.Fault{"429", "500", "cut", "slow",
		"drop"} {
		if stats.Faults[f] < asks/400 {
			t.Errorf("the server dealt only %d of %s", stats.Faults[f], f)
		}
	}

	undisturbed := filepath.Join(t.TempDir(), "run")
	args[slices.Index(args, out)] = undisturbed
	start(t, nil, args...).expect(0)
	sameResult(t, out, undisturbed)
	if got := len(journalled(t, undisturbed)); got != asks {
		t.Errorf("%d answers in the undisturbed run", got)
	}
	noKey(t, out)
}

// hash is the start of the request's hash, which the server writes into each
// answer.
func hash(t *testing.T, raw []byte) string {
	t.Helper()
	var answer struct{ ID string }
	if err := json.Unmarshal(raw, &answer); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return strings.TrimPrefix(answer.ID, "chatcmpl-")
}
