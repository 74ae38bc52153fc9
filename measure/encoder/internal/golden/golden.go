// Package golden finds the reference data that tests compare with. They are the
// work of others and not part of crosstalk: without them the tests are skipped.
package golden

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Dir returns a folder of the reference data: the one of that name below
// $CROSSTALK_SHARED/data, or below shared/data beside the project.
func Dir(t testing.TB, name string) string {
	t.Helper()
	if root := os.Getenv("CROSSTALK_SHARED"); root != "" {
		if dir := filepath.Join(root, "data", name); exists(dir) {
			return dir
		}
	}
	up, err := os.Getwd()
	for err == nil {
		if dir := filepath.Join(up, "shared", "data", name); exists(dir) {
			return dir
		}
		parent := filepath.Dir(up)
		if parent == up {
			break
		}
		up = parent
	}
	t.Skipf("no reference data: set CROSSTALK_SHARED to the folder that holds data/%s", name)
	return ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Lines decodes a file of JSON lines.
func Lines[T any](t testing.TB, path string) []T {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []T
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<26)
	for s.Scan() {
		var v T
		if err := json.Unmarshal(s.Bytes(), &v); err != nil {
			t.Fatalf("%s:%d: %v", path, len(all)+1, err)
		}
		all = append(all, v)
	}
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
	return all
}

// JSON decodes a file.
func JSON[T any](t testing.TB, path string) T {
	t.Helper()
	var v T
	b, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(b, &v)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Matrix reads a two-dimensional float32 array in NumPy's format, version 1.
func Matrix(t testing.TB, path string) (values []float32, columns int) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := 10 + int(binary.LittleEndian.Uint16(b[8:]))
	header := string(b[10:n])
	var rows int
	shape := header[strings.Index(header, "("):]
	if _, err := fmt.Sscanf(shape, "(%d, %d)", &rows, &columns); err != nil || !strings.Contains(header, "'<f4'") || !strings.Contains(header, "'fortran_order': False") {
		t.Fatalf("%s: header %q", path, header)
	}
	for b = b[n:]; len(b) > 0; b = b[4:] {
		values = append(values, math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	if len(values) != rows*columns {
		t.Fatalf("%s: %d values, expected %d x %d", path, len(values), rows, columns)
	}
	return values, columns
}
