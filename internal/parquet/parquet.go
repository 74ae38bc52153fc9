// Package parquet reads the columns of Parquet files, as far as published data sets need it: flat columns, columns of
// structures and lists of one level, in the encodings PLAIN, RLE and dictionary, uncompressed or compressed with
// Snappy, gzip or Zstandard, which is what pyarrow and so the Hugging Face hub write.
//
// Everything in a file is checked before it is used: a damaged or hostile file results in an error, in bounded memory.
// The libraries that were tried do not guarantee this: parquet-go 0.32 takes 1.5 GiB for a file of 20 bytes.
package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Limits of a file. The published test sets are below a tenth of them.
const (
	maxFile   = 256 << 20 // bytes
	maxFooter = 8 << 20   // bytes
	maxPage   = 64 << 20  // bytes, unpacked
	maxBytes  = 256 << 20 // of all pages that are read, unpacked, and of values from dictionaries
	maxValues = 2 << 20   // of all columns that are read, dictionaries included
)

// File is an open Parquet file.
type File struct {
	Rows int

	in      io.ReaderAt
	size    int64
	columns []*column
	groups  []group
	bytes   int // unpacked so far
	values  int // read so far
	close   func() error
}

// column is a leaf of the schema.
type column struct {
	name           string // its path, with points: hypothesis.translation.list.element
	kind           int64
	maxRep, maxDef int // levels of a value that is there
	listDef        int // definition level from which on a list has an element
	index          int
	refused        string // why it cannot be read; empty: it can
}

type group struct {
	rows   int
	chunks []chunk
}

// chunk is a column's part of a row group.
type chunk struct {
	codec         int64
	values        int
	start, length int64
}

// Open opens a file. Errors name it.
func Open(path string) (*File, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := in.Stat()
	if err != nil {
		in.Close()
		return nil, err
	}
	f, err := New(in, info.Size())
	if err != nil {
		in.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f.close = in.Close
	return f, nil
}

// Close closes what Open opened.
func (f *File) Close() error {
	if f.close == nil {
		return nil
	}
	return f.close()
}

// New reads the footer of a file of that many bytes.
func New(in io.ReaderAt, size int64) (*File, error) {
	const magic = "PAR1"
	head, tail := make([]byte, 4), make([]byte, 8)
	if size < 12 {
		return nil, errors.New("is not a Parquet file")
	}
	if size > maxFile {
		return nil, fmt.Errorf("is larger than %d MiB", maxFile>>20)
	}
	for at, b := range map[int64][]byte{0: head, size - 8: tail} {
		if _, err := in.ReadAt(b, at); err != nil {
			return nil, err
		}
	}
	switch {
	case string(tail[4:]) == "PARE":
		return nil, errors.New("is encrypted")
	case string(head) != magic || string(tail[4:]) != magic:
		return nil, errors.New("is not a Parquet file, or is cut off")
	}
	length := int64(binary.LittleEndian.Uint32(tail))
	if length > size-12 || length > maxFooter {
		return nil, fmt.Errorf("damaged: its footer has %d bytes of %d", length, size)
	}
	footer := make([]byte, length)
	if _, err := in.ReadAt(footer, size-8-length); err != nil {
		return nil, err
	}
	f := &File{in: in, size: size}
	if err := f.readFooter(footer); err != nil {
		return nil, fmt.Errorf("damaged footer: %w", err)
	}
	return f, nil
}

// Columns are the names of the columns of kinds that can be read, each its path with points.
func (f *File) Columns() (names []string) {
	for _, c := range f.columns {
		if c.refused == "" {
			names = append(names, c.name)
		}
	}
	return names
}

func (f *File) column(name string) *column {
	for _, c := range f.columns {
		if c.name == name {
			return c
		}
	}
	return nil
}

// Text reads a column without lists: one value per row, "" if there is none.
// Numbers are decimal, truth values "true" and "false".
func (f *File) Text(name string) ([]string, error) {
	lists, err := f.Lists(name)
	if err != nil {
		return nil, err
	}
	values := make([]string, len(lists))
	for i, l := range lists {
		if len(l) > 1 {
			return nil, fmt.Errorf("column %s: is a list; expected one value", name)
		}
		if len(l) == 1 {
			values[i] = l[0]
		}
	}
	return values, nil
}

// Lists reads a column: the values of each row. A column without lists has at most one per row.
func (f *File) Lists(name string) ([][]string, error) {
	c := f.column(name)
	if c == nil {
		return nil, fmt.Errorf("has no column %q; it has %s", name, strings.Join(f.Columns(), ", "))
	}
	if c.refused != "" {
		return nil, fmt.Errorf("column %s: %s", name, c.refused)
	}
	var rows [][]string
	for i, g := range f.groups {
		var err error
		before := len(rows)
		if rows, err = f.readChunk(c, g.chunks[c.index], rows); err != nil {
			return nil, fmt.Errorf("column %s, row group %d: %w", name, i+1, err)
		}
		if n := len(rows) - before; n != g.rows {
			return nil, fmt.Errorf("column %s, row group %d: has %d rows; expected %d", name, i+1, n, g.rows)
		}
	}
	return rows, nil
}
