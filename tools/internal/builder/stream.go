package builder

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"math"
)

// A Stream collects the numbers of an embedded table.
type Stream []byte

// Byte appends one byte.
func (s *Stream) Byte(v byte) { *s = append(*s, v) }

// Uint appends an unsigned varint.
func (s *Stream) Uint(v int) { *s = binary.AppendUvarint(*s, uint64(v)) }

// Int appends a signed varint, zigzag.
func (s *Stream) Int(v int) { *s = binary.AppendVarint(*s, int64(v)) }

// Float appends the 8 bytes of a little-endian float64.
func (s *Stream) Float(v float64) { *s = binary.LittleEndian.AppendUint64(*s, math.Float64bits(v)) }

// Compress returns content as a gzip file, as small as this release of Go makes it.
func Compress(content []byte) []byte {
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // fails for an unknown level only
	z.Write(content)                                           // a bytes.Buffer takes everything
	z.Close()
	return packed.Bytes()
}

// sameContent tells whether two files hold the same, compressed or not.
func sameContent(a, b []byte) (bool, error) {
	a, err := unpack(a)
	if err != nil {
		return false, err
	}
	b, err = unpack(b)
	return bytes.Equal(a, b), err
}

// unpack returns the content of a gzip file, and anything else as it is.
func unpack(file []byte) ([]byte, error) {
	if !bytes.HasPrefix(file, []byte{0x1f, 0x8b}) {
		return file, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}
