// Package export writes observations and answers for other programs: JSON Lines, CSV, lm-evaluation-harness.
package export

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/internal/ordered"
	"crosstalk/internal/rescue"
	"crosstalk/run"
)

// The formats. CSV is flat: a column for each name in any row. LMEval is for observations only.
const (
	JSONLines = "jsonl"
	CSV       = "csv"
	LMEval    = "lm-eval"
)

// Formats lists all formats, the default first.
var Formats = []string{JSONLines, CSV, LMEval}

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

// LostError reports that an export lacks answers that the run has lost. All others were written.
type LostError struct {
	N   int   // answers
	Err error // the first reason
}

func (e *LostError) Error() string {
	return fmt.Sprintf("answers that are lost and left out: %d (%v); run the command that made the run again to ask for "+
		"them", e.N, e.Err)
}

func (e *LostError) Unwrap() error { return e.Err }

// readable yields the records without an error, and counts the lost ones anew each time.
func readable(all iter.Seq2[run.Record, error], lost *LostError) iter.Seq2[run.Record, error] {
	return func(yield func(run.Record, error) bool) {
		*lost = LostError{}
		for r, err := range all {
			var missing *run.MissingError
			switch {
			case errors.As(err, new(*run.DamageError)):
				lost.N++
			case errors.As(err, &missing):
				lost.N += missing.Want - missing.Have
			default:
				if !yield(r, err) {
					return
				}
			}
			lost.Err = cmp.Or(lost.Err, err)
		}
	}
}

// Row holds the non-empty cells of a line: strings, float64s or int64s, of one type per column.
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

func answerRow(a run.Record) Row {
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

// WriteRun writes the observations of a finished run in a format or, if answers is set, every request in its journal
// with its answer, which LMEval does not support. A defect in a writer is an error.
func WriteRun(w io.Writer, format, path string, answers bool) error {
	if _, err := crosstalk.Chosen("format", format, Formats); err != nil {
		return err
	}
	if answers && format == LMEval {
		return crosstalk.BadOption("format", " %s and --answers cannot be combined: the format is for observations", format)
	}
	manifest, err := run.ReadManifest(path)
	if err != nil {
		return err
	}
	return rescue.Do("the export", func() error { return writeRun(w, format, path, manifest, answers) })
}

func writeRun(w io.Writer, format, path string, manifest run.Manifest, answers bool) error {
	if answers {
		j, err := run.OpenAnswers(path)
		if err != nil {
			return err
		}
		defer j.Close()
		var lost LostError
		all := Mapped(readable(j.All(), &lost), answerRow)
		if format == JSONLines {
			err = WriteLines(w, all)
		} else {
			err = WriteCSV(w, all, first, nil)
		}
		if err == nil && lost.N > 0 {
			return &lost
		}
		return err
	}
	if _, err := os.Lstat(filepath.Join(path, "observations.jsonl")); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s %w", path, run.ErrUnfinished)
	}
	if format == JSONLines {
		return WriteLines(w, run.ReadObservations(path))
	}
	if format == LMEval {
		j, err := run.OpenAnswers(path)
		if err != nil {
			return err
		}
		defer j.Close()
		return writeSamples(w, run.ReadObservations(path), j.Known)
	}
	from, err := newOrigin(path, manifest)
	if err != nil {
		return err
	}
	return WriteCSV(w, Mapped(run.ReadObservations(path), from.row), first, nil)
}

var first = []string{"measure", "item", "cluster", "key", "sample", "variant", "value", "not_scored", "implied",
	"finding", "signature", "run", "version",
	"provider", "endpoint", "model", "prompt", "status", "text", "reasoning", "reason"}

// inOrder orders the names of columns: the first ones, others by name, the last ones.
func inOrder(names iter.Seq[string], first, last []string) []string {
	place := func(name string) int {
		if i := slices.Index(first, name); i >= 0 {
			return i - len(first)
		}
		return slices.Index(last, name) + 1
	}
	return slices.SortedFunc(names, func(a, b string) int {
		return cmp.Or(place(a)-place(b), strings.Compare(a, b))
	})
}

// WriteCSV writes a column for each name in any row, some first or last, others sorted. It reads the rows twice.
func WriteCSV(w io.Writer, rows iter.Seq2[Row, error], first, last []string) error {
	names := Row{}
	for r, err := range rows {
		if err != nil {
			return err
		}
		maps.Copy(names, r)
	}
	columns := inOrder(maps.Keys(names), first, last)
	out := csv.NewWriter(w)
	out.Write(columns)
	record := make([]string, len(columns))
	for r, err := range rows {
		if err != nil {
			return err
		}
		for i, name := range columns {
			switch x := r[name].(type) {
			case nil:
				record[i] = ""
			case float64:
				record[i] = strconv.FormatFloat(x, 'g', -1, 64)
			default:
				record[i] = fmt.Sprint(x)
			}
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// writeSamples writes observations as lines of lm-evaluation-harness' samples_TASK.jsonl, in the format of
// lm_eval/evaluator.py (evaluate) and lm_eval/loggers/evaluation_tracker.py (save_results_samples), version 0.4.9,
// without hashes: a line for each answer, or group of compared answers, under each condition. asked is Journal.Known.
func writeSamples(w io.Writer, all iter.Seq2[crosstalk.Observation, error],
	asked func(crosstalk.Key) (run.Record, bool)) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	docs := map[string]int{}
	var group []crosstalk.Observation
	flush := func() error {
		if group == nil {
			return nil
		}
		if _, known := docs[group[0].Item]; !known {
			docs[group[0].Item] = len(docs)
		}
		s := sampleOf(group, asked)
		s["doc_id"], group = docs[group[0].Item], nil
		return e.Encode(s)
	}
	for o, err := range all {
		if err == nil && instrument.Measure(o.Measure).OfTokens {
			continue
		}
		if err == nil && group != nil { // a group has the same answers under the same condition
			if last := group[0]; last.Item != o.Item || last.Sample != o.Sample || last.Variant != o.Variant ||
				!maps.Equal(last.Condition, o.Condition) || !maps.Equal(last.Labels, o.Labels) {
				err = flush()
			}
		}
		if err != nil {
			return err
		}
		group = append(group, o)
	}
	return flush()
}

// sampleOf returns a sample, including its metrics as fields.
func sampleOf(group []crosstalk.Observation, asked func(crosstalk.Key) (run.Record, bool)) map[string]any {
	o := group[0]
	s, metrics := map[string]any{}, []string{}
	for _, o := range group {
		if o.Value.Defined() && o.NotScored == "" {
			if _, twice := s[o.Measure]; !twice {
				metrics = append(metrics, o.Measure)
			}
			s[o.Measure] = float64(o.Value)
		}
	}
	doc := map[string]string{"id": o.Item}
	maps.Copy(doc, o.Labels)
	for k, v := range o.Condition {
		doc["condition_"+k] = v
	}
	arguments, sent, filtered := map[string]any{}, [][]string{}, []string{}
	for _, t := range o.Texts {
		if t.Role != crosstalk.Side {
			continue
		}
		i, raw, prompt, settings := len(sent), t.Text, "", map[string]any{}
		if i < len(o.Answers) {
			if a, ok := asked(o.Answers[i]); ok {
				raw, prompt = a.Answer.Text, a.Request.Text()
				text, _ := json.Marshal(a.Request.Decoding)
				json.Unmarshal(text, &settings)
			}
		}
		arguments[fmt.Sprintf("gen_args_%d", i)] = map[string]any{"arg_0": prompt, "arg_1": settings}
		sent, filtered = append(sent, []string{raw}), append(filtered, t.Text)
	}
	target := instrument.Of(o.Measure).Target // the correct class, the requested language, or the concept
	maps.Copy(s, map[string]any{"doc": doc, "target": cmp.Or(o.Text(target), o.Labels[target]), "arguments": arguments,
		"resps": sent, "filtered_resps": filtered, "filter": "none", "metrics": metrics})
	return s
}
