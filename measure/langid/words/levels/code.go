package levels

import (
	"cmp"
	"math/bits"
	"slices"
)

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
		for i := reversed(next, length); i < len(table); i += 1 << length {
			table[i] = code{m.has, uint8(bits.OnesCount32(m.has)), uint8(length)}
		}
		next++
	}
	return &table
}

// reversed returns the lowest n bits of x in the other order.
func reversed(x, n int) int { return int(bits.Reverse32(uint32(x)) >> (32 - n)) }
