package web

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
	"crosstalk/ask/journal"
	"crosstalk/instrument"
	"crosstalk/report/page"
	"crosstalk/web/access"
	"crosstalk/web/index"
)

// side is one side of a comparison: a run under one of its conditions.
type side struct {
	Name       string // prefix of its parameters: a, b
	Title      string // "before", "after"
	Run        *runEntry
	Runs       []*runEntry // runs to choose from
	Conditions []option
	Condition  map[string]string // the chosen one
	at         int               // index of the condition in the run
	wanted     map[string]string // of the condition that is chosen by default; nil: the first
	open       openRun
	columns    []index.Column
}

// Is reports whether the run is the chosen one.
func (s side) Is(run *runEntry) bool { return s.Run != nil && s.Run.ID == run.ID }

// Label names the side: its run, and its condition if the run has several.
func (s side) Label(among side) string {
	parts := []string{s.Run.Name}
	if s.Run.ID == among.Run.ID {
		parts = nil
	}
	if len(s.Conditions) > 1 {
		parts = append(parts, s.Conditions[s.at].Title)
	}
	return cmp.Or(strings.Join(parts, " · "), s.Run.Name)
}

type comparePage struct {
	frame
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
	if ids := query["run"]; len(ids) == 2 { // chosen in the list: the older run is "before"
		a, err := s.listing.run(ids[0])
		b, failed := s.listing.run(ids[1])
		if err = cmp.Or(err, failed); err != nil {
			return err
		}
		if b.Changed.Before(a.Changed) {
			a, b = b, a
		}
		http.Redirect(w, r, "/compare?"+url.Values{"a": {a.ID}, "b": {b.ID}}.Encode(), http.StatusSeeOther)
		return nil
	} else if len(ids) > 0 {
		return &access.Error{Status: http.StatusUnprocessableEntity,
			Message: "Go back and choose two runs; " + number(len(ids), "is", "are") + " chosen."}
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
	runs = slices.DeleteFunc(runs, func(run *runEntry) bool {
		of := cmp.Or(p.A.Run, p.B.Run)
		other := of != nil && run.Manifest.Plan.Instrument != of.Manifest.Plan.Instrument
		return !run.finished || other && run != p.A.Run && run != p.B.Run
	})
	runs = runs[:min(len(runs), mostRows)]
	p.A.Runs, p.B.Runs = runs, runs
	if p.A.Run != nil {
		p.Trail = append(p.Trail, link{p.A.Run.Name, "/runs/" + p.A.Run.ID})
		if p.B.Run == nil { // first offer the conditions of one run
			l, done := s.runs.open(p.A.Run)
			defer done()
			if l.index != nil {
				conditions, err := l.index.Conditions(r.Context())
				if err != nil {
					return err
				}
				if len(conditions) > 1 {
					p.B.Run = p.A.Run
				}
			}
		}
	}
	if p.A.Run != nil && p.B.Run != nil {
		if err := s.pair(r, &p); err != nil {
			return err
		}
	}
	return show(w, http.StatusOK, "compare.html", &p)
}

func (s *Server) pair(r *http.Request, p *comparePage) error {
	if a, b := p.A.Run.Manifest.Plan.Instrument, p.B.Run.Manifest.Plan.Instrument; a != b {
		p.Problem = "These runs measure different things: " + a + " and " + b + "."
		return nil
	}
	for _, x := range []*side{&p.A, &p.B} {
		l, done := s.runs.open(x.Run)
		defer done()
		if x.open = l; l.index == nil {
			p.Problem = x.Run.Name + " has no answers yet."
			return nil
		}
		var state progress
		if state.indexed(l); state.Index != "" {
			p.Index = x.Run.Name + ": " + state.Index
			return nil
		}
		if err := x.choose(r); err != nil {
			return err
		}
	}
	query := url.Values{"a": {p.B.Run.ID}, "b": {p.A.Run.ID}, "ac": {strconv.Itoa(p.B.at)}, "bc": {strconv.Itoa(p.A.at)}}
	p.Swap = "/compare?" + query.Encode()
	if p.Figures == nil {
		p.Figures = s.figures.of(r.Context(), p.A, p.B)
	}
	return p.fill(r)
}

// choose reads the side's condition from the URL. By default, the sides of a single run are its first two conditions.
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
	if x.wanted != nil {
		x.at = slices.IndexFunc(conditions, func(c map[string]string) bool { return crosstalk.HasAll(x.wanted, c) })
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

// outcome is how an item differs between the sides.
type outcome string

const (
	broken    outcome = "broken"
	fixed     outcome = "fixed"
	stayWrong outcome = "still wrong"
	stayRight outcome = "still right"
	unscored  outcome = "not scored"
)

// outcomes lists all outcomes; the first two are changes.
var outcomes = []outcome{broken, fixed, stayWrong, stayRight, unscored}

// Filters besides a single outcome.
const (
	changed = "changed"
	all     = "all"
)

func (o outcome) changes() bool { return o == broken || o == fixed }

func outcomeOf(before, after index.Verdict) outcome {
	switch {
	case before == index.Unscored || after == index.Unscored:
		return unscored
	case before == after && before == index.Fault:
		return stayWrong
	case before == after:
		return stayRight
	case after == index.Fault:
		return broken
	}
	return fixed
}

type pair struct {
	before, after int // numbers of answers
	outcome       outcome
}

type pairCard struct {
	Item    string
	Sample  int // from 2; 0: the first
	Head    string
	Expect  page.Setting
	Outcome outcome
	Change  bool
	Prompts []page.Setting
	Same    bool // the texts are the same
	Other   bool // the texts have little in common: changes are not marked
	Sides   [2]pairSide
	Number  int // of the answer in "after"
}

type pairSide struct {
	Title string
	Card  *page.Card
	To    string
}

func (p *comparePage) fill(r *http.Request) error {
	ctx, query := r.Context(), r.URL.Query()
	chosen := filter{Where: newFilter(r.URL, p.B.columns).Where}
	delete(chosen.Where, index.Found)
	chosen.columns = p.common()
	maps.DeleteFunc(chosen.Where, func(c, _ string) bool {
		return !slices.ContainsFunc(chosen.columns, func(k index.Column) bool { return k.Name == c })
	})
	p.Fields = chosen.fields(instrument.Named(p.A.Run.Manifest.Plan.Instrument))
	pairs, alone, err := p.match(ctx, chosen.Where)
	if err != nil {
		return err
	}
	counts := map[outcome]int{}
	for _, x := range pairs {
		counts[x.outcome]++
	}
	show := query.Get("show")
	if show != all && !slices.Contains(outcomes, outcome(show)) {
		show = changed
	}
	base := []string{"a", p.A.Run.ID, "b", p.B.Run.ID, "ac", strconv.Itoa(p.A.at), "bc", strconv.Itoa(p.B.at)}
	to := func(more ...string) string { return chosen.to("/compare", append(slices.Clone(base), more...)...) }
	chip := func(name string, n int) {
		p.Chips = append(p.Chips, choice{name, n, to("show", name), show == name})
	}
	chip(changed, counts[broken]+counts[fixed])
	for _, o := range outcomes {
		chip(string(o), counts[o])
	}
	chip(all, len(pairs))
	for i := 0; i < len(base); i += 2 {
		p.Kept = append(p.Kept, field{Parameter: base[i], Chosen: base[i+1]})
	}
	p.Kept = append(p.Kept, field{Parameter: "show", Chosen: show})
	p.Matched = number(len(pairs), "answer is", "answers are") + " to the same item on both sides."
	if alone[0]+alone[1] > 0 {
		p.Matched += " Without a counterpart: " + count(alone[0]) + " before, " + count(alone[1]) + " after."
	}
	pairs = slices.DeleteFunc(pairs, func(x pair) bool {
		return show != all && string(x.outcome) != show && !(show == changed && x.outcome.changes())
	})
	from := min(placeOf(r.URL, "skip"), len(pairs))
	most := pairsPerPage
	if p.Static {
		most = mostPairs
	}
	end := min(from+most, len(pairs))
	p.Count = "No items match."
	if end > from {
		p.Count = count(from+1) + "–" + count(end) + " of " + number(len(pairs), "item", "items")
	}
	if from > 0 {
		p.Previous = to("show", show, "skip", strconv.Itoa(max(0, from-pairsPerPage)))
	}
	if end < len(pairs) {
		p.Next = to("show", show, "skip", strconv.Itoa(end))
	}
	return p.cards(ctx, pairs[from:end])
}

// common returns the columns of items by which both sides can be filtered, with the values from "after".
func (p *comparePage) common() (columns []index.Column) {
	for _, c := range p.B.columns {
		_, a := p.A.Condition[c.Name]
		_, b := p.B.Condition[c.Name]
		both := slices.ContainsFunc(p.A.columns, func(other index.Column) bool { return other.Name == c.Name })
		kind := instrument.Named(p.A.Run.Manifest.Plan.Instrument)
		if both && !a && !b && !kind.Column(c.Name).Within && slices.Contains(kind.Choices, c.Name) {
			columns = append(columns, c)
		}
	}
	return columns
}

// match pairs the answers to the same item, in the order of "after". alone counts each side's other answers.
func (p *comparePage) match(ctx context.Context, where map[string]string) (pairs []pair, alone [2]int, err error) {
	before, err := p.A.facts(ctx, where)
	after, failed := p.B.facts(ctx, where)
	if err = cmp.Or(err, failed); err != nil {
		return nil, alone, err
	}
	at := make(map[uint64]int, len(before))
	for i, f := range before {
		if _, twice := at[f.Key]; !twice {
			at[f.Key] = i
		}
	}
	for _, f := range after {
		i, ok := at[f.Key]
		if !ok {
			alone[1]++
			continue
		}
		delete(at, f.Key)
		pairs = append(pairs, pair{before[i].Number, f.Number, outcomeOf(before[i].Verdict, f.Verdict)})
	}
	alone[0] = len(before) - len(pairs)
	return pairs, alone, nil
}

func (x *side) facts(ctx context.Context, where map[string]string) ([]index.Numbered, error) {
	facts, err := x.open.index.Facts(ctx, where)
	return slices.DeleteFunc(facts, func(f index.Numbered) bool { return int(f.Condition) != x.at }), err
}

func (p *comparePage) cards(ctx context.Context, pairs []pair) error {
	before, done := journalOf(p.A.Run.path)
	defer done()
	after, done := journalOf(p.B.Run.path)
	defer done()
	for _, x := range pairs {
		c := pairCard{Outcome: x.outcome, Number: x.after, Change: x.outcome.changes()}
		var cards [2]*page.Card
		var texts [2][]string
		for i, of := range []struct {
			*side
			title  string
			number int
			asked  *journal.Journal
		}{{&p.A, p.A.Label(p.B), x.before, before}, {&p.B, p.B.Label(p.A), x.after, after}} {
			list, err := of.open.index.Observations(ctx, of.number)
			if err != nil {
				return err
			}
			cards[i] = page.NewCard(list[0], 0, of.asked.Known)
			for _, o := range list[0] {
				for _, t := range o.Texts {
					if t.Role == crosstalk.Side && !slices.Contains(texts[i], t.Text) {
						texts[i] = append(texts[i], t.Text)
					}
				}
			}
			c.Item, c.Head, c.Expect = cards[i].Name, cards[i].Head, cards[i].Expected
			if c.Sample = list[0][0].Sample; c.Sample > 0 {
				c.Sample++
			}
			cards[i].Name, cards[i].Head = "", "" // they are shown above both sides
			c.Sides[i] = pairSide{of.title, cards[i], fmt.Sprintf("/runs/%s/answers/%d", of.Run.ID, of.number)}
			if p.Static {
				c.Sides[i].To = ""
			}
		}
		c.Same = slices.Equal(texts[0], texts[1])
		if !c.Same {
			c.Other = page.MarkChanges(cards[0], cards[1])
		}
		if slices.Equal(cards[0].Prompts, cards[1].Prompts) {
			c.Prompts = cards[1].Prompts
			cards[0].Prompts, cards[1].Prompts = nil, nil
		}
		p.Pairs = append(p.Pairs, c)
	}
	return nil
}
