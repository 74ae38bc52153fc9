package gloss

import (
	"os"
	"path/filepath"
	"testing"
)

// shared returns the path of a file of the reference data, which lies outside
// the tree; without it the test is skipped.
func shared(t *testing.T, name string) string {
	t.Helper()
	root := os.Getenv("CROSSTALK_SHARED")
	if root == "" {
		dir, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		for dir != filepath.Dir(dir) {
			if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
				root = filepath.Join(dir, "..", "shared")
				break
			}
			dir = filepath.Dir(dir)
		}
	}
	path := filepath.Join(root, "data", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("reference data absent: %v", err)
	}
	return path
}
