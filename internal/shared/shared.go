// Package shared finds the reference data that tests read and the tree does
// not hold.
package shared

import (
	"os"
	"path/filepath"
	"testing"
)

// File returns the path of a file of the reference data: below data in the
// folder that CROSSTALK_SHARED names, or in one called shared beside the
// tree. Without it the test is skipped.
func File(t testing.TB, name string) string {
	t.Helper()
	root := os.Getenv("CROSSTALK_SHARED")
	if root == "" {
		root = filepath.Join(tree(t), "..", "shared")
	}
	path := filepath.Join(root, "data", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the reference data are not here: %v", err)
	}
	return path
}

// tree is the folder of go.mod.
func tree(t testing.TB) string {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
	}
	t.Fatal("there is no go.mod above the test")
	return ""
}
