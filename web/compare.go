package web

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"crosstalk/report/page"
	"crosstalk/web/access"
	"crosstalk/web/index"
)

// pairsPerPage is the number of items on a page of a comparison.
const pairsPerPage = 25

// side is one of the two that are compared: a run under one of its conditions.
type side struct {
	Name       string // of the parameters: a, b
	Title      string // "before", "after"
	Run        *runEntry
	Conditions []option
	Condition  map[string]string // the chosen one
	at         int               // its place among the run's conditions
	open       openRun
	columns    []index.Column
}

// sidePick is a side with the runs to choose from.
type sidePick struct {
	side
	Runs []*runEntry
}

func pick(s side, runs []*runEntry) sidePick { return sidePick{s, runs} }

// Is reports whether the run is the chosen one.
func (s sidePick) Is(run *runEntry) bool { return s.Run != nil && s.Run.ID == run.ID }

// label names the side: its run, and its condition where the run has several.
func (s *side) label(among *side) string {
	parts := []string{s.Run.Name}
	if s.Run.ID == among.Run.ID {
		parts = nil
	}
	if len(s.Conditions) > 1 {
		parts = append(parts, s.Conditions[s.at].Title)
	}
	return cmp.Or(strings.Join(parts, " · "), s.Run.Name)
}

// comparePage is the content of a comparison.
type comparePage struct {
	frame
	Runs     []*runEntry // to choose from
	A, B     side
	Swap     string
	Figures  *figureTable
	Chips    []choice
	Fields   []field
	Kept     []field
	Count    string
	Matched  string
	Pairs    []pairCard
	Previous string
	Next     string
	Index    string // what is missing from the indexes
	Problem  string
}

// compare writes a comparison of two runs, or of two conditions of a run.
func (s *Server) compare(w http.ResponseWriter, r *http.Request) (err error) {
	query := r.URL.Query()
	if chosen := query["run"]; len(chosen) > 0 {
		return s.compareChosen(w, r, chosen)
	}
	p := comparePage{A: side{Name: "a", Title: "before"}, B: side{Name: "b", Title: "after"}}
	p.frame = frame{Title: "Compare", Trail: []link{{"Runs", "/"}}, Lead: "The same item side by side, before and after."}
	for _, x := range []*side{&p.A, &p.B} {
		if id := query.Get(x.Name); id != "" {
			if x.Run, err = s.listing.run(id); err != nil {
				return err
			}
		}
	}
	runs, err := s.listing.all()
	if err != nil {
		return err
	}
	p.Runs = slices.DeleteFunc(runs, func(run *runEntry) bool {
		of := cmp.Or(p.A.Run, p.B.Run)
		other := of != nil && run.Manifest.Plan.Instrument != of.Manifest.Plan.Instrument
		return !run.finished || other && run != p.A.Run && run != p.B.Run
	})
	p.Runs = p.Runs[:min(len(p.Runs), mostRows)]
	if p.A.Run != nil {
		p.Trail = append(p.Trail, link{p.A.Run.Name, "/runs/" + p.A.Run.ID})
		if p.B.Run == nil { // the conditions of a run come first
			several, err := s.several(r.Context(), p.A.Run)
			if err != nil {
				return err
			}
			if several {
				p.B.Run = p.A.Run
			}
		}
	}
	if p.A.Run != nil && p.B.Run != nil {
		done, err := s.pair(r, &p)
		defer done()
		if err != nil {
			return err
		}
	}
	return show(w, http.StatusOK, "compare.html", &p)
}

// compareChosen leads to the comparison of two runs of the list: the older one is
// the one before.
func (s *Server) compareChosen(w http.ResponseWriter, r *http.Request, ids []string) error {
	if len(ids) != 2 {
		return &access.Error{Status: http.StatusUnprocessableEntity,
			Message: "Go back and choose two runs; " + number(len(ids), "is", "are") + " chosen."}
	}
	a, err := s.listing.run(ids[0])
	if err != nil {
		return err
	}
	b, err := s.listing.run(ids[1])
	if err != nil {
		return err
	}
	if b.Changed.Before(a.Changed) {
		a, b = b, a
	}
	http.Redirect(w, r, "/compare?"+url.Values{"a": {a.ID}, "b": {b.ID}}.Encode(), http.StatusSeeOther)
	return nil
}

// several reports whether a run has several conditions.
func (s *Server) several(ctx context.Context, run *runEntry) (bool, error) {
	l, done := s.runs.open(run)
	defer done()
	if l.index == nil {
		return false, nil
	}
	conditions, err := l.index.Conditions(ctx)
	return len(conditions) > 1, err
}

// pair compares the two sides. done is to be called after using the page.
func (s *Server) pair(r *http.Request, p *comparePage) (done func(), err error) {
	var ends []func()
	done = func() {
		for _, end := range ends {
			end()
		}
	}
	if a, b := p.A.Run.Manifest.Plan.Instrument, p.B.Run.Manifest.Plan.Instrument; a != b {
		p.Problem = "These runs measure different things: " + a + " and " + b + "."
		return done, nil
	}
	for _, x := range []*side{&p.A, &p.B} {
		l, end := s.runs.open(x.Run)
		ends = append(ends, end)
		x.open = l
		switch {
		case l.index == nil:
			p.Problem = x.Run.Name + " has no answers yet."
			return done, nil
		case l.index.Progress().Building, l.index.Progress().Err != nil:
			var state progress
			state.indexed(l)
			p.Index = x.Run.Name + ": " + state.Index
			return done, nil
		}
		if err := x.choose(r); err != nil {
			return done, err
		}
	}
	query := url.Values{"a": {p.B.Run.ID}, "b": {p.A.Run.ID}, "ac": {strconv.Itoa(p.B.at)}, "bc": {strconv.Itoa(p.A.at)}}
	p.Swap = "/compare?" + query.Encode()
	p.Figures = s.figures.of(r.Context(), p.A, p.B)
	return done, p.fill(r)
}

// choose reads the side's condition from the URL. Without one, the two sides of a
// single run are its first two conditions.
func (x *side) choose(r *http.Request) error {
	conditions, err := x.open.index.Conditions(r.Context())
	if err != nil || len(conditions) == 0 {
		return cmp.Or(err, index.ErrNone)
	}
	if x.columns, err = x.open.index.Columns(r.Context()); err != nil {
		return err
	}
	query := r.URL.Query()
	x.at, err = strconv.Atoi(query.Get(x.Name + "c"))
	if err != nil && x.Name == "b" && cmp.Or(query.Get("b"), query.Get("a")) == query.Get("a") && len(conditions) > 1 {
		x.at = 1
	}
	if x.at < 0 || x.at >= len(conditions) {
		x.at = 0
	}
	x.Condition = conditions[x.at]
	for i, c := range conditions {
		x.Conditions = append(x.Conditions, option{strconv.Itoa(i), differing(c, conditions), i == x.at})
	}
	return nil
}

// differing names a condition by the columns in which it differs from others.
func differing(of map[string]string, all []map[string]string) string {
	var parts []string
	for _, c := range slices.Sorted(maps.Keys(of)) {
		if slices.ContainsFunc(all, func(other map[string]string) bool { return other[c] != of[c] }) {
			parts = append(parts, page.Named(c, of[c]))
		}
	}
	return brief(strings.Join(parts, " · "))
}
