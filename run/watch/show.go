package watch

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/internal/duration"
	"crosstalk/internal/statusline"
	"crosstalk/internal/visible"
)

// mostShards is how many shards Write lists unless all are wanted.
const mostShards = 20

// WriteJSON writes runs in the schema crosstalk/status/v1.
func WriteJSON(w io.Writer, runs []Run) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	runs = append([]Run{}, runs...) // no runs are [], not null
	return e.Encode(map[string]any{"schema": "crosstalk/status/v1", "runs": runs})
}

// Write writes how far runs have come, for people: each run, and below it all shards, or the 20 that matter.
func Write(w io.Writer, runs []Run, all bool) error {
	for i, r := range runs {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := r.write(w, all); err != nil {
			return err
		}
	}
	return nil
}

func (r Run) write(w io.Writer, all bool) error {
	fmt.Fprintf(w, "%s: %s\n", visible.Line(r.Path), r.State)
	if len(r.Models) > 0 {
		models := strings.Join(r.Models[:min(3, len(r.Models))], ", ")
		if more := len(r.Models) - 3; more > 0 {
			models += fmt.Sprintf(" and %d more", more)
		}
		fmt.Fprintf(w, "  %s, %s\n", visible.Line(r.Suite), visible.Line(models))
	}
	fmt.Fprintf(w, "  %s\n", r.Amounts())
	if r.Shards == 0 {
		for _, p := range r.Parts {
			if p.Error != "" {
				fmt.Fprintf(w, "  cannot be read: %s\n", visible.Message(visible.Line(p.Error)))
			}
		}
		return nil
	}
	counts := map[State]int{}
	for _, p := range r.Parts {
		counts[p.State]++
	}
	parts := []string{}
	for _, s := range []State{Finished, Running, Quiet, Cut, Broken} {
		if counts[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[s], s))
		}
	}
	if n := len(r.Missing); n > 0 {
		parts = append(parts, fmt.Sprintf("%d not begun", n))
	}
	fmt.Fprintf(w, "  %d shards: %s\n", r.Shards, strings.Join(parts, ", "))
	return r.writeShards(w, all)
}

func (r Run) writeShards(w io.Writer, all bool) error {
	list := r.Parts
	if !all {
		list = slices.DeleteFunc(slices.Clone(list), func(p Part) bool { return p.State == Finished && p.Failed == 0 })
		slices.SortStableFunc(list, func(a, b Part) int { return int(b.Left - a.Left) }) // the slowest first
	}
	more := 0
	if !all && len(list) > mostShards {
		list, more = list[:mostShards], len(list)-mostShards
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, p := range list {
		what := string(p.State)
		switch {
		case p.Slow:
			what = "slow"
		case p.Error != "":
			what = "cannot be read: " + visible.Message(visible.Line(p.Error))
		case p.State == Quiet && !p.Last.IsZero():
			what = "no answer since " + p.Last.Local().Format("2006-01-02 15:04")
		case p.State == Quiet && p.Requests > 0:
			what = "no answer yet"
		case p.State == Quiet: // it scores recorded answers, or plans
			what = "not finished"
		}
		fmt.Fprintf(t, "  %v\t%s\t%s\n", p.Shard, p.amounts(), what)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if more > 0 {
		fmt.Fprintf(w, "  and %d more (--all)\n", more)
	}
	return nil
}

// Amounts are the counts of a run in words.
func (r Run) Amounts() string {
	if r.planned() < r.Shards {
		return strings.Replace(r.amounts(), " of ", " of about ", 1)
	}
	return r.amounts()
}

func (t Totals) amounts() string {
	if t.Requests == 0 {
		return "no requests"
	}
	text := fmt.Sprintf("%d of %d requests", t.Done, t.Requests)
	if t.Failed > 0 {
		text += fmt.Sprintf(", %d failed", t.Failed)
	}
	if t.Rate > 0 {
		text += fmt.Sprintf(", %.1f/s", t.Rate)
	}
	if t.Left > 0 {
		text += ", " + duration.Text(t.Left) + " left"
	}
	if t.Cost != nil {
		text += fmt.Sprintf(", cost %.4f", *t.Cost)
	}
	return text
}

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
