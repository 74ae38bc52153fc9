package export

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/ask/journal"
	"crosstalk/instrument"
	"crosstalk/internal/visible"
	"crosstalk/run"
)

// faultFormats are the formats of a list of answers with a fault.
var faultFormats = []string{"table", "csv"}

// faulty is an answer with a fault.
type faulty struct {
	id, question, answer, expected, found string
	parts                                 []string // of the answer, that are the fault
}

// WriteFaults lists the answers of a run that have a fault (crosstalk.Kind.Fault), one
// for each sample, in the order of the run.
func WriteFaults(w io.Writer, format, path string) error {
	if !slices.Contains(faultFormats, format) {
		return crosstalk.UnknownName("format", format, faultFormats)
	}
	manifest, err := run.ReadManifest(path)
	if err != nil {
		return err
	}
	question := func(crosstalk.Observation) string { return "" }
	switch j, err := journal.OpenReader(filepath.Join(path, journal.Name)); {
	case err == nil:
		defer j.Close()
		question = func(o crosstalk.Observation) string { return questionOf(j, o) }
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	kind := instrument.Named(manifest.Plan.Instrument)
	rows := csv.NewWriter(w)
	write := func(f faulty) error {
		if format == "table" {
			return f.print(w)
		}
		return rows.Write([]string{f.id, f.question, f.answer, f.expected, f.found, strings.Join(f.parts, " | ")})
	}
	if format != "table" {
		rows.Write([]string{"id", "question", "answer", "expected", "found", "foreign or changed parts"})
	}
	var last *faulty // the parts of its words come in the observations after it
	for o, err := range run.ReadObservations(path) {
		if err != nil {
			return err
		}
		fault, decides := kind.Fault(o)
		switch {
		case !decides && last != nil && kind.Finding(o.Finding).Fault && o.Finding != "":
			last.add(o)
		case decides && last != nil:
			if err := write(*last); err != nil {
				return err
			}
			last = nil
		}
		if decides && fault.Value == 1 {
			last = &faulty{id: o.Item, expected: cmp.Or(o.Text(kind.Target), o.Labels[kind.Target]), question: question(o),
				found: titleOf(kind.Finding(fault.Finding))}
			if o.Sample > 0 {
				last.id += fmt.Sprintf(" (sample %d)", o.Sample+1)
			}
			for _, text := range o.Texts {
				switch {
				case text.Role == crosstalk.Side:
					last.answer = text.Text
				case text.Role == crosstalk.Given && last.question == "":
					last.question = text.Text
				}
			}
			last.add(o)
		}
	}
	if last != nil {
		if err := write(*last); err != nil {
			return err
		}
	}
	rows.Flush()
	return rows.Error()
}

// questionOf is the last message of the user in the request of an observation's answer.
func questionOf(j *journal.Journal, o crosstalk.Observation) string {
	if len(o.Answers) == 0 {
		return ""
	}
	record, found, err := j.Record(o.Answers[len(o.Answers)-1])
	if !found || err != nil {
		return ""
	}
	if n := len(record.Request.Messages); n > 0 {
		return record.Request.Messages[n-1].Content
	}
	return record.Request.Prompt
}

// titleOf is a finding's most specific title.
func titleOf(f crosstalk.Finding) string { return f.Titles[len(f.Titles)-1] }

func (f *faulty) add(o crosstalk.Observation) {
	for _, s := range o.Spans {
		text := s.Text
		if s.Start >= 0 && s.End <= len(f.answer) && s.Start < s.End {
			text = f.answer[s.Start:s.End]
		}
		f.parts = append(f.parts, strings.TrimSpace(strings.Join(strings.Fields(text), " ")+" ("+s.Language+")"))
	}
}

// print writes an answer for people.
func (f faulty) print(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n", visible.Line(f.id), f.found)
	for _, line := range [][2]string{{"question", f.question}, {"answer", f.answer}, {"expected", f.expected},
		{"parts", strings.Join(f.parts, " | ")}} {
		if line[1] != "" {
			fmt.Fprintf(&b, "  %-8s  %s\n", line[0], visible.Line(strings.Join(strings.Fields(line[1]), " ")))
		}
	}
	_, err := io.WriteString(w, b.String()+"\n")
	return err
}
