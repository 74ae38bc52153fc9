package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"crosstalk"
	"crosstalk/internal/visible"
	"crosstalk/run/watch"
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

// latestAnswer is a recent answer, shortened.
type latestAnswer struct{ Prompt, Answer, Status string }

// progressOf returns the progress of a run.
func progressOf(run *runEntry, l openRun) (p progress) {
	p.indexed(l)
	at := watch.Of(run.path, run.Manifest, nil, time.Now())
	switch {
	case at.State == watch.Running:
		p.State = "running"
	case run.finished:
		p.State = "finished"
	case at.Done > 0:
		p.State = "no answer for " + duration(time.Since(at.Last)) + ": waiting or stopped"
	case time.Since(run.Changed) <= watch.Silence:
		p.State = "running"
	default:
		p.State = "not finished and not running; run the same command again to resume it"
	}
	p.Version = fmt.Sprint(run.stamp)
	p.Running = !run.finished || at.State == watch.Running
	p.Changing = p.Changing || p.Running
	p.Done = at.Done
	if p.Done > 0 {
		p.Asks = number(p.Done, "answer", "answers")
		if run.Manifest.Asks > 0 {
			p.Of = at.Requests
			p.Asks = fmt.Sprintf("%s of %s requests", count(p.Done), count(p.Of))
		}
	}
	p.Detail = detail(at)
	if p.Running {
		p.Latest = latest(run.path)
	}
	return p
}

// detail is the rate, the time left, and the counts of answers so far.
func detail(at watch.Part) string {
	var parts []string
	if at.Rate > 0 {
		parts = append(parts, fmt.Sprintf("%.1f/s", at.Rate))
	}
	if at.Left > 0 {
		parts = append(parts, "about "+duration(at.Left)+" left")
	}
	for _, s := range []crosstalk.Status{crosstalk.Empty, crosstalk.Refused, crosstalk.Failed} {
		if n := at.Status[s]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", count(n), s))
		}
	}
	tokens := 0
	for _, u := range at.Usage {
		tokens += u.Prompt + u.Completion
	}
	if tokens > 0 {
		parts = append(parts, count(tokens)+" tokens")
	}
	if at.Error != "" {
		parts = append(parts, "cannot read the journal: "+visible.Line(at.Error))
	}
	return joined(parts...)
}

// latest are the latest answers of a run.
func latest(path string) (list []latestAnswer) {
	j, done := journalOf(path)
	defer done()
	if j == nil {
		return nil
	}
	records, _ := j.Latest(3) // an error is in the detail
	for _, r := range records {
		list = append(list, latestAnswer{brief(r.Request.Text()), brief(r.Answer.Text), string(r.Answer.Status)})
	}
	return list
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
func (s *Server) live(w http.ResponseWriter, r *http.Request, run *runEntry, l openRun) error {
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(progressOf(run, l))
}
