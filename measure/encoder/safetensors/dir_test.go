package safetensors

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOpen(t *testing.T) {
	hashes := map[string]bool{}
	for b, want := range map[byte]string{0x40: "[[2]]", 0x41: "[[8]]"} {
		dir := t.TempDir()
		content := file(`{"a":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]}}`, 0, b)
		if err := os.WriteFile(filepath.Join(dir, weightsFile), content, 0o644); err != nil {
			t.Fatal(err)
		}
		f, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if got := fmt.Sprint(rows(t, f.Tensors["a"])); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		hash, err := f.Hash()
		if err != nil || len(hash) != 64 {
			t.Error(hash, err)
		}
		hashes[hash] = true
	}
	if len(hashes) != 2 {
		t.Error("different weights have one hash")
	}
}

// Weights of another format are an error that says what is read.
func TestOpenWithoutSafetensors(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "pytorch_model.bin"), []byte("PK"), 0o644); err != nil {
		t.Fatal(err)
	}
	want := dir + ": no model.safetensors; other weights must be converted first"
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}
