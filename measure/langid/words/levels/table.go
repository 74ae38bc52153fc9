package levels

import (
	"encoding/binary"
	"math/bits"
	"sync"
)

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

// find returns the place of the string with that hash.
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

// loaded is the number of bits that a load has at least.
const loaded = 57

// load returns the bits from a bit on, 0 after the end.
func (t *Table) load(at int) uint64 {
	if at >= t.end {
		return 0
	}
	return binary.LittleEndian.Uint64(t.rows[at>>3:]) >> (at & 7) // eight bytes follow the rows
}

// begin returns the bit at which a bucket begins.
func (t *Table) begin(bucket int) int {
	d := t.directory[bucket/group*groupBytes:]
	first := int(binary.LittleEndian.Uint32(d))
	return first + int(binary.LittleEndian.Uint16(d[4+2*(bucket%group):]))
}

// Tables returns the tables of a file that Write made.
func Tables(file []byte) (tables []*Table) {
	for len(file) > 0 {
		n, used := binary.Uvarint(file)
		tables = append(tables, read(file[used:used+int(n)]))
		file = file[used+int(n):]
	}
	return tables
}

func read(data []byte) *Table {
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
	return t
}
