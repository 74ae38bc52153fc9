package fasttext

import "math/bits"

// pruning maps the buckets of the n-grams that quantisation kept to rows.
// Most look-ups are of n-grams that were dropped, and end at the filter: one
// bit set, of 20 or more, for each n-gram kept.
type pruning struct {
	all    bool // nothing was dropped
	filter []uint64
	slots  []gramSlot // open addressing
	width  int        // log2 of the slots
	last   int32      // row
}

type gramSlot struct{ gram, row int32 } // row -1: free

func gramHash(gram int32) uint64 { return uint64(gram) * 0x9E3779B97F4A7C15 }

// init makes room for n n-grams.
func (p *pruning) init(n int64) {
	p.width = max(bits.Len64(uint64(n)*4/3), 4) // a quarter of the slots stays free
	p.slots = make([]gramSlot, 1<<p.width)
	for i := range p.slots {
		p.slots[i].row = -1
	}
	p.filter = make([]uint64, len(p.slots)*16/64)
	p.last = -1
}

// rows is the number of rows that n-grams name.
func (p *pruning) rows() int64 { return int64(p.last) + 1 }

// put maps gram to row; of equal n-grams the last stays.
func (p *pruning) put(gram, row int32) {
	h := gramHash(gram)
	at := h >> (64 - p.width)
	for p.slots[at].row >= 0 && p.slots[at].gram != gram {
		at = (at + 1) & uint64(len(p.slots)-1)
	}
	p.slots[at] = gramSlot{gram, row}
	bit := h >> (60 - p.width)
	p.filter[bit/64] |= 1 << (bit % 64)
	p.last = max(p.last, row)
}

func (p *pruning) get(gram int32) (row int32, ok bool) {
	h := gramHash(gram)
	bit := h >> (60 - p.width)
	if p.filter[bit/64]&(1<<(bit%64)) == 0 {
		return 0, false
	}
	for at := h >> (64 - p.width); ; at = (at + 1) & uint64(len(p.slots)-1) {
		s := p.slots[at]
		if s.row < 0 || s.gram == gram {
			return s.row, s.row >= 0
		}
	}
}
