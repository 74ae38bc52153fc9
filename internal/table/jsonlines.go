package table

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
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
		if line == 1 {
			text = bytes.TrimPrefix(text, []byte("\ufeff"))
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
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
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
// are such, and there are millions. ok is false where it leaves the object to encoding/json: there is something else in
// it, or something wrong.
func (r *Row) flat(text []byte) (ok bool) {
	p := flatParser{text}
	if !p.next('{') {
		return false
	}
	for {
		name, ok := p.text()
		if !ok || r.Has(name) || !p.next(':') {
			return false
		}
		value, ok := p.value()
		if !ok {
			return false
		}
		r.Columns = append(r.Columns, name)
		r.Values[name] = value
		if !p.next(',') {
			return p.next('}') && len(p.left) == 0
		}
	}
}

// flatParser is the unread rest of an object.
type flatParser struct{ left []byte }

// next takes c, if it comes next, with the white space around it.
func (p *flatParser) next(c byte) bool {
	p.space()
	if len(p.left) == 0 || p.left[0] != c {
		return false
	}
	p.left = p.left[1:]
	p.space()
	return true
}

func (p *flatParser) space() { p.left = bytes.TrimLeft(p.left, " \t\r\n") }

// text takes a string.
func (p *flatParser) text() (s string, ok bool) {
	if len(p.left) == 0 || p.left[0] != '"' {
		return "", false
	}
	escaped := false
	for i := 1; i < len(p.left); i++ {
		switch c := p.left[i]; {
		case c == '"':
			raw := p.left[:i+1]
			p.left = p.left[i+1:]
			if escaped {
				return s, json.Unmarshal(raw, &s) == nil
			}
			return string(raw[1:i]), true
		case c == '\\':
			escaped = true
			i++ // which may be a quote
		case c < ' ':
			return "", false
		}
	}
	return "", false
}

// value takes a string or a number.
func (p *flatParser) value() (s string, ok bool) {
	if len(p.left) > 0 && p.left[0] == '"' {
		return p.text()
	}
	end := bytes.IndexAny(p.left, ",} \t\r\n")
	if end <= 0 || p.left[0] != '-' && (p.left[0] < '0' || p.left[0] > '9') || !json.Valid(p.left[:end]) {
		return "", false
	}
	s = string(p.left[:end])
	p.left = p.left[end:]
	return s, true
}
