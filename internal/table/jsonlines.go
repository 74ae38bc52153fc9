package table

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"crosstalk/internal/jsonscan"
)

func readJSONLines(path string, in io.Reader, yield func(Row) bool) error {
	record := &bounded{in: in, most: maxRecord}
	r := bufio.NewReaderSize(record, 1<<16)
	for line := 1; ; line++ {
		record.reset()
		text, err := r.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return fmt.Errorf("%s:%d: %w", path, line, err)
		}
		if trimmed := bytes.TrimSpace(text); len(trimmed) > 0 {
			row, err := ParseObject(path, line, trimmed)
			if err != nil {
				return err
			}
			if !yield(row) {
				return nil
			}
		}
		if err == io.EOF {
			return nil
		}
	}
}

// ParseObject reads a JSON object as the row that starts in this line.
func ParseObject(path string, line int, text []byte) (Row, error) {
	if !utf8.Valid(text) { // the decoder would put U+FFFD in its place
		return Row{}, fmt.Errorf("%s:%d: is not valid UTF-8: save the file as UTF-8", path, line)
	}
	if row := newRow(path, line); row.flat(text) {
		return row, nil
	}
	return parseAny(path, line, text)
}

func newRow(path string, line int) Row {
	return Row{File: path, Line: line, Header: line, Values: map[string]string{}, Lists: map[string][]string{}}
}

// parseAny is ParseObject for any object.
func parseAny(path string, line int, text []byte) (Row, error) {
	row := newRow(path, line)
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if t, err := d.Token(); t != json.Delim('{') {
		return row, fmt.Errorf("%s:%d: expected a JSON object%s", path, line, because(err))
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return row, fmt.Errorf("%s:%d: not valid JSON%s", path, line, because(err))
		}
		name := key.(string)
		if row.Has(name) {
			return row, fmt.Errorf("%s:%d: duplicate field %q", path, line, name)
		}
		var value any
		if err := d.Decode(&value); err != nil {
			return row, fmt.Errorf("%s:%d: the field %q is not valid JSON%s", path, line, name, because(err))
		}
		row.Columns = append(row.Columns, name)
		list, isList := value.([]any)
		if !isList {
			row.Values[name] = toText(value)
			continue
		}
		row.Lists[name] = make([]string, len(list))
		for i, v := range list {
			row.Lists[name][i] = toText(v)
		}
	}
	if _, err := d.Token(); err != nil {
		return row, fmt.Errorf("%s:%d: not valid JSON%s", path, line, because(err))
	}
	if _, err := d.Token(); err != io.EOF {
		return row, fmt.Errorf("%s:%d: expected one JSON object per line, found text after it", path, line)
	}
	return row, nil
}

func because(err error) string {
	if err == nil {
		return ""
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return ": the line is truncated"
	}
	return ": " + err.Error()
}

func toText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case json.Number:
		return v.String()
	}
	b, _ := json.Marshal(v)
	return string(b)
}

// flat reads an object whose values are strings and numbers as ParseObject does, in a quarter of the time: most objects
// are such, and there are millions. It returns false where it leaves the object to encoding/json: there is something
// else in it, or something wrong.
func (r *Row) flat(text []byte) bool {
	s := jsonscan.New(text)
	s.Fields(func(name []byte) {
		column := string(name)
		if r.Has(column) {
			s.Fail()
			return
		}
		r.Columns = append(r.Columns, column)
		if s.At('"') {
			r.Values[column] = s.Text()
			return
		}
		number := s.Number()
		if len(number) == 0 || number[0] != '-' && (number[0] < '0' || number[0] > '9') || !json.Valid(number) {
			s.Fail()
		}
		r.Values[column] = string(number)
	})
	return s.Done()
}
