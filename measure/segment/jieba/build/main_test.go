package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"testing"
)

// TestCurrent builds the tables again, where its source is installed, and
// compares what they hold (releases of Go may compress it differently).
func TestCurrent(t *testing.T) {
	const source = "/usr/lib/python3/dist-packages/jieba"
	if _, err := os.Stat(source); err != nil {
		t.Skip("Debian's package python3-jieba is not installed")
	}
	built, err := build(source)
	if err != nil {
		t.Fatal(err)
	}
	embedded, err := os.ReadFile("../tables.bin.gz")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(unzip(t, built), unzip(t, embedded)) {
		t.Error("tables.bin.gz differs from what its source gives; run go generate")
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
