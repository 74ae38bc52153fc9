package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"crosstalk/internal/testing/testserver"
)

// counting is a server that counts the answers it begins.
func counting(t *testing.T, o testserver.Options) (*testserver.Server, *atomic.Int64) {
	n := new(atomic.Int64)
	o.Answer = func(r testserver.Request) testserver.Reply { n.Add(1); return testserver.Continue(r) }
	return newServer(t, o), n
}

// holding returns a server that begins at most this many answers until let is called.
// A run cannot end before a test has done something to it.
func holding(t *testing.T, answers int64) (s *testserver.Server, begun *atomic.Int64, let func()) {
	begun, held := new(atomic.Int64), make(chan struct{})
	let = sync.OnceFunc(func() { close(held) })
	s = newServer(t, testserver.Options{Answer: func(r testserver.Request) testserver.Reply {
		if begun.Add(1) > answers {
			<-held
		}
		return testserver.Continue(r)
	}})
	t.Cleanup(let)
	return s, begun, let
}

// brake holds the answers above a limit until it is raised.
type brake struct{ begun, limit atomic.Int64 }

func (b *brake) begin() {
	for n := b.begun.Add(1); n > b.limit.Load(); time.Sleep(time.Millisecond) {
	}
}

// askedOnce checks that the server has answered this many requests, each once.
func askedOnce(t *testing.T, s *testserver.Server, asks int) {
	t.Helper()
	stats := s.Stats()
	if len(stats.Requests) != asks || stats.Answered != asks {
		t.Errorf("the server was asked for %d answers and gave %d; want %d of each", len(stats.Requests), stats.Answered, asks)
	}
	for _, r := range stats.Requests {
		if r.Answered > 1 {
			t.Errorf("an ask was answered %d times", r.Answered)
		}
	}
}

// An interrupt stops a run with nothing lost, and the same command asks for
// the rest.
func TestInterrupt(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			s, begun, let := holding(t, 40)
			suite, out := writeSuite(t, 20), filepath.Join(t.TempDir(), "run")
			args := runLeakage(s, suite, out, "--concurrency", "1")
			p := start(t, []string{graceVariable + "=5m"}, args...)
			until(t, "answers", func() bool { return begun.Load() == 41 })
			p.cmd.Process.Signal(signal)
			how := "; interrupt again to stop now"
			if signal == syscall.SIGTERM {
				how = ", for at most 5m" + how
			}
			until(t, "the command to say so", func() bool { return strings.Contains(p.stderr.String(), how) })
			let()
			p.expect(130, "stopping after the requests in flight"+how, "; run the same command again to resume")
			stats, saved := s.Stats(), len(journalled(t, out))
			if stats.Attempts != stats.Answered || stats.Answered != saved || saved != 41 {
				t.Errorf("%d asks were sent, %d answered, %d saved", stats.Attempts, stats.Answered, saved)
			}
			if says := fmt.Sprintf("interrupted: %d of 200 requests are answered and saved in %s", saved, out); !strings.Contains(p.stderr.String(), says) {
				t.Errorf("stderr does not say %q:\n%s", says, p.stderr.String())
			}
			if files, _ := filepath.Glob(filepath.Join(out, "*[ns].json*")); len(files) != 0 {
				t.Errorf("figures of a part: %v", files)
			}
			p = start(t, nil, args...).expect(0, fmt.Sprintf("200 answers, %d of them from an earlier run", saved))
			askedOnce(t, s, 200)
			if p.stdout.String() != readFile(t, out, "estimates.json") {
				t.Error("stdout is not estimates.json")
			}
			noKey(t, out)
			start(t, nil, args...).expect(0, "200 answers, 200 of them from an earlier run")
			askedOnce(t, s, 200)
		})
	}
}

// After SIGTERM a run waits for requests in flight no longer than the scheduler
// lets it, and what came by then is saved.
func TestGrace(t *testing.T) {
	t.Parallel()
	s, begun, let := holding(t, 40)
	suite, out := writeSuite(t, 20), filepath.Join(t.TempDir(), "run")
	args := runLeakage(s, suite, out, "--concurrency", "1")
	p := start(t, []string{graceVariable + "=50ms"}, args...)
	until(t, "answers", func() bool { return begun.Load() == 41 })
	p.cmd.Process.Signal(syscall.SIGTERM)
	p.expect(130, "stopping after the requests in flight, for at most 50ms", "; run the same command again to resume")
	if saved := len(journalled(t, out)); saved != 40 {
		t.Errorf("%d answers are saved, want 40", saved)
	}
	let()
	start(t, nil, args...).expect(0, "200 answers, 40 of them from an earlier run")
}

// A resumed run that is interrupted at once counts what was saved before.
func TestInterruptedResume(t *testing.T) {
	t.Parallel()
	var answers brake
	s := newServer(t, testserver.Options{Answer: func(r testserver.Request) testserver.Reply {
		answers.begin()
		return testserver.Continue(r)
	}})
	suite, out := writeSuite(t, 10), filepath.Join(t.TempDir(), "run")
	args := runLeakage(s, suite, out, "--concurrency", "1")
	for _, want := range []int64{30, 60, 90} {
		answers.limit.Store(want - 1)
		p := start(t, nil, args...)
		until(t, "answers", func() bool { return answers.begun.Load() == want })
		p.cmd.Process.Signal(syscall.SIGINT)
		until(t, "the command to say so", func() bool { return strings.Contains(p.stderr.String(), "interrupt again") })
		answers.limit.Store(want)
		p.expect(130, fmt.Sprintf("interrupted: %d of 100 requests are answered", want))
	}
	answers.limit.Store(100)
	start(t, nil, args...).expect(0)
	askedOnce(t, s, 100)
}

// The second interrupt does not wait for a server that hangs.
func TestInterruptTwice(t *testing.T) {
	t.Parallel()
	s := newServer(t, testserver.Options{Faults: map[testserver.Fault]float64{"hang": 1}})
	out := filepath.Join(t.TempDir(), "run")
	p := start(t, nil, runLeakage(s, writeSuite(t, 10), out)...)
	until(t, "the server to hang", func() bool { return s.Stats().InFlight == 1 })
	p.cmd.Process.Signal(syscall.SIGINT)
	until(t, "the command to say so", func() bool { return strings.Contains(p.stderr.String(), "interrupt again") })
	p.cmd.Process.Signal(syscall.SIGINT)
	p.expect(130, "interrupted: 0 of 100 requests are answered")
	if stats := s.Stats(); stats.Attempts != 1 {
		t.Errorf("%d attempts; want 1", stats.Attempts)
	}
}

// An interrupt ends the wait for a retry.
func TestInterruptBeforeRetry(t *testing.T) {
	t.Parallel()
	s := newServer(t, testserver.Options{RetryAfter: 5 * time.Minute,
		Faults: map[testserver.Fault]float64{"429-seconds": 1}})
	p := start(t, nil, runLeakage(s, writeSuite(t, 1), filepath.Join(t.TempDir(), "run"))...)
	until(t, "the server's refusals", func() bool { st := s.Stats(); return st.Attempts > 0 && st.InFlight == 0 })
	until(t, "the trouble on stderr", func() bool { return strings.Contains(p.stderr.String(), "limits the rate of requests (HTTP 429") })
	p.cmd.Process.Signal(syscall.SIGINT)
	p.expect(130, "0/10 requests", "interrupted: 0 of 10 requests are answered")
}

// One run directory has one writer; who comes second does it no harm.
func TestSecondWriter(t *testing.T) {
	t.Parallel()
	s, begun, let := holding(t, 8)
	suite, out := writeSuite(t, 5), filepath.Join(t.TempDir(), "run")
	args := runLeakage(s, suite, out, "--concurrency", "1")
	first := start(t, nil, args...)
	until(t, "answers", func() bool { return begun.Load() == 9 })
	start(t, nil, args...).expect(2, out+"/answers.db: another crosstalk is writing to this run: wait for it to end, or use another --out")
	let()
	first.expect(0)
	askedOnce(t, s, 50)
}

// A run whose directory is taken away stops, and does not say that what was in
// it is saved there.
func TestVanishedDirectory(t *testing.T) {
	t.Parallel()
	s, n := counting(t, testserver.Options{Latency: 30 * time.Millisecond})
	suite, out := writeSuite(t, 40), filepath.Join(t.TempDir(), "run")
	p := start(t, nil, runLeakage(s, suite, out, "--concurrency", "4")...)
	until(t, "answers", func() bool { return n.Load() >= 20 })
	if err := os.Rename(out, out+"-away"); err != nil {
		t.Fatal(err)
	}
	p.expect(2, out+"/answers.db: was deleted or replaced during the run; what was answered since then is not saved")
	if strings.Contains(p.stderr.String(), "saved in "+out) || s.Stats().Attempts >= 400 {
		t.Errorf("after %d asks:\n%s", s.Stats().Attempts, p.stderr.String())
	}
}
