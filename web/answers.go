package web

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
	"crosstalk/ask/journal"
	"crosstalk/instrument"
	"crosstalk/internal/visible"
	"crosstalk/labels"
	"crosstalk/report/page"
	"crosstalk/run"
	"crosstalk/web/index"
)

type answersPage struct {
	frame
	Run        *runEntry
	Progress   progress
	Filter     filter
	Found      []choice
	Any        choice // with any finding
	Orders     []option
	Marked     []choice
	Trouble    string
	Here       string // the URL of this page
	CSV, Lines string // URLs of the filtered answers as files
	Fields     []field
	More       []field // less useful fields, collapsed
	Page       index.Page
	Count      string
	Cards      []answerCard
	First, Previous, Next, Last,
	Clear string
}

// MoreChosen reports whether the filter has one of the collapsed fields.
func (p *answersPage) MoreChosen() bool {
	return slices.ContainsFunc(p.More, func(f field) bool { return f.Chosen != "" })
}

type answerCard struct {
	*page.Card
	Number int
	To     string
	Of     string // the condition, if the run has several
	Note   labels.Note
}

func (s *Server) answers(w http.ResponseWriter, r *http.Request, run *runEntry, l openRun) error {
	path := "/runs/" + run.ID + "/answers"
	p := answersPage{Run: run, Clear: path}
	p.Progress.indexed(l)
	p.frame = run.frame("Answers", "Answers")
	if l.index != nil {
		if err := p.fill(r, l, path); err != nil {
			return err
		}
	}
	if p.Progress.Changing || !run.finished {
		p.Live = "/runs/" + run.ID + "/live.json"
	}
	return show(w, http.StatusOK, "answers.html", &p)
}

func (p *answersPage) fill(r *http.Request, l openRun, path string) error {
	ctx := r.Context()
	columns, err := l.index.Columns(ctx)
	if err != nil {
		return err
	}
	f, kind := newFilter(r.URL, columns), instrument.Named(p.Run.Manifest.Plan.Instrument)
	notes := l.notes.read(ctx, p.Run.path, l.index)
	p.Filter, p.Found, p.Fields, p.Orders = f, f.findings(path), f.fields(kind), f.orders(kind)
	p.Marked, p.Trouble = f.marked(path, notes), notes.Trouble
	p.CSV, p.Lines = f.to(path+".csv"), f.to(path+".jsonl")
	if len(p.Fields) > mostFields {
		p.Fields, p.More = p.Fields[:mostFields], p.Fields[mostFields:]
	}
	p.Any = choice{"all", l.index.Progress().Answers, f.with("", "").to(path), f.Where[index.Found] == "" && f.Noted == ""}
	q := f.query(notes)
	if rest := f.with("", ""); len(p.Found) > 0 && (len(rest.Where) > 0 || f.Text != "") {
		q.Count = index.Found
	}
	q.After, q.Before, q.Skip = placeOf(r.URL, "after"), placeOf(r.URL, "before"), placeOf(r.URL, "skip")
	if p.Page, err = l.index.Search(ctx, q); err != nil {
		return err
	}
	if q.Count != "" {
		count := func(n int) int {
			if p.Page.Counts == nil {
				return -1 // unknown
			}
			return n
		}
		p.Any.N = count(p.Page.Rest)
		for k, c := range p.Found {
			p.Found[k].N = count(p.Page.Counts[c.Name])
		}
	}
	observations, err := l.index.Observations(ctx, p.Page.Numbers...)
	if err != nil {
		return err
	}
	asked, done := journalOf(p.Run.path)
	defer done()
	for i, n := range p.Page.Numbers {
		p.Cards = append(p.Cards, answerCard{page.NewCard(observations[i], 0, asked.Known), n,
			path + "/" + strconv.Itoa(n), conditionOf(observations[i], columns), notes.Notes.Of(observations[i][0])})
	}
	p.Count, p.Here = p.count(), f.to(path)
	for _, parameter := range []string{"after", "before", "skip"} {
		if v := placeOf(r.URL, parameter); v > 0 {
			p.Here = f.to(path, parameter, strconv.Itoa(v))
		}
	}
	switch k := len(p.Page.Numbers); {
	case k == 0:
	case f.Order != index.ByNumber:
		if q.Skip > 0 {
			p.First, p.Previous = f.to(path), f.to(path, "skip", strconv.Itoa(max(0, q.Skip-perPage)))
		}
		if p.Page.Later {
			p.Next = f.to(path, "skip", strconv.Itoa(q.Skip+perPage))
		}
	default:
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

// conditionOf returns the condition of an answer, or "" if the run has only one.
func conditionOf(of []crosstalk.Observation, columns []index.Column) string {
	var parts []string
	kind := instrument.Of(of[0].Measure)
	for _, c := range columns {
		if v := of[0].Condition[c.Name]; v != "" && !kind.Column(c.Name).Within && len(c.Values) > 1 {
			parts = append(parts, page.Named(c.Name, v))
		}
	}
	return brief(strings.Join(parts, " · "))
}

// placeOf parses the number of an answer in a URL; 0 if there is none.
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
	case k == 0 && !p.Page.Cut:
		return "No answers match."
	case p.Page.Cut:
		return number(k, "answer", "answers") +
			" found before the search timed out. Use a filter or a rarer word to search faster."
	case p.Page.Total < 0:
		return number(k, "answer", "answers") + " on this page"
	case p.Page.First == 0:
		return number(p.Page.Total, "answer", "answers")
	}
	return count(p.Page.First) + "–" + count(p.Page.First+k-1) + " of " + number(p.Page.Total, "answer", "answers")
}

// journalOf opens the journal of a run, nil if it has none (a run of recorded answers); done closes it.
func journalOf(path string) (j *journal.Journal, done func()) {
	j, err := run.OpenAnswers(path)
	if err != nil {
		return nil, func() {}
	}
	return j, func() { j.Close() }
}

type filter struct {
	Text    string
	Where   map[string]string
	Noted   string // noted or notError: only answers with a note or mark; "": all
	Order   index.Order
	columns []index.Column
}

const (
	noted    = "note"
	notError = "no-error"
)

type field struct {
	Name, Parameter string
	Chosen          string
	Values          []index.Value
}

type choice struct {
	Name   string
	N      int
	To     string
	Chosen bool
}

// is prefixes the parameters of columns, since columns can have any name.
const is = "is."

// newFilter parses a URL. A column without a value is ignored.
func newFilter(at *url.URL, columns []index.Column) filter {
	f := filter{Where: map[string]string{}, columns: columns}
	query := at.Query()
	if n := query.Get("noted"); n == noted || n == notError {
		f.Noted = n
	}
	if o := index.Order(query.Get("sort")); slices.Contains(index.Orders, o) {
		f.Order = o
	}
	f.Text = strings.TrimSpace(visible.Line(query.Get("q")))
	for name, values := range query {
		column, ok := strings.CutPrefix(name, is)
		if ok && values[0] != "" {
			f.Where[visible.Line(column)] = visible.Line(values[0])
		}
	}
	return f
}

func (f filter) to(path string, more ...string) string {
	query := url.Values{}
	if f.Text != "" {
		query.Set("q", f.Text)
	}
	for c, v := range f.Where {
		query.Set(is+c, v)
	}
	if f.Noted != "" {
		query.Set("noted", f.Noted)
	}
	if f.Order != index.ByNumber {
		query.Set("sort", string(f.Order))
	}
	for pair := range slices.Chunk(more, 2) {
		query.Set(pair[0], pair[1])
	}
	return (&url.URL{Path: path, RawQuery: query.Encode()}).String()
}

// findings returns links to the findings, with the rest of the filter unchanged.
func (f filter) findings(path string) (list []choice) {
	i := slices.IndexFunc(f.columns, func(c index.Column) bool { return c.Name == index.Found })
	if i < 0 {
		return nil
	}
	for _, v := range f.columns[i].Values {
		chosen := f.Where[index.Found] == v.Name && f.Noted == ""
		list = append(list, choice{v.Name, v.N, f.with(v.Name, "").to(path), chosen})
	}
	if i := slices.IndexFunc(list, func(c choice) bool { return c.Name == index.AnyFault }); i > 0 {
		list = slices.Insert(slices.Delete(slices.Clone(list), i, i+1), 0, list[i])
	}
	return list
}

// marked returns links to the answers with notes and marks, if there are any.
func (f filter) marked(path string, m marks) (list []choice) {
	for _, c := range []struct {
		name, value string
		n           int
	}{{"with a note or a mark", noted, len(m.Noted)}, {"marked as no error", notError, len(m.NotError)}} {
		if c.n > 0 || f.Noted == c.value {
			list = append(list, choice{c.name, c.n, f.with("", c.value).to(path), f.Noted == c.value})
		}
	}
	return list
}

// with returns the filter for a finding, or for notes, or for neither.
func (f filter) with(found, noted string) filter {
	f.Where, f.Noted = maps.Clone(f.Where), noted
	if f.Where[index.Found] = found; found == "" {
		delete(f.Where, index.Found)
	}
	return f
}

func (f filter) query(m marks) index.Query {
	q := index.Query{Where: f.Where, Text: f.Text, Order: f.Order, Limit: perPage}
	if numbers := map[string][]int{noted: m.Noted, notError: m.NotError}; f.Noted != "" {
		q.Only = append([]int{}, numbers[f.Noted]...) // an empty list, unlike nil, selects nothing
	}
	return q
}

func (f filter) orders(kind crosstalk.Kind) (list []option) {
	list = []option{{string(index.ByNumber), "order of the run", false}}
	if len(kind.Doubt) > 0 {
		list = append(list, option{string(index.Doubtful), "closest decisions first", false})
	}
	list = append(list, option{string(index.Longest), "longest first", false},
		option{string(index.Shortest), "shortest first", false})
	for i := range list {
		list[i].Chosen = list[i].Value == string(f.Order)
	}
	return list
}

// fields returns the other columns to filter by: columns with several values, and columns in the filter.
func (f filter) fields(kind crosstalk.Kind) (list []field) {
	for _, c := range f.columns {
		chosen := f.Where[c.Name]
		if c.Name == index.Found || len(c.Values) < 2 && chosen == "" {
			continue
		}
		values := slices.Clone(c.Values)
		slices.SortFunc(values, func(a, b index.Value) int { return compareValues(a.Name, b.Name) })
		if chosen != "" && !slices.ContainsFunc(values, func(v index.Value) bool { return v.Name == chosen }) {
			values = append(values, index.Value{Name: chosen})
		}
		list = append(list, field{crosstalk.Words(c.Name), is + c.Name, chosen, values})
	}
	first := append([]string{crosstalk.ModelColumn}, kind.Choices...) // the most useful ones
	rank := func(f field) int {
		if i := slices.Index(first, f.Parameter[len(is):]); i >= 0 {
			return i
		}
		return len(first)
	}
	slices.SortStableFunc(list, func(a, b field) int { return rank(a) - rank(b) })
	return list
}

func compareValues(a, b string) int {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	if errX == nil && errY == nil {
		return cmp.Compare(x, y)
	}
	return strings.Compare(a, b)
}

// Kept returns the choices that the form passes on unchanged.
func (f filter) Kept() (list []field) {
	if v := f.Where[index.Found]; v != "" {
		list = append(list, field{Parameter: is + index.Found, Chosen: v})
	}
	if f.Noted != "" {
		list = append(list, field{Parameter: "noted", Chosen: f.Noted})
	}
	return list
}
