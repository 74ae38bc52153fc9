package annotate

import (
	"net/http"
)

// home shows what there is to answer, or asks for a name.
func (s *Server) home(w http.ResponseWriter, r *http.Request) {
	annotator := s.annotator(r)
	if annotator == "" {
		s.show(w, r, http.StatusOK, "name.html", s.frame(r, "Who answers?"))
		return
	}
	type kind struct {
		Title, To string
		Done, Of  int
	}
	var kinds []kind
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range s.sheets {
		st, err := s.stateOf(q, annotator)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		kinds = append(kinds, kind{q.Question.Title, "/" + q.Question.Name, st.done, len(st.asked)})
	}
	if s.reviews {
		list, err := s.instructions()
		if err != nil {
			s.fail(w, r, err)
			return
		}
		done := 0
		for _, in := range list {
			if in.Approved {
				done++
			}
		}
		kinds = append(kinds, kind{"Are the instructions translated well?", "/" + Instructions, done, len(list)})
	}
	if len(kinds) == 1 {
		http.Redirect(w, r, kinds[0].To, http.StatusSeeOther)
		return
	}
	s.show(w, r, http.StatusOK, "home.html", struct {
		frame
		Kinds []kind
	}{s.frame(r, "Questions"), kinds})
}
