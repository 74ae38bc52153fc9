package table

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Document reads one JSON document piece by piece, so that memory does not grow
// with the elements of its arrays. Its errors name file and line.
type Document struct {
	path   string
	d      *json.Decoder
	record *bounded
	lines  *lineCounter
}

// OpenDocument opens a file, possibly gzip-compressed, as a JSON document in pieces of up to most bytes.
func OpenDocument(path string, most int) (*Document, io.Closer, error) {
	f, err := open(path)
	if err != nil {
		return nil, nil, err
	}
	text, _, err := unpack(path, f)
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return newDocument(path, text, most), f, nil
}

func newDocument(path string, text io.Reader, most int) *Document {
	d := &Document{path: path, record: &bounded{in: text, most: most}}
	d.lines = &lineCounter{in: d.record}
	d.d = json.NewDecoder(d.lines)
	return d
}

// Starts reads the beginning of an object or an array, '{' or '['; or another value whole, which is 0.
func (d *Document) Starts() (json.Delim, error) {
	d.record.reset()
	t, err := d.d.Token()
	if err != nil {
		return 0, d.errorf(err)
	}
	delim, _ := t.(json.Delim)
	return delim, nil
}

// Keys calls each with the keys of the object that has started. It must read the
// value, with Raw, Starts and Keys or Elements.
func (d *Document) Keys(each func(key string) error) error {
	return d.members(func() error {
		key, err := d.d.Token()
		if err != nil {
			return d.errorf(err)
		}
		return each(key.(string))
	})
}

// Elements calls each with the elements of the array that has started, and the lines where they start.
func (d *Document) Elements(each func(line int, text []byte) error) error {
	return d.members(func() error {
		text, line, err := d.Raw()
		if err != nil {
			return err
		}
		return each(line, text)
	})
}

// members calls read for what the object or array has, to its end.
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

// Raw reads the next value, and the line where it starts.
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

// lineCounter counts the lines of what is read through it. It remembers the
// breaks that are ahead of the last place that was asked for.
type lineCounter struct {
	in     io.Reader
	read   int64
	line   int // breaks before the last place
	breaks []int64
}

// Read implements io.Reader.
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

// at is the line of a place, from 1. Places must not decrease, or the line of the last one is returned.
func (l *lineCounter) at(offset int64) int {
	n := 0
	for n < len(l.breaks) && l.breaks[n] < offset {
		n++
	}
	l.breaks = l.breaks[:copy(l.breaks, l.breaks[n:])]
	l.line += n
	return l.line + 1
}

// readJSONArray reads a document that is an array of objects.
func readJSONArray(path string, in io.Reader, yield func(Row) bool) error {
	d := newDocument(path, in, maxRecord)
	start, err := d.Starts()
	if err != nil {
		return err
	}
	if start != '[' {
		return fmt.Errorf("%s:1: expected an array of objects, as in [{...}, {...}]", path)
	}
	err = d.Elements(func(line int, text []byte) error {
		row, err := ParseObject(path, line, text)
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

// errStop says that no more rows are wanted.
var errStop = errors.New("stop")
