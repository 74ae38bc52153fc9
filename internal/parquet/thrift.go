package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// fields is a structure in Thrift's compact protocol, the format of Parquet's metadata: int64, bool, []byte, []any
// and fields, by the number of the field. Floating-point numbers are skipped.
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

// thrift reads one message. After an error, its data is empty.
type thrift struct {
	data  []byte // not read yet
	nodes int
	err   error
}

func (t *thrift) fail(err error) {
	if t.err == nil {
		t.err = err
	}
	t.data = nil
}

func (t *thrift) bytes(n uint64) []byte {
	if n > uint64(len(t.data)) {
		t.fail(errCut)
		return nil
	}
	taken := t.data[:n]
	t.data = t.data[n:]
	return taken
}

func (t *thrift) byte() byte {
	for _, b := range t.bytes(1) {
		return b
	}
	return 0
}

func (t *thrift) uvarint() uint64 {
	v, n := binary.Uvarint(t.data)
	if n <= 0 {
		t.fail(errCut)
		return 0
	}
	t.data = t.data[n:]
	return v
}

// varint reads a zigzag-encoded number.
func (t *thrift) varint() int64 {
	v := t.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// structure reads a structure at the start of the remaining data.
func (t *thrift) structure() (fields, error) {
	f, _ := t.value(thriftStruct, 0).(fields)
	return f, t.err
}

// value reads a value of a kind inside a structure or list at this depth.
func (t *thrift) value(kind byte, depth int) any {
	if t.nodes++; t.nodes > maxNodes || depth > maxDepth {
		t.fail(errors.New("has too many values"))
	}
	switch kind {
	case thriftTrue, thriftFalse: // in a list
		return t.byte() == thriftTrue
	case thriftInt8:
		return int64(int8(t.byte()))
	case thriftInt16, thriftInt32, thriftInt64:
		return t.varint()
	case thriftDouble:
		t.bytes(8)
		return nil
	case thriftBytes:
		return t.bytes(t.uvarint())
	case thriftList, thriftSet:
		head := t.byte()
		n := uint64(head >> 4)
		if n == 15 {
			n = t.uvarint()
		}
		var values []any
		for ; n > 0 && t.err == nil; n-- {
			values = append(values, t.value(head&0xf, depth+1))
		}
		return values
	case thriftMap: // skipped
		n := t.uvarint()
		if n == 0 {
			return nil
		}
		kinds := t.byte()
		for ; n > 0 && t.err == nil; n-- {
			t.value(kinds>>4, depth+1)
			t.value(kinds&0xf, depth+1)
		}
		return nil
	case thriftStruct:
		return t.fields(depth)
	}
	t.fail(fmt.Errorf("has a field of the unknown type %d", kind))
	return nil
}

func (t *thrift) fields(depth int) fields {
	f := fields{}
	for id := int16(0); t.err == nil; {
		head := t.byte()
		kind, delta := head&0xf, int16(head>>4)
		switch {
		case kind == 0:
			return f
		case delta != 0:
			id += delta
		default:
			id = int16(t.varint())
		}
		if kind == thriftTrue || kind == thriftFalse {
			f[id] = kind == thriftTrue
		} else {
			f[id] = t.value(kind, depth+1)
		}
	}
	return f
}

// The fields of a structure; a missing field, or one of another type, is zero.

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

// readFooter reads the schema and the locations of the column chunks (parquet-format, FileMetaData).
func (f *file) readFooter(footer []byte) error {
	t := thrift{data: footer}
	meta, err := t.structure()
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
	if int64(f.rows) != meta.int(3) {
		return fmt.Errorf("%d rows in all, %d in the row groups", meta.int(3), f.rows)
	}
	return nil
}

func (f *file) addGroup(g fields) error {
	rows := g.int(3)
	chunks := g.list(1)
	switch {
	case rows < 0 || rows > maxValues-int64(f.rows):
		return fmt.Errorf("%d rows; expected at most %d in a file", rows, maxValues)
	case len(chunks) != len(f.columns):
		return fmt.Errorf("%d columns; the schema has %d", len(chunks), len(f.columns))
	}
	f.rows += int(rows)
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

// schema walks the schema, a tree in the order of its leaves in which each element has its number of children.
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
	c.name, c.kind = strings.Join(path, "."), e.int(1)
	s.leaves = append(s.leaves, &c)
	return nil
}
