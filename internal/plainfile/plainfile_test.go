package plainfile

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := Read(path, 4); err != nil || !bytes.Equal(got, []byte("text")) {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := Read(path, 3); err == nil || !strings.HasPrefix(err.Error(), path+": is larger than ") {
		t.Errorf("a file over the bound: %v", err)
	}
	if err := os.Truncate(path, 60<<30); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path, 16<<20); err == nil || err.Error() != path+": is larger than 16 MiB" {
		t.Errorf("a sparse file: %v", err)
	}
	if _, err := Read(filepath.Join(dir, "gone"), 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := Read(filepath.Join(dir, "gone", "a"), 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing directory: %v", err)
	}
	if _, err := Read(filepath.Join(path, "a"), 1); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("in a file: %v", err)
	}
}

// The path of the directory may be a link, of the user's making.
func TestDirectoryByLink(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skip(err)
	}
	if got, err := Read(filepath.Join(link, "a"), 4); err != nil || string(got) != "text" {
		t.Errorf("%q, %v", got, err)
	}
	t.Chdir(dir)
	if got, err := Read("a", 4); err != nil || string(got) != "text" {
		t.Errorf("%q, %v", got, err)
	}
}
