package golden

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Dir returns a folder of the reference data by its path below shared, such as
// "data/encoder/models". It skips the test if the data is absent.
func Dir(t testing.TB, path string) string {
	t.Helper()
	dir := filepath.Join(shared(t), filepath.FromSlash(path))
	if shared(t) == "" || !isDir(dir) {
		t.Skipf("no reference data: there is no ../shared with %s, or CROSSTALK_SHARED does not lead to it", path)
	}
	return dir
}

// Names returns the names of the folders and files in a folder.
func Names(t testing.TB, path string) []string {
	t.Helper()
	entries, err := os.ReadDir(Dir(t, path))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// JSON decodes a file of one JSON value.
func JSON[T any](t testing.TB, path string) T {
	t.Helper()
	var v T
	if err := json.NewDecoder(Open(t, path)).Decode(&v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return v
}

// Matrix reads a two-dimensional float32 array in NumPy's format, version 1,
// row-major.
func Matrix(t testing.TB, path string) (values []float32, columns int) {
	t.Helper()
	b, err := io.ReadAll(Open(t, path))
	if err != nil {
		t.Fatal(err)
	}
	n := 10 + int(binary.LittleEndian.Uint16(b[8:]))
	header := string(b[10:n])
	var rows int
	_, err = fmt.Sscanf(header[strings.Index(header, "("):], "(%d, %d)", &rows, &columns)
	if err != nil || !strings.Contains(header, "'<f4'") || !strings.Contains(header, "'fortran_order': False") {
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
