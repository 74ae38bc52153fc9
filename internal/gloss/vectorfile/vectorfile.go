// Package vectorfile is the format of the embedded gloss vectors: lemmas with their parts of speech, frequencies and
// 4-bit vectors, and the irregular forms that lead to them.
//
//	magic       8 bytes "gloss/1\n"
//	checksum    uint32, CRC-32 (IEEE) of all that follows
//	lemmas      uint32, their number n
//	exceptions  uint32, their number
//	n lemmas, sorted: parts of speech << 4 | length of the prefix shared with
//	            the lemma before (at most 15); length of the rest; the rest
//	exceptions, sorted by part of speech and form: part of speech << 4 | shared
//	            prefix; length of the rest; the rest; number of bases; the
//	            index of each base as a varint
//	n bytes     frequencies
//	n x Dim/2   codes
//
// Numbers are little-endian. Only prefixes are shared; there is no other compression, so the bytes do not depend on
// the version of a compressor.
package vectorfile

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"crosstalk/internal/gloss/lexicon"
)

// Dim is the number of dimensions of a vector, and Stride its size in bytes: two 4-bit codes a byte, the even dimension
// in the low half. A code c in 1..15 means c - Zero; the scale is free, as vectors are used for cosines only.
const (
	Dim    = 224
	Stride = Dim / 2
	Zero   = 8
)

// File is the content of a vector file.
type File struct {
	Lemmas     []string      // sorted bytewise, distinct
	POS        []lexicon.Set // parts of speech of each lemma
	Frequency  []uint8       // 16 log2(1 + occurrences) of each lemma, rounded
	Exceptions []Exception   // sorted by POS, then Form
	Codes      []byte        // len(Lemmas) x Stride
}

// Exception is an irregular form of the lemmas with indices Bases.
type Exception struct {
	POS   lexicon.POS
	Form  string
	Bases []int32
}

const (
	magic      = "gloss/1\n"
	headerSize = len(magic) + 3*4
	maxShared  = 15
	maxForm    = 127 // bytes of a lemma or form
)

// Encode returns the bytes of f.
func (f *File) Encode() ([]byte, error) {
	n := len(f.Lemmas)
	if len(f.POS) != n || len(f.Frequency) != n || len(f.Codes) != n*Stride {
		return nil, fmt.Errorf("vector file: %d lemmas with %d parts of speech, %d frequencies, %d bytes of codes",
			n, len(f.POS), len(f.Frequency), len(f.Codes))
	}
	out := append(make([]byte, 0, n*(Stride+12)), magic...)
	out = append(out, 0, 0, 0, 0)
	out = binary.LittleEndian.AppendUint32(out, uint32(n))
	out = binary.LittleEndian.AppendUint32(out, uint32(len(f.Exceptions)))
	var before string
	word := func(tag uint8, w string) error {
		if len(w) > maxForm {
			return fmt.Errorf("vector file: %q is longer than %d bytes", w, maxForm)
		}
		shared := 0
		for shared < min(len(w), len(before), maxShared) && w[shared] == before[shared] {
			shared++
		}
		out = append(out, tag<<4|uint8(shared), uint8(len(w)-shared))
		out = append(out, w[shared:]...)
		before = w
		return nil
	}
	for i, lemma := range f.Lemmas {
		if i > 0 && lemma <= before {
			return nil, fmt.Errorf("vector file: lemma %q does not come after %q", lemma, before)
		}
		if err := word(uint8(f.POS[i]), lemma); err != nil {
			return nil, err
		}
	}
	before = ""
	for _, e := range f.Exceptions {
		if err := word(uint8(e.POS), e.Form); err != nil {
			return nil, err
		}
		out = append(out, uint8(len(e.Bases)))
		for _, b := range e.Bases {
			out = binary.AppendUvarint(out, uint64(b))
		}
	}
	out = append(append(out, f.Frequency...), f.Codes...)
	binary.LittleEndian.PutUint32(out[len(magic):], crc32.ChecksumIEEE(out[len(magic)+4:]))
	return out, nil
}

// Decode reads the bytes of a vector file. The codes and frequencies alias data. A right checksum proves that Encode
// wrote the data, so the rest is trusted.
func Decode(data []byte) (*File, error) {
	if len(data) < headerSize || string(data[:len(magic)]) != magic {
		return nil, fmt.Errorf("vector file: does not begin with %q and a header", magic)
	}
	sum := binary.LittleEndian.Uint32(data[len(magic):])
	if got := crc32.ChecksumIEEE(data[len(magic)+4:]); got != sum {
		return nil, fmt.Errorf("vector file: checksum %08x, expected %08x: truncated or corrupt", got, sum)
	}
	r := reader{data: data[len(magic)+4:]}
	n, exceptions := int(r.uint32()), int(r.uint32())
	f := &File{Lemmas: make([]string, n), POS: make([]lexicon.Set, n), Exceptions: make([]Exception, exceptions)}
	var text []byte // all lemmas; they share one string
	ends := make([]int, n)
	for i := range n {
		tag, lemma := r.word()
		text = append(text, lemma...)
		f.POS[i], ends[i] = lexicon.Set(tag), len(text)
	}
	all, start := string(text), 0
	for i, end := range ends {
		f.Lemmas[i], start = all[start:end], end
	}
	r.before = nil
	for i := range f.Exceptions {
		tag, form := r.word()
		bases := make([]int32, r.take(1)[0])
		for j := range bases {
			x, size := binary.Uvarint(r.data)
			r.take(size)
			bases[j] = int32(x)
		}
		f.Exceptions[i] = Exception{lexicon.POS(tag), string(form), bases}
	}
	f.Frequency, f.Codes = r.data[:n], r.data[n:]
	return f, nil
}

// reader reads values from the start of data.
type reader struct{ data, before []byte }

func (r *reader) take(n int) []byte {
	taken := r.data[:n]
	r.data = r.data[n:]
	return taken
}

func (r *reader) uint32() uint32 { return binary.LittleEndian.Uint32(r.take(4)) }

// word reads a tag and a word that may share a prefix with the one before. The word is valid until the next call.
func (r *reader) word() (tag byte, w []byte) {
	head := r.take(2)
	rest := r.take(int(head[1]))
	r.before = append(r.before[:head[0]&maxShared], rest...)
	return head[0] >> 4, r.before
}
