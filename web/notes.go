package web

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"crosstalk/internal/visible"
	"crosstalk/labels"
	"crosstalk/web/access"
	"crosstalk/web/index"
)

// notebook keeps a run's notes as they were last read.
type notebook struct {
	mu      sync.Mutex
	stamp   fileStamp
	answers int // of the index
	marks
}

// marks are the notes of a run, and the answers that have one.
type marks struct {
	Notes    labels.Notes
	Noted    []int  // numbers, ascending
	NotError []int  // those marked as no error
	Trouble  string // why notes cannot be read
}

// read returns the notes of a run.
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

// find finds the answers of the notes.
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

// String counts the answers with a note or a mark in a sentence, "" if none has one.
func (m marks) String() string {
	if m.Trouble != "" {
		return m.Trouble
	}
	return labels.Noted{Answers: len(m.Noted), NotError: len(m.NotError)}.String()
}

// note keeps a note on an answer, and leads back to where it was written.
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
		n.NotError = mark[len(mark)-1] == "1" // a checkbox follows the value of an unchecked one
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
		to = (&url.URL{Path: path, RawQuery: at.Query().Encode(), Fragment: "answer-" + place}).String() // a list
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}
