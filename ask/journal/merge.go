package journal

import (
	"bytes"
	"errors"
	"math"

	"crosstalk"

	"github.com/ncruces/go-sqlite3"
)

// Merged counts what Merge has done.
type Merged struct {
	Asks  int // of the other journal
	Twice int // of Asks: answered in both, by different answers; the one that was there stays
}

// Merge takes in every ask of another journal, which is only read. As with Put, an
// answer is never overwritten, unless it was a failed one. It returns when all is
// on the disk; after an error a part of it may be. To merge a journal again has no
// effect.
func (j *Journal) Merge(from *Journal) (Merged, error) {
	from.reading.Lock()
	defer from.reading.Unlock()
	if from.get == nil {
		return Merged{}, from.wrap(errClosed)
	}
	rows, _, err := from.reader.Prepare("SELECT " + from.columns + " FROM asks ORDER BY rowid")
	if err != nil {
		return Merged{}, from.wrap(err)
	}
	defer rows.Close()
	t := transfer{from: from, rows: rows, last: math.MinInt64}
	err = j.change(func() error { return t.begin(j.writer) })
	for err == nil && !t.done {
		err = j.change(t.some)
	}
	err = errors.Join(err, j.change(t.end))
	if t.failed != nil {
		err = from.wrap(t.failed)
	}
	return t.merged, err
}

// transfer copies the rows of a journal to another one. Its methods are called by
// the goroutine that writes the other.
type transfer struct {
	from   *Journal
	rows   *sqlite3.Stmt
	last   int64 // row
	done   bool
	failed error // of from
	merged Merged
	row    []value // the current one, with its checksum

	to            *sqlite3.Conn
	known, insert *sqlite3.Stmt
	bound         [checksumColumn + 1]struct { // the parameters of insert that are short
		known bool
		bytes []byte
	}
}

// rowsAtOnce is the number of rows in a transaction, so that the disk is rarely
// waited for.
const rowsAtOnce = 1 << 16

func (t *transfer) begin(to *sqlite3.Conn) (err error) {
	t.to = to
	// The keys are in no order: there is room for the index of a million, and the
	// log is folded into the file every 64 MiB.
	if err := to.Exec("PRAGMA cache_size = -98304; PRAGMA wal_autocheckpoint = 16384"); err != nil {
		return err
	}
	if t.known, _, err = to.Prepare("SELECT checksum FROM asks WHERE key = ? AND status <> 'failed'"); err != nil {
		return err
	}
	t.insert, _, err = to.Prepare(insertion() + " WHERE asks.status = 'failed' AND excluded.status <> 'failed'")
	return err
}

// end gives back what begin took.
func (t *transfer) end() error {
	t.known.Close() // its error is the last run's, which was reported
	t.insert.Close()
	return t.to.Exec("PRAGMA cache_size = -2000; " + checkpoints) // SQLite's own size
}

// some copies the next rows.
func (t *transfer) some() error {
	for range rowsAtOnce {
		if !t.rows.Step() {
			t.done, t.failed = true, t.rows.Err()
			return t.failed
		}
		if t.failed = t.read(); t.failed != nil {
			return t.failed
		}
		if err := t.copy(); err != nil {
			return err
		}
	}
	return nil
}

// read reads the row. It is valid until the next one.
func (t *transfer) read() error {
	number := t.rows.ColumnInt64(checksumColumn + 1)
	var key crosstalk.Key
	copy(key[:], t.rows.ColumnRawBlob(keyColumn))
	if number <= t.last { // the file leads in a circle
		return &CorruptError{t.from.path, number, key, errOrder}
	}
	t.last = number
	if want := t.rows.ColumnRawBlob(checksumColumn); want != nil {
		t.row = rawValues(t.row[:0], t.rows)
		if !bytes.Equal(want, checksum(t.row)) {
			return &CorruptError{t.from.path, number, key, errChecksum}
		}
		t.row = append(t.row, value{bytes: want})
		return nil
	}
	record, err := t.from.scan(t.rows) // of version 1
	t.row = values(record)
	t.row = append(t.row, value{bytes: checksum(t.row)})
	return err
}

// bind sets the parameters of the insertion. Most columns are in every row what they
// are in the row before.
func (t *transfer) bind() error {
	const short = 64
	for i, v := range t.row {
		was := &t.bound[i]
		if was.known && bytes.Equal(v.bytes, was.bytes) && (v.bytes == nil) == (was.bytes == nil) {
			continue
		}
		if err := v.bind(t.insert, i); err != nil {
			return err
		}
		if was.known = !v.isNumber && len(v.bytes) <= short; was.known {
			was.bytes = bytes.Clone(v.bytes)
		}
	}
	return nil
}

func (t *transfer) copy() error {
	key, sum := t.row[keyColumn].bytes, t.row[checksumColumn].bytes
	t.merged.Asks++
	if err := t.bind(); err != nil {
		return err
	}
	if err := t.insert.Exec(); err != nil || t.to.Changes() > 0 {
		return err
	}
	defer t.known.Reset()
	if err := t.known.BindBlob(1, key); err != nil {
		return err
	}
	if t.known.Step() && !bytes.Equal(t.known.ColumnRawBlob(0), sum) && string(t.row[statusColumn].bytes) != string(crosstalk.Failed) {
		t.merged.Twice++
	}
	return t.known.Err()
}
