package web

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"iter"
	"maps"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
	"crosstalk/ask/journal"
	"crosstalk/instrument"
	"crosstalk/internal/ordered"
	"crosstalk/internal/visible"
	"crosstalk/labels"
	"crosstalk/report/export"
	"crosstalk/report/page"
	"crosstalk/report/plot"
	"crosstalk/web/access"
	"crosstalk/web/index"
)

type answerPage struct {
	frame
	Number         int
	Previous, Next string
	Path           string // of this page
	Note           labels.Note
	Trouble        string // why notes cannot be read
	Card           *page.Card
	Labels         []page.Setting
	Observations   []observationRow
	Spans          []crosstalk.Span
	Strips         []template.HTML
	Asks           []exchange
}

type observationRow struct{ Measure, Of, Value, Why string }

type exchange struct {
	Messages  []page.Setting
	Facts     []page.Setting
	Reasoning string // the model's thoughts before the answer
	Answer    string
	Raw       string
}

// answer writes the page of one answer, with everything derived from it.
func (s *Server) answer(w http.ResponseWriter, r *http.Request) error {
	run, number, observations, last, err := s.observations(r)
	if err != nil {
		return err
	}
	path := "/runs/" + run.ID
	p := answerPage{Number: number, Path: r.URL.Path}
	p.frame = run.frame("Answer "+count(number), "")
	if notes, err := labels.ReadNotes(run.path); err != nil {
		p.Trouble = visible.Line(strings.ReplaceAll(err.Error(), run.path, "…"))
	} else {
		p.Note = notes.Of(observations[0])
	}
	if number > 1 {
		p.Previous = fmt.Sprintf("%s/answers/%d", path, number-1)
	}
	if number < last {
		p.Next = fmt.Sprintf("%s/answers/%d", path, number+1)
	}
	asked, done := journalOf(run.path)
	defer done()
	p.Card = page.NewCard(observations, longest, nil)
	p.fill(observations, asked)
	return show(w, http.StatusOK, "answer.html", p)
}

// observations returns the observations of the answer in the URL, and the number of the run's last answer.
func (s *Server) observations(r *http.Request) (
	run *runEntry, number int, of []crosstalk.Observation, last int, err error,
) {
	if run, err = s.listing.run(r.PathValue("run")); err != nil {
		return nil, 0, nil, 0, err
	}
	if number, err = strconv.Atoi(r.PathValue("number")); err != nil {
		return nil, 0, nil, 0, index.ErrNone
	}
	l, done := s.runs.open(run)
	defer done()
	if l.index == nil {
		return nil, 0, nil, 0, index.ErrNone
	}
	list, err := l.index.Observations(r.Context(), number)
	if err != nil {
		return nil, 0, nil, 0, err
	}
	return run, number, list[0], l.index.Progress().Answers, nil
}

func (p *answerPage) fill(observations []crosstalk.Observation, asked *journal.Journal) {
	var keys []crosstalk.Key
	labels := map[string]string{}
	for _, o := range observations {
		p.Observations = append(p.Observations, observe(o))
		p.Spans = append(p.Spans, o.Spans...)
		if len(o.Tokens) > 0 {
			p.strip(o.Tokens)
		}
		maps.Copy(labels, o.Labels)
		keys = append(keys, o.Answers...)
	}
	for _, c := range slices.Sorted(maps.Keys(labels)) {
		p.Labels = append(p.Labels, page.Setting{Name: brief(crosstalk.Words(c)), Value: brief(labels[c])})
	}
	for _, k := range ordered.Distinct(keys, func(k crosstalk.Key) crosstalk.Key { return k }) {
		if record, ok := asked.Known(k); ok {
			p.Asks = append(p.Asks, exchangeOf(record))
		}
	}
}

func (p *answerPage) strip(tokens []crosstalk.Token) {
	const most = 400
	var b strings.Builder
	drawing := plot.Strip(tokens[:min(len(tokens), most)])
	drawing.Title = "The model's uncertainty, token by token"
	if drawing.WriteSVG(&b) == nil {
		p.Strips = append(p.Strips, template.HTML(b.String()))
	}
}

func observe(o crosstalk.Observation) observationRow {
	kind := instrument.Of(o.Measure)
	out := observationRow{Measure: kind.Measure(o.Measure).Label, Value: "-",
		Why: brief(page.FindingName(kind.Finding(o.Finding)))}
	if o.Value.Defined() {
		out.Value = strconv.FormatFloat(float64(o.Value), 'g', 4, 64)
	}
	if o.NotScored != "" {
		out.Why = "not scored: " + brief(o.NotScored)
	}
	var of []string
	for _, c := range slices.Sorted(maps.Keys(o.Condition)) {
		of = append(of, c+" "+o.Condition[c])
	}
	out.Of = brief(strings.Join(of, " · "))
	return out
}

func exchangeOf(r journal.Record) exchange {
	a := exchange{Reasoning: cut(r.Answer.Reasoning), Answer: cut(r.Answer.Text), Raw: cut(string(r.Answer.Raw))}
	for _, m := range r.Request.Messages {
		a.Messages = append(a.Messages, page.Setting{Name: m.Role, Value: cut(m.Content)})
	}
	if r.Request.Prompt != "" {
		a.Messages = append(a.Messages, page.Setting{Name: "prompt", Value: cut(r.Request.Prompt)})
	}
	tokens, attempts := fmt.Sprintf("%d in, %d out", r.Answer.Usage.Prompt, r.Answer.Usage.Completion), ""
	if n := r.Answer.Usage.Reasoning; n > 0 {
		tokens += fmt.Sprintf(", %d of them for thinking", n)
	}
	if r.Answer.Attempts > 1 {
		attempts = strconv.Itoa(r.Answer.Attempts)
	}
	for _, fact := range [][2]string{{"model", r.Identity.String()}, {"endpoint", r.Identity.Endpoint},
		{"served by", r.Answer.Model}, {"decoding", string(crosstalk.Canonical(r.Request.Decoding))},
		{"sample", strconv.Itoa(r.Request.Sample)}, {"status", string(r.Answer.Status)}, {"ended by", r.Answer.Reason},
		{"tokens", tokens}, {"took", r.Answer.Latency.Round(1e6).String()}, {"attempts", attempts},
		{"arrived", r.Answer.Time.Format("2006-01-02 15:04:05 MST")}} {
		if fact[1] != "" {
			a.Facts = append(a.Facts, page.Setting{Name: fact[0], Value: brief(fact[1])})
		}
	}
	return a
}

func cut(text string) string {
	if len(text) <= longest {
		return text
	}
	return strings.ToValidUTF8(text[:longest], "") + fmt.Sprintf("… (%s more not shown)", size(int64(len(text)-longest)))
}

// download sends the answers of a filter as CSV or JSON Lines, in its order.
func (s *Server) download(w http.ResponseWriter, r *http.Request, run *runEntry, l openRun) error {
	if l.index == nil {
		return index.ErrNone
	}
	columns, err := l.index.Columns(r.Context())
	if err != nil {
		return err
	}
	asked, done := journalOf(run.path)
	defer done()
	d := downloaded{index: l.index, marks: l.notes.read(r.Context(), run.path, l.index), asked: asked}
	if d.marks.Trouble != "" { // otherwise, the file would lack the notes
		return errors.New(d.marks.Trouble)
	}
	q := newFilter(r.URL, columns).query(d.marks)
	q.Limit = mostDownload
	found, err := l.index.Search(r.Context(), q)
	switch {
	case err != nil:
		return err
	case found.Later:
		return &access.Error{Status: http.StatusRequestEntityTooLarge,
			Message: fmt.Sprintf("More than %s answers. Use a filter, or 'crosstalk export' for all.", count(mostDownload))}
	case found.Cut:
		return errSlow
	}
	d.numbers = found.Numbers
	kind, write := "text/csv; charset=utf-8", func() error {
		first, last := []string{"number", "item", "sample", "variant"}, []string{"finding", "unscored", "not_error", "note"}
		return export.WriteCSV(w, export.Mapped(d.records(r.Context()), answerRecord.row), first, last)
	}
	if path.Ext(r.URL.Path) == ".jsonl" {
		kind, write = "application/jsonl; charset=utf-8", func() error {
			return export.WriteLines(w, d.records(r.Context()))
		}
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Disposition", `attachment; filename="`+path.Base(r.URL.Path)+`"`)
	if write() != nil {
		panic(http.ErrAbortHandler) // shows the browser that the file is incomplete
	}
	return nil
}

type downloaded struct {
	index   *index.Index
	numbers []int
	marks   marks
	asked   *journal.Journal
}

type answerRecord struct {
	Number    int                        `json:"number"` // as in the browser
	Item      string                     `json:"item"`
	Sample    int                        `json:"sample"`
	Variant   string                     `json:"variant,omitempty"`
	Condition map[string]string          `json:"condition"`
	Labels    map[string]string          `json:"labels,omitempty"`
	Prompts   map[string]string          `json:"prompts,omitempty"`
	Texts     map[string]string          `json:"texts"`
	Values    map[string]crosstalk.Value `json:"values"` // by measure
	Findings  []string                   `json:"findings,omitempty"`
	NotScored []string                   `json:"unscored,omitempty"`
	Spans     []crosstalk.Span           `json:"spans,omitempty"`
	NotError  bool                       `json:"not_error,omitempty"`
	Note      string                     `json:"note,omitempty"`
}

func (d downloaded) records(ctx context.Context) iter.Seq2[answerRecord, error] {
	return func(yield func(answerRecord, error) bool) {
		for _, n := range d.numbers {
			list, err := d.index.Observations(ctx, n)
			if err != nil {
				yield(answerRecord{}, err)
				return
			}
			if !yield(d.record(n, list[0]), nil) {
				return
			}
		}
	}
}

func (d downloaded) record(number int, of []crosstalk.Observation) answerRecord {
	note := d.marks.Notes.Of(of[0])
	a := answerRecord{Number: number, Item: of[0].Item, Sample: of[0].Sample, Variant: of[0].Variant,
		Condition: note.Condition, Labels: map[string]string{}, Prompts: map[string]string{}, Texts: map[string]string{},
		Values: map[string]crosstalk.Value{}, NotError: note.NotError, Note: note.Text}
	for _, p := range page.NewCard(of, 0, d.asked.Known).Prompts {
		a.Prompts[p.Name] = p.Value
	}
	add := func(list []string, value string) []string {
		if value == "" || slices.Contains(list, value) {
			return list
		}
		return append(list, value)
	}
	for _, o := range of {
		kind, measure := instrument.Of(o.Measure), o.Measure
		for _, c := range slices.Sorted(maps.Keys(o.Condition)) {
			if kind.Column(c).Within {
				measure += " " + o.Condition[c]
			}
		}
		a.Values[measure] = o.Value
		maps.Copy(a.Labels, o.Labels)
		for _, t := range o.Texts {
			a.Texts[t.Name] = t.Text
		}
		if o.Finding != "" {
			a.Findings = add(a.Findings, kind.Finding(o.Finding).Says())
		}
		if !o.Implied {
			a.NotScored = add(a.NotScored, o.NotScored)
		}
		a.Spans = append(a.Spans, o.Spans...)
	}
	return a
}

func (a answerRecord) row() export.Row {
	row := export.Row{"number": int64(a.Number), "item": a.Item, "sample": int64(a.Sample), "variant": a.Variant,
		"finding": strings.Join(a.Findings, "; "), "unscored": strings.Join(a.NotScored, "; "), "not_error": "",
		"note": a.Note}
	if a.NotError {
		row["not_error"] = "true"
	}
	for prefix, values := range map[string]map[string]string{
		"condition.": a.Condition, "label.": a.Labels, "prompt.": a.Prompts, "text.": a.Texts,
	} {
		for k, v := range values {
			row[prefix+k] = v
		}
	}
	for k, v := range a.Values {
		if row["value."+k] = ""; v.Defined() {
			row["value."+k] = float64(v)
		}
	}
	return row
}
