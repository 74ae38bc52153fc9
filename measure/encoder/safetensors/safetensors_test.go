package safetensors

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
)

func file(header string, data ...byte) []byte {
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...), data...)
}

func read(b []byte) (map[string]*Tensor, error) {
	return Read(bytes.NewReader(b), int64(len(b)), "x.safetensors")
}

func rows(t *testing.T, x *Tensor) (all [][]float32) {
	t.Helper()
	if err := x.Rows(func(row []float32) { all = append(all, slices.Clone(row)) }); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestRead(t *testing.T) {
	data := []byte{0, 0, 128, 63, 0, 0, 0, 192, 0x00, 0x3c, 0x01, 0x00, 0xff, 0xfb, 0x00, 0xc2, 0x80, 0x3f, 0x40, 0xc0}
	tensors, err := read(file(`{"__metadata__":{"format":"pt"},
		"bf":{"dtype":"BF16","shape":[2],"data_offsets":[16,20]},
		"f":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},
		"h":{"dtype":"F16","shape":[1,4],"data_offsets":[8,16]},
		"none":{"dtype":"F32","shape":[0,7],"data_offsets":[8,8]}}`, data...))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"f": "[[1] [-2]]", "h": "[[1 5.9604645e-08 -65504 -3]]", "bf": "[[1 -3]]", "none": "[]",
	} {
		if got := fmt.Sprint(rows(t, tensors[name])); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if len(tensors) != 4 {
		t.Errorf("%d tensors", len(tensors))
	}
}

// Rows are whole whatever the size of a read.
func TestRowsLong(t *testing.T) {
	const n, width = 700, 333
	var data []byte
	for i := range n * width {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(i)))
	}
	tensors, err := read(file(fmt.Sprintf(`{"a":{"dtype":"F32","shape":[%d,%d],"data_offsets":[0,%d]}}`, n, width, len(data)), data...))
	if err != nil {
		t.Fatal(err)
	}
	next := float32(0)
	for _, row := range rows(t, tensors["a"]) {
		for _, v := range row {
			if v != next {
				t.Fatalf("%v, want %v", v, next)
			}
			next++
		}
	}
	if next != n*width {
		t.Errorf("%v values", next)
	}
}

func TestReadErrors(t *testing.T) {
	one := `{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`
	for _, c := range []struct {
		file []byte
		want string
	}{
		{nil, "0 bytes, expected at least 8"},
		{file(one, 0, 0, 0, 0)[:20], "a header of 54 bytes in a file of 20"},
		{binary.LittleEndian.AppendUint64(nil, math.MaxUint64), "a header of 18446744073709551615 bytes"},
		{file(`[]`), "header:"},
		{file(`{"a":7}`), `tensor "a": json: cannot unmarshal number`},
		{file(one, 0, 0, 0), `"a" of 4 bytes at offsets 0 to 4, in 3 bytes of data`},
		{file(one, 0, 0, 0, 0, 0), "5 bytes of data, the header describes 4"},
		{file(`{"a":{"dtype":"F4","shape":[1],"data_offsets":[0,4]}}`, 0, 0, 0, 0), `unknown type "F4"`},
		{file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}`, 0, 0, 0, 0), `"a" of 8 bytes`},
		{file(`{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}`, 0, 0, 0, 0), "shape [-1]"},
		{file(`{"a":{"dtype":"F32","shape":[4611686018427387905,4],"data_offsets":[0,4]}}`, 0, 0, 0, 0), "shape [4611686018427387905 4]"},
		{file(`{"a":{"dtype":"U8","shape":[0],"data_offsets":[-1,-1]}}`), "offsets -1 to -1"},
		{file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}}`, 0, 0, 0), `"b" begins at 2, expected 1`},
		{file(`{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}}`, 0, 0, 0), `"b" begins at 1, expected 2`},
	} {
		_, err := read(c.file)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "x.safetensors: ") {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
	tensors, err := read(file(`{"a":{"dtype":"I32","shape":[1],"data_offsets":[0,4]}}`, 0, 0, 0, 0))
	if err != nil {
		t.Fatal(err)
	}
	if err := tensors["a"].Rows(func([]float32) {}); err == nil || !strings.Contains(err.Error(), "type I32, expected F32, F16 or BF16") {
		t.Error(err)
	}
}

// cut is a file that fails after this many bytes.
type cut struct {
	*bytes.Reader
	after int64
	err   error
}

func (c cut) ReadAt(b []byte, at int64) (int, error) {
	if at+int64(len(b)) > c.after {
		return 0, c.err
	}
	return c.Reader.ReadAt(b, at)
}

// An error of reading is one of the header or of a tensor, with the file's name; the least files are read.
func TestBrokenReader(t *testing.T) {
	broken := errors.New("broken")
	whole := file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, 0, 0, 128, 63, 0, 0, 0, 64)
	for after, want := range map[int64]string{0: "x: not a valid safetensors file: 70 bytes, expected at least 8", 8: "x: broken", 62: `x: tensor "a": broken`, 70: "<nil>"} {
		tensors, err := Read(cut{bytes.NewReader(whole), after, broken}, int64(len(whole)), "x")
		if err == nil {
			err = tensors["a"].Rows(func([]float32) {})
		}
		if fmt.Sprint(err) != want {
			t.Errorf("after %d: %v, want %s", after, err, want)
		}
	}
	for _, least := range [][]byte{file(`{}`), file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, 7), file(`{"__metadata__":7}`)} {
		if _, err := read(least); err != nil {
			t.Error(err)
		}
	}
	if _, err := read(binary.LittleEndian.AppendUint64(nil, 0)); err == nil || !strings.HasSuffix(err.Error(), "header: unexpected end of JSON input") {
		t.Error(err)
	}
	if _, err := read(binary.LittleEndian.AppendUint64(nil, 1)); err == nil || !strings.HasSuffix(err.Error(), "a header of 1 bytes in a file of 8") {
		t.Error(err)
	}
	for n, want := range map[int64]string{maxHeader: "header: invalid", maxHeader + 1: "a header of 100000001 bytes in a file of 100000009"} {
		head := io.NewSectionReader(zeros(n), 0, n+8)
		if _, err := Read(head, n+8, "x"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d: %v", n, err)
		}
	}
}

// zeros is a file of zeros but for its length, which comes first.
type zeros int64

func (z zeros) ReadAt(b []byte, at int64) (int, error) {
	clear(b)
	if at == 0 {
		binary.LittleEndian.PutUint64(b, uint64(z))
	}
	return len(b), nil
}

func FuzzRead(f *testing.F) {
	f.Add(file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 0, 0, 0, 0))
	f.Add(file(`{"a":{"dtype":"F16","shape":[],"data_offsets":[0,2]},"b":{"dtype":"BF16","shape":[1,1],"data_offsets":[2,4]}}`, 0, 0, 0, 0))
	f.Fuzz(func(t *testing.T, b []byte) {
		tensors, err := read(b)
		if err != nil {
			return
		}
		for _, x := range tensors {
			x.Rows(func([]float32) {})
		}
	})
}
