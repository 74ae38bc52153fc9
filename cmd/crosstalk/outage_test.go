package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"crosstalk/internal/testing/testserver"
)

// An outage in the middle of a run fails none of them, and the
// figures are those of a run that nothing disturbed.
func TestOutage(t *testing.T) {
	asks := 300
	if *full {
		asks = 2000
	}
	for name, during := range map[string]*testserver.Options{
		"nobody listens": nil,
		"502":            {Faults: map[testserver.Fault]float64{"html": 1}},
		"500":            {Faults: map[testserver.Fault]float64{"500": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, n := counting(t, testserver.Options{Latency: 2 * time.Millisecond})
			suite, out := writeSuite(t, asks/10), filepath.Join(t.TempDir(), "run")
			p := start(t, nil, runLeakage(before, suite, out, "--retries", "2", "--concurrency", "16")...)
			until(t, "answers", func() bool { return n.Load() >= int64(asks/7) })
			listen := func(o testserver.Options) *testserver.Server {
				o.Key = apiKey
				s, err := testserver.Listen(strings.TrimPrefix(before.URL, "http://"), o)
				if err != nil {
					t.Skipf("the port was taken meanwhile: %v", err)
				}
				t.Cleanup(s.Close)
				return s
			}
			before.Close()
			if during == nil {
				until(t, "word of it", func() bool { return strings.Contains(p.stderr.String(), "nothing listens at") })
				time.Sleep(3 * time.Second) // some probes
			} else {
				down := listen(*during)
				until(t, "attempts", func() bool { return down.Stats().Attempts >= 3 }) // probes at least
				down.Close()
				if n := down.Stats().Attempts; n > 3*16 {
					t.Errorf("%d attempts while the server was down", n)
				}
			}
			after := listen(testserver.Options{})
			p.expect(0)
			if strings.Contains(p.stderr.String(), "failed)") {
				t.Errorf("stderr:\n%s", p.stderr.String())
			}
			if all := before.Stats().Answered + after.Stats().Answered; all < asks || all > asks+16 {
				t.Errorf("%d and %d answers to %d asks", before.Stats().Answered, after.Stats().Answered, asks)
			}
			calm := filepath.Join(t.TempDir(), "run")
			start(t, nil, runLeakage(after, suite, calm)...).expect(0)
			sameResult(t, out, calm)
		})
	}
}

// A server that answers nothing from the first ask on ends the command soon, in
// the server's words, and nothing is called a result.
func TestBrokenFromTheStart(t *testing.T) {
	for fault, c := range map[testserver.Fault]struct{ says, timeout string }{
		"500":  {`failed (HTTP 500, "The server had an error while processing your request. Sorry about that!")`, "1m"},
		"drop": {"closed the connection before it answered", "1m"},
		"html": {`failed (HTTP 502, an HTML page: "502 Bad Gateway")`, "1m"},
		"503":  {`is overloaded (HTTP 503, "The engine is currently overloaded, please try again later")`, "1m"},
		"hang": {"no answer within 100ms (--timeout)", "100ms"},
	} {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			s := newServer(t, testserver.Options{Faults: map[testserver.Fault]float64{fault: 1}})
			p := start(t, nil, runLeakage(s, writeSuite(t, 20), filepath.Join(t.TempDir(), "run"), "--retries", "2", "--timeout", c.timeout)...)
			p.expect(2, c.says, "attempts in ", "and no answer")
			if got := s.Stats().Attempts; got > 12 { // four go ahead, three times each
				t.Errorf("%d attempts", got)
			}
		})
	}
}

// A server of one's own with one slot, which queues what it is sent, is asked for each answer once.
func TestOwnServer(t *testing.T) {
	t.Parallel()
	var slot sync.Mutex
	var waiting, most atomic.Int64
	s := newServer(t, testserver.Options{Answer: func(r testserver.Request) testserver.Reply {
		now := waiting.Add(1)
		defer waiting.Add(-1)
		slot.Lock()
		defer slot.Unlock()
		for was := most.Load(); now > was && !most.CompareAndSwap(was, now); was = most.Load() {
		}
		time.Sleep(20 * time.Millisecond)
		return testserver.Continue(r)
	}})
	start(t, nil, runLeakage(s, writeSuite(t, 8), filepath.Join(t.TempDir(), "run"))...).expect(0)
	askedOnce(t, s, 80)
	if most.Load() > 8 {
		t.Errorf("%d requests at once for one slot", most.Load())
	}
}

// A damaged answer is asked for again, alone, and the program says so once; until then an export says what it lacks.
func TestDamagedAnswer(t *testing.T) {
	t.Parallel()
	s := newServer(t, testserver.Options{})
	suite, out := writeSuite(t, 2), filepath.Join(t.TempDir(), "run")
	args := runLeakage(s, suite, out)
	calm := start(t, nil, args...).expect(0).stdout.String()
	askedOnce(t, s, 20)
	file := filepath.Join(out, "answers.db")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.LastIndex(text, []byte("Number 1 likes bread"))
	text[at] ^= 4
	if err := os.WriteFile(file, text, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"jsonl", "csv"} {
		p := start(t, nil, "export", out, "--answers", "--format", format).expect(3, "answers that are lost and left out: 1 (")
		if lines := strings.Count(p.stdout.String(), "\n"); format == "jsonl" && lines != 19 || format == "csv" && lines != 20 {
			t.Errorf("%d lines as %s", lines, format)
		}
	}
	p := start(t, nil, args...).expect(0, "1 saved answer could not be read and had to be asked for again")
	if strings.Count(p.stderr.String(), "does not match its checksum") != 1 || p.stdout.String() != calm {
		t.Errorf("stderr:\n%s\nfigures:\n%s", p.stderr.String(), p.stdout.String())
	}
	if stats := s.Stats(); len(stats.Requests) != 20 || stats.Answered != 21 {
		t.Errorf("%d requests, %d answered", len(stats.Requests), stats.Answered)
	}
	p = start(t, nil, args...).expect(0, "20 answers, 20 of them from an earlier run")
	if strings.Contains(p.stderr.String(), "checksum") || s.Stats().Answered != 21 {
		t.Errorf("stderr:\n%s", p.stderr.String())
	}
	start(t, nil, "export", out, "--answers").expect(0)

	// An empty manifest is no run; without it the answers are found all the same.
	manifest := filepath.Join(out, "manifest.json")
	if err := os.WriteFile(manifest, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	start(t, nil, args...).expect(2, manifest+": is empty, as after a power failure: delete it and run the same command again")
	if err := os.Remove(manifest); err != nil {
		t.Fatal(err)
	}
	start(t, nil, args...).expect(0, "20 answers, 20 of them from an earlier run")
	if s.Stats().Answered != 21 {
		t.Errorf("%d answered", s.Stats().Answered)
	}
}
