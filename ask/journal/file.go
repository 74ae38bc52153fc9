package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"crosstalk/internal/plainfile"

	"github.com/ncruces/go-sqlite3"
)

// Name is the name of the journal in a run's directory.
const Name = "answers.db"

// ErrGone says that the journal's file was deleted, moved or replaced while it was open for writing.
var ErrGone = errors.New("was deleted or replaced during the run")

// The files beside a journal: SQLite's log with its index, the journal of older versions of SQLite, and the lock.
var beside = []string{"-wal", "-shm", "-journal", ".lock"}

// checkFiles refuses a journal, or a file beside it, that is not regular: a link leads elsewhere, a pipe may hang.
func checkFiles(path string) error {
	for _, suffix := range append([]string{""}, beside...) {
		info, err := os.Lstat(path + suffix)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case !info.Mode().IsRegular():
			return fmt.Errorf("%s: is %s; expected a regular file: move it away, or use another --out", path+suffix,
				plainfile.Kind(info.Mode()))
		}
	}
	return nil
}

// makeBeside makes the files that SQLite makes beside a journal that it reads, with the journal's owner and
// permissions. SQLite would use the process's, and files that root creates by looking at a run would keep its owner
// from resuming it. Where nothing can be written, readers do without.
func makeBeside(path string) error {
	inLog, err := isInLog(path)
	if err != nil || !inLog {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		f, err := os.OpenFile(path+suffix, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			continue // it is there, or cannot be made
		}
		f.Chmod(info.Mode().Perm()) // some file systems have neither permissions nor owners
		giveTo(f, info)
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

// isInLog reports whether an SQLite file's header says that changes are in a log; else a log makes it look so.
func isInLog(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	const version = 18 // of the format for writers; that for readers follows
	var header [version + 2]byte
	_, err = io.ReadFull(f, header[:])
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return false, nil
	}
	return header[version] == 2 && header[version+1] == 2, err
}

// resolve follows the links in a path's directory, which are the user's; the file itself is opened without.
func resolve(path string) (string, error) {
	path, err := filepath.Abs(path) // SQLite takes some relative ones for URIs
	if err != nil {
		return "", err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	return filepath.Join(dir, filepath.Base(path)), err
}

// watched are what the names of the files add to the path that must stay what they were when a writer opened them.
var watched = []string{"", "-wal", ".lock"}

func (j *Journal) moved() error {
	for i, suffix := range watched {
		if is, err := os.Lstat(j.path + suffix); err != nil || !os.SameFile(j.files[i], is) {
			return fmt.Errorf("%s: %w; what was answered since then is not saved: run the same command again to ask for what "+
				"is missing", j.path+suffix, ErrGone)
		}
	}
	return nil
}

func (j *Journal) wrap(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.As(err, new(*corruptError)), errors.Is(err, ErrGone), errors.As(err, new(*fs.PathError)) && j.lock == nil:
		return err // they name the file
	case errors.Is(err, sqlite3.FULL), errors.Is(err, sqlite3.IOERR) && j.full():
		return fmt.Errorf("%s: the disk is full: free some space and run the same command again; the answers up to now are "+
			"saved: %w", j.path, err)
	case errors.Is(err, sqlite3.READONLY), errors.Is(err, sqlite3.CANTOPEN):
		if j.lock == nil {
			return fmt.Errorf("%s: cannot be read: check its permissions and its directory's: %w", j.path, err)
		}
		return fmt.Errorf("%s: cannot be written: check the directory's permissions or use another --out: %w", j.path, err)
	case errors.Is(err, sqlite3.NOTADB), errors.Is(err, sqlite3.CORRUPT):
		advice := "move it away, or use another --out"
		if j.lock == nil {
			advice = "put a copy of the file in its place, or move it away and ask again"
		}
		return fmt.Errorf("%s: is not a readable journal: %s: %w", j.path, advice, err)
	case errors.Is(err, sqlite3.INTERRUPT):
		return fmt.Errorf("%s: is not a readable journal: reading it would never end: move it away, or use another --out",
			j.path)
	}
	return fmt.Errorf("%s: %w", j.path, err)
}

// full reports whether the disk is full. The driver does not always tell that from other errors.
func (j *Journal) full() bool {
	f, err := os.CreateTemp(filepath.Dir(j.path), filepath.Base(j.path)+".full-*")
	if err == nil {
		defer os.Remove(f.Name())
		_, err = f.Write(make([]byte, 64<<10))
		err = errors.Join(err, f.Close())
	}
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
