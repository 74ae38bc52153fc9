package safetensors

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// Tensor is one named array in a file.
type Tensor struct {
	Name  string
	DType string            // "F32", "F16", "BF16", "I64", ...
	Shape []int             // none is negative; empty for a single value
	Data  *io.SectionReader // from the first value to the last, little-endian
	File  string            // its path, for errors
}

// sizes in bytes of one value; other types exist but have no business here.
var sizes = map[string]int64{
	"BOOL": 1, "U8": 1, "I8": 1, "F8_E4M3": 1, "F8_E5M2": 1,
	"U16": 2, "I16": 2, "F16": 2, "BF16": 2,
	"U32": 4, "I32": 4, "F32": 4, "U64": 8, "I64": 8, "F64": 8,
}

// bytesOf returns the size in bytes of a row-major array of a known type, or -1 if a dimension is negative or the size
// is more than an int64.
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

// Rows calls visit with each row (the last dimension) in order, as float32. The slice is reused. The type must be F32,
// F16 or BF16. The data is streamed.
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

// decoders read the first value of some bytes.
var decoders = map[string]func([]byte) float32{
	"F32":  func(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) },
	"F16":  func(b []byte) float32 { return float16(binary.LittleEndian.Uint16(b)) },
	"BF16": func(b []byte) float32 { return math.Float32frombits(uint32(binary.LittleEndian.Uint16(b)) << 16) },
}

// float16 widens an IEEE 754 half.
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
