// Package atomicfile replaces files in one step: a reader sees the old file or
// the new one, never half of it, also after a crash.
package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// Ending is the suffix of a file that is being written: FILE.RANDOM.part, beside FILE. If no process is writing FILE,
// a killed process left it.
const Ending = ".part"

// File is a replacement that is being written. Commit or Discard ends it.
type File struct {
	*os.File
	path string
}

// Create starts replacing or creating the file at path. The file gets the permissions of any new file. Several
// processes may write the same file at once: the last one to commit wins.
func Create(path string) (*File, error) { return create(path, 0o666) }

// CreatePrivate is like Create, for a file that only its owner may read.
func CreatePrivate(path string) (*File, error) { return create(path, 0o600) }

// Commit puts the file in its place, once its content is on the disk.
func (f *File) Commit() error {
	err := Rename(f.File, f.path)
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// Discard removes the new file and leaves the old one. After Commit it does nothing.
func (f *File) Discard() {
	if f.Close() == nil {
		os.Remove(f.Name())
	}
}

// Write replaces or creates the file at path with the output of write. After an error, the file is unchanged.
func Write(path string, write func(io.Writer) error) error { return writeFile(path, 0o666, write) }

// WritePrivate is like Write, for a file that only its owner may read.
func WritePrivate(path string, write func(io.Writer) error) error {
	return writeFile(path, 0o600, write)
}

func writeFile(path string, mode fs.FileMode, write func(io.Writer) error) error {
	f, err := create(path, mode)
	if err != nil {
		return err
	}
	defer f.Discard() // write may panic
	if err := write(f.File); err != nil {
		return err
	}
	return f.Commit()
}

// WriteBytes replaces the file at path with b.
func WriteBytes(path string, b []byte) error { return Write(path, content(b)) }

// WriteBytesPrivate is like WriteBytes, for a file that only its owner may read.
func WriteBytesPrivate(path string, b []byte) error { return WritePrivate(path, content(b)) }

// WriteNew creates the file at path with content b. An existing file stays, and the error is fs.ErrExist.
func WriteNew(path string, b []byte) error {
	f, err := Create(path)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(b)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	err = os.Link(f.Name(), path)
	if err != nil && !errors.Is(err, fs.ErrExist) { // a file system without links
		if _, err := os.Lstat(path); err == nil {
			return &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
		}
		err = os.Rename(f.Name(), path)
	}
	return errors.Join(err, syncDir(filepath.Dir(path)))
}

func content(b []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	}
}

// create makes a file beside path under a unique name. Unlike os.CreateTemp, it leaves the permissions to the umask.
// path itself is never opened: a link there is replaced, not followed.
func create(path string, mode fs.FileMode) (_ *File, err error) {
	f := &File{path: path}
	for range 100 {
		name := fmt.Sprintf("%s.%08x%s", path, rand.Uint32(), Ending)
		if f.File, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return f, err
}

// Rename closes a file and renames it to path, once its content is on the disk. Both names are in the same directory.
func Rename(f *os.File, path string) error {
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// syncDir flushes the entries of a directory to the disk where the system can: not on Windows, not in a directory
// that may be written but not read, and not on every file system.
func syncDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(path)
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}
