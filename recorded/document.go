package recorded

import (
	"encoding/json"
	"fmt"
	"iter"

	"crosstalk/internal/table"
)

// documentRows yields the rows of a JSON document: of an array, the samples of a
// log of Inspect, or the results of promptfoo.
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
		err = fmt.Errorf("%s:1: expected an array of objects, a log of Inspect (with samples) "+
			"or promptfoo's output (with results)", r.path)
	}
	return err
}

// member reads a member of the document.
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
			_, _, err := r.Raw()
			return err
		})
	}
	_, _, err := r.Raw()
	return err
}

// list reads rows, or null.
func (r *documentReader) list(parse func(file string, line int, text []byte) (table.Row, error)) error {
	switch start, err := r.Starts(); {
	case err != nil || start == 0:
		return err
	case start == '{':
		return r.Keys(func(string) error {
			_, _, err := r.Raw()
			return err
		})
	}
	return r.rows(parse)
}

// rows reads the rows of an array that has started.
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
