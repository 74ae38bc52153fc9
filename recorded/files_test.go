package recorded

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A folder stands for the JSON Lines in it and below; a file for itself, even if it is missing.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b.jsonl", "a/x.ndjson", "a/z.jsonl.gz", "a/notes.md", "empty/none.txt"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Files([]string{"missing.csv", dir, filepath.Join(dir, "a", "notes.md")})
	want := []string{"missing.csv", filepath.Join(dir, "a", "x.ndjson"), filepath.Join(dir, "a", "z.jsonl.gz"),
		filepath.Join(dir, "b.jsonl"), filepath.Join(dir, "a", "notes.md")}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := Files([]string{filepath.Join(dir, "empty")}); err == nil || !strings.Contains(err.Error(), "has no files of JSON Lines") {
		t.Error(err)
	}
}
