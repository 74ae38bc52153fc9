package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"crosstalk"
	"crosstalk/internal/visible"
	"crosstalk/web/index"
)

// progress is the progress of a run and its index, in words.
type progress struct {
	State    string // "finished", "running", ...
	Asks     string // number of completed requests
	Detail   string
	Index    string // what is missing from the index
	Done     int    // of Of; both 0: unknown
	Of       int
	Latest   []latestAnswer
	Running  bool // answers may arrive
	Changing bool // the page will change soon
	Version  string
}

// quiet is the time without an answer after which a run is assumed to have
// stopped.
const quiet = time.Minute

// progressOf returns the progress of a run, with counts of its answers if tally
// is set.
func progressOf(run *runEntry, l openRun, tally bool) (p progress) {
	if !tally {
		p.Changing = !run.finished
		p.indexed(l)
		return p
	}
	c := l.tally.now()
	p.Version = fmt.Sprint(run.stamp)
	again := run.finished && c.Last.After(run.stamp[1].time)
	silent := time.Since(c.Last) > quiet
	switch {
	case run.finished && (!again || silent):
		p.State = "finished"
	case c.Done() == 0 && time.Since(run.Changed) > quiet:
		p.State = "not finished and not running; run the same command again to resume it"
	case c.Done() > 0 && silent:
		p.State = "no answer for " + duration(time.Since(c.Last)) + ": waiting or stopped"
	default:
		p.State = "running"
	}
	p.Running = !run.finished || again && !silent
	p.Changing = p.Running
	if p.Done, p.Of = c.Done(), max(run.Manifest.Asks, c.Done()); run.Manifest.Asks == 0 {
		p.Of = 0
	}
	if p.Done > 0 {
		p.Asks = number(p.Done, "answer", "answers")
		if p.Of > 0 {
			p.Asks = fmt.Sprintf("%s of %s requests", count(p.Done), count(p.Of))
		}
		p.Detail = c.detail(p)
	}
	if p.Running {
		p.Latest = c.Latest
	}
	if c.Err != nil {
		p.Detail = joined(p.Detail, "cannot read the journal: "+visible.Line(c.Err.Error()))
	}
	p.indexed(l)
	return p
}

// detail is the rate, the time left, and the counts of answers so far.
func (c counts) detail(p progress) string {
	var parts []string
	if p.Changing && c.Rate > 0 {
		parts = append(parts, fmt.Sprintf("%.1f/s", c.Rate))
		if left := p.Of - p.Done; left > 0 {
			parts = append(parts, "about "+duration(time.Duration(float64(left)/c.Rate*float64(time.Second)))+" left")
		}
	}
	for _, s := range []crosstalk.Status{crosstalk.Empty, crosstalk.Refused, crosstalk.Failed} {
		if n := c.ByStatus[s]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", count(n), s))
		}
	}
	if c.Tokens > 0 {
		parts = append(parts, count(c.Tokens)+" tokens")
	}
	if c.Partial {
		parts = append(parts, "still counting")
	}
	return joined(parts...)
}

// indexed sets the progress of the index.
func (p *progress) indexed(l openRun) {
	switch {
	case l.err != nil:
		p.Index = "Cannot index the answers: " + visible.Line(l.err.Error())
	case l.index != nil:
		s := l.index.Progress()
		switch {
		case s.Err != nil:
			p.Index = "Cannot index all answers: " + visible.Line(s.Err.Error())
		case s.Building:
			p.Changing = true
			p.Index = "Indexing the answers: " + indexing(s)
		}
	}
}

func indexing(s index.State) string {
	share := 0.0
	if s.Size > 0 {
		share = 100 * float64(s.Read) / float64(s.Size)
	}
	return fmt.Sprintf("%.0f %% of %s, %s so far.", share, size(s.Size), number(s.Answers, "answer", "answers"))
}

// live sends the progress of a run to the script.
func (s *Server) live(w http.ResponseWriter, r *http.Request, run *runEntry, l openRun) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(progressOf(run, l, true))
}
