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

// progress is how far a run and its index are, in words.
type progress struct {
	State    string // "finished", "working", ...
	Asks     string // how many are done with
	Detail   string
	Index    string // what the index lacks
	Done     int    // of Of; both 0: not known
	Of       int
	Latest   []latestAnswer
	Changing bool // the page will be another soon
	Version  string
}

// quiet is how long no answer comes before a run is taken to have stopped.
const quiet = time.Minute

// progressOf says how far a run is, and with a tally how many answers it has.
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
		p.State = "not finished, and not at work: the command that began it goes on with it"
	case c.Done() > 0 && silent:
		p.State = "no answer for " + duration(time.Since(c.Last)) + ": it waits, or was stopped"
	default:
		p.State = "working"
	}
	p.Changing = !run.finished || again && !silent
	if p.Done, p.Of = c.Done(), max(run.Manifest.Asks, c.Done()); run.Manifest.Asks == 0 {
		p.Of = 0
	}
	if p.Done > 0 {
		p.Asks = number(p.Done, "answer", "answers")
		if p.Of > 0 {
			p.Asks = fmt.Sprintf("%s of %s asks", count(p.Done), count(p.Of))
		}
		p.Detail = c.detail(p)
	}
	if p.Changing {
		p.Latest = c.Latest
	}
	if c.Err != nil {
		p.Detail = joined(p.Detail, "the journal cannot be read: "+visible.Line(c.Err.Error()))
	}
	p.indexed(l)
	return p
}

// detail says what is worth knowing of the answers so far.
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

// indexed says how far the index is.
func (p *progress) indexed(l openRun) {
	switch {
	case l.err != nil:
		p.Index = "The answers cannot be looked through: " + visible.Line(l.err.Error())
	case l.index != nil:
		s := l.index.Progress()
		switch {
		case s.Err != nil:
			p.Index = "The answers cannot all be looked through: " + visible.Line(s.Err.Error())
		case s.Building:
			p.Changing = true
			p.Index = "The index of the answers is being built: " + indexing(s)
		}
	}
}

func indexing(s index.State) string {
	share := 0.0
	if s.Size > 0 {
		share = 100 * float64(s.Read) / float64(s.Size)
	}
	return fmt.Sprintf("%.0f %% of %s read, %s so far can be looked through.", share, size(s.Size), number(s.Answers, "answer", "answers"))
}

// live tells the script how far a run is.
func (s *Server) live(w http.ResponseWriter, r *http.Request) {
	run, err := s.listing.run(r.PathValue("run"))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	l, done := s.runs.open(run)
	defer done()
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(progressOf(run, l, true))
}
