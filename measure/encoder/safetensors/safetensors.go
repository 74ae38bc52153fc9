// Package safetensors reads tensors from files in Hugging Face's safetensors format: eight bytes of header length, a
// JSON header, then the values.
//
// A header is believed only as far as the file goes: every tensor must lie in the file, without gap or overlap, and
// have the size that its type and shape require. What is allocated is bounded by the size of the header; values are
// streamed.
package safetensors

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

const maxHeader = 100_000_000 // the format's own limit of the header, in bytes

// Read reads the header of the safetensors file r of the given size in bytes and returns its tensors by name. name
// stands in errors.
func Read(r io.ReaderAt, size int64, name string) (map[string]*Tensor, error) {
	fail := func(format string, a ...any) (map[string]*Tensor, error) {
		return nil, fmt.Errorf("%s: not a valid safetensors file: %s", name, fmt.Sprintf(format, a...))
	}
	var length [8]byte
	if _, err := r.ReadAt(length[:], 0); size < 8 || err != nil && err != io.EOF {
		return fail("%d bytes, expected at least 8", size)
	}
	n := binary.LittleEndian.Uint64(length[:])
	if n > maxHeader || int64(n) > size-8 {
		return fail("a header of %d bytes in a file of %d", n, size)
	}
	header := make([]byte, n)
	if _, err := r.ReadAt(header, 8); err != nil && err != io.EOF {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var entries map[string]json.RawMessage
	if err := json.Unmarshal(header, &entries); err != nil {
		return fail("header: %v", err)
	}
	delete(entries, "__metadata__")

	type placed struct {
		*Tensor
		begin, end int64
	}
	var order []placed
	for key, raw := range entries {
		var e struct {
			DType   string   `json:"dtype"`
			Shape   []int    `json:"shape"`
			Offsets [2]int64 `json:"data_offsets"`
		}
		if err := json.Unmarshal(raw, &e); err != nil {
			return fail("tensor %q: %v", key, err)
		}
		if sizes[e.DType] == 0 {
			return fail("tensor %q has unknown type %q", key, e.DType)
		}
		bytes := bytesOf(e.DType, e.Shape)
		if bytes < 0 {
			return fail("tensor %q has shape %v", key, e.Shape)
		}
		begin, end := e.Offsets[0], e.Offsets[1]
		if begin < 0 || end < begin || end > size-8-int64(n) || end-begin != bytes {
			return fail("tensor %q of %d bytes at offsets %d to %d, in %d bytes of data",
				key, bytes, begin, end, size-8-int64(n))
		}
		t := &Tensor{Name: key, DType: e.DType, Shape: e.Shape, File: name,
			Data: io.NewSectionReader(r, 8+int64(n)+begin, bytes)}
		order = append(order, placed{t, begin, end})
	}
	slices.SortFunc(order, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end))
	})
	at := int64(0)
	tensors := make(map[string]*Tensor, len(order))
	for _, p := range order {
		if p.begin != at {
			return fail("tensor %q begins at %d, expected %d", p.Name, p.begin, at)
		}
		at = p.end
		tensors[p.Name] = p.Tensor
	}
	if at != size-8-int64(n) {
		return fail("%d bytes of data, the header describes %d", size-8-int64(n), at)
	}
	return tensors, nil
}
