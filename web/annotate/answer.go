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

// shown returns a handler that shows errors of handle.
func (s *Server) shown(handle func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := handle(w, r); err != nil {
			s.fail(w, r, err)
		}
	}
}

// known calls handle if the sender is known. Others are sent to the page that asks for a name.
func (s *Server) known(handle func(w http.ResponseWriter, r *http.Request, annotator string) error) http.HandlerFunc {
	return s.shown(func(w http.ResponseWriter, r *http.Request) error {
		annotator := s.annotator(r)
		if annotator == "" {
			http.Redirect(w, r, "/", http.StatusSeeOther)
			return nil
		}
		return handle(w, r, annotator)
	})
}

// ofSheet is like known, with the sheet of the question in the path.
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

// answer saves an answer, then redirects to the next question. An answer that arrived before, such as a form sent
// twice, changes nothing.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, q *sheet, annotator string) error {
	if r.ParseForm() != nil {
		return &access.Error{Status: http.StatusBadRequest, Message: "The form cannot be read."}
	}
	given, err := read(r, annotator, time.Now())
	given.Decides = s.decides()
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
		away, _ := strconv.ParseInt(r.PostForm.Get("away"), 10, 64) // 0 without the script
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

func (s *Server) save(q *sheet, given labels.Answer) error {
	asked := s.of(q, given.Annotator)
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
	old, _, found := s.log.Find(label.Annotator, label.Key(), label.Decides)
	if found && old.Label == label.Label && old.Comment == label.Comment && slices.Equal(old.Words, label.Words) {
		return nil
	}
	return labels.Append(s.run, label)
}

// undo withdraws the last answer. Its comment and marked words stay with the question, which is shown again.
func (s *Server) undo(w http.ResponseWriter, r *http.Request, q *sheet, annotator string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	st, err := s.stateOf(q, annotator)
	if err == nil && st.last >= 0 {
		u, _ := q.Unit(st.asked[st.last].ID)
		label, _, _ := s.log.Find(annotator, u.Key(), s.decides())
		label.Label, label.When, label.Seconds = "", time.Now().UTC(), 0
		err = labels.Append(s.run, label)
	}
	if err == nil {
		http.Redirect(w, r, "/"+q.Question.Name, http.StatusSeeOther)
	}
	return err
}

// askPage is a question as shown to an annotator. It contains nothing else about the run.
type askPage struct {
	frame
	Path     string // of the question
	ID       string
	Text     string
	Guide    []string
	First    bool // the annotator has not answered any question yet
	Done     int
	Of       int
	Topic    string // X
	Question string // the question that both sides answer
	Sides    []sideView
	Choices  []choiceView
	Several  bool
	Codes    []string // codes used before
	Comment  string
	Shown    int64     // time in milliseconds
	Undo     bool      // there is an answer to withdraw
	Others   []opinion // opinions that an adjudicator decides between
	Trouble  string
}

type sideView struct {
	Name   string // A or B; empty: there is only one
	Given  string // what it answers
	Pieces []piece
}

// piece is a part of a text. If it is a word, it has its offset.
type piece struct {
	Text   string
	Place  string
	Marked bool
}

type choiceView struct{ Label, Key string }

func (s *Server) ask(w http.ResponseWriter, r *http.Request, q *sheet, annotator string) error {
	return s.showNext(w, r, q, annotator, labels.Answer{}, "")
}

// showNext shows the next question. trouble is the error in the given answer, whose marks and comment are kept.
func (s *Server) showNext(
	w http.ResponseWriter, r *http.Request, q *sheet, annotator string, given labels.Answer, trouble string,
) error {
	st, given, codes, err := s.next(q, annotator, given)
	if err != nil {
		return err
	}
	p := askPage{frame: s.frame(r, q.Question.Title), Path: q.Question.Name, Done: st.done, Of: len(st.asked),
		Undo: st.last >= 0, Trouble: trouble}
	if st.next < 0 {
		p.Title = "All questions are answered"
		return show(w, http.StatusOK, "done.html", p)
	}
	p.Title = fmt.Sprintf("Question %d of %d", st.done+1, p.Of)
	p.First, p.Shown, p.Comment, p.Codes = st.done == 0, time.Now().UnixMilli(), given.Comment, codes
	p.Others = st.others
	p.fill(q, st.asked[st.next], given.Words)
	if len(s.options.Guide) > 0 {
		p.Guide = s.options.Guide
	}
	status := http.StatusOK
	if trouble != "" {
		status = http.StatusUnprocessableEntity
	}
	return show(w, status, "ask.html", p)
}

// next returns an annotator's state, with the codes in use and the given answer. If that does not answer the next
// question, next returns the comment and marked words of the next question's withdrawn answer.
func (s *Server) next(q *sheet, annotator string, given labels.Answer) (state, labels.Answer, []string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st, err := s.stateOf(q, annotator)
	if err != nil || st.next < 0 {
		return st, given, nil, err
	}
	if id := st.asked[st.next].ID; given.ID != id {
		u, _ := q.Unit(id)
		before, _, _ := s.log.Find(annotator, u.Key(), s.decides())
		given = labels.Answer{Comment: before.Comment}
		for _, word := range before.Words {
			given.Words = append(given.Words, [2]int{word.Start, word.End})
		}
	}
	st.others = s.others(q, st.asked[st.next].ID)
	return st, given, s.codes(q), nil
}

func (p *askPage) fill(q *sheet, a labels.Asked, marked [][2]int) {
	u, _ := q.Unit(a.ID)
	p.ID, p.Topic, p.Text = a.ID, a.Topic, q.Question.Asks(a.Topic)
	p.Guide, p.Several = q.Question.Guide, q.Question.Several
	if q.Question.Words { // the text names the language
		p.Topic = ""
	}
	if q.Question.Several && a.Given[0] == a.Given[1] { // both answer the same
		p.Question, a.Given = a.Given[0], [2]string{}
	}
	words := q.Words(u)
	p.Sides = []sideView{{"A", a.Given[0], pieces(a.A, words[:min(len(words), mostWords)], marked)}}
	if q.Question.Sides[1] != "" {
		p.Sides = append(p.Sides, sideView{"B", a.Given[1], pieces(a.B, nil, nil)})
	}
	for i, label := range a.Labels {
		p.Choices = append(p.Choices, choiceView{label, key(i)})
	}
}

// key returns the key for the choice with this index; only nine choices have one.
func key(i int) string {
	if i < 9 {
		return strconv.Itoa(i + 1)
	}
	return ""
}

// pieces splits a text into words that can be marked and the text between them.
func pieces(text string, words []labels.Word, marked [][2]int) (list []piece) {
	at := 0
	for _, word := range words {
		if between := text[at:word.Start]; at > 0 || strings.TrimSpace(between) != "" {
			list = append(list, piece{Text: between})
		}
		list = append(list, piece{Text: word.Text, Place: fmt.Sprintf("%d-%d", word.Start, word.End),
			Marked: slices.Contains(marked, [2]int{word.Start, word.End})})
		at = word.End
	}
	if rest := strings.TrimSpace(text[at:]); rest != "" {
		list = append(list, piece{Text: strings.TrimRight(text[at:], " \t\r\n")})
	}
	return list
}

// codes returns the codes that anybody has used, in alphabetical order. s.mu is locked.
func (s *Server) codes(q *sheet) (codes []string) {
	if !q.Question.Several {
		return nil
	}
	for _, l := range s.log.Labels() {
		if l.Question == q.Question.Name {
			codes = append(codes, strings.Split(l.Label, "; ")...)
		}
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// state is an annotator's progress in a sheet.
type state struct {
	asked []labels.Asked
	done  int
	next  int // index in asked; -1: all are answered
	last  int // the question answered last; -1: none

	others []opinion // about the next question
}

// stateOf computes an annotator's state from the labels. The next question is the one whose answer was just withdrawn,
// or else the first without an answer. s.mu is locked.
func (s *Server) stateOf(q *sheet, annotator string) (state, error) {
	if err := s.log.Refresh(); err != nil {
		return state{}, err
	}
	st := state{asked: s.of(q, annotator), next: -1, last: -1}
	latest, latestAnswer, withdrawn := -1, -1, -1
	for i, a := range st.asked {
		u, _ := q.Unit(a.ID)
		label, turn, found := s.log.Find(annotator, u.Key(), s.decides())
		answered := label.Label != ""
		switch {
		case answered:
			st.done++
			if turn > latestAnswer {
				latestAnswer, st.last = turn, i
			}
		case st.next < 0:
			st.next = i
		}
		if found && turn > latest {
			latest, withdrawn = turn, -1
			if !answered {
				withdrawn = i
			}
		}
	}
	if withdrawn >= 0 {
		st.next = withdrawn
	}
	return st, nil
}

// of returns the questions for an annotator, in the order drawn for them.
func (s *Server) of(q *sheet, annotator string) []labels.Asked {
	q.mu.Lock()
	defer q.mu.Unlock()
	asked, known := q.asked[annotator]
	if !known {
		units := q.units
		if s.options.Overlap > 0 {
			units = s.design.Share(units, s.options.Annotators, s.options.Overlap, annotator)
		}
		asked = s.design.Ask(q.Question, units, annotator, s.options.Sample.Seed)
		if len(q.asked) < mostKnown {
			q.asked[annotator] = asked
		}
	}
	return asked
}

func (s *Server) count(annotator string) (n int) {
	for _, sheet := range s.sheets {
		n += len(s.of(sheet, annotator))
	}
	return n
}

func (s *Server) decides() bool { return s.options.Adjudicator != "" }

// member is one annotator's progress in one kind of questions.
type member struct {
	Name, Title string
	Done, Of    int
}

// progress shows everybody's progress: the annotators with tokens, or else those who have answered a question.
func (s *Server) progress(w http.ResponseWriter, r *http.Request, annotator string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.log.Refresh(); err != nil {
		return err
	}
	names := slices.Clone(s.options.Annotators)
	if len(names) == 0 {
		names = []string{annotator}
		for _, l := range s.log.Labels() {
			if !slices.Contains(names, l.Annotator) && !l.Decides {
				names = append(names, l.Annotator)
			}
		}
		slices.Sort(names)
	}
	var all []member
	for _, q := range s.sheets {
		for _, name := range names {
			st, err := s.stateOf(q, name)
			if err != nil {
				return err
			}
			all = append(all, member{name, q.Question.Title, st.done, len(st.asked)})
		}
	}
	return show(w, http.StatusOK, "progress.html", struct {
		frame
		All []member
	}{s.frame(r, "Progress"), all})
}

// others returns what annotators answered to a question and why, for an adjudicator, without names. s.mu is locked.
func (s *Server) others(q *sheet, id string) (list []opinion) {
	u, _ := q.Unit(id)
	if !s.decides() {
		return nil
	}
	for _, l := range s.log.Labels() {
		if !l.Decides && l.Key() == u.Key() {
			list = append(list, opinion{q.Shown(id, l.Label), l.Comment})
		}
	}
	slices.SortStableFunc(list, func(a, b opinion) int { return strings.Compare(a.Label, b.Label) })
	return list
}

type opinion struct{ Label, Comment string }
