package suite

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"crosstalk/internal/testing/golden"
)

// The compiled suites are those of the embedded files, to the last field.
func TestCompiled(t *testing.T) {
	size := 0
	for _, name := range names() {
		text, err := data.ReadFile("data/" + name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := Parse(name+".yaml", text)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("compiled", name+compiledExt)
		got, ok := compiled(name, text)
		current := ok && reflect.DeepEqual(got, parsed)
		if *golden.Update && !current {
			content, err := compile(parsed, text)
			if err == nil {
				err = os.WriteFile(file, content, 0o666)
			}
			if err != nil {
				t.Fatal(err)
			}
			continue
		}
		if !current {
			t.Errorf("%s is not compiled from the file as it is: run go test ./suite -run TestCompiled -update", name)
			continue
		}
		content, err := data.ReadFile("compiled/" + name + compiledExt)
		if err != nil {
			t.Fatal(err)
		}
		size += len(text) + len(content)
		if _, ok := compiled(name, append(text, '#')); ok {
			t.Errorf("%s: a compiled suite is used for another text", name)
		}
	}
	if size > 4<<20 {
		t.Errorf("the embedded suites have %d bytes; expected at most 4 MiB", size)
	}
	t.Logf("%d suites, %d bytes", len(names()), size)
	if *golden.Update {
		files, _ := filepath.Glob("compiled/*")
		for _, file := range files {
			if _, err := os.Stat(filepath.Join("data", filepath.Base(strings.TrimSuffix(file, compiledExt))+".yaml")); err != nil {
				os.Remove(file)
			}
		}
	}
}

// compile returns the compiled form of a suite that was parsed from text.
func compile(s *Suite, text []byte) ([]byte, error) {
	var content bytes.Buffer
	if err := gob.NewEncoder(&content).Encode(s); err != nil {
		return nil, err
	}
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	return encoder.EncodeAll(content.Bytes(), sum[:]), nil
}
