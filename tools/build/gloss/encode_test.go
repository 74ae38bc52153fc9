package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"crosstalk/internal/gloss/vectorfile"
)

const sample = "../../../internal/gloss/vectorfile/testdata/sample.bin"

// What is read of a file is written as the same bytes: the embedded one, and one with edges.
func TestEncode(t *testing.T) {
	for _, path := range []string{"../../" + command.Out, sample} {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := vectorfile.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := encode(f); err != nil || !bytes.Equal(again, data) {
			t.Errorf("%s: %d bytes of %d, %v", path, len(again), len(data), err)
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	for want, change := range map[string]func(*vectorfile.File){
		"does not come after": func(f *vectorfile.File) { f.Lemmas[0] = "zebra" },
		"is longer than":      func(f *vectorfile.File) { f.Lemmas[4] = strings.Repeat("x", 128) },
		"parts of speech":     func(f *vectorfile.File) { f.POS = f.POS[1:] },
		"bytes of codes":      func(f *vectorfile.File) { f.Codes = f.Codes[1:] },
	} {
		data, err := os.ReadFile(sample)
		if err != nil {
			t.Fatal(err)
		}
		f, err := vectorfile.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		change(f)
		if _, err := encode(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, expected %q", err, want)
		}
	}
}
