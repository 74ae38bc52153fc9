package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"crosstalk/internal/plainfile"

	"github.com/gofrs/flock"
	"github.com/ncruces/go-sqlite3"
)

// Name is the name of the journal in a run's directory.
const Name = "answers.db"

// ErrGone reports that the journal's file was deleted, moved or replaced while it was open for writing.
var ErrGone = errors.New("was deleted or replaced during the run")

// The files beside a journal: SQLite's log with its index, the journal of older versions of SQLite, and the lock.
var beside = []string{"-wal", "-shm", "-journal", ".lock"}

// Open opens the journal at path for writing and creates it if need be. ErrLocked means that another process has it
// open.
func Open(path string) (*Journal, error) {
	if err := checkFiles(path); err != nil {
		return nil, err
	}
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	switch locked, err := lock.TryLock(); {
	case err != nil:
		return nil, fmt.Errorf("%s: cannot be written: check the directory's permissions or use another --out: %w", path, err)
	case !locked:
		return nil, errors.Join(fmt.Errorf("%s: %w: wait for it to end, or use another --out", path, ErrLocked), lock.Close())
	}
	j := &Journal{path: path, lock: lock, puts: make(chan put, 256), closing: make(chan struct{}),
		stopped: make(chan struct{})}
	if err := j.open(j.openWriter, func() error { return j.openReader("") }, func() error {
		for _, suffix := range watched {
			info, err := os.Lstat(path + suffix)
			if err != nil {
				return err
			}
			j.files = append(j.files, info)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	go j.write()
	return j, nil
}

// open runs the steps that open the journal, and closes it after an error.
func (j *Journal) open(steps ...func() error) error {
	steps = append(steps, func() error { return checkFiles(j.path) }) // again, now that the files are open
	for _, step := range steps {
		if err := guard(step); err != nil {
			return errors.Join(j.wrap(err), j.close())
		}
	}
	return nil
}

// OpenReader opens an existing journal for reading only.
func OpenReader(path string) (*Journal, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	if err := checkFiles(path); err != nil {
		return nil, err
	}
	j := &Journal{path: path}
	err := j.open(func() error { return makeBeside(path) }, func() error {
		err := j.openReader("")
		if (errors.Is(err, sqlite3.READONLY) || errors.Is(err, sqlite3.CANTOPEN)) && !hasLog(path) {
			// Where nothing can be written, readers cannot share an index of the log; after a run has ended, the log is empty.
			j.close()
			j.immutable = true
			err = j.openReader("?immutable=1")
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return j, nil
}

func hasLog(path string) bool {
	info, err := os.Stat(path + "-wal")
	return !errors.Is(err, fs.ErrNotExist) && (err != nil || info.Size() > 0)
}

// guard turns a panic of SQLite, which panics only when it lacks memory, into an error.
func guard(use func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("SQLite gave up: %v", p)
		}
	}()
	return use()
}

const checkpoints = "PRAGMA wal_autocheckpoint = 8192"

// patience is how long writer and reader wait for each other, for instance while one recovers the file after a kill.
const patience = 10 * time.Second

func connect(path, query string, flags sqlite3.OpenFlag) (*sqlite3.Conn, error) {
	path, err := resolve(path)
	if err != nil {
		return nil, err
	}
	if flags&sqlite3.OPEN_CREATE != 0 {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err == nil {
			err = f.Close()
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		query = "?modeof=" + strings.ReplaceAll(url.QueryEscape(path), "+", "%20") // the log gets the file's permissions
	}
	flags |= sqlite3.OPEN_NOFOLLOW
	name := path
	if query != "" {
		name = "file:" + (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath() + query
		flags |= sqlite3.OPEN_URI
	}
	conn, err := sqlite3.OpenFlags(name, flags)
	if err != nil {
		return nil, err
	}
	// Do not trust what a file from elsewhere defines.
	_, err = conn.Config(sqlite3.DBCONFIG_DEFENSIVE, true)
	return conn, errors.Join(err, conn.BusyTimeout(patience), conn.Exec("PRAGMA trusted_schema = OFF; PRAGMA "+
		"cell_size_check = ON"))
}

// within runs use and interrupts conn if it takes longer than for any file not made to block it.
func within(conn *sqlite3.Conn, use func() error) error {
	ctx, cancel := context.WithTimeout(context.Background(), 3*patience)
	defer cancel()
	defer conn.SetInterrupt(conn.SetInterrupt(ctx))
	return use()
}

func (j *Journal) openWriter() (err error) {
	if j.writer, err = connect(j.path, "", sqlite3.OPEN_READWRITE|sqlite3.OPEN_CREATE); err != nil {
		return err
	}
	err = within(j.writer, func() error {
		there, err := admit(j.writer) // checked before any change
		if err != nil {
			return err
		}
		// FULL: a commit survives a power cut, not only kill -9. Commits are grouped, so one fsync covers many answers. The
		// log is folded into the file every 32 MiB: among millions of answers, each one changes a different page of the
		// index.
		err = j.writer.Exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; " + checkpoints)
		if err == nil && !there {
			err = j.writer.Exec(fmt.Sprintf("BEGIN IMMEDIATE; %s; PRAGMA user_version = %d; COMMIT", schema, version))
		}
		return err
	})
	if err != nil {
		return err
	}
	j.counts.changed = sums{}
	return prepare(j.writer, statement{&j.old, known}, statement{&j.counts.add, counting},
		statement{&j.insert, insertion + replacing})
}

type statement struct {
	to  **sqlite3.Stmt
	sql string
}

func prepare(conn *sqlite3.Conn, list ...statement) (err error) {
	for _, s := range list {
		if *s.to, _, err = conn.Prepare(s.sql); err != nil {
			return err
		}
	}
	return nil
}

func set(stmt *sqlite3.Stmt, values ...any) error {
	var errs []error
	for i, v := range values {
		switch v := v.(type) {
		case int64:
			errs = append(errs, stmt.BindInt64(i+1, v))
		case string:
			errs = append(errs, stmt.BindText(i+1, v))
		case []byte:
			errs = append(errs, stmt.BindBlob(i+1, v))
		}
	}
	return errors.Join(errs...)
}

func run(stmt *sqlite3.Stmt, values ...any) error {
	if err := set(stmt, values...); err != nil {
		return err
	}
	return stmt.Exec()
}

func (j *Journal) openReader(query string) (err error) {
	if j.reader, err = connect(j.path, query, sqlite3.OPEN_READONLY); err != nil {
		return err
	}
	return within(j.reader, func() error {
		there, err := admit(j.reader)
		if err != nil {
			return err
		}
		if !there {
			return errors.New("has no answers yet: run the command that made it again")
		}
		return prepare(j.reader, statement{&j.get, selection + "WHERE key = ?"})
	})
}

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
// permissions. SQLite would make them the process's, and files that root created by looking at a run would keep its
// owner from resuming it. Where nothing can be written, readers do without them.
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
			continue // it exists, or cannot be made
		}
		f.Chmod(info.Mode().Perm()) // some file systems have neither permissions nor owners
		giveTo(f, info)
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

// isInLog reports whether an SQLite file's header declares that changes are in a log; otherwise a log makes it look so.
func isInLog(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	const version = 18 // of the format for writers; the one for readers follows
	var header [version + 2]byte
	_, err = io.ReadFull(f, header[:])
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return false, nil
	}
	return header[version] == 2 && header[version+1] == 2, err
}

// resolve follows the links in a path's directory, which are the user's; the file itself is opened without following.
func resolve(path string) (string, error) {
	path, err := filepath.Abs(path) // SQLite reads some relative ones as URIs
	if err != nil {
		return "", err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	return filepath.Join(dir, filepath.Base(path)), err
}

// watched are suffixes of the files that must not be replaced while a writer has them open.
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
	case errors.As(err, new(*DamageError)), errors.As(err, new(*MissingError)), errors.Is(err, ErrGone),
		errors.As(err, new(*fs.PathError)) && j.lock == nil:
		return err // os errors name the file
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

// full reports whether the disk is full. The driver does not always distinguish that from other errors.
func (j *Journal) full() bool {
	f, err := os.CreateTemp(filepath.Dir(j.path), filepath.Base(j.path)+".full-*")
	if err == nil {
		defer os.Remove(f.Name())
		_, err = f.Write(make([]byte, 64<<10))
		err = errors.Join(err, f.Close())
	}
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
