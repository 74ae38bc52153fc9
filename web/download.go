package web

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/ask/journal"
	"crosstalk/instrument"
	"crosstalk/report/export"
	"crosstalk/report/page"
	"crosstalk/web/access"
	"crosstalk/web/index"
)

// mostDownload is the maximum number of answers in a file; 'crosstalk export' writes all.
const mostDownload = 50_000

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
	if d.marks.Trouble != "" { // otherwise the file would lack the notes
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
		return export.WriteCSV(w, export.Mapped(d.records(r.Context()), answerRecord.row), firstColumns, lastColumns)
	}
	if path.Ext(r.URL.Path) == ".jsonl" {
		kind, write = "application/jsonl; charset=utf-8", func() error {
			return export.WriteLines(w, d.records(r.Context()))
		}
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Disposition", `attachment; filename="`+path.Base(r.URL.Path)+`"`)
	if write() != nil {
		panic(http.ErrAbortHandler) // the browser sees that the file is not whole
	}
	return nil
}

// downloaded are the answers of a file.
type downloaded struct {
	index   *index.Index
	numbers []int
	marks   marks
	asked   *journal.Journal
}

// answerRecord is an answer in a file.
type answerRecord struct {
	Number    int                        `json:"number"` // in the browser
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

// records yields the answers, until the first error.
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

// record sums up the observations of an answer.
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

// The columns of CSV that stand before and after those that not every instrument has.
var (
	firstColumns = []string{"number", "item", "sample", "variant"}
	lastColumns  = []string{"finding", "unscored", "not_error", "note"}
)

// row is the answer as a line of CSV.
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
