package annotate

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"crosstalk/labels"
)

// longestComment is the maximum length of a comment in characters.
const longestComment = 4000

// answer saves an answer, then leads to the next question. An answer that came
// before, as a form that is sent twice, changes nothing.
func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	q, annotator, err := s.find(r)
	if err == nil && annotator == "" {
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return
	}
	if err == nil {
		err = r.ParseForm()
	}
	if err != nil {
		s.fail(w, r, formError(err))
		return
	}
	given, err := read(r, annotator, time.Now())
	if err == nil {
		err = s.save(q, given)
	}
	if err != nil {
		var trouble *statusError
		if errors.As(err, &trouble) && trouble.status == http.StatusUnprocessableEntity {
			err = s.showNext(w, r, q, annotator, given, trouble.message)
		}
		if err != nil {
			s.fail(w, r, err)
		}
		return
	}
	http.Redirect(w, r, "/"+q.Question.Name, http.StatusSeeOther)
}

// formError is the error of a form that cannot be read.
func formError(err error) error {
	var known *statusError
	if errors.As(err, &known) {
		return known
	}
	return &statusError{http.StatusBadRequest, "The form cannot be read."}
}

// read reads an answer from a form.
func read(r *http.Request, annotator string, now time.Time) (labels.Answer, error) {
	a := labels.Answer{ID: r.PostForm.Get("id"), Shown: r.PostForm.Get("label"), Annotator: annotator, When: now,
		Comment: strings.TrimSpace(strings.ReplaceAll(r.PostForm.Get("comment"), "\r\n", "\n"))}
	if codes := r.PostForm["reason"]; len(codes) > 0 {
		a.Shown = strings.Join(append(codes, a.Shown), ";")
	}
	if utf8.RuneCountInString(a.Comment) > longestComment {
		return a, &statusError{http.StatusUnprocessableEntity, "The comment is longer than " + strconv.Itoa(longestComment) + " characters."}
	}
	if shown, err := strconv.ParseInt(r.PostForm.Get("shown"), 10, 64); err == nil {
		away, _ := strconv.ParseInt(r.PostForm.Get("away"), 10, 64) // nothing without the script
		if took := now.Sub(time.UnixMilli(shown + max(away, 0))); took > 0 && took < mostThought {
			a.Seconds = took.Round(100 * time.Millisecond).Seconds()
		}
	}
	for _, place := range r.PostForm["mark"] {
		from, to, _ := strings.Cut(place, "-")
		start, err1 := strconv.Atoi(from)
		end, err2 := strconv.Atoi(to)
		if err1 != nil || err2 != nil {
			return a, &statusError{http.StatusBadRequest, "The form has been changed."}
		}
		a.Words = append(a.Words, [2]int{start, end})
	}
	return a, nil
}

// mostThought is the longest time that an answer can have taken: who left the
// page open for longer did something else.
const mostThought = 24 * time.Hour

// save puts an answer on the disk.
func (s *Server) save(q *sheet, given labels.Answer) error {
	if !slices.ContainsFunc(q.of(s.design, given.Annotator, s.options.Sample.Seed), func(a labels.Asked) bool { return a.ID == given.ID }) {
		return &statusError{http.StatusBadRequest, "This question is not one of yours. Go on with the next one."}
	}
	label, err := q.Label(given)
	if err != nil {
		return &statusError{http.StatusUnprocessableEntity, "Choose an answer: " + err.Error() + "."}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.log.Refresh(); err != nil {
		return err
	}
	old, _, found := s.log.Find(label.Annotator, label.Key())
	if found && old.Label == label.Label && old.Comment == label.Comment && slices.Equal(old.Words, label.Words) {
		return nil
	}
	return labels.Append(s.run, label)
}

// undo withdraws the last answer. Its comment and marked words stay with the
// question, which is shown again.
func (s *Server) undo(w http.ResponseWriter, r *http.Request) {
	q, annotator, err := s.find(r)
	if err == nil && annotator != "" {
		err = s.withdraw(q, annotator)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	http.Redirect(w, r, "/"+r.PathValue("question"), http.StatusSeeOther)
}

func (s *Server) withdraw(q *sheet, annotator string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	st, err := s.stateOf(q, annotator)
	if err != nil || st.last < 0 {
		return err
	}
	u, _ := q.Unit(st.asked[st.last].ID)
	label, _, _ := s.log.Find(annotator, u.Key())
	label.Label, label.When, label.Seconds = "", time.Now().UTC(), 0
	return labels.Append(s.run, label)
}
