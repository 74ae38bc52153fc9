// Package levels stores how frequent a few hundred thousand strings are, in about twenty bits each: hashes instead of
// the strings, and frequencies in steps of a tenth of a decade.
//
// A file of levels has tables. A table has columns, one for each language, and a column maps strings to levels.
package levels

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"slices"
)

// Bits is the size of the hash of a string. Of the strings that a column of 100,000 does not have, one in ten thousand
// is taken for one that it has.
const Bits = 30

// Of returns the level of a share p, from 0 for 1 to 254 for 10^-25.4 or less: its negative decibels.
func Of(p float64) int {
	return int(min(254, max(0, math.Round(-10*math.Log10(p)))))
}

// Share returns 10^(-level/10).
func Share(level int) float64 { return math.Pow(10, -float64(level)/10) }

// Hash is the hash of a string that is fed to it character by character. The zero value is that of the empty string.
type Hash uint64

// Add returns the hash of the string with r at its end.
func (h Hash) Add(r rune) Hash {
	h = (h ^ 0x9e3779b97f4a7c15 ^ Hash(r)) * 0xd6e8feb86659fd93
	return h ^ h>>32
}

// Sum returns the part of the hash that is stored, from 0 to 2^Bits-1.
func (h Hash) Sum() uint32 { return uint32(h * 0x9e3779b97f4a7c15 >> (64 - Bits)) }

// Text returns the hash of a string.
func Text(s string) (h Hash) {
	for _, r := range s {
		h = h.Add(r)
	}
	return h
}

// A Column maps hashes to levels.
type Column map[uint32]uint8

// Write appends the columns of a table to a file.
func Write(dst []byte, table []Column) []byte {
	distinct := map[uint32]bool{}
	for _, c := range table {
		for h := range c {
			distinct[h] = true
		}
	}
	body := binary.AppendUvarint(nil, uint64(len(table)))
	body = binary.AppendUvarint(body, uint64(len(distinct)))
	for _, c := range table {
		body = c.write(body)
	}
	return append(binary.AppendUvarint(dst, uint64(len(body))), body...)
}

// write appends, for each level that occurs, the level and its hashes in order: the differences as Rice codes.
func (c Column) write(dst []byte) []byte {
	by := map[uint8][]uint32{}
	for h, level := range c {
		by[level] = append(by[level], h)
	}
	dst = binary.AppendUvarint(dst, uint64(len(by)))
	for level := range 255 {
		hashes := by[uint8(level)]
		if len(hashes) == 0 {
			continue
		}
		slices.Sort(hashes)
		dst = append(dst, byte(level))
		dst = binary.AppendUvarint(dst, uint64(len(hashes)))
		w := bitWriter{dst: dst}
		low, last := riceBits(len(hashes)), uint32(0)
		for _, h := range hashes {
			w.rice(h-last, low)
			last = h
		}
		dst = w.flush()
	}
	return dst
}

// riceBits is the number of low bits that suits the differences of n hashes.
func riceBits(n int) int { return max(0, bits.Len(uint(1<<Bits/n))-1) }

type bitWriter struct {
	dst  []byte
	acc  uint64
	have int
}

func (w *bitWriter) bit(b uint64) {
	w.acc |= b << w.have
	if w.have++; w.have == 8 {
		w.dst, w.acc, w.have = append(w.dst, byte(w.acc)), 0, 0
	}
}

func (w *bitWriter) rice(v uint32, low int) {
	for range v >> low {
		w.bit(1)
	}
	w.bit(0)
	for i := range low {
		w.bit(uint64(v >> i & 1))
	}
}

func (w *bitWriter) flush() []byte {
	if w.have > 0 {
		w.dst = append(w.dst, byte(w.acc))
	}
	return w.dst
}

// A Table gives the levels of a string in every column at once. It is safe for concurrent use.
type Table struct {
	columns int
	mask    uint32
	keys    []uint32 // hash + 1, 0 for a free place
	rows    []uint8  // level + 1, 0 for a string that the column does not have
	none    []uint8
}

// Columns returns the number of columns.
func (t *Table) Columns() int { return t.columns }

// Row returns, for each column, 1 + the level of the string with that hash, or 0 if the column does not have it, and
// whether any has it. The row must not be changed.
func (t *Table) Row(h Hash) ([]uint8, bool) {
	at := t.at(h.Sum() + 1)
	if t.keys[at] == 0 {
		return t.none, false
	}
	return t.rows[int(at)*t.columns : int(at+1)*t.columns : int(at+1)*t.columns], true
}

// Tables splits a file that Write made into its tables, which Read reads. An error means that the file is damaged.
func Tables(file []byte) (tables [][]byte, err error) {
	r := reader{file}
	for len(r.data) > 0 {
		n, err := r.uint(math.MaxInt)
		if err != nil {
			return nil, err
		}
		if n > len(r.data) {
			return nil, errShort
		}
		tables = append(tables, r.data[:n])
		r.data = r.data[n:]
	}
	return tables, nil
}

// Read reads a table. An error means that it is damaged.
func Read(table []byte) (*Table, error) {
	r := reader{table}
	columns, err := r.uint(255)
	if err != nil {
		return nil, err
	}
	distinct, err := r.uint(8 * len(table))
	if err != nil {
		return nil, err
	}
	size := 1 << bits.Len(uint(distinct*5/4+1))
	t := &Table{columns: columns, mask: uint32(size - 1), keys: make([]uint32, size), none: make([]uint8, columns)}
	t.rows = make([]uint8, size*columns)
	for column := range columns {
		levels, err := r.uint(255)
		if err != nil {
			return nil, err
		}
		for range levels {
			if len(r.data) == 0 {
				return nil, errShort
			}
			level := r.data[0]
			r.data = r.data[1:]
			if level == 255 {
				return nil, errors.New("levels: level 255; expected 0 to 254")
			}
			n, err := r.uint(len(r.data) * 8)
			if err != nil {
				return nil, err
			}
			if n == 0 {
				continue
			}
			b := bitReader{data: r.data}
			low, last := riceBits(n), uint32(0)
			for range n {
				v, ok := b.rice(low)
				if !ok {
					return nil, errShort
				}
				last += v
				if !t.set(last&(1<<Bits-1)+1, column, level+1, &distinct) {
					return nil, errors.New("levels: more strings than the table says")
				}
			}
			r.data = r.data[b.used():]
		}
	}
	return t, nil
}

// set sets the level of a key. It reports false if the key is new and no place is left.
func (t *Table) set(key uint32, column int, level uint8, left *int) bool {
	at := t.at(key)
	if t.keys[at] == 0 {
		if *left == 0 {
			return false
		}
		*left--
		t.keys[at] = key
	}
	t.rows[int(at)*t.columns+column] = level
	return true
}

// at returns the place of a key, or the free place where it belongs.
func (t *Table) at(key uint32) uint32 {
	at := key * 0x9e3779b1 >> 3 & t.mask
	for t.keys[at] != key && t.keys[at] != 0 {
		at = (at + 1) & t.mask
	}
	return at
}

type reader struct{ data []byte }

var errShort = fmt.Errorf("levels: %w", io.ErrUnexpectedEOF)

// uint reads a number up to limit.
func (r *reader) uint(limit int) (int, error) {
	v, n := binary.Uvarint(r.data)
	if n <= 0 {
		return 0, errShort
	}
	if v > uint64(limit) {
		return 0, fmt.Errorf("levels: found number %d, expected at most %d", v, limit)
	}
	r.data = r.data[n:]
	return int(v), nil
}

// bitReader reads Rice codes, the first bit of a byte being its lowest.
type bitReader struct {
	data []byte
	next int    // byte to read
	acc  uint64 // bits read and not used
	have int
}

// fill makes sure that there are more than 32 bits, or all that are left.
func (b *bitReader) fill() {
	for b.have <= 56 && b.next < len(b.data) {
		b.acc |= uint64(b.data[b.next]) << b.have
		b.have += 8
		b.next++
	}
}

func (b *bitReader) rice(low int) (uint32, bool) {
	high := 0
	for {
		b.fill()
		ones := min(bits.TrailingZeros64(^b.acc), b.have)
		if b.have == 0 {
			return 0, false
		}
		high += ones
		b.acc >>= ones
		b.have -= ones
		if b.have > 0 { // the 0 that ends them
			b.acc >>= 1
			b.have--
			break
		}
	}
	b.fill()
	if b.have < low || high > 1<<Bits {
		return 0, false
	}
	v := uint32(high)<<low | uint32(b.acc&(1<<low-1))
	b.acc >>= low
	b.have -= low
	return v, true
}

// used returns the number of bytes that have been read from, a partly read one included.
func (b *bitReader) used() int { return b.next - b.have/8 }
