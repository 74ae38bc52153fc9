package fasttext

import "math/bits"

// pruning maps the buckets of the n-grams that quantisation kept to rows. Most n-grams of a text were dropped, and
// which is a coin toss to the processor's branch predictor, so a line is looked up in two steps: sift keeps without
// a branch those that may have a row, resolve finds the rows.
type pruning struct {
	all    bool       // nothing was dropped
	filter []uint64   // one bit set, of 20 or more, for each n-gram kept
	slots  []gramSlot // open addressing
	shift  uint       // of a hash, to a slot
	last   int32      // row
}

type gramSlot struct{ gram, row int32 } // row -1: free

func gramHash(gram int32) uint64 { return uint64(gram) * 0x9E3779B97F4A7C15 }

// init makes room for n n-grams.
func (p *pruning) init(n int64) {
	width := max(bits.Len64(uint64(n)*4/3), 4) // a quarter of the slots stays free
	p.shift = uint(64 - width)
	p.slots = make([]gramSlot, 1<<width)
	for i := range p.slots {
		p.slots[i].row = -1
	}
	p.filter = make([]uint64, len(p.slots)*16/64)
	p.last = -1
}

// rows is the number of rows that n-grams name.
func (p *pruning) rows() int64 { return int64(p.last) + 1 }

// bit is the place of an n-gram in the filter.
func (p *pruning) bit(gram int32) uint64 { return gramHash(gram) >> ((p.shift - 4) & 63) }

// slot is where an n-gram is or would be.
func (p *pruning) slot(gram int32) uint64 {
	at := gramHash(gram) >> (p.shift & 63)
	for p.slots[at].row >= 0 && p.slots[at].gram != gram {
		at = (at + 1) & uint64(len(p.slots)-1)
	}
	return at
}

// put maps gram to row; of equal n-grams the last stays.
func (p *pruning) put(gram, row int32) {
	p.slots[p.slot(gram)] = gramSlot{gram, row}
	bit := p.bit(gram)
	p.filter[bit/64] |= 1 << (bit % 64)
	p.last = max(p.last, row)
}

// sift appends gram unless it is known to have no row.
func (p *pruning) sift(grams []int32, gram int32) []int32 {
	grams = append(grams, gram)
	if p.all {
		return grams
	}
	bit := p.bit(gram)
	kept := p.filter[bit/64] >> (bit % 64) & 1
	return grams[:len(grams)-1+int(kept)]
}

// resolve replaces the n-grams of rows[from:] by their rows, behind those of the words, and drops those without.
func (p *pruning) resolve(rows []int32, from int, words int32) []int32 {
	grams := rows[from:]
	if p.all {
		for i := range grams {
			grams[i] += words
		}
		return rows
	}
	rows = rows[:from]
	for _, g := range grams {
		if s := p.slots[p.slot(g)]; s.row >= 0 {
			rows = append(rows, words+s.row)
		}
	}
	return rows
}
