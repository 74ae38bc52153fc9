package levels

import (
	"errors"
	"fmt"
	"io"
	"math/bits"
)

// A Table gives the levels of a string in every column at once. It is safe for concurrent use.
type Table struct {
	columns, bucketBits, keyBytes int
	directory, rows               string
}

// A Row has, for each column, 1 + the level of a string, or 0 if the column does not have it.
type Row [MaxColumns]uint8

// place returns the bucket of a sum, and the bits of it that keys of the bucket have.
func (t *Table) place(sum uint32) (bucket int, rest uint32) {
	more := 8*t.keyBytes - t.columns
	return int(uint64(sum) >> (32 - t.bucketBits)), sum << t.bucketBits >> (32 - more)
}

// Row returns the levels of the string with that hash, and whether any column has it.
func (t *Table) Row(h Hash) (row Row, ok bool) {
	bucket, rest := t.place(h.Sum())
	end := min(t.begin(bucket+1), len(t.rows))
	for at := t.begin(bucket); at+t.keyBytes <= end; {
		key := t.key(at)
		at += t.keyBytes
		has := key & (1<<t.columns - 1)
		if uint32(key>>t.columns) != rest {
			at += bits.OnesCount64(has)
			continue
		}
		for ; has != 0 && at < end; has &= has - 1 {
			row[bits.TrailingZeros64(has)] = t.rows[at] + 1
			at++
		}
		return row, true
	}
	return row, false
}

// key returns the key at a byte.
func (t *Table) key(at int) (key uint64) {
	if at+8 <= len(t.rows) { // in one load
		b := t.rows[at : at+8]
		key = uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 | uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
		return key & (1<<(8*t.keyBytes) - 1)
	}
	for i := range t.keyBytes {
		key |= uint64(t.rows[at+i]) << (8 * i)
	}
	return key
}

// begin returns where a bucket begins.
func (t *Table) begin(bucket int) int {
	d := t.directory[3*bucket : 3*bucket+3]
	return int(d[0]) | int(d[1])<<8 | int(d[2])<<16
}

var errShort = fmt.Errorf("levels: %w", io.ErrUnexpectedEOF)

// Tables returns the tables of a file that Write made. An error means that the file is damaged.
func Tables(file string) (tables []*Table, err error) {
	for len(file) > 0 {
		n, used := uvarint(file)
		if used <= 0 || n > uint64(len(file)-used) {
			return nil, errShort
		}
		t, err := read(file[used : used+int(n)])
		if err != nil {
			return nil, err
		}
		tables = append(tables, t)
		file = file[used+int(n):]
	}
	return tables, nil
}

// uvarint is binary.Uvarint of a string.
func uvarint(s string) (x uint64, n int) {
	for i := 0; i < len(s) && i < 9; i++ {
		x |= uint64(s[i]&0x7f) << (7 * i)
		if s[i] < 0x80 {
			return x, i + 1
		}
	}
	return 0, 0
}

func read(data string) (*Table, error) {
	if len(data) < 3 {
		return nil, errShort
	}
	t := &Table{columns: int(data[0]), bucketBits: int(data[1]), keyBytes: int(data[2])}
	if t.columns == 0 || t.columns > MaxColumns || t.bucketBits > 24 || t.keyBytes != (t.columns+leastBits+7)/8 {
		return nil, errors.New("levels: the head of a table is damaged")
	}
	size := 3 * (1<<t.bucketBits + 1)
	if len(data)-3 < size {
		return nil, errShort
	}
	t.directory, t.rows = data[3:3+size], data[3+size:]
	if n := t.begin(1 << t.bucketBits); n != len(t.rows) {
		return nil, fmt.Errorf("levels: %d bytes of rows, expected %d", len(t.rows), n)
	}
	return t, nil
}
