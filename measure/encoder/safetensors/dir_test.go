package safetensors

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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
		write(index, fmt.Appendf(nil, `{"weight_map":{"a":"%s.safetensors"}}`, name))
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
	write(index, []byte(`{"weight_map":{"a":"x.safetensors","b":"y.safetensors"}}`))
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

// Weights of another format are an error that says what is read.
func TestOpenWithoutSafetensors(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "pytorch_model.bin"), []byte("PK"), 0o644); err != nil {
		t.Fatal(err)
	}
	want := dir + ": no model.safetensors and no model.safetensors.index.json; other weights must be converted first"
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}
