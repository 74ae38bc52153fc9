// Package safetensors reads tensors from files in Hugging Face's safetensors format: eight bytes of header length, a
// JSON header, then the values.
//
// A header is not trusted: every tensor must lie in the file, without gap or overlap, and have the size that its type
// and shape require. The size of the header bounds allocations; values are streamed.
package safetensors

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
)

const maxHeader = 100_000_000 // the format's limit for the header, in bytes

// Read returns the tensors by name in the safetensors file r of size bytes. Errors mention name.
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

// Tensor is a named array in a file.
type Tensor struct {
	Name  string
	DType string            // "F32", "F16", "BF16", "I64", ...
	Shape []int             // none is negative; empty for a single value
	Data  *io.SectionReader // from the first value to the last, little-endian
	File  string            // its path, for errors
}

// sizes of one value in bytes; the format has other types, which encoders do not need.
var sizes = map[string]int64{
	"BOOL": 1, "U8": 1, "I8": 1, "F8_E4M3": 1, "F8_E5M2": 1,
	"U16": 2, "I16": 2, "F16": 2, "BF16": 2,
	"U32": 4, "I32": 4, "F32": 4, "U64": 8, "I64": 8, "F64": 8,
}

// bytesOf returns the size in bytes of a row-major array, -1 if a dimension is negative or the size exceeds an int64.
func bytesOf(dtype string, shape []int) int64 {
	n := sizes[dtype]
	for _, d := range shape {
		if d < 0 || d > 0 && n > math.MaxInt64/int64(d) {
			return -1
		}
		n *= int64(d)
	}
	return n
}

// Rows streams each row (the last dimension) of an F32, F16 or BF16 tensor to visit, as float32. The slice is reused.
func (t *Tensor) Rows(visit func(row []float32)) error {
	decode, ok := decoders[t.DType]
	if !ok {
		return fmt.Errorf("%s: tensor %q has type %s, expected F32, F16 or BF16", t.File, t.Name, t.DType)
	}
	if t.Data.Size() == 0 {
		return nil
	}
	width := 1
	if len(t.Shape) > 0 {
		width = t.Shape[len(t.Shape)-1]
	}
	row := make([]float32, width)
	size := int(sizes[t.DType])
	perRead := max(1, 1<<16/(width*size)) // rows
	buf := make([]byte, min(int64(perRead*width*size), t.Data.Size()))
	for at := int64(0); at < t.Data.Size(); {
		n := min(int64(len(buf)), t.Data.Size()-at)
		if _, err := t.Data.ReadAt(buf[:n], at); err != nil && err != io.EOF {
			return fmt.Errorf("%s: tensor %q: %w", t.File, t.Name, err)
		}
		at += n
		for b := buf[:n]; len(b) > 0; {
			for i := range row {
				row[i] = decode(b[i*size:])
			}
			visit(row)
			b = b[width*size:]
		}
	}
	return nil
}

// decoders read the first value in a byte slice.
var decoders = map[string]func([]byte) float32{
	"F32":  func(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) },
	"F16":  func(b []byte) float32 { return float16(binary.LittleEndian.Uint16(b)) },
	"BF16": func(b []byte) float32 { return math.Float32frombits(uint32(binary.LittleEndian.Uint16(b)) << 16) },
}

// float16 converts an IEEE 754 half to float32.
func float16(h uint16) float32 {
	sign, exponent, fraction := uint32(h>>15)<<31, uint32(h>>10)&31, uint32(h)&0x3ff
	switch exponent {
	case 0: // zero or subnormal
		v := float32(fraction) / (1 << 24)
		return math.Float32frombits(math.Float32bits(v) | sign)
	case 31: // infinity or NaN
		return math.Float32frombits(sign | 0xff<<23 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<13)
}

// File is an open file with the weights of a model.
type File struct {
	Tensors map[string]*Tensor
	*os.File
}

// Open opens model.safetensors in dir. After the caller closes it, its tensors cannot be read any more.
func Open(dir string) (*File, error) {
	path := filepath.Join(dir, "model.safetensors")
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no model.safetensors; other weights must be converted first (docs/similarity.md)", dir)
	}
	if err != nil {
		return nil, err
	}
	f := &File{File: file}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: not a regular file", path)
	}
	if err == nil {
		f.Tensors, err = Read(file, info.Size(), path)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return f, nil
}

// Hash returns the SHA-256 of the file in hexadecimal.
func (f *File) Hash() (string, error) {
	h := sha256.New()
	_, err := io.Copy(h, io.NewSectionReader(f, 0, 1<<62))
	return hex.EncodeToString(h.Sum(nil)), err
}
