package parquet

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

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

// readFooter reads the schema and where the column chunks are
// (parquet-format, FileMetaData).
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

// schema walks the schema, which is a tree in the order of its leaves, each
// element saying how many children it has.
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
