// Package levels stores how frequent a few hundred thousand strings are, in a form that is read where it is, without
// being loaded: hashes instead of the strings, and frequencies in steps of a tenth of a decade.
//
// A file of levels has tables. A table has columns, one for each language, and rows, one for each string that a column
// has. The rows are in buckets by the first bits of their hashes, and a directory says where each bucket begins:
//
//	columns, bucket bits, lowest level: a byte each
//	number of masks: two bytes
//	masks: three bytes with a bit for each column, a byte with the length of their code; 0 is all others
//	directory: for each 32 buckets, the bit at which they begin, in four bytes, and how far from there each begins,
//	in two
//	rows: 14 more bits of the hash; the code of the columns that have the string; after the code of all others a bit
//	for each column; for each column that has it, in order, six bits with its level above the lowest
//	eight bytes of zeros
//
// All numbers begin with their lowest byte, and rows with their lowest bit.
package levels

import (
	"encoding/binary"
	"math"
	"math/bits"
	"sync"
)

const (
	keyBits   = 14 // of the strings that a table does not have, up to one in 3,000 is taken for one that it has
	levelBits = 6

	group      = 32 // buckets
	groupBytes = 4 + 2*group
)

const (
	MaxColumns = 18 // the most that a table has
	loaded     = 57 // bits that a load has at least
	mostRows   = 8  // that Cache.Rows takes
)

// Share returns the share of a level, its negative decibels: 10^(-level/10).
func Share(level int) float64 { return math.Pow(10, -float64(level)/10) }

// Hash is the hash of a string that is fed to it character by character. Its zero value belongs to the empty string.
type Hash uint64

// Add returns the hash of the string with r at its end.
func (h Hash) Add(r rune) Hash {
	h = (h ^ 0x9e3779b97f4a7c15 ^ Hash(r)) * 0xd6e8feb86659fd93
	return h ^ h>>32
}

// Sum returns the part of the hash by which columns know the string.
func (h Hash) Sum() uint32 { return uint32(h * 0x9e3779b97f4a7c15 >> 32) }

// Text returns the hash of a string.
func Text(s string) (h Hash) {
	for _, r := range s {
		h = h.Add(r)
	}
	return h
}

// A Table gives the levels of a string in every column at once. It is safe for concurrent use.
type Table struct {
	columns, bucketBits int
	lowest              uint8
	codes               *[1 << longestCode]code // by the next bits
	directory, rows     []byte
	end                 int // of the rows, in bits
	caches              sync.Pool
}

// A code says which columns have a string.
type code struct {
	has     uint32 // a bit for each column; 0: they follow the code
	columns uint8  // how many have it
	bits    uint8  // length of the code
}

// A Row has, for each column, 1 + the level of a string, or 0 if the column does not have it.
type Row [MaxColumns]uint8

// None reports whether no column from this one on has the string.
func (r *Row) None(from int) bool {
	for _, level := range r[from:] {
		if level > 0 {
			return false
		}
	}
	return true
}

// split returns the bucket of a sum, and the key that its row has there.
func (t *Table) split(sum uint32) (bucket int, key uint64) {
	return int(uint64(sum) >> (32 - t.bucketBits)), uint64(sum << t.bucketBits >> (32 - keyBits))
}

// A place is where the row of a string begins, if it has one.
type place struct {
	table   *Table
	at, end int // bits
	next    uint64
	key     uint64
}

func (t *Table) find(h Hash) place {
	bucket, key := t.split(h.Sum())
	at := t.begin(bucket)
	return place{t, at, min(t.begin(bucket+1), t.end), t.load(at), key}
}

// Row returns the levels of the string with that hash, and whether any column has it.
func (t *Table) Row(h Hash) (row Row, ok bool) {
	p := t.find(h)
	ok = p.row(&row)
	return row, ok
}

// row sets the levels of the string whose place it is, and returns whether any column has it.
func (p *place) row(row *Row) bool {
	*row = Row{}
	t, at, next := p.table, p.at, p.next
	for at < p.end {
		c := t.codes[next>>keyBits&(1<<longestCode-1)]
		head := keyBits + int(c.bits)
		if c.has == 0 {
			c.has = uint32(next >> head & (1<<t.columns - 1))
			c.columns = uint8(bits.OnesCount32(c.has))
			head += t.columns
		}
		switch key := next & (1<<keyBits - 1); {
		case key > p.key: // the keys of a bucket are in order
			return false
		case key < p.key:
			at += head + levelBits*int(c.columns)
			next = t.load(at)
			continue
		}
		at += head
		next >>= head
		left := loaded - head
		for has := c.has; has != 0 && at < t.end; has &= has - 1 {
			if left < levelBits {
				next, left = t.load(at), loaded
			}
			row[bits.TrailingZeros32(has)] = t.lowest + uint8(next&(1<<levelBits-1)) + 1
			next >>= levelBits
			left -= levelBits
			at += levelBits
		}
		return true
	}
	return false
}

// load returns the bits from a bit on, 0 after the end.
func (t *Table) load(at int) uint64 {
	if at >= t.end {
		return 0
	}
	return binary.LittleEndian.Uint64(t.rows[at>>3:]) >> (at & 7) // eight bytes follow the rows
}

func (t *Table) begin(bucket int) int {
	d := t.directory[bucket/group*groupBytes:]
	first := int(binary.LittleEndian.Uint32(d))
	return first + int(binary.LittleEndian.Uint16(d[4+2*(bucket%group):]))
}

// Tables returns the tables of a file that Write made.
func Tables(file []byte) (tables []*Table) {
	for len(file) > 0 {
		n, used := binary.Uvarint(file)
		data := file[used : used+int(n)]
		file = file[used+int(n):]
		t := &Table{columns: int(data[0]), bucketBits: int(data[1]), lowest: data[2]}
		masks := make([]mask, binary.LittleEndian.Uint16(data[3:]))
		data = data[5:]
		for i := range masks {
			masks[i] = mask{has: binary.LittleEndian.Uint32(data) & (1<<24 - 1), bits: int(data[3])}
			data = data[4:]
		}
		t.codes = assign(masks)
		size := (1<<t.bucketBits/group + 1) * groupBytes
		t.directory, t.rows = data[:size], data[size:]
		t.end = t.begin(1 << t.bucketBits)
		tables = append(tables, t)
	}
	return tables
}

// A Cache remembers the rows of the strings that were looked up last in a table: a few thousand make up most of a text.
// It is not safe for concurrent use.
type Cache struct {
	table *Table
	kept  [1 << 12]kept
}

type kept struct {
	hash Hash // 0 stands for the empty string, which no table has
	row  Row
}

// Cache returns a free cache of the table. Free gives it back.
func (t *Table) Cache() *Cache {
	if c, ok := t.caches.Get().(*Cache); ok {
		return c
	}
	return &Cache{table: t}
}

// Free gives the cache back, for another caller of Table.Cache.
func (c *Cache) Free() { c.table.caches.Put(c) }

// Rows sets rows to those of the strings with these hashes, at most eight. It finds all places before it reads a row,
// so that the processor waits for all of them at once.
func (c *Cache) Rows(rows []Row, hashes []Hash) {
	var places [mostRows]place
	for i, h := range hashes {
		if k := c.at(h); k.hash == h {
			rows[i] = k.row
		} else {
			places[i] = c.table.find(h)
		}
	}
	for i, h := range hashes {
		if p := &places[i]; p.table != nil {
			p.row(&rows[i])
			*c.at(h) = kept{h, rows[i]}
		}
	}
}

func (c *Cache) at(h Hash) *kept { return &c.kept[h%Hash(len(c.kept))] }
