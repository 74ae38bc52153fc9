package web

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
	"crosstalk/instrument"
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
	d := downloaded{Run: run, index: l.index, marks: l.notes.read(r.Context(), run.path, l.index),
		prompts: newPrompts(run.path)}
	defer d.prompts.close()
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
	write, kind := d.csv, "text/csv; charset=utf-8"
	if path.Ext(r.URL.Path) == ".jsonl" {
		write, kind = d.lines, "application/jsonl; charset=utf-8"
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Disposition", `attachment; filename="`+path.Base(r.URL.Path)+`"`)
	if write(r, w) != nil {
		panic(http.ErrAbortHandler) // the browser sees that the file is not whole
	}
	return nil
}

// downloaded are the answers of a file.
type downloaded struct {
	Run     *runEntry
	index   *index.Index
	numbers []int
	marks   marks
	prompts *prompts
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

// each calls f with the answers, until the first error.
func (d downloaded) each(r *http.Request, f func(answerRecord) error) error {
	for _, n := range d.numbers {
		list, err := d.index.Observations(r.Context(), n)
		if err == nil {
			err = f(d.record(n, list[0]))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// record sums up the observations of an answer.
func (d downloaded) record(number int, of []crosstalk.Observation) answerRecord {
	note := d.marks.Notes.Of(of[0])
	a := answerRecord{Number: number, Item: of[0].Item, Sample: of[0].Sample, Variant: of[0].Variant,
		Condition: note.Condition, Labels: map[string]string{}, Prompts: map[string]string{}, Texts: map[string]string{},
		Values: map[string]crosstalk.Value{}, NotError: note.NotError, Note: note.Text}
	for _, p := range page.NewCard(of, 0, d.prompts.prompt, nil).Prompts {
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

// lines writes JSON Lines.
func (d downloaded) lines(r *http.Request, w http.ResponseWriter) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return d.each(r, func(a answerRecord) error { return e.Encode(a) })
}

// csv writes CSV with a column for each name that occurs.
func (d downloaded) csv(r *http.Request, w http.ResponseWriter) error {
	first := []string{"number", "item", "sample", "variant"}
	last := []string{"finding", "unscored", "not_error", "note"}
	names := map[string]bool{}
	err := d.each(r, func(a answerRecord) error {
		for name := range a.cells() {
			names[name] = true
		}
		return nil
	})
	if err != nil {
		return err
	}
	header := slices.Concat(first, slices.Sorted(maps.Keys(names)), last)
	out := csv.NewWriter(w)
	out.Write(header)
	err = d.each(r, func(a answerRecord) error {
		record := []string{strconv.Itoa(a.Number), a.Item, strconv.Itoa(a.Sample), a.Variant}
		cells := a.cells()
		for _, name := range header[len(first) : len(header)-len(last)] {
			record = append(record, cells[name])
		}
		mark := ""
		if a.NotError {
			mark = "true"
		}
		return out.Write(append(record, strings.Join(a.Findings, "; "), strings.Join(a.NotScored, "; "), mark, a.Note))
	})
	if err != nil {
		return err
	}
	out.Flush()
	return out.Error()
}

// cells are the columns that not every instrument has.
func (a answerRecord) cells() map[string]string {
	cells := map[string]string{}
	for prefix, values := range map[string]map[string]string{
		"condition.": a.Condition, "label.": a.Labels, "prompt.": a.Prompts, "text.": a.Texts,
	} {
		for k, v := range values {
			cells[prefix+k] = v
		}
	}
	for k, v := range a.Values {
		if cells["value."+k] = ""; v.Defined() {
			cells["value."+k] = strconv.FormatFloat(float64(v), 'g', -1, 64)
		}
	}
	return cells
}
