package checkpoint

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"crosstalk/measure/encoder/tensor"
)

func file(header string, data ...byte) []byte {
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...), data...)
}

func rows(t *testing.T, x *tensor.Tensor) (all [][]float32) {
	t.Helper()
	if err := x.Rows(func(row []float32) { all = append(all, slices.Clone(row)) }); err != nil {
		t.Fatal(err)
	}
	return all
}

// The index says which of two tensors of one name counts.
func TestOpenDirIndex(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, content []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	one := func(b byte) []byte {
		return file(`{"a":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]}}`, 0, b)
	}
	write("x.safetensors", one(0x40))
	write("y.safetensors", one(0x41))
	hashes := map[string]bool{}
	for name, want := range map[string]string{"x": "[[2]]", "y": "[[8]]"} {
		write(formats[0].index(), fmt.Appendf(nil, `{"weight_map":{"a":"%s.safetensors"}}`, name))
		d, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(rows(t, d.Tensors["a"])); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		hash, err := d.Hash()
		if err != nil || len(hash) != 64 {
			t.Error(hash, err)
		}
		hashes[hash] = true
		d.Close()
	}
	if len(hashes) != 2 {
		t.Error("different weights have one hash")
	}
	write("x.safetensors", file(`{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"b":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]}}`, 0, 0))
	write(formats[0].index(), []byte(`{"weight_map":{"a":"x.safetensors","b":"y.safetensors"}}`))
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), `tensor "b" is not in y.safetensors`) {
		t.Error(err)
	}
	write("model.safetensors", one(0x3f)) // one file goes before an index
	d, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if got := fmt.Sprint(rows(t, d.Tensors["a"])); got != "[[0.5]]" {
		t.Error(got)
	}
}

// A directory's safetensors go before its pytorch_model.bin, which may have shards too.
func TestFormats(t *testing.T) {
	dir := t.TempDir()
	copied := func(from, to string) {
		b, err := os.ReadFile(filepath.Join("../torchfile/testdata", from))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, to), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tensors := func() int {
		t.Helper()
		d, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		return len(d.Tensors)
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), dir+": no model.safetensors, no pytorch_model.bin and no index of either") {
		t.Error(err)
	}
	copied("zip.bin", "a.bin")
	copied("old.bin", "b.bin")
	if err := os.WriteFile(filepath.Join(dir, "pytorch_model.bin.index.json"), []byte(`{"weight_map":{"cls.bias":"a.bin","cls.none":"b.bin"}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if n := tensors(); n != 2 {
		t.Errorf("%d tensors in the index, want 2", n)
	}
	copied("old.bin", "pytorch_model.bin")
	if n := tensors(); n != 45 {
		t.Errorf("%d tensors in pytorch_model.bin, want 45", n)
	}
	one := file(`{"a":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]}}`, 0, 0x40)
	if err := os.WriteFile(filepath.Join(dir, "model.safetensors"), one, 0o644); err != nil {
		t.Fatal(err)
	}
	if n := tensors(); n != 1 {
		t.Errorf("%d tensors in model.safetensors, want 1", n)
	}
}
