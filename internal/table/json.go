package table

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"crosstalk/internal/jsonscan"
)

// Document reads one JSON document piece by piece, so memory does not grow with the elements of its arrays. Its
// errors name file and line.
type Document struct {
	path   string
	d      *json.Decoder
	record *bounded
	lines  *lineCounter
}

func newDocument(path string, text io.Reader, most int) *Document {
	d := &Document{path: path, record: &bounded{in: text, most: most}}
	d.lines = &lineCounter{in: d.record}
	d.d = json.NewDecoder(d.lines)
	return d
}

// Starts reads the opening of an object or an array and returns '{' or '['; for any other value, it reads the value
// and returns 0.
func (d *Document) Starts() (json.Delim, error) {
	d.record.reset()
	t, err := d.d.Token()
	if err != nil {
		return 0, d.errorf(err)
	}
	delim, _ := t.(json.Delim)
	return delim, nil
}

// Keys calls each with the keys of the object that Starts opened. each must read the value, with Raw, Starts and Keys
// or Elements.
func (d *Document) Keys(each func(key string) error) error {
	return d.members(func() error {
		key, err := d.d.Token()
		if err != nil {
			return d.errorf(err)
		}
		return each(key.(string))
	})
}

// Elements calls each with the elements of the array that Starts opened, and the lines where they start.
func (d *Document) Elements(each func(line int, text []byte) error) error {
	return d.members(func() error {
		text, line, err := d.Raw()
		if err != nil {
			return err
		}
		return each(line, text)
	})
}

// members calls read for each member of the object or array, to its end.
func (d *Document) members(read func() error) error {
	for d.record.reset(); d.d.More(); d.record.reset() {
		if err := read(); err != nil {
			return err
		}
	}
	if _, err := d.d.Token(); err != nil {
		return d.errorf(err)
	}
	return nil
}

// Raw reads the next value, and returns it with the line where it starts.
func (d *Document) Raw() (text []byte, line int, err error) {
	d.record.reset()
	var raw json.RawMessage
	if err := d.d.Decode(&raw); err != nil {
		return nil, 0, d.errorf(err)
	}
	return raw, d.lines.at(d.d.InputOffset() - int64(len(raw))), nil
}

// End returns an error unless the document ends here.
func (d *Document) End() error {
	d.record.reset()
	if _, err := d.d.Token(); err != io.EOF {
		return d.errorf(errors.New("found text after the end"))
	}
	return nil
}

func (d *Document) errorf(err error) error {
	offset := d.d.InputOffset()
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		offset = max(offset, syntax.Offset)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the file is truncated")
	}
	return fmt.Errorf("%s:%d: not valid JSON: %w", d.path, d.lines.at(offset), err)
}

// lineCounter counts the lines of the bytes read through it. It remembers the line breaks after the last offset
// passed to at.
type lineCounter struct {
	in     io.Reader
	read   int64
	line   int // breaks before the last offset
	breaks []int64
}

func (l *lineCounter) Read(p []byte) (int, error) {
	n, err := l.in.Read(p)
	for i, b := range p[:n] {
		if b == '\n' {
			l.breaks = append(l.breaks, l.read+int64(i))
		}
	}
	l.read += int64(n)
	return n, err
}

// at returns the line of an offset, from 1. Offsets must not decrease; a smaller one returns the line of the last.
func (l *lineCounter) at(offset int64) int {
	n, _ := slices.BinarySearch(l.breaks, offset)
	l.breaks = slices.Delete(l.breaks, 0, n)
	l.line += n
	return l.line + 1
}

func readJSONArray(f *File, yield func(Row) bool) error {
	d := f.Document(maxRecord)
	start, err := d.Starts()
	if err != nil {
		return err
	}
	if start != '[' {
		return fmt.Errorf("%s:1: expected an array of objects, as in [{...}, {...}]", f.Path)
	}
	err = d.Elements(func(line int, text []byte) error {
		row, err := ParseObject(f.Path, line, text)
		if err == nil && !yield(row) {
			err = errStop
		}
		return err
	})
	if err == nil {
		err = d.End()
	}
	if err == errStop {
		return nil
	}
	return err
}

var errStop = errors.New("stop")

func readJSONLines(f *File, yield func(Row) bool) error {
	path, record := f.Path, &bounded{in: &f.text, most: maxRecord}
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

// ParseObject parses a JSON object that starts in this line as a row.
func ParseObject(path string, line int, text []byte) (Row, error) {
	if !utf8.Valid(text) { // the decoder would replace it by U+FFFD
		return Row{}, fmt.Errorf("%s:%d: is not valid UTF-8: save the file as UTF-8", path, line)
	}
	if row := newRow(path, line); row.flat(text) {
		return row, nil
	}
	return parseAny(path, line, text)
}

func newRow(path string, line int) Row {
	return Row{File: path, Line: line, Header: line, Values: map[string]string{}, Lists: map[string][]string{},
		Objects: map[string]string{}}
}

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
			if _, isObject := value.(map[string]any); isObject {
				row.Objects[name] = row.Values[name]
			}
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

// flat parses an object whose values are strings and numbers, like ParseObject but in a quarter of the time: most
// objects are such, and there are millions. It returns false for an object that it leaves to encoding/json, because
// it has other values or an error.
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
