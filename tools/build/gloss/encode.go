package main

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"crosstalk/internal/gloss/vectorfile"
)

// encode returns the bytes of a vector file.
func encode(f *vectorfile.File) ([]byte, error) {
	n := len(f.Lemmas)
	if len(f.POS) != n || len(f.Frequency) != n || len(f.Codes) != n*vectorfile.Stride {
		return nil, fmt.Errorf("vector file: %d lemmas with %d parts of speech, %d frequencies, %d bytes of codes",
			n, len(f.POS), len(f.Frequency), len(f.Codes))
	}
	out := append(make([]byte, 0, n*(vectorfile.Stride+12)), vectorfile.Magic...)
	out = append(out, 0, 0, 0, 0)
	out = binary.LittleEndian.AppendUint32(out, uint32(n))
	out = binary.LittleEndian.AppendUint32(out, uint32(len(f.Exceptions)))
	var before string
	word := func(tag uint8, w string) error {
		if len(w) > vectorfile.MaxForm {
			return fmt.Errorf("vector file: %q is longer than %d bytes", w, vectorfile.MaxForm)
		}
		shared := 0
		for shared < min(len(w), len(before), vectorfile.MaxShared) && w[shared] == before[shared] {
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
	binary.LittleEndian.PutUint32(out[len(vectorfile.Magic):], crc32.ChecksumIEEE(out[len(vectorfile.Magic)+4:]))
	return out, nil
}
