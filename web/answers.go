package web

import (
	"cmp"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
	"crosstalk/ask/journal"
	"crosstalk/instrument"
	"crosstalk/internal/visible"
	"crosstalk/report/page"
	"crosstalk/web/index"
)

// perPage is the number of answers on a page.
const perPage = 50

// filter is the search in a URL.
type filter struct {
	Text    string
	Where   map[string]string
	columns []index.Column
}

// field is a column to filter by.
type field struct {
	Name, Parameter string
	Chosen          string
	Values          []index.Value
}

// choice is a value to filter by, with a link to its answers.
type choice struct {
	Name   string
	N      int
	To     string
	Chosen bool
}

// is prefixes the parameters of columns, since columns can have any name.
const is = "is."

// newFilter reads a URL. A column without a value is ignored.
func newFilter(at *url.URL, columns []index.Column) filter {
	f := filter{Where: map[string]string{}, columns: columns}
	query := at.Query()
	f.Text = strings.TrimSpace(visible.Line(query.Get("q")))
	for name, values := range query {
		column, ok := strings.CutPrefix(name, is)
		if ok && len(values) > 0 && values[0] != "" {
			f.Where[visible.Line(column)] = visible.Line(values[0])
		}
	}
	return f
}

// to is the URL of a page of answers with this filter.
func (f filter) to(path string, more ...string) string {
	query := url.Values{}
	if f.Text != "" {
		query.Set("q", f.Text)
	}
	for c, v := range f.Where {
		query.Set(is+c, v)
	}
	for i := 0; i+1 < len(more); i += 2 {
		query.Set(more[i], more[i+1])
	}
	return (&url.URL{Path: path, RawQuery: query.Encode()}).String()
}

// findings are the links to the findings, with the rest of the filter unchanged.
func (f filter) findings(path string) (list []choice) {
	for _, c := range f.columns {
		if c.Name != index.Found {
			continue
		}
		for _, v := range c.Values {
			with := filter{f.Text, mapsWith(f.Where, index.Found, v.Name), nil}
			list = append(list, choice{v.Name, v.N, with.to(path), f.Where[index.Found] == v.Name})
		}
	}
	return list
}

func mapsWith(m map[string]string, name, value string) map[string]string {
	all := map[string]string{name: value}
	for k, v := range m {
		if k != name {
			all[k] = v
		}
	}
	return all
}

// fields are the other columns to filter by: those with several values, and
// those in the filter.
func (f filter) fields(kind crosstalk.Kind) (list []field) {
	for _, c := range f.columns {
		chosen := f.Where[c.Name]
		if c.Name == index.Found || len(c.Values) < 2 && chosen == "" {
			continue
		}
		values := slices.Clone(c.Values)
		slices.SortFunc(values, func(a, b index.Value) int { return compareCells(a.Name, b.Name, order{}) })
		if chosen != "" && !slices.ContainsFunc(values, func(v index.Value) bool { return v.Name == chosen }) {
			values = append(values, index.Value{Name: chosen})
		}
		list = append(list, field{c.Name, is + c.Name, chosen, values})
	}
	slices.SortStableFunc(list, func(a, b field) int { return cmp.Compare(rank(kind, a.Name), rank(kind, b.Name)) })
	return list
}

// Kept are the choices that the form passes on unchanged.
func (f filter) Kept() (list []field) {
	if v := f.Where[index.Found]; v != "" {
		list = append(list, field{Parameter: is + index.Found, Chosen: v})
	}
	return list
}

// rank orders the columns, the most useful first.
func rank(kind crosstalk.Kind, column string) int {
	first := append([]string{crosstalk.ModelColumn}, kind.Choices...)
	if i := slices.Index(first, column); i >= 0 {
		return i
	}
	return len(first)
}

// answersPage is the content of a page of answers.
type answersPage struct {
	frame
	Run      *runEntry
	Progress progress
	Filter   filter
	Found    []choice
	Any      choice // with any finding
	Fields   []field
	More     []field // less useful ones, collapsed
	Page     index.Page
	Count    string
	Cards    []answerCard
	First, Previous, Next, Last,
	Clear string
}

// mostFields is the number of columns that are always visible.
const mostFields = 4

// MoreChosen reports whether the filter has one of the collapsed fields.
func (p *answersPage) MoreChosen() bool {
	return slices.ContainsFunc(p.More, func(f field) bool { return f.Chosen != "" })
}

// answerCard is an answer with a link to its page.
type answerCard struct {
	*page.Card
	Number int
	To     string
	Of     string // the condition, where the run has several
}

// answers writes a page of answers.
func (s *Server) answers(w http.ResponseWriter, r *http.Request) {
	run, err := s.listing.run(r.PathValue("run"))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	l, done := s.runs.open(run)
	defer done()
	path := "/runs/" + run.ID + "/answers"
	p := answersPage{Run: run, Progress: progressOf(run, l, false), Clear: path}
	p.frame = frame{Title: "Answers", Trail: []link{{"Runs", "/"}, {run.about().Title, "/runs/" + run.ID}}}
	if l.index != nil {
		if err := p.fill(r, l, path); err != nil {
			s.fail(w, r, err)
			return
		}
	}
	if p.Progress.Changing {
		p.Live = "/runs/" + run.ID + "/live.json"
	}
	s.show(w, r, "answers.html", &p)
}

func (p *answersPage) fill(r *http.Request, l openRun, path string) error {
	ctx := r.Context()
	columns, err := l.index.Columns(ctx)
	if err != nil {
		return err
	}
	f := newFilter(r.URL, columns)
	p.Filter, p.Found, p.Fields = f, f.findings(path), f.fields(instrument.Named(p.Run.Manifest.Plan.Instrument))
	if len(p.Fields) > mostFields {
		p.Fields, p.More = p.Fields[:mostFields], p.Fields[mostFields:]
	}
	any := filter{f.Text, mapsWith(f.Where, index.Found, ""), nil}
	delete(any.Where, index.Found)
	p.Any = choice{"anything", l.index.Progress().Answers, any.to(path), f.Where[index.Found] == ""}
	q := index.Query{Where: f.Where, Text: f.Text, Limit: perPage}
	q.After, q.Before = placeOf(r.URL, "after"), placeOf(r.URL, "before")
	if p.Page, err = l.index.Search(ctx, q); err != nil {
		return err
	}
	observations, err := l.index.Observations(ctx, p.Page.Numbers...)
	if err != nil {
		return err
	}
	prompts := newPrompts(p.Run.path)
	defer prompts.close()
	for i, n := range p.Page.Numbers {
		p.Cards = append(p.Cards, answerCard{page.NewCard(observations[i], 0, prompts.prompt, prompts.reasoning), n,
			path + "/" + strconv.Itoa(n), conditionOf(observations[i], columns)})
	}
	p.Count = p.count()
	if k := len(p.Page.Numbers); k > 0 {
		if p.Page.Earlier {
			p.First, p.Previous = f.to(path), f.to(path, "before", strconv.Itoa(p.Page.Numbers[0]))
		}
		if p.Page.Later {
			p.Next = f.to(path, "after", strconv.Itoa(p.Page.Numbers[k-1]))
			p.Last = f.to(path, "before", strconv.Itoa(1<<40))
		}
	}
	return nil
}

// conditionOf is the condition of an answer, if the run has several.
func conditionOf(of []crosstalk.Observation, columns []index.Column) string {
	var parts []string
	kind := instrument.Of(of[0].Measure)
	for _, c := range columns {
		if v := of[0].Condition[c.Name]; v != "" && !kind.Column(c.Name).Within && len(c.Values) > 1 {
			parts = append(parts, v)
		}
	}
	return brief(strings.Join(parts, " · "))
}

// placeOf reads the number of an answer in a URL; 0 if there is none.
func placeOf(at *url.URL, parameter string) int {
	n, err := strconv.Atoi(at.Query().Get(parameter))
	if err != nil || n < 0 {
		return 0
	}
	return min(n, 1<<40)
}

// count states which answers are shown, and how many match.
func (p *answersPage) count() string {
	k := len(p.Page.Numbers)
	switch {
	case p.Page.Total == 0, k == 0 && !p.Page.Cut:
		return "No answers match."
	case p.Page.Cut:
		return number(k, "answer", "answers") + " found before the search timed out. Use a filter or a rarer word to search faster."
	case p.Page.Total < 0:
		return number(k, "answer", "answers") + " on this page"
	case p.Page.First == 0:
		return number(p.Page.Total, "answer", "answers")
	}
	return count(p.Page.First) + "–" + count(p.Page.First+k-1) + " of " + number(p.Page.Total, "answer", "answers")
}

// prompts looks up prompts in the journal.
type prompts struct{ journal *journal.Journal }

func newPrompts(path string) *prompts {
	j, err := journal.OpenReader(filepath.Join(path, "answers.db"))
	if err != nil {
		return &prompts{} // recorded answers have no journal
	}
	return &prompts{j}
}

func (p *prompts) prompt(key crosstalk.Key) (string, bool) {
	record, found := p.record(key)
	return record.Request.Text(), found
}

func (p *prompts) reasoning(key crosstalk.Key) string {
	record, _ := p.record(key)
	return record.Answer.Reasoning
}

func (p *prompts) record(key crosstalk.Key) (journal.Record, bool) {
	if p.journal == nil {
		return journal.Record{}, false
	}
	record, found, err := p.journal.Record(key)
	return record, found && err == nil
}

func (p *prompts) close() {
	if p.journal != nil {
		p.journal.Close()
	}
}
