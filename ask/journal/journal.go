// Package journal is the SQLite file in a run's directory that holds every
// answer the run received. An answer is durable before anything uses it: Put
// returns after the commit that holds it was synchronised to the disk.
package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"crosstalk"

	"github.com/gofrs/flock"
	"github.com/ncruces/go-sqlite3"
)

// ErrLocked says that another process writes to the journal.
var ErrLocked = errors.New("another crosstalk is writing to this run")

var errClosed = errors.New("the journal is closed")

// Record is one journalled ask.
type Record struct {
	Identity crosstalk.Identity
	Request  crosstalk.Request
	Answer   crosstalk.Answer
}

// Journal is one journal file. It is safe for concurrent use. One process at a
// time can write; any number can read meanwhile.
type Journal struct {
	path string
	lock *flock.Flock // nil for a reader

	reading sync.Mutex
	reader  *sqlite3.Conn
	get     *sqlite3.Stmt

	puts    chan put
	writer  *sqlite3.Conn
	insert  *sqlite3.Stmt
	closing chan struct{}
	once    sync.Once
	stopped chan struct{} // closed when the writing goroutine has ended
}

type put struct {
	record Record
	done   chan error
}

// Open opens the journal at path for writing and creates it if need be. It
// fails with ErrLocked if another process has it open for writing.
func Open(path string) (*Journal, error) {
	lock := flock.New(path + ".lock")
	switch locked, err := lock.TryLock(); {
	case err != nil:
		return nil, fmt.Errorf("%s: cannot be written: check the directory's permissions or use another --out: %w", path, err)
	case !locked:
		return nil, errors.Join(fmt.Errorf("%s: %w: wait for it to end, or use another --out", path, ErrLocked), lock.Close())
	}
	j := &Journal{path: path, lock: lock, puts: make(chan put, 256), closing: make(chan struct{}), stopped: make(chan struct{})}
	if err := j.openWriter(); err != nil {
		return nil, errors.Join(j.wrap(err), j.close())
	}
	if err := j.openReader(""); err != nil {
		return nil, errors.Join(j.wrap(err), j.close())
	}
	go j.write()
	return j, nil
}

// OpenReader opens an existing journal for reading only.
func OpenReader(path string) (*Journal, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	j := &Journal{path: path}
	err := j.openReader("")
	if _, log := os.Stat(path + "-wal"); (errors.Is(err, sqlite3.READONLY) || errors.Is(err, sqlite3.CANTOPEN)) && errors.Is(log, fs.ErrNotExist) {
		// Where nothing can be written there is no index of the log that
		// readers share; a run that ended has no log either.
		j.close()
		err = j.openReader("?immutable=1")
	}
	if err != nil {
		return nil, errors.Join(j.wrap(err), j.close())
	}
	return j, nil
}

// patience is how long the writer and a reader wait for each other, which they
// do while one of them recovers the file after a kill.
const patience = 10 * time.Second

func connect(path, query string, flags sqlite3.OpenFlag) (*sqlite3.Conn, error) {
	path, err := filepath.Abs(path) // SQLite takes some relative ones for URIs
	if err != nil {
		return nil, err
	}
	if query != "" {
		path = "file:" + (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath() + query
		flags |= sqlite3.OPEN_URI
	}
	conn, err := sqlite3.OpenFlags(path, flags)
	if err != nil {
		return nil, err
	}
	return conn, conn.BusyTimeout(patience)
}

func (j *Journal) openWriter() (err error) {
	if j.writer, err = connect(j.path, "", sqlite3.OPEN_READWRITE|sqlite3.OPEN_CREATE); err != nil {
		return err
	}
	// FULL: a commit survives a power cut, not only kill -9. Commits are
	// grouped, so it costs one fsync for many answers.
	if err = j.writer.Exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL"); err != nil {
		return err
	}
	if err = migrate(j.writer); err != nil {
		return err
	}
	// A failed ask is asked again when the run resumes: a later answer replaces it.
	j.insert, _, err = j.writer.Prepare(`INSERT INTO asks (key, provider, endpoint, model, request, status, text, reason, served_model,
		prompt_tokens, completion_tokens, reasoning_tokens, logprobs, raw, latency_ns, attempts, answered_at)
		VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT (key) DO UPDATE SET
		status = excluded.status, text = excluded.text, reason = excluded.reason, served_model = excluded.served_model,
		prompt_tokens = excluded.prompt_tokens, completion_tokens = excluded.completion_tokens,
		reasoning_tokens = excluded.reasoning_tokens, logprobs = excluded.logprobs, raw = excluded.raw,
		latency_ns = excluded.latency_ns, attempts = asks.attempts + excluded.attempts, answered_at = excluded.answered_at
		WHERE asks.status = 'failed'`)
	return err
}

const columns = `key, provider, endpoint, model, request, status, text, reason, served_model,
	prompt_tokens, completion_tokens, reasoning_tokens, logprobs, raw, latency_ns, attempts, answered_at`

func (j *Journal) openReader(query string) (err error) {
	if j.reader, err = connect(j.path, query, sqlite3.OPEN_READONLY); err != nil {
		return err
	}
	switch have, err := version(j.reader); {
	case err != nil:
		return err
	case have > len(migrations):
		return newerVersion(have)
	case have < len(migrations):
		return fmt.Errorf("has no answers that this crosstalk can read (journal version %d, not %d): run the command that made it again first", have, len(migrations))
	}
	j.get, _, err = j.reader.Prepare("SELECT " + columns + " FROM asks WHERE key = ?")
	return err
}

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
	record, err = scan(j.get)
	return record, err == nil, j.wrap(err)
}

// Put writes an answer and returns when it is on the disk. An answer is never
// overwritten, unless it was a failed one.
func (j *Journal) Put(record Record) error {
	if j.lock == nil {
		return j.wrap(errors.New("was opened for reading only"))
	}
	p := put{record, make(chan error, 1)}
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

// All yields every record in the order of arrival. The loop must not call the
// journal.
func (j *Journal) All() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		j.reading.Lock()
		defer j.reading.Unlock()
		if j.get == nil {
			yield(Record{}, j.wrap(errClosed))
			return
		}
		stmt, _, err := j.reader.Prepare("SELECT " + columns + " FROM asks ORDER BY rowid")
		if err != nil {
			yield(Record{}, j.wrap(err))
			return
		}
		defer stmt.Close()
		for stmt.Step() {
			record, err := scan(stmt)
			if !yield(record, j.wrap(err)) || err != nil {
				return
			}
		}
		if err := stmt.Err(); err != nil {
			yield(Record{}, j.wrap(err))
		}
	}
}

// Close writes what was put before and closes the file. A Put that comes later
// fails.
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
	for _, stmt := range []*sqlite3.Stmt{j.get, j.insert} {
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

// write commits whatever has gathered since the last commit, as one
// transaction, until Close.
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

// gather adds to batch what waits to be written.
func (j *Journal) gather(batch []put) []put {
	for len(batch) < cap(j.puts) {
		select {
		case p := <-j.puts:
			batch = append(batch, p)
		default:
			return batch
		}
	}
	return batch
}

func (j *Journal) commit(batch []put) (err error) {
	txn, err := j.writer.BeginImmediate()
	if err != nil {
		return err
	}
	defer txn.End(&err)
	for _, p := range batch {
		if err := bind(j.insert, p.record); err != nil {
			return err
		}
		if err := j.insert.Exec(); err != nil {
			return err
		}
	}
	return nil
}

func bind(s *sqlite3.Stmt, r Record) error {
	a := r.Answer
	var logprobs []byte
	if a.Logprobs != nil {
		logprobs = crosstalk.Canonical(a.Logprobs)
	}
	return errors.Join(
		s.BindBlob(1, a.Key[:]),
		s.BindText(2, r.Identity.Provider), s.BindText(3, r.Identity.Endpoint), s.BindText(4, r.Identity.Name),
		s.BindRawText(5, crosstalk.Canonical(r.Request)),
		s.BindText(6, string(a.Status)), s.BindText(7, a.Text), s.BindText(8, a.Reason), s.BindText(9, a.Model),
		s.BindInt(10, a.Usage.Prompt), s.BindInt(11, a.Usage.Completion), s.BindInt(12, a.Usage.Reasoning),
		s.BindRawText(13, logprobs), s.BindBlob(14, a.Raw),
		s.BindInt64(15, int64(a.Latency)), s.BindInt(16, a.Attempts), s.BindInt64(17, a.Time.UnixMilli()),
	)
}

func scan(s *sqlite3.Stmt) (Record, error) {
	r := Record{Identity: crosstalk.Identity{Provider: s.ColumnText(1), Endpoint: s.ColumnText(2), Name: s.ColumnText(3)}}
	if err := json.Unmarshal(s.ColumnRawText(4), &r.Request); err != nil {
		return r, fmt.Errorf("the request of a journalled answer: %w", err)
	}
	a := &r.Answer
	copy(a.Key[:], s.ColumnRawBlob(0))
	a.Status, a.Text, a.Reason, a.Model = crosstalk.Status(s.ColumnText(5)), s.ColumnText(6), s.ColumnText(7), s.ColumnText(8)
	a.Usage = crosstalk.Usage{Prompt: s.ColumnInt(9), Completion: s.ColumnInt(10), Reasoning: s.ColumnInt(11)}
	if logprobs := s.ColumnRawText(12); len(logprobs) > 0 {
		if err := json.Unmarshal(logprobs, &a.Logprobs); err != nil {
			return r, fmt.Errorf("the logprobs of a journalled answer: %w", err)
		}
	}
	a.Raw = s.ColumnBlob(13, nil)
	a.Latency, a.Attempts, a.Time = time.Duration(s.ColumnInt64(14)), s.ColumnInt(15), time.UnixMilli(s.ColumnInt64(16)).UTC()
	return r, nil
}

// wrap says in the user's words what SQLite reports of the file.
func (j *Journal) wrap(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sqlite3.FULL), errors.Is(err, sqlite3.IOERR) && j.full():
		return fmt.Errorf("%s: the disk is full: free some space and run the same command again; the answers up to now are saved: %w", j.path, err)
	case errors.Is(err, sqlite3.READONLY), errors.Is(err, sqlite3.CANTOPEN):
		return fmt.Errorf("%s: cannot be written: check the directory's permissions or use another --out: %w", j.path, err)
	case errors.Is(err, sqlite3.NOTADB), errors.Is(err, sqlite3.CORRUPT):
		return fmt.Errorf("%s: is not a readable journal: move it away, or use another --out: %w", j.path, err)
	}
	return fmt.Errorf("%s: %w", j.path, err)
}

// full tries whether the disk is full, which the driver does not always tell
// from other errors.
func (j *Journal) full() bool {
	f, err := os.CreateTemp(filepath.Dir(j.path), filepath.Base(j.path)+".full-*")
	if err == nil {
		defer os.Remove(f.Name())
		_, err = f.Write(make([]byte, 64<<10))
		err = errors.Join(err, f.Close())
	}
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
