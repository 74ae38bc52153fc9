// Package levels stores the frequencies of a few hundred thousand strings in a form that is read in place, without
// loading: hashes instead of the strings, and frequencies in steps of a tenth of a decade.
//
// A file of levels contains tables. A table has a column for each language, and a row for each string in any column.
// Rows are in buckets by the first bits of their hashes, and a directory lists where each bucket starts:
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
// All numbers start with their lowest byte, and rows with their lowest bit.
package levels

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"sync"
)

const (
	keyBits   = 14 // up to one in 3,000 of the strings that a table lacks is mistaken for one that it has
	levelBits = 6

	group      = 32 // buckets
	groupBytes = 4 + 2*group
)

const (
	MaxColumns = 18 // the most columns of a table
	loaded     = 57 // the least bits of a load
	mostRows   = 8  // the most rows of a call of Cache.Rows
)

// Share returns the share for a level, which is in negative decibels: 10^(-level/10).
func Share(level int) float64 { return math.Pow(10, -float64(level)/10) }

// Hash is the hash of a string, built character by character. Its zero value is the hash of the empty string.
type Hash uint64

// Add returns the hash of the string with r at its end.
func (h Hash) Add(r rune) Hash {
	h = (h ^ 0x9e3779b97f4a7c15 ^ Hash(r)) * 0xd6e8feb86659fd93
	return h ^ h>>32
}

// Sum returns the part of the hash that identifies the string in columns.
func (h Hash) Sum() uint32 { return uint32(h * 0x9e3779b97f4a7c15 >> 32) }

// Text returns the hash of a string.
func Text(s string) (h Hash) {
	for _, r := range s {
		h = h.Add(r)
	}
	return h
}

// A Table returns the levels of a string in all columns at once. It is safe for concurrent use.
type Table struct {
	columns, bucketBits int
	lowest              uint8
	codes               *[1 << longestCode]code // by the next bits
	directory, rows     []byte
	end                 int // of the rows, in bits
	caches              sync.Pool
}

// A code determines which columns have a string.
type code struct {
	has     uint32 // a bit for each column; 0: they follow the code
	columns uint8  // how many have it
	bits    uint8  // length of the code
}

// A Row holds, for each column, 1 + the level of a string, or 0 if the column lacks it.
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

// split returns the bucket of a sum, and the key of its row there.
func (t *Table) split(sum uint32) (bucket int, key uint64) {
	return int(uint64(sum) >> (32 - t.bucketBits)), uint64(sum << t.bucketBits >> (32 - keyBits))
}

// A place is where the row of a string starts, if it has one.
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

// row sets the levels of the string at this place, and returns whether any column has it.
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
		case key > p.key: // keys are sorted within a bucket
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

// load returns the bits that start at a bit, 0 after the end.
func (t *Table) load(at int) uint64 {
	if at >= t.end {
		return 0
	}
	return binary.LittleEndian.Uint64(t.rows[at>>3:]) >> (at & 7) // eight bytes follow the rows
}

func (t *Table) begin(bucket int) int {
	d := t.directory[bucket/group*groupBytes:]
	return int(binary.LittleEndian.Uint32(d)) + int(binary.LittleEndian.Uint16(d[4+2*(bucket%group):]))
}

// Tables returns the tables in a file written by Write.
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

// A Cache keeps the rows of the strings last looked up in a table: a few thousand make up most of a text. It is not
// safe for concurrent use.
type Cache struct {
	table *Table
	kept  [1 << 12]kept
}

type kept struct {
	hash Hash // 0 means the empty string, which no table has
	row  Row
}

// Cache returns an unused cache of the table. Free returns it.
func (t *Table) Cache() *Cache {
	if c, ok := t.caches.Get().(*Cache); ok {
		return c
	}
	return &Cache{table: t}
}

// Free returns the cache for reuse by Table.Cache.
func (c *Cache) Free() { c.table.caches.Put(c) }

// Rows sets rows to the rows of at most eight strings with these hashes. It finds all places before reading any row,
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

// A Column maps the sums of hashes to levels.
type Column map[uint32]uint8

// A row to write.
type row struct {
	bucket int
	key    uint64
	has    uint32
	levels []uint8
}

// Write appends a table to a file. It panics if there are no columns, or more than MaxColumns. Levels more than 63
// above the table's lowest are stored as 63 above it.
func Write(dst []byte, columns []Column) []byte {
	if len(columns) == 0 || len(columns) > MaxColumns {
		panic(fmt.Sprintf("levels: %d columns, expected 1 to %d", len(columns), MaxColumns))
	}
	sums, lowest := map[uint32]bool{}, uint8(255)
	for _, c := range columns {
		for sum, level := range c {
			sums[sum], lowest = true, min(lowest, level)
		}
	}
	bucketBits := min(32-keyBits, max(0, bits.Len(uint(len(sums)/4))-1))
	t := Table{columns: len(columns), bucketBits: bucketBits, lowest: lowest}
	rows := t.list(slices.Sorted(maps.Keys(sums)), columns)
	masks := masksOf(rows)
	codes := assign(masks)
	reverse := map[uint32]uint64{} // codes of masks
	for i, c := range codes {
		if i < 1<<c.bits {
			reverse[c.has] = uint64(i)
		}
	}
	length := map[uint32]int{}
	for _, m := range masks {
		length[m.has] = m.bits
	}

	var packed packer
	var begins []int
	for _, r := range rows {
		for len(begins) <= r.bucket {
			begins = append(begins, packed.bits)
		}
		packed.add(r.key, keyBits)
		if n, ok := length[r.has]; ok {
			packed.add(reverse[r.has], n)
		} else {
			packed.add(reverse[0], length[0])
			packed.add(uint64(r.has), t.columns)
		}
		for _, level := range r.levels {
			packed.add(uint64(min(level-lowest, 1<<levelBits-1)), levelBits)
		}
	}
	for len(begins) <= 1<<t.bucketBits {
		begins = append(begins, packed.bits)
	}

	out := []byte{byte(t.columns), byte(t.bucketBits), lowest, byte(len(masks)), byte(len(masks) >> 8)}
	for _, m := range masks {
		out = append(out, byte(m.has), byte(m.has>>8), byte(m.has>>16), byte(m.bits))
	}
	out = append(out, directory(begins)...)
	out = append(append(out, packed.bytes...), make([]byte, 8)...)
	return append(binary.AppendUvarint(dst, uint64(len(out))), out...)
}

// list returns the rows of the sums. Strings with the same bucket and key share one, as a table cannot distinguish
// them.
func (t *Table) list(sums []uint32, columns []Column) (rows []row) {
	for i := 0; i < len(sums); {
		r := row{}
		r.bucket, r.key = t.split(sums[i])
		found := make([]int, len(columns)) // the level + 1 in each column
		for ; i < len(sums); i++ {
			if b, k := t.split(sums[i]); b != r.bucket || k != r.key {
				break
			}
			for c := range columns {
				if level, ok := columns[c][sums[i]]; ok && (found[c] == 0 || int(level) < found[c]-1) {
					found[c] = int(level) + 1
				}
			}
		}
		for c, level := range found {
			if level > 0 {
				r.has |= 1 << c
				r.levels = append(r.levels, uint8(level-1))
			}
		}
		rows = append(rows, r)
	}
	return rows
}

// masksOf returns the masks with their own codes, and 0 for all others, in the order of their codes.
func masksOf(rows []row) []mask {
	const most = 1 << (longestCode - 2) // codes
	counts := map[uint32]int{}
	for _, r := range rows {
		counts[r.has]++
	}
	var masks []mask
	for has, count := range counts {
		masks = append(masks, mask{has: has, count: count})
	}
	slices.SortFunc(masks, func(a, b mask) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.has, b.has))
	})
	rest := mask{}
	for _, m := range masks[min(len(masks), most):] {
		rest.count += m.count
	}
	masks = append(masks[:min(len(masks), most)], rest)
	measure(masks)
	return masks
}

// directory returns where buckets start: for each group of them its first bit, and the offset of each from there.
func directory(begins []int) (out []byte) {
	for i := 0; i < len(begins); i += group {
		out = binary.LittleEndian.AppendUint32(out, uint32(begins[i]))
		for j := range group {
			further := begins[min(i+j, len(begins)-1)] - begins[i]
			if further >= 1<<16 {
				panic(fmt.Sprintf("levels: %d bits of %d buckets, expected less than %d", further, group, 1<<16))
			}
			out = binary.LittleEndian.AppendUint16(out, uint16(further))
		}
	}
	return out
}

// packer writes numbers of a given number of bits, the lowest bit first.
type packer struct {
	bytes []byte
	bits  int
}

func (p *packer) add(x uint64, n int) {
	for i := range n {
		if p.bits%8 == 0 {
			p.bytes = append(p.bytes, 0)
		}
		p.bytes[p.bits/8] |= byte(x>>i&1) << (p.bits % 8)
		p.bits++
	}
}

// longestCode is the length of the longest code, in bits.
const longestCode = 10

// A mask is a set of columns, with the number of strings in exactly these. Mask 0 stands for all rare masks.
type mask struct {
	has   uint32
	count int
	bits  int // length of its code
}

// measure sets the lengths of the masks' codes (Huffman 1952), and sorts the masks by length. It raises low counts
// until no code is longer than longestCode.
func measure(masks []mask) {
	byLength := func(a, b mask) int { return cmp.Or(cmp.Compare(a.bits, b.bits), cmp.Compare(a.has, b.has)) }
	for least := 1; ; least *= 2 {
		type node struct{ count, first, last int } // the masks below it are linked from first to last
		next := make([]int, len(masks))
		var nodes []node
		for i := range masks {
			masks[i].bits = 0
			nodes = append(nodes, node{max(least, masks[i].count), i, i})
		}
		for len(nodes) > 1 {
			slices.SortFunc(nodes, func(a, b node) int {
				return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(masks[a.first].has, masks[b.first].has))
			})
			a, b := nodes[len(nodes)-2], nodes[len(nodes)-1]
			next[a.last] = b.first
			for i := a.first; ; i = next[i] {
				masks[i].bits++
				if i == b.last {
					break
				}
			}
			nodes = append(nodes[:len(nodes)-2], node{a.count + b.count, a.first, b.last})
		}
		if slices.MaxFunc(masks, byLength).bits <= longestCode {
			break
		}
	}
	for i := range masks {
		masks[i].bits = max(1, masks[i].bits) // at least 1, even for a single mask
	}
	slices.SortFunc(masks, byLength)
}

// assign assigns codes to the masks, in order of length: each is the one before plus 1, extended by zeros to its
// length. Rows store codes from their highest bit, so the table is indexed by the reversed code, with any bits above
// it.
func assign(masks []mask) *[1 << longestCode]code {
	var table [1 << longestCode]code
	next, length := 0, 0
	for _, m := range masks {
		next <<= m.bits - length
		length = m.bits
		for i := int(bits.Reverse32(uint32(next)) >> (32 - length)); i < len(table); i += 1 << length {
			table[i] = code{m.has, uint8(bits.OnesCount32(m.has)), uint8(length)}
		}
		next++
	}
	return &table
}
