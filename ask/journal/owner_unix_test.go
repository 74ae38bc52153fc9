//go:build unix

package journal

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// What a reader leaves beside a journal has the journal's owner and permissions, so
// that root can look at a run that its owner resumes.
func TestReaderLeaves(t *testing.T) {
	path := newPath(t)
	write(t, path, record(1))
	owner := os.Geteuid()
	if owner == 0 {
		owner = 65534
	}
	for _, name := range []string{path, filepath.Dir(path)} {
		if err := os.Chown(name, owner, -1); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(path, 0o660); err != nil {
		t.Fatal(err)
	}
	j, err := OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, found, err := j.Get(record(1).Answer.Key); err != nil || !found {
		t.Error(found, err)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		info, err := os.Stat(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if uid := info.Sys().(*syscall.Stat_t).Uid; int(uid) != owner || info.Mode().Perm() != 0o660 {
			t.Errorf("%s is of user %d with the permissions %v, want %d and those of the journal", suffix, uid, info.Mode(), owner)
		}
	}
}
