package annotate

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"crosstalk/labels"
	"crosstalk/web/access"
)

// longestComment is the maximum length of a comment in characters.
const longestComment = 4000

// handler handles a request of a known annotator. What it returns is shown.
type handler func(w http.ResponseWriter, r *http.Request, annotator string) error

// known calls a handler if it is known who sends the request. Others go to the page
// that asks for a name.
func (s *Server) known(handle handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		annotator := s.annotator(r)
		if annotator == "" {
			http.Redirect(w, r, "/", http.StatusSeeOther)
			return
		}
		if err := handle(w, r, annotator); err != nil {
			s.fail(w, r, err)
		}
	}
}

// ofSheet is known, with the sheet of the question in the path.
func (s *Server) ofSheet(handle func(http.ResponseWriter, *http.Request, *sheet, string) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		i := slices.IndexFunc(s.sheets, func(q *sheet) bool { return q.Question.Name == r.PathValue("question") })
		if i < 0 {
			s.fail(w, r, errNothing)
			return
		}
		s.known(func(w http.ResponseWriter, r *http.Request, annotator string) error {
			return handle(w, r, s.sheets[i], annotator)
		})(w, r)
	}
}

// answer saves an answer, then leads to the next question. An answer that came
// before, as a form that is sent twice, changes nothing.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, q *sheet, annotator string) error {
	if err := r.ParseForm(); err != nil {
		return formError(err)
	}
	given, err := read(r, annotator, time.Now())
	if err == nil {
		err = s.save(q, given)
	}
	var trouble *access.Error
	if errors.As(err, &trouble) && trouble.Status == http.StatusUnprocessableEntity {
		return s.showNext(w, r, q, annotator, given, trouble.Message)
	}
	if err != nil {
		return err
	}
	http.Redirect(w, r, "/"+q.Question.Name, http.StatusSeeOther)
	return nil
}

// formError is the error of a form that cannot be read.
func formError(err error) error {
	var known *access.Error
	if errors.As(err, &known) {
		return known
	}
	return &access.Error{Status: http.StatusBadRequest, Message: "The form cannot be read."}
}

// read reads an answer from a form.
func read(r *http.Request, annotator string, now time.Time) (labels.Answer, error) {
	a := labels.Answer{ID: r.PostForm.Get("id"), Shown: r.PostForm.Get("label"), Annotator: annotator, When: now,
		Comment: strings.TrimSpace(strings.ReplaceAll(r.PostForm.Get("comment"), "\r\n", "\n"))}
	if codes := r.PostForm["reason"]; len(codes) > 0 {
		a.Shown = strings.Join(append(codes, a.Shown), ";")
	}
	if utf8.RuneCountInString(a.Comment) > longestComment {
		return a, &access.Error{Status: http.StatusUnprocessableEntity,
			Message: fmt.Sprintf("The comment is longer than %d characters.", longestComment)}
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
			return a, &access.Error{Status: http.StatusBadRequest, Message: "The form has been changed."}
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
	asked := q.of(s.design, given.Annotator, s.options.Sample.Seed)
	if !slices.ContainsFunc(asked, func(a labels.Asked) bool { return a.ID == given.ID }) {
		return &access.Error{Status: http.StatusBadRequest,
			Message: "This question is not one of yours. Go on with the next one."}
	}
	label, err := q.Label(given)
	if err != nil {
		return &access.Error{Status: http.StatusUnprocessableEntity, Message: "Choose an answer: " + err.Error() + "."}
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
func (s *Server) undo(w http.ResponseWriter, r *http.Request, q *sheet, annotator string) error {
	if err := s.withdraw(q, annotator); err != nil {
		return err
	}
	http.Redirect(w, r, "/"+q.Question.Name, http.StatusSeeOther)
	return nil
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
