package parquet

import (
	"bytes"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
)

// Compression codecs.
const (
	uncompressed     = 0
	compressedSnappy = 1
	compressedGzip   = 2
	compressedZstd   = 6
)

var otherCodecs = map[int64]string{3: "LZO", 4: "Brotli", 5: "LZ4", 7: "LZ4"}

// unpack decompresses a page to size bytes, never more.
func (p page) unpack(data []byte, size int64) ([]byte, error) {
	if size < 0 || size > maxPage {
		return nil, fmt.Errorf("a page of %d bytes; expected at most %d", size, maxPage)
	}
	if err := p.spend(int(size)); err != nil {
		return nil, err
	}
	var out []byte
	var err error
	switch p.codec {
	case uncompressed:
		return data, nil
	case compressedSnappy:
		out, err = unpackSnappy(data, size)
	case compressedGzip:
		out, err = unpackGzip(data, size)
	case compressedZstd:
		out, err = unpackZstd(data, size)
	default:
		if name := otherCodecs[p.codec]; name != "" {
			return nil, fmt.Errorf("is compressed with %s; expected Snappy, gzip, Zstandard or none", name)
		}
		return nil, fmt.Errorf("is compressed with the unknown codec %d", p.codec)
	}
	if err == nil && int64(len(out)) != size {
		err = fmt.Errorf("a page does not unpack to %d bytes", size)
	}
	return out, err
}

func unpackSnappy(data []byte, size int64) ([]byte, error) {
	n, err := snappy.DecodedLen(data)
	if err != nil || int64(n) != size {
		return nil, snappy.ErrCorrupt
	}
	return snappy.Decode(nil, data)
}

func unpackGzip(data []byte, size int64) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(z, size+1))
}

func unpackZstd(data []byte, size int64) ([]byte, error) {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(maxPage), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	return z.DecodeAll(data, make([]byte, 0, size))
}
