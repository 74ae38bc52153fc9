package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// only fails unless the directory has this one file, with this content.
func only(t *testing.T, path, content string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 {
		t.Errorf("%d files, want 1: %v", len(entries), entries)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != content {
		t.Errorf("%q, %v; want %q", got, err, content)
	}
}

func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.json")
	for _, content := range []string{"a long first text", "short", ""} {
		if err := WriteBytes(path, []byte(content)); err != nil {
			t.Fatal(err)
		}
		only(t, path, content)
	}
}

// A file that is there is not replaced.
func TestWriteNew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.json")
	if err := WriteNew(path, []byte("first")); err != nil {
		t.Fatal(err)
	}
	if err := WriteNew(path, []byte("second")); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	only(t, path, "first")
	if err := WriteNew(filepath.Join(path, "b"), nil); err == nil || errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
}

// Until it is whole, the new content is in another file of the same directory.
func TestOldFileWhileWriting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.json")
	if err := WriteBytes(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	err := Write(path, func(w io.Writer) error {
		fmt.Fprint(w, "new")
		if got, err := os.ReadFile(path); string(got) != "old" {
			t.Errorf("%q, %v while writing", got, err)
		}
		if parts, _ := filepath.Glob(path + ".*" + Ending); len(parts) != 1 {
			t.Errorf("parts: %v", parts)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	only(t, path, "new")
}

func TestFailures(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.json")
	if err := WriteBytes(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	full := errors.New("full")
	half := func(end func()) func(io.Writer) error {
		return func(w io.Writer) error {
			fmt.Fprint(w, "half")
			end()
			return full
		}
	}
	if err := Write(path, half(func() {})); !errors.Is(err, full) {
		t.Error(err)
	}
	only(t, path, "old")
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic is gone")
			}
		}()
		Write(path, half(func() { panic("broken") }))
	}()
	only(t, path, "old")
	// A file that cannot be put on the disk does not get the name.
	closed := func(w io.Writer) error { return w.(*os.File).Close() }
	if err := Write(path, closed); !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
	only(t, path, "old")
	if err := WriteBytes(filepath.Join(path, "b"), nil); err == nil {
		t.Error("a file in a file")
	}
	if err := WriteBytes(filepath.Dir(path), []byte("x")); err == nil {
		t.Error("a directory was replaced")
	}
	if parts, _ := filepath.Glob(filepath.Dir(path) + ".*"); len(parts) > 0 {
		t.Errorf("left: %v", parts)
	}
}

// Of many writers at once, one is last, and its file is whole.
func TestConcurrentWrites(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.json")
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			if err := WriteBytes(path, []byte(strings.Repeat(string(rune('a'+i)), 1<<16))); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	got, err := os.ReadFile(path)
	if err != nil || len(got) != 1<<16 {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
	only(t, path, strings.Repeat(string(got[:1]), 1<<16))
}

func TestPermissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such permissions")
	}
	dir := t.TempDir()
	usual, path := filepath.Join(dir, "usual"), filepath.Join(dir, "a.json")
	f, err := os.Create(usual)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := WriteBytes(path, nil); err != nil {
		t.Fatal(err)
	}
	want, _ := os.Stat(usual)
	if got, err := os.Stat(path); err != nil || got.Mode() != want.Mode() {
		t.Errorf("%v, %v; want %v", got.Mode(), err, want.Mode())
	}
	if err := WriteBytesPrivate(path, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := os.Stat(path); err != nil || got.Mode() != 0o600 {
		t.Errorf("private: %v, %v", got.Mode(), err)
	}
}

// A link is replaced, and what it leads to stays as it was.
func TestLink(t *testing.T) {
	dir := t.TempDir()
	target, path := filepath.Join(dir, "target"), filepath.Join(dir, "a.json")
	if err := errors.Join(os.WriteFile(target, []byte("precious"), 0o600), os.Symlink(target, path)); err != nil {
		t.Skip(err)
	}
	if err := WriteBytes(path, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(target); err != nil || string(got) != "precious" {
		t.Errorf("the target: %q, %v", got, err)
	}
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		t.Errorf("the link: %v, %v", info.Mode(), err)
	}
}

// A directory may let its files be replaced and not be listed.
func TestUnreadableDirectory(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o300); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o700)
	path := filepath.Join(dir, "a.json")
	if err := WriteBytes(path, []byte("new")); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "new" {
		t.Errorf("%q, %v", got, err)
	}
}
