// Package golden opens the reference data of others that tests compare with.
// The data is not part of the project: it lies in ../shared beside the
// project's root, or where the variable CROSSTALK_SHARED points, and a test
// that needs it is skipped where it is absent.
package golden

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Open opens a file of the reference data by its path below shared, such as
// "data/lcb/words", and unpacks it if its name ends in ".gz". It skips the
// test if the data is absent and closes the file when the test ends.
func Open(t testing.TB, path string) io.Reader {
	t.Helper()
	root := shared(t)
	if root == "" {
		t.Skip("no reference data: there is no ../shared, and CROSSTALK_SHARED is not set")
	}
	f, err := os.Open(filepath.Join(root, filepath.FromSlash(path)))
	if err != nil {
		t.Skipf("no reference data: %v", err)
	}
	t.Cleanup(func() { f.Close() })
	if !strings.HasSuffix(path, ".gz") {
		return bufio.NewReader(f)
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return z
}

// Lines decodes a file of JSON Lines into a slice.
func Lines[T any](t testing.TB, path string) []T {
	t.Helper()
	var all []T
	for d := json.NewDecoder(Open(t, path)); ; {
		var v T
		switch err := d.Decode(&v); err {
		case nil:
			all = append(all, v)
		case io.EOF:
			return all
		default:
			t.Fatalf("%s: record %d: %v", path, len(all)+1, err)
		}
	}
}

// shared returns the folder of the reference data, "" if there is none.
func shared(t testing.TB) string {
	if dir := os.Getenv("CROSSTALK_SHARED"); dir != "" {
		return dir
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if candidate := filepath.Join(dir, "shared"); isDir(filepath.Join(candidate, "data")) {
			return candidate
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
