package parquet

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"strconv"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
)

// Kinds of pages.
const (
	dataPage       = 0
	dictionaryPage = 2
	dataPageV2     = 3
)

// Encodings.
const (
	plain           = 0
	plainDictionary = 2
	runLength       = 3
	dictionaryIndex = 8
)

var encodings = map[int64]string{4: "BIT_PACKED", 5: "DELTA_BINARY_PACKED", 6: "DELTA_LENGTH_BYTE_ARRAY",
	7: "DELTA_BYTE_ARRAY", 9: "BYTE_STREAM_SPLIT"}

// chunkReader reads a column chunk, page after page, into rows.
type chunkReader struct {
	*file
	column     *column
	codec      int64
	dictionary []string
	rows       [][]string
	first      int // the row with which the chunk begins
	left       int // values left, nulls included
}

// readChunk appends the rows of a column chunk.
func (f *file) readChunk(c *column, k chunk, rows [][]string) ([][]string, error) {
	if f.values += k.values; f.values > maxValues {
		return nil, fmt.Errorf("more than %d values", maxValues)
	}
	data := make([]byte, k.length)
	if _, err := f.in.ReadAt(data, k.start); err != nil {
		return nil, err
	}
	r := chunkReader{file: f, column: c, codec: k.codec, rows: rows, first: len(rows), left: k.values}
	for r.left > 0 {
		t := thrift{data: data}
		header, err := t.structure()
		if err != nil {
			return nil, fmt.Errorf("page header: %w", err)
		}
		packed := header.int(3)
		if packed < 0 || packed > int64(len(t.data)) {
			return nil, errCut
		}
		page := t.data[:packed]
		data = t.data[packed:]
		switch kind := header.int(1); kind {
		case dictionaryPage:
			err = r.readDictionary(page, header)
		case dataPage, dataPageV2:
			err = r.read(page, header, kind == dataPageV2)
		default:
			err = fmt.Errorf("a page of the unknown kind %d", kind)
		}
		if err != nil {
			return nil, err
		}
	}
	return r.rows, nil
}

func (r *chunkReader) readDictionary(data []byte, header fields) error {
	n := header.sub(7).int(1)
	switch {
	case r.dictionary != nil:
		return errors.New("a second dictionary")
	case n < 0 || n > maxValues-int64(r.file.values):
		return fmt.Errorf("a dictionary of %d values", n)
	}
	r.file.values += int(n)
	data, err := r.unpack(data, header.int(2))
	if err == nil {
		r.dictionary, err = decodePlain(data, r.column.kind, int(n))
	}
	return err
}

// read reads a data page. In version 1, levels and values are packed together, and the length of each kind of levels
// precedes it. In version 2 the header contains these lengths, and levels are not packed.
func (r *chunkReader) read(data []byte, page fields, v2 bool) (err error) {
	packed, header := page.int(2), page.sub(5)
	encoding := header.int(2)
	if v2 {
		header = page.sub(8)
		encoding = header.int(4)
	} else if data, err = r.unpack(data, packed); err != nil {
		return err
	}
	n := int(header.int(1)) // includes nulls
	if n < 0 || n > r.left {
		return fmt.Errorf("a page of %d values; expected at most %d", n, r.left)
	}
	r.left -= n
	var levels [2][]int // repetition, definition
	for i, most := range [2]int{r.column.maxRep, r.column.maxDef} {
		length := header.int(int16(6 - i))
		if !v2 {
			if most == 0 {
				continue
			}
			if encoding := header.int(int16(4 - i)); encoding != runLength {
				return unknownEncoding("levels", encoding)
			}
			if len(data) < 4 {
				return errCut
			}
			length, data = int64(binary.LittleEndian.Uint32(data)), data[4:]
		}
		if length < 0 || length > int64(len(data)) {
			return errCut
		}
		if most > 0 {
			if levels[i], err = decodeRuns(data[:length], bits.Len(uint(most)), n); err != nil {
				return err
			}
		}
		data, packed = data[length:], packed-length
	}
	if compressed, said := header[7].(bool); v2 && (compressed || !said) {
		if data, err = r.unpack(data, packed); err != nil {
			return err
		}
	}
	return r.add(levels[0], levels[1], data, encoding, n)
}

// add adds n values and nulls to rows.
func (r *chunkReader) add(repetition, definition []int, data []byte, encoding int64, n int) error {
	most, there := r.column.maxDef, n
	for _, d := range definition {
		if d > most {
			return fmt.Errorf("a definition level of %d; expected at most %d", d, most)
		}
		if d < most {
			there--
		}
	}
	values, err := r.decode(data, encoding, there)
	if err != nil {
		return err
	}
	for i := range n {
		if repetition == nil || repetition[i] == 0 {
			r.rows = append(r.rows, nil)
		} else if len(r.rows) == r.first {
			return errors.New("a list continues without a start")
		}
		row := &r.rows[len(r.rows)-1]
		switch {
		case definition != nil && definition[i] < most:
			if repetition != nil && definition[i] >= r.column.listDef { // a null element
				*row = append(*row, "")
			}
			continue
		case repetition == nil:
			*row = values[:1:1]
		default:
			*row = append(*row, values[0])
		}
		values = values[1:]
	}
	return nil
}

// decode reads n values.
func (r *chunkReader) decode(data []byte, encoding int64, n int) ([]string, error) {
	entries, width := r.dictionary, 1
	switch {
	case encoding == plain:
		return decodePlain(data, r.column.kind, n)
	case encoding == runLength && r.column.kind == kindBoolean:
		if len(data) < 4 {
			return nil, errCut
		}
		entries, data = []string{"false", "true"}, data[4:] // the first four bytes are the length of the rest
	case encoding != dictionaryIndex && encoding != plainDictionary:
		return nil, unknownEncoding("values", encoding)
	case entries == nil:
		return nil, errors.New("the dictionary is missing")
	case n == 0:
		return nil, nil
	case len(data) < 1 || data[0] > 32:
		return nil, errCut
	default:
		width, data = int(data[0]), data[1:]
	}
	numbers, err := decodeRuns(data, width, n)
	if err != nil {
		return nil, err
	}
	values := make([]string, n)
	for i, number := range numbers {
		if number >= len(entries) {
			return nil, fmt.Errorf("entry %d of a dictionary of %d", number, len(entries))
		}
		values[i] = entries[number]
		if err := r.spend(len(values[i])); err != nil {
			return nil, err
		}
	}
	return values, nil
}

func unknownEncoding(what string, encoding int64) error {
	name := cmp.Or(encodings[encoding], strconv.FormatInt(encoding, 10))
	return fmt.Errorf("%s in the unsupported encoding %s", what, name)
}

// spend counts bytes that are about to be unpacked or copied.
func (f *file) spend(bytes int) error {
	if f.bytes += bytes; f.bytes > maxBytes {
		return fmt.Errorf("more than %d MiB of data", maxBytes>>20)
	}
	return nil
}

// Compression codecs.
const (
	uncompressed     = 0
	compressedSnappy = 1
	compressedGzip   = 2
	compressedZstd   = 6
)

var otherCodecs = map[int64]string{3: "LZO", 4: "Brotli", 5: "LZ4", 7: "LZ4"}

// unpack decompresses a page to size bytes, never more.
func (r *chunkReader) unpack(data []byte, size int64) ([]byte, error) {
	if size < 0 || size > maxPage {
		return nil, fmt.Errorf("a page of %d bytes; expected at most %d", size, maxPage)
	}
	if err := r.spend(int(size)); err != nil {
		return nil, err
	}
	var out []byte
	var err error
	switch r.codec {
	case uncompressed:
		return data, nil
	case compressedSnappy:
		if n, invalid := snappy.DecodedLen(data); invalid != nil || int64(n) != size {
			return nil, snappy.ErrCorrupt
		}
		out, err = snappy.Decode(nil, data)
	case compressedGzip:
		var z *gzip.Reader
		if z, err = gzip.NewReader(bytes.NewReader(data)); err == nil {
			out, err = io.ReadAll(io.LimitReader(z, size+1))
		}
	case compressedZstd:
		var z *zstd.Decoder
		z, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(maxPage), zstd.WithDecodeAllCapLimit(true))
		if err == nil {
			defer z.Close()
			out, err = z.DecodeAll(data, make([]byte, 0, size))
		}
	default:
		name := cmp.Or(otherCodecs[r.codec], fmt.Sprintf("the unknown codec %d", r.codec))
		return nil, fmt.Errorf("is compressed with %s; expected Snappy, gzip, Zstandard or none", name)
	}
	if err == nil && int64(len(out)) != size {
		err = fmt.Errorf("a page does not unpack to %d bytes", size)
	}
	return out, err
}

// decodePlain reads n consecutive values.
func decodePlain(data []byte, kind int64, n int) ([]string, error) {
	width := map[int64]int{kindInt32: 4, kindInt64: 8, kindFloat: 4, kindDouble: 8, kindByteArray: 4}[kind] // minimum
	if kind == kindBoolean && (n+7)/8 > len(data) || n*width > len(data) {
		return nil, errCut
	}
	values := make([]string, n)
	for i := range values {
		switch kind {
		case kindBoolean:
			values[i] = strconv.FormatBool(data[i/8]>>(i%8)&1 == 1)
		case kindInt32:
			values[i] = strconv.Itoa(int(int32(binary.LittleEndian.Uint32(data[4*i:]))))
		case kindInt64:
			values[i] = strconv.FormatInt(int64(binary.LittleEndian.Uint64(data[8*i:])), 10)
		case kindFloat:
			values[i] = strconv.FormatFloat(float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))), 'g', -1, 32)
		case kindDouble:
			values[i] = strconv.FormatFloat(math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:])), 'g', -1, 64)
		default: // text, preceded by its length
			if len(data) < 4 {
				return nil, errCut
			}
			length := int64(binary.LittleEndian.Uint32(data))
			if data = data[4:]; length > int64(len(data)) {
				return nil, errCut
			}
			if values[i] = string(data[:length]); !utf8.ValidString(values[i]) {
				return nil, errors.New("text is not valid UTF-8")
			}
			data = data[length:]
		}
	}
	return values, nil
}

// decodeRuns reads n numbers of width bits each: runs of one number, and numbers packed by eights (parquet-format,
// RLE / bit-packing hybrid).
func decodeRuns(data []byte, width, n int) ([]int, error) {
	numbers := make([]int, 0, n)
	for len(numbers) < n {
		head, size := binary.Uvarint(data)
		if size <= 0 || head < 2 {
			return nil, errCut
		}
		data = data[size:]
		left := uint64(n - len(numbers))
		run, packed := head>>1, head&1 == 1
		if !packed {
			bytes := (width + 7) / 8
			if len(data) < bytes {
				return nil, errCut
			}
			number := unpackBits(data, 0, 8*bytes)
			data = data[bytes:]
			for range min(run, left) {
				numbers = append(numbers, number)
			}
			continue
		}
		if width > 0 && run > uint64(len(data)/width) { // eight numbers take width bytes
			return nil, errCut
		}
		for i := range min(8*min(run, left), left) {
			numbers = append(numbers, unpackBits(data, int(i)*width, width))
		}
		if width > 0 {
			data = data[int(run)*width:]
		}
	}
	return numbers, nil
}

// unpackBits returns the number of width bits that starts at bit from, lowest bit first.
func unpackBits(data []byte, from, width int) int {
	number := 0
	for i := range width {
		bit := from + i
		number |= int(data[bit/8]>>(bit%8)&1) << i
	}
	return number
}
