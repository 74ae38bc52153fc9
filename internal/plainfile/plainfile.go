// Package plainfile opens files in a directory that somebody else may have prepared: regular files only. A link is not
// followed, and a FIFO, a device or a directory in place of a file is an error at once.
package plainfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// ErrNotPlain reports that a name in a directory is not a regular file.
var ErrNotPlain = errors.New("expected a regular file")

// Open opens the regular file at path for reading. Links on the way to its directory, which the user named, are
// followed; the file itself is opened inside the directory (os.Root), and opening never blocks. The error is
// fs.ErrNotExist if there is no file, syscall.ENOTDIR if a parent is no directory, ErrNotPlain if the name is a link,
// a FIFO or the like.
func Open(path string) (*os.File, error) { return open(path, os.O_RDONLY) }

// Append opens a file like Open, for reading and appending. It creates a missing file, readable by its owner only.
func Append(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return open(path, os.O_RDWR|os.O_APPEND)
	}
	return f, err
}

func open(path string, flags int) (*os.File, error) {
	dir, name := filepath.Dir(path), filepath.Base(path)
	// Opening a FIFO as a directory would wait for its writer.
	if info, err := os.Stat(dir); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.ENOTDIR}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if runtime.GOOS != "windows" {
		flags |= syscall.O_NONBLOCK // opening a FIFO returns at once
	}
	for range 10 {
		before, err := root.Lstat(name)
		if err != nil {
			return nil, at(path, err)
		}
		if err := refuse(path, before); err != nil {
			return nil, err
		}
		f, err := root.OpenFile(name, flags, 0)
		if err != nil {
			return nil, at(path, err)
		}
		after, err := f.Stat()
		if err == nil && os.SameFile(before, after) {
			return f, nil
		}
		if err := errors.Join(err, f.Close()); err != nil { // another file took its place, perhaps a link
			return nil, err
		}
	}
	return nil, fmt.Errorf("%s: is replaced all the time", path)
}

// Read returns the content of the regular file at path. A file of more than most bytes is an error, as are those of
// Open.
func Read(path string, most int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	tooLarge := fmt.Errorf("%s: is larger than %d MiB", path, most>>20)
	if info.Size() > most {
		return nil, tooLarge
	}
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most { // it grew meanwhile
		err = tooLarge
	}
	return text, err
}

// Check returns an error if path is not a regular file. A missing file is fine: it can be created.
func Check(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return refuse(path, info)
}

func refuse(path string, info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	return fmt.Errorf("%s: is %s; %w: remove it", path, Kind(info.Mode()), ErrNotPlain)
}

// Kind names the kind of a file that is not regular: "a directory", "a named pipe".
func Kind(m fs.FileMode) string {
	switch {
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	case m.IsDir():
		return "a directory"
	case m&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "a special file"
}

// at puts the whole path into an error of a root.
func at(path string, err error) error {
	var e *fs.PathError
	if errors.As(err, &e) {
		return &fs.PathError{Op: "open", Path: path, Err: e.Err} // not the "statat" of os.Root
	}
	return err
}
