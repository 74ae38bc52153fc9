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
	indexPage      = 1
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

// readChunk appends the rows of a column chunk.
func (f *File) readChunk(c *column, k chunk, rows [][]string) ([][]string, error) {
	if f.values += k.values; f.values > maxValues {
		return nil, fmt.Errorf("more than %d values", maxValues)
	}
	data := make([]byte, k.length)
	if _, err := f.in.ReadAt(data, k.start); err != nil {
		return nil, err
	}
	var dictionary []string
	first := len(rows)
	for left := k.values; left > 0; {
		t := thrift{data: data}
		header, err := t.structure()
		if err != nil {
			return nil, fmt.Errorf("page header: %w", err)
		}
		data = t.data
		packed := header.int(3)
		if packed < 0 || packed > int64(len(data)) {
			return nil, errCut
		}
		page := page{file: f, column: c, codec: k.codec, data: data[:packed], size: header.int(2)}
		data = data[packed:]
		switch header.int(1) {
		case indexPage:
		case dictionaryPage:
			if dictionary != nil {
				return nil, errors.New("a second dictionary")
			}
			dictionary, err = page.dictionary(header.sub(7))
		case dataPage:
			rows, left, err = page.read(header.sub(5), false, dictionary, rows, first, left)
		case dataPageV2:
			rows, left, err = page.read(header.sub(8), true, dictionary, rows, first, left)
		default:
			err = fmt.Errorf("a page of the unknown kind %d", header.int(1))
		}
		if err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// page is a page as it lies in the file.
type page struct {
	file   *File
	column *column
	codec  int64
	data   []byte
	size   int64 // unpacked
}

func (p page) dictionary(header fields) ([]string, error) {
	n := header.int(1)
	if n < 0 || n > maxValues-int64(p.file.values) {
		return nil, fmt.Errorf("a dictionary of %d values", n)
	}
	p.file.values += int(n)
	data, err := p.unpack(p.data, p.size)
	if err != nil {
		return nil, err
	}
	values, err := decodePlain(data, p.column.kind, int(n))
	if values == nil {
		values = []string{}
	}
	return values, err
}

// read appends the rows of a data page, and returns how many values the chunk has left then. In version 1, levels and
// values are packed together, and each kind of levels has its length before it; in version 2 the header has their
// lengths, and they are not packed.
func (p page) read(header fields, v2 bool, dictionary []string, rows [][]string, first, left int) (
	_ [][]string, _ int, err error) {
	n := int(header.int(1)) // nulls included
	if n < 0 || n > left {
		return nil, 0, fmt.Errorf("a page of %d values; expected at most %d", n, left)
	}
	data, encoding := p.data, header.int(4)
	if !v2 {
		encoding = header.int(2)
		if data, err = p.unpack(data, p.size); err != nil {
			return nil, 0, err
		}
	}
	var levels [2][]int // repetition, definition
	packed := p.size
	for i, most := range [2]int{p.column.maxRep, p.column.maxDef} {
		length := header.int(int16(6 - i))
		if !v2 && most == 0 {
			continue
		}
		if !v2 {
			if encoding := header.int(int16(4 - i)); encoding != runLength {
				return nil, 0, unknownEncoding("levels", encoding)
			}
			if len(data) < 4 {
				return nil, 0, errCut
			}
			length, data = int64(binary.LittleEndian.Uint32(data)), data[4:]
		}
		if length < 0 || length > int64(len(data)) {
			return nil, 0, errCut
		}
		if most > 0 {
			if levels[i], err = decodeRuns(data[:length], bits.Len(uint(most)), n); err != nil {
				return nil, 0, err
			}
		}
		data, packed = data[length:], packed-length
	}
	if compressed, said := header[7].(bool); v2 && (compressed || !said) {
		if data, err = p.unpack(data, packed); err != nil {
			return nil, 0, err
		}
	}
	rows, err = p.rows(levels, data, encoding, n, dictionary, rows, first)
	return rows, left - n, err
}

// rows puts n values and nulls into rows. The chunk began with the row first.
func (p page) rows(levels [2][]int, data []byte, encoding int64, n int, dictionary []string,
	rows [][]string, first int) ([][]string, error) {
	repetition, definition := levels[0], levels[1]
	there := n
	for _, d := range definition {
		if d > p.column.maxDef {
			return nil, fmt.Errorf("a definition level of %d; expected at most %d", d, p.column.maxDef)
		}
		if d < p.column.maxDef {
			there--
		}
	}
	values, err := p.values(data, encoding, there, dictionary)
	if err != nil {
		return nil, err
	}
	next := 0
	for i := range n {
		there := definition == nil || definition[i] == p.column.maxDef
		if repetition == nil || repetition[i] == 0 {
			rows = append(rows, nil)
		} else if len(rows) == first {
			return nil, errors.New("a list continues without a start")
		}
		last := len(rows) - 1
		switch {
		case there && repetition == nil:
			rows[last] = values[next : next+1 : next+1]
			next++
		case there:
			rows[last] = append(rows[last], values[next])
			next++
		case repetition != nil && definition[i] >= p.column.listDef: // an element that is null
			rows[last] = append(rows[last], "")
		}
	}
	return rows, nil
}

func (p page) values(data []byte, encoding int64, n int, dictionary []string) ([]string, error) {
	switch {
	case encoding == plain:
		return decodePlain(data, p.column.kind, n)
	case encoding == runLength && p.column.kind == kindBoolean:
		if len(data) < 4 {
			return nil, errCut
		}
		numbers, err := decodeRuns(data[4:], 1, n) // the length before it is that of the rest
		if err != nil {
			return nil, err
		}
		return p.lookUp(numbers, []string{"false", "true"})
	case encoding == dictionaryIndex || encoding == plainDictionary:
		if dictionary == nil {
			return nil, errors.New("the dictionary is missing")
		}
		if n == 0 {
			return nil, nil
		}
		if len(data) < 1 || data[0] > 32 {
			return nil, errCut
		}
		numbers, err := decodeRuns(data[1:], int(data[0]), n)
		if err != nil {
			return nil, err
		}
		return p.lookUp(numbers, dictionary)
	}
	return nil, unknownEncoding("values", encoding)
}

func (p page) lookUp(numbers []int, dictionary []string) ([]string, error) {
	values := make([]string, len(numbers))
	for i, number := range numbers {
		if number >= len(dictionary) {
			return nil, fmt.Errorf("entry %d of a dictionary of %d", number, len(dictionary))
		}
		values[i] = dictionary[number]
		if err := p.spend(len(values[i])); err != nil {
			return nil, err
		}
	}
	return values, nil
}

func unknownEncoding(what string, encoding int64) error {
	name := cmp.Or(encodings[encoding], strconv.FormatInt(encoding, 10))
	return fmt.Errorf("%s in the unsupported encoding %s", what, name)
}

// spend counts bytes that the page is about to make.
func (p page) spend(bytes int) error {
	if p.file.bytes += bytes; p.file.bytes > maxBytes {
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
		name := cmp.Or(otherCodecs[p.codec], fmt.Sprintf("the unknown codec %d", p.codec))
		return nil, fmt.Errorf("is compressed with %s; expected Snappy, gzip, Zstandard or none", name)
	}
	if err == nil && int64(len(out)) != size {
		err = fmt.Errorf("a page does not unpack to %d bytes", size)
	}
	return out, err
}

// decodePlain reads n values one after the other.
func decodePlain(data []byte, kind int64, n int) ([]string, error) {
	width := map[int64]int{kindInt32: 4, kindInt64: 8, kindFloat: 4, kindDouble: 8, kindByteArray: 4}[kind] // at least
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
		default: // text, with its length before it
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

// decodeRuns reads n numbers of a given width in bits: runs of one number, and
// numbers packed by eights (parquet-format, RLE / bit-packing hybrid).
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

// unpackBits is the number of a given width from a bit on, lowest bit first.
func unpackBits(data []byte, from, width int) int {
	number := 0
	for i := range width {
		bit := from + i
		number |= int(data[bit/8]>>(bit%8)&1) << i
	}
	return number
}
