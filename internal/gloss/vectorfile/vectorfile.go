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
// Numbers are little-endian. Nothing is compressed beyond shared prefixes, so
// that the bytes depend on no compressor's version.
package vectorfile

import (
	"bytes"
	"encoding/binary"
	"errors"
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

// Decode reads the bytes of a vector file. The codes and frequencies alias data.
func Decode(data []byte) (*File, error) {
	if len(data) < headerSize || string(data[:len(magic)]) != magic {
		return nil, errors.New("vector file: does not begin with " + fmt.Sprintf("%q", magic) + " and a header")
	}
	sum := binary.LittleEndian.Uint32(data[len(magic):])
	if got := crc32.ChecksumIEEE(data[len(magic)+4:]); got != sum {
		return nil, fmt.Errorf("vector file: checksum %08x, expected %08x: truncated or corrupt", got, sum)
	}
	return decode(data)
}

// decode reads data after the checksum and validates everything.
func decode(data []byte) (*File, error) {
	r := reader{data: data, at: len(magic) + 4}
	n, exceptions := int(r.uint32()), int(r.uint32())
	if n > len(data)/(Stride+3) || exceptions > len(data)/3 {
		return nil, fmt.Errorf("vector file: %d lemmas and %d exceptions cannot fit %d bytes", n, exceptions, len(data))
	}
	f := &File{Lemmas: make([]string, n), POS: make([]lexicon.Set, n), Exceptions: make([]Exception, exceptions)}
	var text []byte // all lemmas, which share one string
	ends := make([]int, n)
	before := 0 // where the last one begins
	for i := range n {
		tag, lemma := r.word()
		if i > 0 && bytes.Compare(lemma, text[before:]) <= 0 {
			r.fail(fmt.Errorf("lemma %q does not come after %q", lemma, text[before:]))
		}
		if r.err != nil {
			return nil, fmt.Errorf("vector file: lemma %d: %w", i, r.err)
		}
		before, text = len(text), append(text, lemma...)
		f.POS[i], ends[i] = lexicon.Set(tag), len(text)
	}
	all, start := string(text), 0
	for i, end := range ends {
		f.Lemmas[i], start = all[start:end], end
	}
	r.before = nil
	for i := range f.Exceptions {
		tag, form := r.word()
		if int(tag) >= len(lexicon.All) {
			r.fail(fmt.Errorf("part of speech %d", tag))
		}
		bases := make([]int32, r.byte())
		for j := range bases {
			bases[j] = r.index(n)
		}
		if r.err != nil {
			return nil, fmt.Errorf("vector file: exception %d: %w", i, r.err)
		}
		f.Exceptions[i] = Exception{lexicon.POS(tag), string(form), bases}
	}
	if have := len(data) - r.at; have != n*(1+Stride) {
		return nil, fmt.Errorf("vector file: %d bytes of frequencies and codes, expected %d", have, n*(1+Stride))
	}
	f.Frequency, f.Codes = data[r.at:r.at+n], data[r.at+n:]
	return f, nil
}

// reader reads from data; after the first error it returns zeros.
type reader struct {
	data   []byte
	at     int
	before []byte
	err    error
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *reader) take(n int) []byte {
	if r.err == nil && n > len(r.data)-r.at {
		r.fail(errors.New("file ends early"))
	}
	if r.err != nil {
		return nil
	}
	r.at += n
	return r.data[r.at-n : r.at]
}

func (r *reader) byte() int {
	if b := r.take(1); b != nil {
		return int(b[0])
	}
	return 0
}

func (r *reader) uint32() uint32 {
	if b := r.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *reader) index(n int) int32 {
	x, size := binary.Uvarint(r.data[min(r.at, len(r.data)):])
	if size <= 0 || x >= uint64(n) {
		r.fail(fmt.Errorf("base is not an index below %d", n))
		return 0
	}
	r.at += size
	return int32(x)
}

// word reads a tag and a word that may begin like the one before. The word is valid until the next one is read.
func (r *reader) word() (tag int, w []byte) {
	head := r.byte()
	rest := r.take(r.byte())
	shared := head & maxShared
	if shared > len(r.before) || shared+len(rest) > maxForm {
		r.fail(fmt.Errorf("%d bytes shared with %q and %d more", shared, r.before, len(rest)))
		return 0, nil
	}
	r.before = append(r.before[:shared], rest...)
	return head >> 4, r.before
}
