// Package check judges what is in files: answers in logs, and prose and message catalogues in a language that the path
// names.
package check

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"strings"

	"crosstalk/guard"
	"crosstalk/internal/table"
)

// Formats lists the values of Options.Format. Without one, answers are written as jsonl, and findings in files as text.
var Formats = []string{"text", "jsonl", "github", "sarif"}

// Options say how files are read and what is written. The zero value takes the languages from the files.
type Options struct {
	Checker  guard.Checker
	Language string            // of answers and files that do not say theirs: a tag, or guard.User for answers
	Columns  map[string]string // see recorded.Reading
	Format   string            // of Formats
	Baseline string            // a file of findings as jsonl that are accepted; empty: none
	Note     func(text string) // is told what was read from where, and what was left out
}

// A Result says what came of a check. Answers that are written as jsonl count in no Findings.
type Result struct {
	Answers, Unchecked int // answers, and those whose language is not known
	Findings           int
}

// Run judges the files at the paths, or the answers on standard input if there is none, and writes verdicts or
// findings. Errors name a file, and a line in it; what comes before is written.
func (o Options) Run(w io.Writer, stdin io.Reader, paths []string) (r Result, err error) {
	if err := o.Checker.CheckLanguage(o.Language); err != nil {
		return r, err
	}
	out := &writer{w: w, note: o.Note, format: o.Format, result: &r}
	if o.Baseline != "" {
		if out.accepted, err = readBaseline(o.Baseline); err != nil {
			return r, err
		}
	}
	if len(paths) == 0 {
		if err := o.lines(out, stdin, "standard input"); err != nil {
			return r, err
		}
		return r, out.end()
	}
	files, err := o.find(paths)
	if err != nil {
		return r, err
	}
	batches := map[string][]string{}
	for _, f := range files {
		switch {
		case f.kind == records, f.kind == logs && isOwn(f.path):
			err = o.open(out, f.path)
		case f.kind == logs:
			err = o.log(out, f.path, batches)
		default:
			err = o.file(out, f)
		}
		if err != nil {
			return r, err
		}
	}
	return r, out.end()
}

// Text judges one text of at most 16 MB, and writes it with its foreign parts in brackets, and the verdict.
func (o Options) Text(w io.Writer, in io.Reader) error {
	data, err := io.ReadAll(io.LimitReader(in, longest+1))
	if err != nil {
		return fmt.Errorf("standard input: %w", err)
	}
	if len(data) > longest {
		return fmt.Errorf("standard input: %w", errLong)
	}
	text := string(bytes.ReplaceAll(bytes.TrimPrefix(data, byteOrderMark), []byte("\r\n"), []byte("\n")))
	j, err := o.Checker.Check(text, o.Language)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, j.Marked(text)+"\n"+summary(j)+"\n")
	return err
}

// longest is the longest file, or line of JSON, that is read, in bytes.
const longest = 16 << 20

var errLong = fmt.Errorf("longer than %d MB", longest>>20)

// byteOrderMark begins files of some Windows programs. It is no part of their text.
var byteOrderMark = []byte("\ufeff")

// open reads a file of our own records.
func (o Options) open(out *writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	var in io.Reader = f
	if strings.HasSuffix(strings.ToLower(path), ".gz") {
		if in, err = gzip.NewReader(f); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return o.lines(out, in, path)
}

// summary is the verdict in a line.
func summary(j guard.Judgement) string {
	switch j.Verdict {
	case guard.CannotTell:
		return "cannot tell: too little to judge by"
	case guard.Right:
		return "right " + judged(j)
	}
	var parts []string
	if n := j.Count(guard.Line); n > 0 {
		parts = append(parts, fmt.Sprintf("lines: %d", n))
	}
	if n := j.Count(guard.Word); n > 0 {
		parts = append(parts, fmt.Sprintf("runs of words: %d", n))
	}
	return fmt.Sprintf("wrong %s; in another language: %s", judged(j), strings.Join(parts, ", "))
}

// judged says how sure a verdict is, and what of the text it is about.
func judged(j guard.Judgement) string {
	s := fmt.Sprintf("(p %.2f, judged: %s", j.P, j.Judged)
	if j.NotJudged != "" {
		s += "; not judged: " + j.NotJudged
	}
	return s + ")"
}

// isOwn reports whether JSON Lines are our own records, by the first: it has a text, and is no response of OpenAI.
func isOwn(path string) bool {
	if format := table.Format(path); format != ".jsonl" && format != ".ndjson" {
		return false
	}
	for row, err := range table.Read(path) {
		_, text := row.Values["text"]
		return err != nil || text && !row.Has("completion") && !row.Has("object")
	}
	return true
}
