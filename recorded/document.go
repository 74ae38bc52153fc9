package recorded

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"crosstalk/internal/table"
)

// documentRows yields the rows of a JSON document: an array, the samples of Inspect's log, or promptfoo's results.
func documentRows(path string) iter.Seq2[table.Row, error] {
	return rowsBy(func(yield func(table.Row) error) error {
		d, file, err := table.OpenDocument(path, maxSample)
		if err != nil {
			return err
		}
		defer file.Close()
		r := documentReader{Document: d, path: path, yield: yield}
		return r.read()
	})
}

type documentReader struct {
	*table.Document
	path  string
	yield func(table.Row) error
	log   spec
	found bool // rows, or an empty list of them
	rest  map[string]json.RawMessage
}

func (r *documentReader) read() error {
	start, err := r.Starts()
	switch {
	case err != nil:
		return err
	case start == '[':
		err = r.rows(table.ParseObject)
	case start == '{':
		err = r.Keys(r.member)
	}
	if err == nil {
		err = r.End()
	}
	if err == nil && !r.found {
		err = r.wrapped()
	}
	if err == nil && !r.found {
		err = fmt.Errorf("%s:1: expected an array of objects, a log of Inspect (with samples) "+
			"or promptfoo's output (with results)", r.path)
	}
	return err
}

func (r *documentReader) member(key string) error {
	switch key {
	case "eval":
		text, line, err := r.Raw()
		if err == nil && json.Unmarshal(text, &r.log) != nil {
			err = fmt.Errorf("%s:%d: eval is not from a log of Inspect", r.path, line)
		}
		return err
	case spansColumn:
		return r.list(func(file string, line int, text []byte) (table.Row, error) {
			return table.Row{File: file, Line: line, Header: line, Values: map[string]string{},
				Lists: map[string][]string{spansColumn: {string(text)}}}, nil
		})
	case "samples":
		return r.list(r.log.sample)
	case "results": // of promptfoo an object with results; Inspect's has no rows
		start, err := r.Starts()
		switch {
		case err != nil || start == 0:
			return err
		case start == '[':
			return r.rows(table.ParseObject)
		}
		return r.Keys(func(key string) error {
			if key == "results" {
				return r.list(table.ParseObject)
			}
			return r.skip(key)
		})
	}
	text, _, err := r.Raw()
	if r.rest == nil {
		r.rest = map[string]json.RawMessage{}
	}
	r.rest[key] = slices.Clone(text)
	return err
}

// pages are the members that hold the rows of a log in APIs' responses.
var pages = []string{"data", "runs", "requests", "traces", "observations", "conversations", "items"}

// wrapped yields the rows of an object: those of the log in it, or the object itself.
func (r *documentReader) wrapped() error {
	whole, err := json.Marshal(r.rest)
	if err != nil {
		return err
	}
	texts := []json.RawMessage{whole}
	for _, name := range pages {
		var list []json.RawMessage
		if json.Unmarshal(r.rest[name], &list) == nil && len(list) > 0 {
			texts = list
			break
		}
	}
	var rows []table.Row
	for i, text := range texts {
		row, err := table.ParseObject(r.path, i+1, text)
		if err != nil && slices.ContainsFunc(rows, isLog) {
			return err
		} else if err != nil {
			return nil // it holds something else
		}
		rows = append(rows, row)
	}
	if r.found = slices.ContainsFunc(rows, isLog); !r.found {
		return nil
	}
	for _, row := range rows {
		if err := r.yield(row); err != nil {
			return err
		}
	}
	return nil
}

// isLog reports whether a row is one of a log, with an answer or a conversation.
func isLog(row table.Row) bool {
	if s, ok := shapeOf(row); ok {
		_, replies, err := logged(s, map[string][]string{}).read(row)
		return err == nil && (s.answer == "" || len(replies) > 0 && replies[0].values["completion"] != "" &&
			(replies[0].turns != nil || s.request == "" || s.answer == "."))
	}
	messages, _, err := messagesIn(row)
	return err == nil && len(messages) > 0 || isSpan(row) || isMessage(row)
}

// IsLog reports whether a JSON document has recorded answers.
func IsLog(path string) bool {
	for _, err := range documentRows(path) {
		return err == nil
	}
	return true // it has no rows
}

// list reads rows, or null.
func (r *documentReader) list(parse func(file string, line int, text []byte) (table.Row, error)) error {
	switch start, err := r.Starts(); {
	case err != nil || start == 0:
		return err
	case start == '{':
		return r.Keys(r.skip)
	}
	return r.rows(parse)
}

// skip reads a member that has no meaning here.
func (r *documentReader) skip(string) error {
	_, _, err := r.Raw()
	return err
}

func (r *documentReader) rows(parse func(file string, line int, text []byte) (table.Row, error)) error {
	r.found = true
	return r.Elements(func(line int, text []byte) error {
		row, err := parse(r.path, line, text)
		if err == nil {
			err = r.yield(row)
		}
		return err
	})
}
