package annotate

import (
	"crosstalk/labels"
)

// state is how far an annotator is with a sheet.
type state struct {
	asked []labels.Asked
	done  int
	next  int // of asked; -1: all are answered
	last  int // the one that was answered last; -1: none
}

// stateOf reads an annotator's labels. The next question is the one whose answer
// was just withdrawn, or else the first without an answer. s.mu is locked.
func (s *Server) stateOf(q *sheet, annotator string) (state, error) {
	if err := s.log.Refresh(); err != nil {
		return state{}, err
	}
	st := state{asked: q.of(s.design, annotator, s.options.Sample.Seed), next: -1, last: -1}
	latest, latestAnswer, withdrawn := -1, -1, -1
	for i, a := range st.asked {
		u, _ := q.Unit(a.ID)
		label, turn, found := s.log.Find(annotator, u.Key())
		answered := found && label.Label != ""
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
