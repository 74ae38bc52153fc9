package parquet

import (
	"encoding/binary"
	"math"
	"strconv"
)

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
			var err error
			if values[i], err = validText(data[:length]); err != nil {
				return nil, err
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
