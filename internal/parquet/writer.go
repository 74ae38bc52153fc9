package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/klauspost/compress/gzip"
)

// Kind is the type of a column's values.
type Kind int

// The kinds of columns that are written.
const (
	Text   Kind = iota // string, UTF-8
	Int                // int64
	Double             // float64
)

// Column is a flat column whose values may be absent.
type Column struct {
	Name string
	Kind Kind
}

// Numbers of the format's enumerations.
const (
	convertedUTF8 = 0
	optional      = 1
	encodingPlain = 0
	encodingRLE   = 3
)

// A row group is written when it has this many rows, or bytes of values.
const (
	groupRows  = 1 << 16
	groupBytes = 16 << 20
)

// Writer writes a file of flat columns, row by row: every column PLAIN,
// compressed with gzip, which every reader knows. Memory is bounded by a row
// group. Close must be called.
type Writer struct {
	out     io.Writer
	at      int64
	columns []Column
	chunks  []pending
	rows    int // in the pending row group
	all     int64
	groups  []writtenGroup
	err     error
}

// pending is a column's part of the row group to come.
type pending struct {
	present []bool
	values  bytes.Buffer
}

type writtenGroup struct {
	rows   int
	bytes  int64
	chunks []writtenChunk
}

type writtenChunk struct {
	start, plain, compressed int64
}

// NewWriter returns a writer of these columns, whose names differ.
func NewWriter(out io.Writer, columns []Column) *Writer {
	w := &Writer{out: out, columns: columns, chunks: make([]pending, len(columns))}
	w.write([]byte("PAR1"))
	return w
}

// Write writes a row: for each column nil, or a value of its kind.
func (w *Writer) Write(row []any) error {
	if len(row) != len(w.columns) {
		return fmt.Errorf("a row of %d values for %d columns", len(row), len(w.columns))
	}
	size := 0
	for i, v := range row {
		c := &w.chunks[i]
		c.present = append(c.present, v != nil)
		var plain []byte
		switch x := v.(type) {
		case nil:
		case string:
			plain = append(binary.LittleEndian.AppendUint32(nil, uint32(len(x))), x...)
		case int64:
			plain = binary.LittleEndian.AppendUint64(nil, uint64(x))
		case float64:
			plain = binary.LittleEndian.AppendUint64(nil, math.Float64bits(x))
		default:
			return fmt.Errorf("column %s: a value of type %T", w.columns[i].Name, v)
		}
		c.values.Write(plain)
		size += c.values.Len()
	}
	if w.rows++; w.rows == groupRows || size >= groupBytes {
		w.flush()
	}
	return w.err
}

// Close writes what is pending and the footer.
func (w *Writer) Close() error {
	if w.rows > 0 {
		w.flush()
	}
	footer := w.footer()
	w.write(footer)
	w.write(binary.LittleEndian.AppendUint32(nil, uint32(len(footer))))
	w.write([]byte("PAR1"))
	return w.err
}

func (w *Writer) write(b []byte) {
	if w.err == nil {
		_, w.err = w.out.Write(b)
		w.at += int64(len(b))
	}
}

// flush writes a row group: of each column one page.
func (w *Writer) flush() {
	group := writtenGroup{rows: w.rows}
	for i := range w.chunks {
		c := &w.chunks[i]
		levels := runs(c.present)
		plain := append(binary.LittleEndian.AppendUint32(nil, uint32(len(levels))), levels...)
		plain = append(plain, c.values.Bytes()...)
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		z.Write(plain) // to memory, as is the rest
		z.Close()

		var page thriftWriter
		page.number(1, 0) // a data page
		page.number(2, int64(len(plain)))
		page.number(3, int64(packed.Len()))
		page.structure(5, func(t *thriftWriter) {
			t.number(1, int64(w.rows))
			t.number(2, encodingPlain)
			t.number(3, encodingRLE)
			t.number(4, encodingRLE)
		})
		header := page.end()
		start := w.at
		w.write(header)
		w.write(packed.Bytes())
		chunk := writtenChunk{start, int64(len(header) + len(plain)), w.at - start}
		group.chunks = append(group.chunks, chunk)
		group.bytes += chunk.plain
		*c = pending{}
	}
	w.groups = append(w.groups, group)
	w.all += int64(w.rows)
	w.rows = 0
}

// runs are definition levels of one bit, in the format's run-length encoding.
func runs(present []bool) (b []byte) {
	for i := 0; i < len(present); {
		n := 1
		for i+n < len(present) && present[i+n] == present[i] {
			n++
		}
		b = binary.AppendUvarint(b, uint64(n)<<1)
		if present[i] {
			b = append(b, 1)
		} else {
			b = append(b, 0)
		}
		i += n
	}
	return b
}

func (k Kind) physical() int64 {
	return [...]int64{kindByteArray, kindInt64, kindDouble}[k]
}

func (w *Writer) footer() []byte {
	var f thriftWriter
	f.number(1, 1) // version
	f.list(2, thriftStruct, len(w.columns)+1, func(t *thriftWriter, i int) {
		if i == 0 {
			t.text(4, "schema")
			t.number(5, int64(len(w.columns)))
			return
		}
		c := w.columns[i-1]
		t.number(1, c.Kind.physical())
		t.number(3, optional)
		t.text(4, c.Name)
		if c.Kind == Text {
			t.number(6, convertedUTF8)
		}
	})
	f.number64(3, w.all)
	f.list(4, thriftStruct, len(w.groups), func(t *thriftWriter, i int) {
		g := w.groups[i]
		t.list(1, thriftStruct, len(g.chunks), func(t *thriftWriter, i int) { w.describe(t, i, g) })
		t.number64(2, g.bytes)
		t.number64(3, int64(g.rows))
	})
	f.text(6, "crosstalk")
	return f.end()
}

// describe describes a column's part of a row group.
func (w *Writer) describe(t *thriftWriter, i int, g writtenGroup) {
	c, chunk := w.columns[i], g.chunks[i]
	t.number64(2, chunk.start)
	t.structure(3, func(t *thriftWriter) {
		t.number(1, c.Kind.physical())
		t.numbers(2, encodingPlain, encodingRLE)
		t.texts(3, c.Name)
		t.number(4, compressedGzip)
		t.number64(5, int64(g.rows))
		t.number64(6, chunk.plain)
		t.number64(7, chunk.compressed)
		t.number64(9, chunk.start)
	})
}
