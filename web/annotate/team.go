package annotate

import (
	"net/http"
	"slices"
	"strings"

	"crosstalk/labels"
)

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

// count is how many questions an annotator has.
func (s *Server) count(annotator string) (n int) {
	for _, sheet := range s.sheets {
		n += len(s.of(sheet, annotator))
	}
	return n
}

// decides reports whether an adjudicator is asked.
func (s *Server) decides() bool { return s.options.Adjudicator != "" }

// member is how far one annotator is with one kind of questions.
type member struct {
	Name, Title string
	Done, Of    int
}

// progress shows how far everybody is: the annotators with tokens, or else those who have answered a question.
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

// others are what annotators said about a question and why, for an adjudicator, without their names. s.mu is locked.
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

// opinion is a label of somebody, as shown, and the comment.
type opinion struct{ Label, Comment string }
