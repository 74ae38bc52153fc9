package annotate

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"crosstalk/labels"
)

// askPage is a question as an annotator sees it. It contains nothing else about
// the run.
type askPage struct {
	frame
	Path     string // of the question
	ID       string
	Text     string
	Guide    []string
	First    bool // the annotator has not answered any yet
	Done     int
	Of       int
	Topic    string // X
	Question string // that both sides answer
	Sides    []sideView
	Choices  []choiceView
	Several  bool
	Codes    []string // that have been used before
	Comment  string
	Shown    int64 // when, in milliseconds
	Undo     bool  // there is an answer to withdraw
	Trouble  string
}

// sideView is one of the texts that a question shows.
type sideView struct {
	Name   string // A, B; empty: there is one
	Given  string // what it answers
	Pieces []piece
}

// piece is a part of a text. A word has its place in it.
type piece struct {
	Text   string
	Place  string
	Marked bool
}

// choiceView is a possible answer.
type choiceView struct{ Label, Key string }

// ask shows the next question.
func (s *Server) ask(w http.ResponseWriter, r *http.Request, q *sheet, annotator string) error {
	return s.showNext(w, r, q, annotator, labels.Answer{}, "")
}

// showNext shows the next question. trouble is what is wrong with the given
// answer, whose marks and comment are kept.
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
		s.show(w, r, http.StatusOK, "done.html", p)
		return nil
	}
	p.Title = fmt.Sprintf("Question %d of %d", st.done+1, p.Of)
	p.First, p.Shown, p.Comment, p.Codes = st.done == 0, time.Now().UnixMilli(), given.Comment, codes
	p.fill(q, st.asked[st.next], given.Words)
	if len(s.options.Guide) > 0 {
		p.Guide = s.options.Guide
	}
	status := http.StatusOK
	if trouble != "" {
		status = http.StatusUnprocessableEntity
	}
	s.show(w, r, status, "ask.html", p)
	return nil
}

// next is the state of an annotator, with the codes that have been used and what was
// given: if it does not answer the next question, the comment and the marked words of
// that question's withdrawn answer.
func (s *Server) next(q *sheet, annotator string, given labels.Answer) (state, labels.Answer, []string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st, err := s.stateOf(q, annotator)
	if err != nil || st.next < 0 {
		return st, given, nil, err
	}
	if id := st.asked[st.next].ID; given.ID != id {
		u, _ := q.Unit(id)
		before, _, _ := s.log.Find(annotator, u.Key())
		given = labels.Answer{Comment: before.Comment}
		for _, word := range before.Words {
			given.Words = append(given.Words, [2]int{word.Start, word.End})
		}
	}
	return st, given, s.codes(q), nil
}

// fill sets the texts and choices of a question.
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

// mostWords is how many words of a text can be marked: browsers are slow with
// many more.
const mostWords = 3000

// key is the key of the choice with this index; only nine have one.
func key(i int) string {
	if i < 9 {
		return strconv.Itoa(i + 1)
	}
	return ""
}

// pieces cuts a text into words that can be marked and what lies between them.
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

// codes are those that anybody has used, in alphabetical order. s.mu is locked.
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
