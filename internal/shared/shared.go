// Package shared opens the reference data that tests compare with: published answers, figures, and vectors of other
// implementations. The data is not part of the project. It lies in the folder data of ../shared, beside the project, or
// of the folder that CROSSTALK_SHARED names. Without it a test is skipped, and the program skipped, below this package,
// counts how many were.
package shared

import (
	"os"
	"path/filepath"
	"testing"
)

// Absent starts the message of every test that is skipped for want of reference data, scripts included.
const Absent = "no reference data: "

// Root returns the folder that has the folder data, "" if there is none.
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

// existing returns the absolute path of a folder that has a folder data, else "".
func existing(dir string) string {
	info, err := os.Stat(filepath.Join(dir, "data"))
	if err != nil || !info.IsDir() {
		return ""
	}
	dir, err = filepath.Abs(dir)
	if err != nil {
		return ""
	}
	return dir
}

// File returns the path of a file or folder of the reference data by its path below data, such as "lcb/words". Without
// it the test is skipped.
func File(t testing.TB, name string) string {
	t.Helper()
	if root := Root(); root != "" {
		path := filepath.Join(root, "data", filepath.FromSlash(name))
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	t.Skipf("%s../shared/data/%s does not exist (CROSSTALK_SHARED names another folder than ../shared)", Absent, name)
	return ""
}
