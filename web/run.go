package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"crosstalk"
	"crosstalk/internal/visible"
	"crosstalk/labels"
	"crosstalk/report"
	"crosstalk/report/page"
	"crosstalk/run/watch"
	"crosstalk/study"
	"crosstalk/web/access"
	"crosstalk/web/index"
)

type runPage struct {
	frame
	Run      *runEntry
	Progress progress
	Summary  []page.Setting
	Settings []page.Setting
	Result   page.Result
	Marked   string // number of answers with a note
	Plots    []plotSVG
	Tables   []report.Table
	Found    []choice
	Answers  string // their URL
	Trouble  string
}

func (s *Server) run(w http.ResponseWriter, r *http.Request, run *runEntry, l openRun) error {
	about := run.about()
	p := runPage{Run: run, Progress: progressOf(run, l), Trouble: run.Trouble,
		Answers: "/runs/" + run.ID + "/answers"}
	p.frame = run.frame(about.Heading(), "Result")
	p.Lead, p.Trail[1].To = about.Sentence, ""
	if p.Progress.Changing {
		p.Live, p.Reload = "/runs/"+run.ID+"/live.json", true
	}
	p.Summary = slices.Concat([]page.Setting{{Name: "run", Value: run.Name}}, about.Summary(),
		[]page.Setting{{Name: "state", Value: joined(p.Progress.State, p.Progress.Asks, p.Progress.Detail)}})
	if text, err := run.manifestText(); err == nil {
		all, _ := page.Settings(text) // read without error before
		p.Settings = append([]page.Setting{page.Signatures(run.Estimates)}, all...)
	}
	p.Result = page.NewResult(run.Estimates)
	p.Tables = report.Tables(report.WorstFirst(run.Estimates))
	if l.index != nil {
		if err := p.fill(r, l); err != nil {
			return err
		}
	}
	return show(w, http.StatusOK, "run.html", p)
}

func (p *runPage) fill(r *http.Request, l openRun) error {
	pages, err := l.index.Pages(r.Context())
	if err != nil {
		return err
	}
	if pages != nil {
		if err := json.Unmarshal(pages, &p.Plots); err != nil {
			return err
		}
	}
	columns, err := l.index.Columns(r.Context())
	if err != nil {
		return err
	}
	p.Found = newFilter(r.URL, columns).findings(p.Answers)
	p.Marked = l.notes.read(r.Context(), p.Run.path, l.index).String()
	return nil
}

// progress describes the progress of a run and its index.
type progress struct {
	State    string // "finished", "running", ...
	Asks     string // number of completed requests
	Detail   string
	Index    string // what is missing from the index
	Done     int    // out of Of; both 0: unknown
	Of       int
	Latest   []latestAnswer
	Running  bool // more answers may arrive
	Changing bool // the page will change soon
	Version  string
}

type latestAnswer struct{ Prompt, Answer, Status string }

func progressOf(run *runEntry, l openRun) (p progress) {
	p.indexed(l)
	at := watch.Of(run.path, run.Manifest, nil, time.Now())
	waiting := study.Waiting(run.path)
	switch {
	case at.State == watch.Running:
		p.State = "running"
	case run.finished:
		p.State = "finished"
	case waiting != nil:
		p.State = "stopped: " + visible.Line(waiting.Error())
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

// detail returns the rate, the time left, and the counts of answers so far.
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

func latest(path string) (list []latestAnswer) {
	j, done := journalOf(path)
	defer done()
	if j == nil {
		return nil
	}
	records, _ := j.Latest(3) // detail reports an error
	for _, r := range records {
		list = append(list, latestAnswer{brief(r.Request.Text()), brief(r.Answer.Text), string(r.Answer.Status)})
	}
	return list
}

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

func (s *Server) live(w http.ResponseWriter, r *http.Request, run *runEntry, l openRun) error {
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(progressOf(run, l))
}

// notebook caches a run's notes as last read.
type notebook struct {
	mu      sync.Mutex
	stamp   fileStamp
	answers int // in the index
	marks
}

// marks contains the notes of a run, and the answers that have one.
type marks struct {
	Notes    labels.Notes
	Noted    []int  // numbers, ascending
	NotError []int  // answers marked as no error
	Trouble  string // why notes cannot be read
}

func (b *notebook) read(ctx context.Context, run string, x *index.Index) marks {
	b.mu.Lock()
	defer b.mu.Unlock()
	stamp, answers := stampOf(filepath.Join(run, labels.NotesFile)), x.Progress().Answers
	if stamp == b.stamp && (answers == b.answers || len(b.Notes) == 0) {
		return b.marks
	}
	var m marks
	var err error
	if m.Notes, err = labels.ReadNotes(run); err == nil {
		err = m.find(ctx, x)
	}
	if err != nil {
		return marks{Trouble: "Cannot read the notes: " + visible.Line(strings.ReplaceAll(err.Error(), run, "…"))}
	}
	b.stamp, b.answers, b.marks = stamp, answers, m
	return m
}

func (m *marks) find(ctx context.Context, x *index.Index) error {
	if len(m.Notes) == 0 {
		return nil
	}
	keys := map[uint64]bool{}
	for _, n := range m.Notes {
		keys[index.KeyOf(n.Item, n.Variant, n.Sample)] = true
	}
	facts, err := x.Facts(ctx, nil)
	if err != nil {
		return err
	}
	for _, f := range facts {
		if !keys[f.Key] {
			continue
		}
		list, err := x.Observations(ctx, f.Number)
		if err != nil {
			return err
		}
		note := m.Notes.Of(list[0][0])
		if !note.Empty() {
			m.Noted = append(m.Noted, f.Number)
		}
		if note.NotError {
			m.NotError = append(m.NotError, f.Number)
		}
	}
	return nil
}

// String returns a sentence with the number of answers that have a note or a mark, "" if there are none.
func (m marks) String() string {
	if m.Trouble != "" {
		return m.Trouble
	}
	return labels.Noted{Answers: len(m.Noted), NotError: len(m.NotError)}.String()
}

// note saves a note on an answer, and redirects to where it was written.
func (s *Server) note(w http.ResponseWriter, r *http.Request) error {
	run, number, observations, _, err := s.observations(r)
	if err != nil {
		return err
	}
	if r.ParseForm() != nil {
		return &access.Error{Status: http.StatusBadRequest,
			Message: "The form cannot be read. A note has at most " + count(labels.LongestNote) + " characters."}
	}
	notes, err := labels.ReadNotes(run.path)
	if err != nil {
		return err
	}
	n := notes.Of(observations[0])
	if text, ok := r.PostForm["text"]; ok {
		n.Text = strings.ReplaceAll(text[0], "\r\n", "\n")
	}
	if mark := r.PostForm["mark"]; len(mark) > 0 {
		n.NotError = mark[len(mark)-1] == "1" // a checked box follows the hidden value for an unchecked one
	}
	n.When = time.Now().UTC().Truncate(time.Second)
	err = labels.AddNote(run.path, n)
	switch {
	case errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS):
		return &access.Error{Status: http.StatusForbidden,
			Message: "The note was not saved: the run's directory is not writable."}
	case errors.As(err, new(*fs.PathError)):
		return err
	case err != nil:
		return &access.Error{Status: http.StatusUnprocessableEntity, Message: "The note was not saved: " + err.Error() + "."}
	}
	path, place := "/runs/"+run.ID+"/answers", strconv.Itoa(number)
	to := path + "/" + place + "#note"
	if at, err := url.Parse(r.PostForm.Get("back")); err == nil && at.Path == path && at.Host == "" && at.Scheme == "" {
		to = (&url.URL{Path: path, RawQuery: at.Query().Encode(), Fragment: "answer-" + place}).String() // back to a list
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}
