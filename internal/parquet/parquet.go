// Package parquet reads the columns of Parquet files, as far as published data sets need it: flat columns, columns of
// structures and lists of one level; the encodings PLAIN, RLE and dictionary, uncompressed or compressed with Snappy,
// gzip or Zstandard. This is what pyarrow, and so the Hugging Face hub, write.
//
// Everything in a file is checked before it is used: a damaged or hostile file results in an error, in bounded memory.
// The libraries that were tried do not guarantee this: parquet-go 0.32 takes 1.5 GiB for a file of 20 bytes.
package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Limits of a file. The published test sets are below a tenth of them.
const (
	maxFile   = 256 << 20 // bytes
	maxFooter = 8 << 20   // bytes
	maxPage   = 64 << 20  // bytes, unpacked
	maxBytes  = 256 << 20 // of all pages read, unpacked, and of values from dictionaries
	maxValues = 2 << 20   // of all columns read, dictionaries included
)

// Column is a column with a value, or a list of them, for each row.
type Column struct {
	Name  string     // its path, with points: hypothesis.translation.list.element
	Texts []string   // "" for a null; numbers are decimal, truth values "true" and "false"
	Lists [][]string // of a column of lists; it has no Texts
}

// file holds the content of a Parquet file's footer, and counts of what was read.
type file struct {
	in      io.ReaderAt
	size    int64
	rows    int
	columns []*column
	groups  []group
	bytes   int // unpacked so far
	values  int // read so far
}

// column is a leaf of the schema.
type column struct {
	name           string
	kind           int64
	maxRep, maxDef int // levels of a present value
	listDef        int // definition level from which on a list has an element
}

// refused reports whether a column is skipped because it has lists of lists or values of other types.
func (c *column) refused() bool {
	return c.maxRep > 1 || c.kind == kindInt96 || c.kind == kindFixed || c.kind < 0 || c.kind > kindFixed
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

// Read reads a file of size bytes. It returns the columns, except those of unsupported kinds, and the number of rows.
func Read(in io.ReaderAt, size int64) (columns []Column, rows int, err error) {
	f, err := open(in, size)
	if err != nil {
		return nil, 0, err
	}
	for i, c := range f.columns {
		if c.refused() {
			continue
		}
		lists, err := f.lists(i)
		if err != nil {
			return nil, 0, fmt.Errorf("column %s, %w", c.name, err)
		}
		read := Column{Name: c.name, Lists: lists}
		if c.maxRep == 0 {
			read.Lists, read.Texts = nil, make([]string, len(lists))
			for row, list := range lists {
				for _, value := range list { // at most one
					read.Texts[row] = value
				}
			}
		}
		columns = append(columns, read)
	}
	return columns, f.rows, nil
}

// open reads the footer of a file.
func open(in io.ReaderAt, size int64) (*file, error) {
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
	f := &file{in: in, size: size}
	if err := f.readFooter(footer); err != nil {
		return nil, fmt.Errorf("damaged footer: %w", err)
	}
	return f, nil
}

// lists reads the column with this index: the values of each row; without lists, at most one per row.
func (f *file) lists(index int) (rows [][]string, err error) {
	for i, g := range f.groups {
		before := len(rows)
		if rows, err = f.readChunk(f.columns[index], g.chunks[index], rows); err != nil {
			return nil, fmt.Errorf("row group %d: %w", i+1, err)
		}
		if n := len(rows) - before; n != g.rows {
			return nil, fmt.Errorf("row group %d: has %d rows; expected %d", i+1, n, g.rows)
		}
	}
	return rows, nil
}
