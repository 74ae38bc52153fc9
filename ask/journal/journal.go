// Package journal keeps every answer that a run received, in an SQLite file in the run's directory. An answer is
// durable before anything uses it: Put returns after its commit was synchronised to the disk.
package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"strings"
	"sync"
	"time"

	"crosstalk"

	"github.com/gofrs/flock"
	"github.com/ncruces/go-sqlite3"
)

// ErrLocked reports that another process writes to the journal.
var ErrLocked = errors.New("another crosstalk is writing to this run")

var (
	errClosed  = errors.New("the journal is closed")
	errReading = errors.New("was opened for reading only")
)

// Journal is one file, safe for concurrent use. One process writes while others read; only the file's owner may read.
type Journal struct {
	path string
	lock *flock.Flock // nil for a reader

	reading   sync.Mutex
	reader    *sqlite3.Conn
	immutable bool // nothing can be written there
	get       *sqlite3.Stmt

	puts    chan put
	writer  *sqlite3.Conn
	old     *sqlite3.Stmt // looks up what is known of a key
	insert  *sqlite3.Stmt
	counts  counts
	damaged sync.Map      // keys of rows that could not be read: the next answer replaces them
	files   []fs.FileInfo // information on the watched files when they were opened
	broken  error         // if set, nothing more is written
	closing chan struct{}
	once    sync.Once
	stopped chan struct{} // closed when the writing goroutine has ended
}

type put struct {
	record Record
	change func() error // run instead of writing the record
	done   chan error
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
	if record, err = j.scan(j.get); err != nil {
		j.damaged.Store(key, true)
		return record, false, j.wrap(err)
	}
	return record, true, nil
}

// Known is Record for callers that can do without: it does not find an ask that it cannot read, or any in a nil
// journal.
func (j *Journal) Known(key crosstalk.Key) (record Record, known bool) {
	if j == nil {
		return Record{}, false
	}
	record, found, err := j.Record(key)
	return record, found && err == nil
}

// Put writes an answer and returns when it is on the disk. It never overwrites an answer, except a failed one.
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
	select { // both may be ready
	case err := <-p.done:
		return j.wrap(err)
	default:
		return j.wrap(errClosed)
	}
}

// All yields every record in the order of arrival, a *DamageError for each that cannot be read, and in the end a
// *MissingError if some are gone. The loop must not call the journal.
func (j *Journal) All() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		last := int64(0) // SQLite counts from 1
		have, want := 0, 0
		stop := errors.New("stop")
		err := j.query("SELECT "+columns+", rowid, (SELECT sum(asks) FROM counts) FROM asks ORDER BY rowid",
			func(s *sqlite3.Stmt) error {
				record, err := j.scan(s)
				row := s.ColumnInt64(checksumColumn + 1)
				if row <= last { // the file contains a loop
					return &DamageError{j.path, row, record.Answer.Key, errOrder}
				}
				last = row
				have, want = have+1, s.ColumnInt(checksumColumn+2)
				if !yield(record, err) {
					return stop
				}
				return nil
			})
		if err == nil && have == 0 {
			err = j.query("SELECT sum(asks) FROM counts", func(s *sqlite3.Stmt) error {
				want = s.ColumnInt(0)
				return nil
			})
		}
		if err == nil && have < want {
			err = &MissingError{j.path, have, want}
		}
		if err != nil && !errors.Is(err, stop) {
			yield(Record{}, err)
		}
	}
}

// Latest returns the n latest records, the latest first.
func (j *Journal) Latest(n int) (list []Record, err error) {
	err = j.query(fmt.Sprintf(selection+"ORDER BY rowid DESC LIMIT %d", n), func(s *sqlite3.Stmt) error {
		r, err := j.scan(s)
		list = append(list, r)
		return err
	})
	return list, err
}

// Close writes what was put before and closes the file. A later Put fails.
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
		stmt.Close() // reports only the error of its last run, which was returned
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

// The approximate size of a batch in bytes, and the largest of a record: SQLite holds several copies of one in memory.
const (
	batchSize = 16 << 20
	largest   = 24 << 20
)

// gather adds pending writes to batch.
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
		clear(j.counts.changed) // changes of a failed transaction
		for _, p := range batch {
			store := p.change
			if store == nil {
				store = func() error { return j.store(p.record) }
			}
			if err := store(); err != nil {
				return err
			}
		}
		if j.counts.wrong {
			j.counts.wrong = false
			clear(j.counts.changed)
			return j.writer.Exec(recounting)
		}
		return j.counts.save()
	})
	if err == nil {
		// Writes to a file that is no longer there are lost.
		if err = j.moved(); err != nil {
			j.broken = err
			// The names may belong to another run by now.
			j.writer.FileControl("", sqlite3.FCNTL_PERSIST_WAL, true)
			j.reader.FileControl("", sqlite3.FCNTL_PERSIST_WAL, true)
		}
	}
	return err
}

// store writes a record, unless its ask is answered. A failed ask, or one whose row is damaged, is asked again: a later
// answer replaces it.
func (j *Journal) store(r Record) error {
	if n := size(r); n > largest {
		return fmt.Errorf("the answer to the ask %s has %d MB; at most %d MB can be kept", r.Answer.Key, n>>20, largest>>20)
	}
	defer j.old.Reset()
	if err := j.old.BindBlob(1, r.Answer.Key[:]); err != nil {
		return err
	}
	if j.old.Step() {
		_, damaged := j.damaged.LoadAndDelete(r.Answer.Key)
		switch {
		case damaged:
			j.counts.wrong = true // nothing that the row says is sure
		case crosstalk.Status(j.old.ColumnText(0)) != crosstalk.Failed:
			return nil
		default:
			r.Answer.Attempts += j.old.ColumnInt(1)
			j.counts.changed.add(tallied{j.old.ColumnText(2), j.old.ColumnText(0)},
				tally{1, j.old.ColumnInt64(3), j.old.ColumnInt64(4)}, -1)
		}
	}
	row := values(r)
	j.counts.changed.row(row)
	errs := []error{j.old.Err(), j.insert.BindBlob(checksumColumn+1, checksum(row))}
	for i, v := range row {
		switch {
		case v.isNumber:
			errs = append(errs, j.insert.BindInt64(i+1, v.number))
		case strings.HasPrefix(layout[i].declared, "BLOB"):
			errs = append(errs, j.insert.BindBlob(i+1, v.bytes))
		default:
			errs = append(errs, j.insert.BindRawText(i+1, v.bytes))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return j.insert.Exec()
}

// Batch is a batch that was submitted to a provider, or was about to be.
type Batch struct {
	Number   int64 // assigned by the journal
	Identity crosstalk.Identity
	Tag      string
	ID       string    // assigned by the provider; "": nobody knows whether it was submitted
	At       time.Time // shortly before it was submitted, for the last time if there were several attempts
	Asks     []crosstalk.BatchAsk
}

// AddBatch records that a batch is about to be submitted, sets its number, and returns when that is on the disk.
func (j *Journal) AddBatch(b *Batch) error {
	return j.change(func() error {
		id := b.Identity
		if err := j.exec("INSERT INTO batches (provider, endpoint, model, tag, id, submitted_at, ended) VALUES (?, ?, ?, ?, "+
			"'', ?, 0)",
			id.Provider, id.Endpoint, id.Name, b.Tag, b.At.UnixMilli()); err != nil {
			return err
		}
		b.Number = j.writer.LastInsertRowID()
		insert, _, err := j.writer.Prepare("INSERT INTO batch_asks (batch, key, request) VALUES (?, ?, ?)")
		if err != nil {
			return err
		}
		defer insert.Close()
		for _, a := range b.Asks {
			if err := run(insert, b.Number, a.Key[:], string(crosstalk.Canonical(a.Request))); err != nil {
				return err
			}
		}
		return nil
	})
}

// UpdateBatch saves the provider's id of a batch, and its time of submission.
func (j *Journal) UpdateBatch(b *Batch) error {
	return j.change(func() error {
		return j.exec("UPDATE batches SET id = ?, submitted_at = ? WHERE number = ?", b.ID, b.At.UnixMilli(), b.Number)
	})
}

// EndBatch records that all results of a batch are saved. Unanswered then lists its asks without an answer.
func (j *Journal) EndBatch(b *Batch) error {
	return j.change(func() error {
		return errors.Join(
			j.exec("UPDATE batches SET ended = 1 WHERE number = ?", b.Number),
			j.exec("DELETE FROM batch_asks WHERE batch = ? AND EXISTS (SELECT 1 FROM asks WHERE asks.key = batch_asks.key AND "+
				"status <> 'failed')", b.Number))
	})
}

// DropBatch forgets a batch that the provider does not have, or rejected.
func (j *Journal) DropBatch(b *Batch) error {
	return j.change(func() error {
		return errors.Join(
			j.exec("DELETE FROM batches WHERE number = ?", b.Number),
			j.exec("DELETE FROM batch_asks WHERE batch = ?", b.Number))
	})
}

func (j *Journal) change(do func() error) error { return j.hand(put{change: do}) }

func (j *Journal) exec(sql string, values ...any) error {
	stmt, _, err := j.writer.Prepare(sql)
	if err != nil {
		return err
	}
	defer stmt.Close()
	return run(stmt, values...)
}

// OpenBatches returns the batches that have not ended, with their asks, in the order in which they were added.
func (j *Journal) OpenBatches() (open []*Batch, err error) {
	err = j.query("SELECT number, provider, endpoint, model, tag, id, submitted_at FROM batches WHERE ended = 0 ORDER BY "+
		"number", func(s *sqlite3.Stmt) error {
		open = append(open, &Batch{Number: s.ColumnInt64(0), Identity: crosstalk.Identity{Provider: s.ColumnText(1),
			Endpoint: s.ColumnText(2), Name: s.ColumnText(3)},
			Tag: s.ColumnText(4), ID: s.ColumnText(5), At: time.UnixMilli(s.ColumnInt64(6)).UTC()})
		return nil
	})
	for _, b := range open {
		if err == nil {
			err = j.query(fmt.Sprintf("SELECT key, request FROM batch_asks WHERE batch = %d ORDER BY rowid", b.Number),
				func(s *sqlite3.Stmt) error {
					var a crosstalk.BatchAsk
					if err := json.Unmarshal(s.ColumnRawText(1), &a.Request); err != nil {
						return fmt.Errorf("a request of the batch %s is not JSON: %w", b.Tag, err)
					}
					copy(a.Key[:], s.ColumnRawBlob(0))
					if crosstalk.KeyOf(b.Identity, a.Request) != a.Key {
						return fmt.Errorf("a request of the batch %s does not match its key: put a copy of the file in its place", b.Tag)
					}
					b.Asks = append(b.Asks, a)
					return nil
				})
		}
	}
	return open, err
}

// BatchIDs returns the providers' ids of all batches.
func (j *Journal) BatchIDs() (ids []string, err error) {
	err = j.query("SELECT id FROM batches WHERE id <> ''", func(s *sqlite3.Stmt) error {
		ids = append(ids, s.ColumnText(0))
		return nil
	})
	return ids, err
}

// Unanswered returns the asks that ended batches did not answer.
func (j *Journal) Unanswered() (keys []crosstalk.Key, err error) {
	err = j.query("SELECT key FROM batch_asks JOIN batches ON batch = number WHERE ended = 1",
		func(s *sqlite3.Stmt) error {
			var key crosstalk.Key
			copy(key[:], s.ColumnRawBlob(0))
			keys = append(keys, key)
			return nil
		})
	return keys, err
}

func (j *Journal) query(sql string, row func(*sqlite3.Stmt) error) error {
	j.reading.Lock()
	defer j.reading.Unlock()
	if j.get == nil {
		return j.wrap(errClosed)
	}
	stmt, _, err := j.reader.Prepare(sql)
	if err != nil {
		return j.wrap(err)
	}
	defer stmt.Close()
	for stmt.Step() {
		if err := row(stmt); err != nil {
			return j.wrap(err)
		}
	}
	return j.wrap(stmt.Err())
}
