package watch

import (
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/internal/duration"
	"crosstalk/internal/statusline"
)

type progress struct {
	line    *statusline.Line
	session *ask.Session
	planned int
	started time.Time
	trouble string // the last failure that was printed, at told
	told    time.Time
}

// Show writes how far a session has come, of the requests that are planned, until stop is called, which can be done
// more than once: one line that is rewritten on a terminal, else an occasional line. The first comes soon.
func Show(w io.Writer, s *ask.Session, planned int) (stop func()) {
	p := newProgress(w, s, planned)
	return p.line.Repeat(p.show)
}

// ShowScored writes how many answers have been scored, of the observations that an observer (study.Study.Observe) is
// given, until stop is called, which can be done more than once. The observer that it returns passes them on.
func ShowScored(w io.Writer, observe func(crosstalk.Observation)) (counting func(crosstalk.Observation), stop func()) {
	var n atomic.Int64
	var last crosstalk.Observation
	counting = func(o crosstalk.Observation) {
		observe(o)
		if o.Item != last.Item || o.Sample != last.Sample || o.Variant != last.Variant {
			n.Add(1)
		}
		last = o
	}
	line := statusline.New(w)
	return counting, line.Repeat(func() {
		if n := n.Load(); n > 0 {
			line.Show(fmt.Sprintf("%d answers scored", n))
		}
	})
}

func newProgress(w io.Writer, s *ask.Session, planned int) *progress {
	return &progress{line: statusline.New(w), session: s, planned: planned, started: time.Now()}
}

func (p *progress) show() {
	s, took := p.session.Stats(), time.Since(p.started)
	var b strings.Builder
	fmt.Fprintf(&b, "%d/%d requests", s.Done, max(s.Done, p.planned))
	if s.Batches.N > 0 {
		b.WriteString("; waiting for " + s.Batches.Text())
	} else if asked := s.Done - s.Cached; asked > 0 {
		rate := float64(asked) / took.Seconds()
		left := time.Duration(float64(max(0, p.planned-s.Done)) / rate * float64(time.Second))
		fmt.Fprintf(&b, ", %.1f/s, %s left", rate, duration.Text(left.Round(time.Second)))
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
	for _, wait := range s.Waits {
		b.WriteString("; " + wait.Text(time.Now()))
	}
	if s.Trouble != p.trouble && time.Since(p.told) > 5*time.Second {
		p.trouble, p.told = s.Trouble, time.Now()
		p.line.Note("request failed, retrying: " + p.trouble)
	}
	p.line.Show(b.String())
}
