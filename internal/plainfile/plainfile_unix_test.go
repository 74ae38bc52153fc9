//go:build unix

package plainfile

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What is no regular file is refused at once, by name and kind.
func TestNotPlain(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	err := errors.Join(os.WriteFile(in("target"), []byte("secret"), 0o600), os.Symlink("target", in("link")), os.Symlink("nowhere", in("dangling")),
		os.Symlink("/dev/zero", in("zeros")), syscall.Mkfifo(in("fifo"), 0o600), os.Mkdir(in("dir"), 0o700))
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", in("socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for name, kind := range map[string]string{"link": "a symbolic link", "dangling": "a symbolic link", "zeros": "a symbolic link", "fifo": "a named pipe",
		"dir": "a directory", "socket": "a socket"} {
		_, err := Read(in(name), 100)
		for what, err := range map[string]error{"Read": err, "Check": Check(in(name))} {
			if !errors.Is(err, ErrNotPlain) || !strings.HasPrefix(err.Error(), in(name)+": is "+kind+"; ") {
				t.Errorf("%s %s: %v", what, name, err)
			}
		}
	}
	if _, err := Read("/dev/zero", 100); !errors.Is(err, ErrNotPlain) {
		t.Errorf("a device: %v", err)
	}
	if err := errors.Join(Check(in("target")), Check(in("gone"))); err != nil {
		t.Error(err)
	}
	if _, err := Open(filepath.Join(in("fifo"), "a")); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("in a FIFO: %v", err)
	}
}
