package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"crosstalk/ask"
	"crosstalk/internal/jsonlog"
	"crosstalk/internal/statusline"
)

// progress shows the progress of a run on stderr, the first time soon.
type progress struct {
	line    *statusline.Line
	session *ask.Session
	total   int
	started time.Time
	log     *jsonlog.Writer // nil: for people
	trouble string          // the last failure that was printed, at told
	told    time.Time
	done    chan struct{}
	once    sync.Once
	ended   sync.WaitGroup
}

func startProgress(w io.Writer, s *ask.Session, total int, quiet bool) *progress {
	p := &progress{line: statusline.New(w), session: s, total: total, started: time.Now(), done: make(chan struct{})}
	p.log, _ = w.(*jsonlog.Writer)
	if quiet {
		return p
	}
	p.ended.Add(1)
	go func() {
		defer p.ended.Done()
		tick := time.NewTimer(min(p.line.Every(), 2*time.Second))
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				p.show()
				tick.Reset(p.line.Every())
			case <-p.done:
				p.line.Clear()
				return
			}
		}
	}()
	return p
}

// stop ends the display. It can be called more than once.
func (p *progress) stop() {
	p.once.Do(func() { close(p.done) })
	p.ended.Wait()
}

func (p *progress) show() {
	s, took := p.session.Stats(), time.Since(p.started)
	if p.log != nil {
		p.log.Log("progress", "done", s.Done, "requests", max(s.Done, p.total), "failed", s.Failed, "saved", s.Cached, "retries", s.Retries,
			"rate", float64(s.Done-s.Cached)/took.Seconds(), "tokens", s.Usage.Prompt+s.Usage.Completion, "cost", s.Cost, "trouble", s.Trouble)
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d/%d requests", s.Done, max(s.Done, p.total))
	if s.Batches.N > 0 {
		b.WriteString("; waiting for " + s.Batches.Text())
	} else if asked := s.Done - s.Cached; asked > 0 {
		rate := float64(asked) / took.Seconds()
		left := time.Duration(float64(max(0, p.total-s.Done)) / rate * float64(time.Second))
		fmt.Fprintf(&b, ", %.1f/s, %v left", rate, left.Round(time.Second))
	}
	if s.Failed > 0 {
		fmt.Fprintf(&b, ", %d failed", s.Failed)
	}
	if s.Retries > 0 {
		fmt.Fprintf(&b, ", %d retries", s.Retries)
	}
	if tokens := s.Usage.Prompt + s.Usage.Completion; tokens > 0 {
		fmt.Fprintf(&b, ", %d tokens", tokens)
	}
	if s.Cost > 0 {
		fmt.Fprintf(&b, ", cost %.4f", s.Cost)
	}
	for _, w := range s.Waits {
		b.WriteString("; " + w.Text(time.Now()))
	}
	if s.Trouble != p.trouble && time.Since(p.told) > 5*time.Second {
		p.trouble, p.told = s.Trouble, time.Now()
		p.line.Note("request failed, retrying: " + p.trouble)
	}
	p.line.Show(b.String())
}

// onInterrupt makes the first interrupt stop the session, which lets requests
// in flight finish, and the second cancel the context. After SIGTERM, with which
// a scheduler takes a machine back, the context is cancelled when grace is over:
// the process ends before it is killed, and what has arrived is saved. release
// undoes this.
func onInterrupt(ctx context.Context, stderr io.Writer, s *ask.Session, grace time.Duration) (_ context.Context, release func()) {
	ctx, cancel := context.WithCancel(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		var over <-chan time.Time
		select {
		case got := <-signals:
			how := "; interrupt again to stop now"
			if got == syscall.SIGTERM {
				how = fmt.Sprintf(", for at most %v%s", grace, how)
				over = time.After(grace)
			}
			fmt.Fprintln(stderr, "\nstopping after the requests in flight"+how)
			s.Stop()
		case <-ctx.Done():
			return
		}
		select {
		case <-signals:
			cancel()
		case <-over:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, func() { signal.Stop(signals); cancel() }
}
