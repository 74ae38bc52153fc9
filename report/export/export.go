// Package export writes observations and answers for other programs: JSON Lines, CSV, and the samples of
// lm-evaluation-harness.
package export

import (
	"encoding/json"
	"io"
	"iter"
	"strings"
	"time"

	"crosstalk"
	"crosstalk/ask/journal"
	"crosstalk/internal/ordered"
)

// The formats. CSV is flat: a column for each name that occurs in any row. Codebook
// describes these columns. LMEval is for observations only.
const (
	JSONLines = "jsonl"
	CSV       = "csv"
	Codebook  = "codebook"
	LMEval    = "lm-eval"
)

// Formats are all formats, the default first.
var Formats = []string{JSONLines, CSV, Codebook, LMEval}

// writeRows writes rows in a flat format, for which it reads them twice.
func writeRows(w io.Writer, format string, rows iter.Seq2[Row, error]) error {
	if format == Codebook {
		return writeCodebook(w, rows)
	}
	return WriteCSV(w, rows, first, nil)
}

// WriteLines writes values as JSON Lines, until the first error.
func WriteLines[T any](w io.Writer, all iter.Seq2[T, error]) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for v, err := range all {
		if err != nil {
			return err
		}
		if err := e.Encode(v); err != nil {
			return err
		}
	}
	return nil
}

// Mapped yields f of each value.
func Mapped[T, U any](all iter.Seq2[T, error], f func(T) U) iter.Seq2[U, error] {
	return func(yield func(U, error) bool) {
		for v, err := range all {
			if !yield(f(v), err) {
				return
			}
		}
	}
}

// Row is the cells of a line that are not empty, by column. Values are strings,
// float64s or int64s; a column has one type throughout.
type Row map[string]any

func (r Row) text(name, value string) {
	if value != "" {
		r[name] = value
	}
}

func (r Row) number(name string, value crosstalk.Value) {
	if value.Defined() {
		r[name] = float64(value)
	}
}

func observationRow(o crosstalk.Observation) Row {
	r := Row{}
	r.text("measure", o.Measure)
	r.text("item", o.Item)
	r.text("cluster", o.Cluster)
	r["sample"] = int64(o.Sample)
	r.text("variant", o.Variant)
	r.number("value", o.Value)
	r.text("not_scored", o.NotScored)
	if o.Implied {
		r.text("implied", "true")
	}
	r.text("finding", o.Finding)
	for name, values := range map[string]map[string]string{"condition.": o.Condition, "label.": o.Labels} {
		for k, v := range values {
			r.text(name+k, v)
		}
	}
	for _, t := range o.Texts {
		r.text("text."+t.Name, t.Text)
	}
	for k, v := range o.Numbers {
		r.number("number."+k, crosstalk.Value(v))
	}
	if o.Masked != nil {
		r["masked"] = string(crosstalk.Canonical(o.Masked))
	}
	if o.Spans != nil {
		r["spans"] = string(crosstalk.Canonical(o.Spans))
	}
	if o.Tokens != nil {
		r["tokens"] = string(crosstalk.Canonical(o.Tokens))
	}
	r.text("answers", strings.Join(ordered.Map(o.Answers, crosstalk.Key.String), " "))
	return r
}

func answerRow(a journal.Record) Row {
	r := Row{}
	r.text("key", a.Answer.Key.String())
	r.text("provider", a.Identity.Provider)
	r.text("endpoint", a.Identity.Endpoint)
	r.text("model", a.Identity.Name)
	r.text("prompt", a.Request.Text())
	r.text("request", string(crosstalk.Canonical(a.Request)))
	r["sample"] = int64(a.Request.Sample)
	r.text("status", string(a.Answer.Status))
	r.text("text", a.Answer.Text)
	r.text("reasoning", a.Answer.Reasoning)
	r.text("reason", a.Answer.Reason)
	r.text("served_model", a.Answer.Model)
	r["prompt_tokens"] = int64(a.Answer.Usage.Prompt)
	r["completion_tokens"] = int64(a.Answer.Usage.Completion)
	r["reasoning_tokens"] = int64(a.Answer.Usage.Reasoning)
	r["latency_ms"] = float64(a.Answer.Latency) / float64(time.Millisecond)
	r["attempts"] = int64(a.Answer.Attempts)
	r.text("answered_at", a.Answer.Time.UTC().Format(time.RFC3339Nano))
	if a.Answer.Logprobs != nil {
		r["logprobs"] = string(crosstalk.Canonical(a.Answer.Logprobs))
	}
	return r
}
