// Package shared opens the reference data that tests compare with: published answers, figures, and vectors of other
// implementations. The data is not part of the project. It is in the folder data of ../shared, beside the project, or
// of the folder that CROSSTALK_SHARED names. Without it, a test is skipped, or fails where the flag -full asks for it.
package shared

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Absent starts the message of every test, scripts included, that is skipped for lack of reference data.
const Absent = "no reference data: "

// Root returns the folder that contains the folder data, or "".
func Root() string {
	if dir := os.Getenv("CROSSTALK_SHARED"); dir != "" {
		return existing(dir)
	}
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	for ; ; dir = filepath.Dir(dir) {
		// A module may lie inside another, so the first go.mod need not be the project's.
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			if root := existing(filepath.Join(dir, "..", "shared")); root != "" {
				return root
			}
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// existing returns the absolute path of dir if it contains a folder data, else "".
func existing(dir string) string {
	if info, err := os.Stat(filepath.Join(dir, "data")); err != nil || !info.IsDir() {
		return ""
	}
	dir, _ = filepath.Abs(dir) // "" after an error
	return dir
}

// File returns the path of a file or folder that is named relative to data: "lcb/words". Without it, Missing ends the
// test.
func File(t testing.TB, name string) string {
	t.Helper()
	if root := Root(); root != "" {
		path := filepath.Join(root, "data", filepath.FromSlash(name))
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	Missing(t, "../shared/data/"+name+" does not exist (CROSSTALK_SHARED names another folder than ../shared)")
	return ""
}

// Missing ends a test for lack of reference data: it fails if the test's flag -full asks for everything, otherwise it
// is skipped.
func Missing(t testing.TB, what any) {
	t.Helper()
	end := t.Skipf
	if full := flag.Lookup("full"); full != nil && full.Value.String() == "true" {
		end = t.Fatalf
	}
	end("%s%v", Absent, what)
}

// Names returns the names of the folders and files in a folder.
func Names(t testing.TB, name string) []string {
	t.Helper()
	entries, err := os.ReadDir(File(t, name))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// Open opens a file and unpacks it if its name ends in ".gz". The file is closed when the test ends.
func Open(t testing.TB, name string) io.Reader {
	t.Helper()
	f, err := os.Open(File(t, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if !strings.HasSuffix(name, ".gz") {
		return bufio.NewReader(f)
	}
	z, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return z
}

// Lines decodes a file of JSON Lines.
func Lines[T any](t testing.TB, name string) []T {
	t.Helper()
	var all []T
	for d := json.NewDecoder(Open(t, name)); ; {
		var v T
		switch err := d.Decode(&v); err {
		case nil:
			all = append(all, v)
		case io.EOF:
			return all
		default:
			t.Fatalf("%s: record %d: %v", name, len(all)+1, err)
		}
	}
}

// JSON decodes a file of one JSON value.
func JSON[T any](t testing.TB, name string) T {
	t.Helper()
	var v T
	if err := json.NewDecoder(Open(t, name)).Decode(&v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return v
}

// Matrix reads a two-dimensional float32 array in NumPy's format, version 1, row-major.
func Matrix(t testing.TB, name string) (values []float32, columns int) {
	t.Helper()
	b, err := io.ReadAll(Open(t, name))
	if err != nil {
		t.Fatal(err)
	}
	n := 10 + int(binary.LittleEndian.Uint16(b[8:]))
	header := string(b[10:n])
	var rows int
	_, err = fmt.Sscanf(header[strings.Index(header, "("):], "(%d, %d)", &rows, &columns)
	if err != nil || !strings.Contains(header, "'<f4'") || !strings.Contains(header, "'fortran_order': False") {
		t.Fatalf("%s: header %q", name, header)
	}
	for b = b[n:]; len(b) > 0; b = b[4:] {
		values = append(values, math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	if len(values) != rows*columns {
		t.Fatalf("%s: %d values, expected %d x %d", name, len(values), rows, columns)
	}
	return values, columns
}
