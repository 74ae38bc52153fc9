// Package journal is the SQLite file in a run's directory that keeps every answer the run received. An answer is
// durable before anything uses it: Put returns after its commit was synchronised to the disk.
package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"crosstalk"

	"github.com/gofrs/flock"
	"github.com/ncruces/go-sqlite3"
)

// ErrLocked says that another process writes to the journal.
var ErrLocked = errors.New("another crosstalk is writing to this run")

var (
	errClosed  = errors.New("the journal is closed")
	errReading = errors.New("was opened for reading only")
)

// Journal is one journal file. It is safe for concurrent use. One process at a time can write; any number can read
// meanwhile. Only its owner may read a file that was made by Open.
type Journal struct {
	path string
	lock *flock.Flock // nil for a reader

	reading   sync.Mutex
	reader    *sqlite3.Conn
	immutable bool // where nothing can be written
	get       *sqlite3.Stmt

	puts    chan put
	writer  *sqlite3.Conn
	old     *sqlite3.Stmt // what is known of a key
	insert  *sqlite3.Stmt
	counts  counts
	files   []fs.FileInfo // of watched, when they were opened
	broken  error         // after which nothing more is written
	closing chan struct{}
	once    sync.Once
	stopped chan struct{} // closed when the writing goroutine has ended
}

type put struct {
	record Record
	change func() error // instead of the record
	done   chan error
}

// Open opens the journal at path for writing and creates it if need be; ErrLocked says that another has it.
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
	steps = append(steps, func() error { return checkFiles(j.path) }) // again, now that they are open
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
			// Where nothing can be written readers share no index of the log; one of a run that ended is empty.
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

// guard turns a panic of SQLite's, which has none but for a lack of memory, into an error.
func guard(use func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("SQLite gave up: %v", p)
		}
	}()
	return use()
}

const checkpoints = "PRAGMA wal_autocheckpoint = 8192"

// patience is how long writer and reader wait for each other, as while one recovers the file after a kill.
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
		query = "?modeof=" + strings.ReplaceAll(url.QueryEscape(path), "+", "%20") // the log's permissions are the file's
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
	// What a file from elsewhere defines is not to be trusted.
	_, err = conn.Config(sqlite3.DBCONFIG_DEFENSIVE, true)
	return conn, errors.Join(err, conn.BusyTimeout(patience), conn.Exec("PRAGMA trusted_schema = OFF; PRAGMA "+
		"cell_size_check = ON"))
}

// within runs use and interrupts conn when it takes longer than any file takes that is not made to.
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
		there, err := admit(j.writer) // before anything is changed
		if err != nil {
			return err
		}
		// FULL: a commit survives a power cut, not only kill -9. Commits are grouped, so it costs one fsync for many
		// answers. The log is folded into the file every 32 MiB: of millions of answers, each comes to another page of
		// the index.
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

// set sets the parameters of a statement, in their order: numbers, texts or bytes.
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

var selection = "SELECT " + columns + ", rowid FROM asks "

// Get returns the answer to the ask with this key.
func (j *Journal) Get(key crosstalk.Key) (answer crosstalk.Answer, found bool, err error) {
	record, found, err := j.Record(key)
	return record.Answer, found, err
}

// Record returns the ask with this key: the request and its answer.
func (j *Journal) Record(key crosstalk.Key) (record Record, found bool, err error) {
	j.reading.Lock()
	defer j.reading.Unlock()
	if j.get == nil {
		return record, false, j.wrap(errClosed)
	}
	defer j.get.Reset()
	if err := j.get.BindBlob(1, key[:]); err != nil {
		return record, false, j.wrap(err)
	}
	if !j.get.Step() {
		return record, false, j.wrap(j.get.Err())
	}
	record, err = j.scan(j.get)
	return record, err == nil, j.wrap(err)
}

// Known is Record for those who can do without: an ask that cannot be read is not known, and a nil journal knows none.
func (j *Journal) Known(key crosstalk.Key) (record Record, known bool) {
	if j == nil {
		return Record{}, false
	}
	record, found, err := j.Record(key)
	return record, found && err == nil
}

// Put writes an answer and returns when it is on the disk. An answer is never overwritten, unless it was a failed one.
func (j *Journal) Put(record Record) error {
	return j.hand(put{record: record})
}

// hand hands p to the writing goroutine and returns when it is on the disk.
func (j *Journal) hand(p put) error {
	if j.lock == nil {
		return j.wrap(errReading)
	}
	p.done = make(chan error, 1)
	select {
	case j.puts <- p:
	case <-j.stopped:
		return j.wrap(errClosed)
	}
	select {
	case err := <-p.done:
		return j.wrap(err)
	case <-j.stopped:
	}
	select { // both may have happened
	case err := <-p.done:
		return j.wrap(err)
	default:
		return j.wrap(errClosed)
	}
}

// All yields every record in the order of arrival. The loop must not call the journal.
func (j *Journal) All() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		last := int64(0) // SQLite counts from 1
		stop := errors.New("stop")
		err := j.query(selection+"ORDER BY rowid", func(s *sqlite3.Stmt) error {
			record, err := j.scan(s)
			row := s.ColumnInt64(checksumColumn + 1)
			if row <= last { // the file leads in a circle
				err = &corruptError{j.path, row, record.Answer.Key, errOrder}
			}
			last = row
			if err == nil && !yield(record, nil) {
				return stop
			}
			return err
		})
		if err != nil && !errors.Is(err, stop) {
			yield(Record{}, err)
		}
	}
}

// Latest returns the last records that arrived, the latest first.
func (j *Journal) Latest(n int) (list []Record, err error) {
	err = j.query(fmt.Sprintf(selection+"ORDER BY rowid DESC LIMIT %d", n), func(s *sqlite3.Stmt) error {
		r, err := j.scan(s)
		list = append(list, r)
		return err
	})
	return list, err
}

// Close writes what was put before and closes the file. A Put that comes later fails.
func (j *Journal) Close() error {
	var err error
	j.once.Do(func() {
		if j.lock != nil {
			close(j.closing)
			<-j.stopped
		}
		err = j.close()
	})
	return err
}

func (j *Journal) close() error {
	j.reading.Lock()
	defer j.reading.Unlock()
	var errs []error
	for _, stmt := range []*sqlite3.Stmt{j.get, j.old, j.insert, j.counts.add} {
		stmt.Close() // its error is the last run's, which was reported
	}
	j.get = nil
	for _, conn := range []*sqlite3.Conn{j.reader, j.writer} { // the writer last: it folds the log into the file
		errs = append(errs, conn.Close())
	}
	if j.lock != nil {
		errs = append(errs, j.lock.Unlock())
	}
	return j.wrap(errors.Join(errs...))
}

// write commits whatever has gathered since the last commit, as one transaction, until Close.
func (j *Journal) write() {
	defer close(j.stopped)
	for {
		var batch []put
		select {
		case p := <-j.puts:
			batch = j.gather([]put{p})
		case <-j.closing:
			if batch = j.gather(nil); batch == nil {
				return
			}
		}
		err := j.commit(batch)
		for _, p := range batch {
			p.done <- err
		}
	}
}

// The sizes in bytes of a batch, about, and of one record, which SQLite has to have in memory several times.
const (
	batchSize = 16 << 20
	largest   = 24 << 20
)

// gather adds to batch what waits to be written.
func (j *Journal) gather(batch []put) []put {
	n := 0
	for _, p := range batch {
		n += size(p.record)
	}
	for len(batch) < cap(j.puts) && n < batchSize {
		select {
		case p := <-j.puts:
			batch = append(batch, p)
			n += size(p.record)
		default:
			return batch
		}
	}
	return batch
}

func (j *Journal) commit(batch []put) error {
	if j.broken != nil {
		return j.broken
	}
	err := guard(func() (err error) {
		txn, err := j.writer.BeginImmediate()
		if err != nil {
			return err
		}
		defer txn.End(&err)
		clear(j.counts.changed) // of a transaction that failed
		for _, p := range batch {
			store := p.change
			if store == nil {
				store = func() error { return j.store(p.record) }
			}
			if err := store(); err != nil {
				return err
			}
		}
		return j.counts.save()
	})
	if err == nil {
		// What was written to a file that is no longer there is lost.
		if err = j.moved(); err != nil {
			j.broken = err
			// The names may be another run's by now.
			j.writer.FileControl("", sqlite3.FCNTL_PERSIST_WAL, true)
			j.reader.FileControl("", sqlite3.FCNTL_PERSIST_WAL, true)
		}
	}
	return err
}

// store writes a record, unless its ask is answered. A failed ask is asked again: a later answer replaces it.
func (j *Journal) store(r Record) error {
	if n := size(r); n > largest {
		return fmt.Errorf("the answer to the ask %s has %d MB; at most %d MB can be kept", r.Answer.Key, n>>20, largest>>20)
	}
	defer j.old.Reset()
	if err := j.old.BindBlob(1, r.Answer.Key[:]); err != nil {
		return err
	}
	if j.old.Step() {
		if crosstalk.Status(j.old.ColumnText(0)) != crosstalk.Failed {
			return nil
		}
		r.Answer.Attempts += j.old.ColumnInt(1)
		j.counts.changed.add(tallied{j.old.ColumnText(2), j.old.ColumnText(0)},
			tally{1, j.old.ColumnInt64(3), j.old.ColumnInt64(4)}, -1)
	}
	row := values(r)
	j.counts.changed.row(row)
	if err := errors.Join(j.old.Err(), bind(j.insert, row)); err != nil {
		return err
	}
	return j.insert.Exec()
}
