package safetensors

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestFloat16(t *testing.T) {
	for h := range 1 << 16 {
		sign, exponent, fraction := 1-2*float64(h>>15), h>>10&31, float64(h&1023)
		want := sign * math.Ldexp(1+fraction/1024, exponent-15)
		switch {
		case exponent == 0:
			want = sign * math.Ldexp(fraction, -24)
		case exponent == 31 && fraction == 0:
			want = math.Inf(int(sign))
		case exponent == 31:
			want = math.NaN()
		}
		got := float64(float16(uint16(h)))
		if got != want && !(math.IsNaN(got) && math.IsNaN(want)) || math.Signbit(got) != math.Signbit(want) &&
			exponent != 31 {
			t.Fatalf("%#x: %v, want %v", h, got, want)
		}
	}
}

// Rows come in order, whatever their number.
func TestRows(t *testing.T) {
	var data []byte
	for i := range 24 {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(i)))
	}
	for _, c := range []struct {
		shape []int
		want  string
	}{
		{[]int{4, 6}, "[[0 1 2 3 4 5] [6 7 8 9 10 11] [12 13 14 15 16 17] [18 19 20 21 22 23]]"},
		{[]int{2, 2, 6}, "[[0 1 2 3 4 5] [6 7 8 9 10 11] [12 13 14 15 16 17] [18 19 20 21 22 23]]"},
		{[]int{24}, "[[0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23]]"},
		{[]int{3, 0}, "[]"},
	} {
		size := bytesOf("F32", c.shape)
		x := Tensor{"x", "F32", c.shape, io.NewSectionReader(bytes.NewReader(data), 0, size), "x.safetensors"}
		var got [][]float32
		if err := x.Rows(func(row []float32) { got = append(got, slices.Clone(row)) }); err != nil {
			t.Fatal(err)
		}
		if s := fmt.Sprint(got); s != c.want {
			t.Errorf("%v: %s, want %s", c.shape, s, c.want)
		}
	}
}

func TestRowsErrors(t *testing.T) {
	x := Tensor{"x", "I64", []int{1}, io.NewSectionReader(bytes.NewReader(make([]byte, 8)), 0, 8), "x.bin"}
	if err := x.Rows(func([]float32) {}); err == nil || !strings.Contains(err.Error(), `x.bin: tensor "x" has type I64, expected F32, F16 or BF16`) {
		t.Error(err)
	}
}

// The types of the format, with the size of one value in bytes.
func TestSizes(t *testing.T) {
	for size, types := range map[int64]string{1: "BOOL U8 I8 F8_E4M3 F8_E5M2", 2: "U16 I16 F16 BF16", 4: "U32 I32 F32", 8: "U64 I64 F64"} {
		for _, name := range strings.Fields(types) {
			if sizes[name] != size {
				t.Errorf("%s: %d", name, sizes[name])
			}
		}
	}
}

func TestBytes(t *testing.T) {
	for _, c := range []struct {
		dtype string
		shape []int
		want  int64
	}{
		{"F32", nil, 4}, {"F16", []int{3, 5}, 30}, {"U8", []int{0, 7}, 0}, {"F32", []int{-1}, -1}, {"F64", []int{1 << 60}, -1},
		{"F64", []int{0, math.MaxInt}, 0}, {"F5", []int{2}, 0},
		{"F64", []int{1<<60 - 1}, 1<<63 - 8}, {"BOOL", []int{math.MaxInt64}, math.MaxInt64}, {"U16", []int{1 << 62}, -1},
		{"U8", []int{math.MaxInt64, 2}, -1},
	} {
		if got := bytesOf(c.dtype, c.shape); got != c.want {
			t.Errorf("%s %v: %d, want %d", c.dtype, c.shape, got, c.want)
		}
	}
}
