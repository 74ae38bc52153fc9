package levels

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"math/bits"
	"slices"
)

// A Column maps the sums of hashes to levels.
type Column map[uint32]uint8

// A row to write.
type row struct {
	bucket int
	key    uint64
	has    uint32
	levels []uint8
}

// Write appends a table to a file. It panics if there are no columns, or more than MaxColumns. Levels that are more
// than 63 above the table's lowest are written as 63 above.
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
	reverse := map[uint32]uint64{} // the codes of masks
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

// list returns the rows of the sums. Strings with the same bucket and key share one: a table cannot tell.
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

// masksOf returns the masks that have codes of their own, and 0 for all others, in the order of their codes.
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

// directory returns where buckets begin: for each group of them its first bit, then the bits from there to each.
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

// packer writes numbers of some bits, the lowest first.
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

// A mask is a set of columns, and how many strings are in just these. Mask 0 is all rare ones together.
type mask struct {
	has   uint32
	count int
	bits  int // length of its code
}

// measure sets the lengths of the masks' codes (Huffman 1952), and sorts the masks by them. It raises low counts until
// no code is longer than longestCode.
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
		masks[i].bits = max(1, masks[i].bits) // of one alone
	}
	slices.SortFunc(masks, byLength)
}

// assign gives the masks their codes, in order of length: each is the one before plus 1, extended by zeros to its
// length. Rows have codes from their highest bit, so the table is indexed by the reversed code, with any bits above it.
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
