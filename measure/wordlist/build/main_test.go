package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"testing"
)

// TestCurrent builds the list again, where its source is installed, and
// compares the words (releases of Go may compress them differently).
func TestCurrent(t *testing.T) {
	const source = "/usr/share/dict/american-english"
	if _, err := os.Stat(source); err != nil {
		t.Skip("Debian's package wamerican is not installed")
	}
	built, err := build(source)
	if err != nil {
		t.Fatal(err)
	}
	embedded, err := os.ReadFile("../english.txt.gz")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(unzip(t, built), unzip(t, embedded)) {
		t.Error("english.txt.gz differs from what its source gives; run go generate")
	}
}

func unzip(t *testing.T, data []byte) []byte {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return all
}
