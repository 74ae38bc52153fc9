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
		if err := os.WriteFile(filepath.Join(dir, "model.safetensors"), content, 0o644); err != nil {
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

// A missing or malformed weights file is an error that names it. The hash covers the whole file.
func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "model.safetensors")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); err == nil || err.Error() != path+": not a regular file" {
		t.Error(err)
	}
	if _, err := Open(path + "/x\x00"); err == nil || !strings.Contains(err.Error(), "invalid") {
		t.Error(err)
	}
	os.Remove(path)
	if err := os.WriteFile(path, []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); err == nil || err.Error() != path+": not a valid safetensors file: 3 bytes, expected at least 8" {
		t.Error(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if hash, err := (&File{File: f}).Hash(); err != nil || hash != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
		t.Error(hash, err)
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
