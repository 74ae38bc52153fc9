package translation

import (
	"bytes"
	"hash/maphash"
	"sync"
)

// scratch is what scoring one segment needs, kept for the next segment.
type scratch struct {
	rewriter
	words    vocabulary
	ngrams   ngrams
	hyp, ref []uint32 // the segment as symbols
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// release returns sc to the pool unless a long segment made it large.
func (sc *scratch) release() {
	if len(sc.ngrams.slots) <= 1<<16 && cap(sc.a) <= 1<<16 {
		scratches.Put(sc)
	}
}

// A vocabulary numbers distinct words from 0 in the order they come.
type vocabulary struct {
	slots []wordSlot // open addressing, at most half full, length a power of two
	text  []byte     // the distinct words, one after the other
	n     uint32
	epoch uint32 // slots of other epochs are free
}

type wordSlot struct {
	hash       uint64
	start, end int
	id, epoch  uint32
}

var wordSeed = maphash.MakeSeed()

// reset forgets all words.
func (v *vocabulary) reset() {
	if v.epoch++; v.epoch == 0 {
		clear(v.slots)
		v.epoch = 1
	}
	v.n, v.text = 0, v.text[:0]
}

// number returns the number of word.
func (v *vocabulary) number(word []byte) uint32 {
	if 2*int(v.n) >= len(v.slots) {
		v.grow()
	}
	h, mask := maphash.Bytes(wordSeed, word), uint64(len(v.slots)-1)
	for i := h & mask; ; i = (i + 1) & mask {
		s := &v.slots[i]
		if s.epoch != v.epoch {
			start := len(v.text)
			v.text = append(v.text, word...)
			*s = wordSlot{h, start, len(v.text), v.n, v.epoch}
			v.n++
			return s.id
		}
		if s.hash == h && bytes.Equal(v.text[s.start:s.end], word) {
			return s.id
		}
	}
}

func (v *vocabulary) grow() {
	old := v.slots
	v.slots = make([]wordSlot, max(256, 2*len(old)))
	mask := uint64(len(v.slots) - 1)
	for _, s := range old {
		if s.epoch == v.epoch {
			i := s.hash & mask
			for v.slots[i].epoch == v.epoch {
				i = (i + 1) & mask
			}
			v.slots[i] = s
		}
	}
}

// ngrams counts the n-grams of reference segments, for all orders up to the longest at once, and matches those of a
// hypothesis against them. A segment is a sequence of symbols. The n-grams form a trie: one is known by the number of
// its first n-1 symbols and its last symbol, which makes a key of 64 bits without loss.
type ngrams struct {
	slots []ngramSlot // open addressing, at most half full, length a power of two
	shift uint8       // 64 minus the logarithm of the length of slots
	epoch uint32      // slots of other epochs are free
	left  []int32     // by n-gram, 0 unused: how many matches the references still allow
	here  []int32     // by n-gram: occurrences in the reference being counted
}

type ngramSlot struct {
	key       uint64
	id, epoch uint32
}

// reset forgets all n-grams.
func (g *ngrams) reset() {
	if g.epoch++; g.epoch == 0 {
		clear(g.slots)
		g.epoch = 1
	}
	g.left, g.here = append(g.left[:0], 0), append(g.here[:0], 0)
}

// count adds a reference: of each n-gram up to order, as many matches will be allowed as it has occurrences in the
// reference that has most of them (Papineni et al. 2002, section 2.1: modified precision).
func (g *ngrams) count(ref []uint32, order int) {
	for start := range ref {
		id := uint32(0)
		for _, symbol := range ref[start:min(start+order, len(ref))] {
			id = g.number(uint64(id)<<32 | uint64(symbol))
			g.here[id]++
		}
	}
	for id, n := range g.here {
		g.left[id] = max(g.left[id], n)
		g.here[id] = 0
	}
}

// match adds to matches[n-1], for n from 1 to len(matches), how many n-grams of hyp the references allow, and uses
// these up.
func (g *ngrams) match(hyp []uint32, matches []int) {
	for start := range hyp {
		id := uint32(0)
		for n, symbol := range hyp[start:min(start+len(matches), len(hyp))] {
			if id = g.find(uint64(id)<<32 | uint64(symbol)); id == 0 {
				break // no longer n-gram from here is in a reference either
			}
			if g.left[id] > 0 {
				g.left[id]--
				matches[n]++
			}
		}
	}
}

func (g *ngrams) slot(key uint64) *ngramSlot {
	mask := len(g.slots) - 1
	// Fibonacci hashing: the top bits of the product are well mixed.
	for i := int(key * 0x9E3779B97F4A7C15 >> g.shift); ; i = (i + 1) & mask {
		if s := &g.slots[i]; s.epoch != g.epoch || s.key == key {
			return s
		}
	}
}

// find returns the number of an n-gram, 0 if it has none.
func (g *ngrams) find(key uint64) uint32 {
	if len(g.slots) == 0 {
		return 0
	}
	if s := g.slot(key); s.epoch == g.epoch {
		return s.id
	}
	return 0
}

// number returns the number of an n-gram, a new one if it has none.
func (g *ngrams) number(key uint64) uint32 {
	if 2*len(g.left) >= len(g.slots) {
		g.grow()
	}
	s := g.slot(key)
	if s.epoch != g.epoch {
		*s = ngramSlot{key, uint32(len(g.left)), g.epoch}
		g.left, g.here = append(g.left, 0), append(g.here, 0)
	}
	return s.id
}

func (g *ngrams) grow() {
	old := g.slots
	g.slots = make([]ngramSlot, max(1024, 2*len(old)))
	for g.shift = 64; len(g.slots)>>(64-g.shift) > 1; g.shift-- {
	}
	for _, s := range old {
		if s.epoch == g.epoch {
			*g.slot(s.key) = s
		}
	}
}
