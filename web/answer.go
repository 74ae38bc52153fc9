package web

import (
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
	"crosstalk/ask/journal"
	"crosstalk/instrument"
	"crosstalk/internal/visible"
	"crosstalk/labels"
	"crosstalk/report/page"
	"crosstalk/report/plot"
	"crosstalk/web/index"
)

// longest is the maximum number of bytes of a text on an answer's page; 'crosstalk export' writes all.
const longest = 64 << 10

// answerPage is the content of the page of one answer.
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

// observationRow is an observation in words.
type observationRow struct{ Measure, Of, Value, Why string }

// exchange is a request with its answer.
type exchange struct {
	Messages  []page.Setting
	Facts     []page.Setting
	Reasoning string // what the model thought before the answer
	Answer    string
	Raw       string
}

// answer writes the page of one answer, with everything that was derived from it.
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
	keys, labels := []crosstalk.Key{}, map[string]string{}
	for _, o := range observations {
		p.Observations = append(p.Observations, observe(o))
		p.Spans = append(p.Spans, o.Spans...)
		if len(o.Tokens) > 0 {
			p.strip(o.Tokens)
		}
		maps.Copy(labels, o.Labels)
		for _, k := range o.Answers {
			if !slices.Contains(keys, k) {
				keys = append(keys, k)
			}
		}
	}
	for _, c := range slices.Sorted(maps.Keys(labels)) {
		p.Labels = append(p.Labels, page.Setting{Name: brief(crosstalk.Words(c)), Value: brief(labels[c])})
	}
	for _, k := range keys {
		if record, ok := asked.Known(k); ok {
			p.Asks = append(p.Asks, exchangeOf(record))
		}
	}
}

// strip draws the tokens around a fault.
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
	add := func(name, value string) {
		if value != "" {
			a.Facts = append(a.Facts, page.Setting{Name: name, Value: brief(value)})
		}
	}
	add("model", r.Identity.String())
	add("endpoint", r.Identity.Endpoint)
	add("served by", r.Answer.Model)
	add("decoding", string(crosstalk.Canonical(r.Request.Decoding)))
	add("sample", strconv.Itoa(r.Request.Sample))
	add("status", string(r.Answer.Status))
	add("ended by", r.Answer.Reason)
	tokens := fmt.Sprintf("%d in, %d out", r.Answer.Usage.Prompt, r.Answer.Usage.Completion)
	if n := r.Answer.Usage.Reasoning; n > 0 {
		tokens += fmt.Sprintf(", %d of them for thinking", n)
	}
	add("tokens", tokens)
	add("took", r.Answer.Latency.Round(1e6).String())
	if r.Answer.Attempts > 1 {
		add("attempts", strconv.Itoa(r.Answer.Attempts))
	}
	add("arrived", r.Answer.Time.Format("2006-01-02 15:04:05 MST"))
	return a
}

// cut shortens a text to longest bytes.
func cut(text string) string {
	if len(text) <= longest {
		return text
	}
	return strings.ToValidUTF8(text[:longest], "") + fmt.Sprintf("… (%s more not shown)", size(int64(len(text)-longest)))
}
