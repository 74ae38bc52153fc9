package recorded

import (
	"bytes"
	"iter"
	"slices"

	"crosstalk/internal/table"
)

// A File is opened once. What it is, its rows and its errors come from the same bytes, so it may be a pipe.
type File struct {
	*table.File
	reading Reading
}

// Open opens a file.
func (r Reading) Open(path string) (*File, error) {
	if f := r.Pipes[path]; f != nil {
		f.Again()
		f.Keep()
		return f, nil
	}
	of, err := table.Open(path)
	if err != nil {
		return nil, err
	}
	f := &File{of, r}
	if r.Pipes != nil && !of.Regular() {
		f.Keep()
		r.Pipes[path] = f
	}
	return f, nil
}

// Close closes the file, unless it is a pipe that may be read again.
func (f *File) Close() error {
	if f.reading.Pipes[f.Path] == f {
		return nil
	}
	return f.File.Close()
}

// Kind is what a file holds.
type Kind int

const (
	Text     Kind = iota // no answers, as far as can be told: prose, or a program's messages
	Answers              // answers, in one of the forms that Confusion reads
	Requests             // JSON Lines of requests to guard
)

// MaxText is the length in bytes up to which a file without answers is a Text.
const MaxText = 16 << 20

// Kind tells what the file holds, from its name or its first rows. The text and the rows still begin at the start.
func (f *File) Kind() Kind {
	f.Keep()
	defer f.Again()
	switch format := table.Format(f.Path); {
	case format == ".eval":
		return Answers
	case format == ".txt":
		if f.isChat() {
			return Answers
		}
		return Text
	case f.Format == ".jsonl", f.Format == ".ndjson", f.Format == ".json", f.Format == ".csv" && !f.Named:
		return f.kindByRow()
	case f.Format == "":
		return Text
	}
	return Answers
}

// kindByRow tells what JSON, or a text that may be a table, holds by its first row.
func (f *File) kindByRow() Kind {
	isLines, isTable := f.Format == ".jsonl" || f.Format == ".ndjson", f.Format == ".csv"
	for row, err := range f.rows() {
		_, hasText := row.Values["text"]
		isRequest := hasText && !row.Has("completion") && !row.Has("object") // an object: OpenAI's response
		hasAnswer := f.reading.Columns["completion"] != "" || candidates(row.Values, "completion", nil) != nil
		switch {
		case isTable && (err != nil || !hasAnswer):
			return Text
		case !isTable && (isLines || !f.Named) && (err != nil || isRequest):
			return Requests
		case err != nil && bytes.HasPrefix(bytes.TrimSpace(f.Kept()), []byte("{")) && len(f.Kept()) <= MaxText:
			return Text
		}
		return Answers
	}
	switch {
	case isLines:
		return Requests
	case isTable:
		return Text
	}
	return Answers
}

// isChat reports whether a text is a chat: somebody is answered, or it begins like an export of WhatsApp.
func (f *File) isChat() bool {
	asked := false
	for row, err := range f.rows() {
		is := answering().MatchString(row.Values[speakerColumn])
		if err != nil || asked && is || len(f.Kept()) > MaxText {
			return err == nil && len(f.Kept()) <= MaxText
		}
		if asked = !is; !bySpeaker().MatchString(row.Values[speakerColumn] + ":") {
			return true
		}
	}
	return false
}

// rows yields the rows of answers, not yet under our names.
func (f *File) rows() iter.Seq2[table.Row, error] {
	switch format := table.Format(f.Path); {
	case format == ".eval":
		return inspectSamples(f.File)
	case format == ".txt":
		return textRows(f.File)
	case f.Format == ".json":
		return documentRows(f.File)
	}
	return f.Rows(f.reading.needing(isNeeded))
}

// isNeeded reports whether a column has a meaning for Confusion.
func isNeeded(column string) bool {
	return column == "length" || slices.Contains(confusionTexts, column)
}
