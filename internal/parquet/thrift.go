package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// fields is a structure in Thrift's compact protocol, as which Parquet stores what describes the data: int64, bool,
// []byte, []any and fields, by the number of the field. Floating-point numbers are passed over.
type fields map[int16]any

// Types of Thrift's compact protocol.
const (
	thriftTrue = iota + 1
	thriftFalse
	thriftInt8
	thriftInt16
	thriftInt32
	thriftInt64
	thriftDouble
	thriftBytes
	thriftList
	thriftSet
	thriftMap
	thriftStruct
)

const (
	maxNodes = 200_000 // values in one message; each takes at least a byte
	maxDepth = 16
)

var errCut = errors.New("is cut off")

// thrift reads one message.
type thrift struct {
	data  []byte
	at    int
	nodes int
}

// count counts a value in a structure or list that is so deep.
func (t *thrift) count(depth int) error {
	if t.nodes++; t.nodes > maxNodes || depth > maxDepth {
		return errors.New("has too many values")
	}
	return nil
}

func (t *thrift) byte() (byte, error) {
	if t.at >= len(t.data) {
		return 0, errCut
	}
	t.at++
	return t.data[t.at-1], nil
}

func (t *thrift) uvarint() (uint64, error) {
	v, n := binary.Uvarint(t.data[t.at:])
	if n <= 0 {
		return 0, errCut
	}
	t.at += n
	return v, nil
}

func (t *thrift) varint() (int64, error) {
	v, n := binary.Varint(t.data[t.at:]) // zigzag, as Thrift's
	if n <= 0 {
		return 0, errCut
	}
	t.at += n
	return v, nil
}

func (t *thrift) length() (int, error) {
	n, err := t.uvarint()
	if err == nil && n > uint64(len(t.data)-t.at) {
		err = errCut
	}
	return int(n), err
}

func (t *thrift) structure(depth int) (fields, error) {
	f := fields{}
	id := int16(0)
	for {
		head, err := t.byte()
		if err != nil {
			return nil, err
		}
		kind := head & 0xf
		if kind == 0 {
			return f, nil
		}
		if err := t.count(depth); err != nil {
			return nil, err
		}
		if delta := head >> 4; delta != 0 {
			id += int16(delta)
		} else {
			v, err := t.varint()
			if err != nil {
				return nil, err
			}
			id = int16(v)
		}
		if kind == thriftTrue || kind == thriftFalse {
			f[id] = kind == thriftTrue
			continue
		}
		if f[id], err = t.value(kind, depth); err != nil {
			return nil, err
		}
	}
}

func (t *thrift) value(kind byte, depth int) (any, error) {
	switch kind {
	case thriftTrue, thriftFalse: // in a list
		b, err := t.byte()
		return b == thriftTrue, err
	case thriftInt8:
		b, err := t.byte()
		return int64(int8(b)), err
	case thriftInt16, thriftInt32, thriftInt64:
		return t.varint()
	case thriftDouble:
		if len(t.data)-t.at < 8 {
			return nil, errCut
		}
		t.at += 8
		return nil, nil
	case thriftBytes:
		n, err := t.length()
		if err != nil {
			return nil, err
		}
		t.at += n
		return t.data[t.at-n : t.at], nil
	case thriftList, thriftSet:
		return t.list(depth)
	case thriftMap:
		return nil, t.skipMap(depth)
	case thriftStruct:
		return t.structure(depth + 1)
	}
	return nil, fmt.Errorf("has a field of the unknown type %d", kind)
}

func (t *thrift) list(depth int) ([]any, error) {
	head, err := t.byte()
	if err != nil {
		return nil, err
	}
	n := int(head >> 4)
	if n == 15 {
		if n, err = t.length(); err != nil {
			return nil, err
		}
	}
	var values []any
	for range n {
		if err := t.count(depth); err != nil {
			return nil, err
		}
		v, err := t.value(head&0xf, depth+1)
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return values, nil
}

func (t *thrift) skipMap(depth int) error {
	n, err := t.length()
	if err != nil || n == 0 {
		return err
	}
	kinds, err := t.byte()
	if err != nil {
		return err
	}
	for range n {
		if err := t.count(depth); err != nil {
			return err
		}
		for _, kind := range []byte{kinds >> 4, kinds & 0xf} {
			if _, err := t.value(kind, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// The fields of a structure, with zero for one that is not there or is of another type.

func (f fields) int(id int16) int64 {
	v, _ := f[id].(int64)
	return v
}

func (f fields) text(id int16) string {
	v, _ := f[id].([]byte)
	return string(v)
}

func (f fields) sub(id int16) fields {
	v, _ := f[id].(fields)
	return v
}

func (f fields) list(id int16) []any {
	v, _ := f[id].([]any)
	return v
}

// Physical types.
const (
	kindBoolean = iota
	kindInt32
	kindInt64
	kindInt96
	kindFloat
	kindDouble
	kindByteArray
	kindFixed
)

// readFooter reads the schema and where the column chunks are (parquet-format, FileMetaData).
func (f *File) readFooter(footer []byte) error {
	t := thrift{data: footer}
	meta, err := t.structure(0)
	if err != nil {
		return err
	}
	s := schema{elements: meta.list(2)}
	if err := s.read(column{}, nil, 0); err != nil {
		return err
	}
	f.columns = s.leaves
	for _, g := range meta.list(4) {
		g, _ := g.(fields)
		if err := f.addGroup(g); err != nil {
			return fmt.Errorf("row group %d: %w", len(f.groups)+1, err)
		}
	}
	if int64(f.Rows) != meta.int(3) {
		return fmt.Errorf("%d rows in all, %d in the row groups", meta.int(3), f.Rows)
	}
	return nil
}

func (f *File) addGroup(g fields) error {
	rows := g.int(3)
	chunks := g.list(1)
	switch {
	case rows < 0 || rows > maxValues-int64(f.Rows):
		return fmt.Errorf("%d rows; expected at most %d in a file", rows, maxValues)
	case len(chunks) != len(f.columns):
		return fmt.Errorf("%d columns; the schema has %d", len(chunks), len(f.columns))
	}
	f.Rows += int(rows)
	read := group{rows: int(rows)}
	for i, c := range chunks {
		c, _ := c.(fields)
		m := c.sub(3)
		values, start, length := m.int(5), m.int(9), m.int(7)
		if dictionary := m.int(11); dictionary > 0 && dictionary < start {
			start = dictionary
		}
		switch {
		case c.text(1) != "":
			return fmt.Errorf("column %s is in the other file %.100q", f.columns[i].name, c.text(1))
		case m.int(1) != f.columns[i].kind:
			return fmt.Errorf("column %s has another type in the schema", f.columns[i].name)
		case values < 0 || values > maxValues:
			return fmt.Errorf("column %s has %d values; expected at most %d", f.columns[i].name, values, maxValues)
		case start < 4 || length < 0 || start > f.size || length > f.size-start:
			return fmt.Errorf("column %s lies outside the file", f.columns[i].name)
		}
		read.chunks = append(read.chunks, chunk{m.int(4), int(values), start, length})
	}
	f.groups = append(f.groups, read)
	return nil
}

// schema walks the schema, which is a tree in the order of its leaves, each element saying how many children it has.
type schema struct {
	elements []any
	next     int
	leaves   []*column
}

func (s *schema) read(parent column, path []string, depth int) error {
	if s.next >= len(s.elements) || depth > maxDepth {
		return errors.New("the schema is cut off or too deep")
	}
	e, _ := s.elements[s.next].(fields)
	s.next++
	c := parent
	if depth > 0 {
		path = append(slices.Clone(path), e.text(4))
		switch e.int(3) {
		case 1: // optional
			c.maxDef++
		case 2: // repeated
			c.maxDef++
			c.maxRep++
			c.listDef = c.maxDef
		}
	}
	if children := e.int(5); children > 0 {
		for range children {
			if err := s.read(c, path, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	if depth == 0 {
		return errors.New("the schema has no columns")
	}
	c.name, c.kind, c.index = strings.Join(path, "."), e.int(1), len(s.leaves)
	switch {
	case c.maxRep > 1:
		c.refused = "lists of lists are not read here"
	case c.kind == kindInt96 || c.kind == kindFixed || c.kind < 0 || c.kind > kindFixed:
		c.refused = "values of this type are not read here"
	}
	s.leaves = append(s.leaves, &c)
	return nil
}
