package index

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// chunkSize is the number of answers in a chunk.
const chunkSize = 16384

// set are answers of a chunk, by their place in it.
type set [chunkSize / 64]uint64

func (s *set) add(i int)      { s[i/64] |= 1 << (i % 64) }
func (s *set) has(i int) bool { return s[i/64]>>(i%64)&1 == 1 }

func (s *set) and(t set) {
	for i := range s {
		s[i] &= t[i]
	}
}

func (s *set) count() (n int) {
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// first returns the set of the first n answers of a chunk.
func first(n int) (s set) {
	for i := range n / 64 {
		s[i] = ^uint64(0)
	}
	if n%64 > 0 {
		s[n/64] = 1<<(n%64) - 1
	}
	return s
}

// pack writes places, which ascend, as their distances, or as bits if that is shorter.
func pack(places []uint16) []byte {
	var b []byte
	last := -1
	for _, p := range places {
		b = binary.AppendUvarint(b, uint64(int(p)-last-1))
		last = int(p)
	}
	if len(b) < chunkSize/8 {
		return b
	}
	var s set
	for _, p := range places {
		s.add(int(p))
	}
	b = b[:0]
	for _, w := range s {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

var errSet = errors.New("the index is damaged: delete it")

// unpack adds to the set what pack wrote.
func (s *set) unpack(b []byte) error {
	if len(b) == chunkSize/8 {
		for i := range s {
			s[i] |= binary.LittleEndian.Uint64(b[8*i:])
		}
		return nil
	}
	for last := -1; len(b) > 0; {
		d, n := uint64(b[0]), 1 // most distances are one byte long
		if d >= 0x80 {
			d, n = binary.Uvarint(b)
		}
		if n <= 0 || d >= chunkSize || last+1+int(d) >= chunkSize {
			return errSet
		}
		last += 1 + int(d)
		s.add(last)
		b = b[n:]
	}
	return nil
}
