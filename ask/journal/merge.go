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

	to            *sqlite3.Conn
	known, insert *sqlite3.Stmt
}

// rowsAtOnce is the number of rows in a transaction, so that the disk is rarely
// waited for.
const rowsAtOnce = 1 << 14

func (t *transfer) begin(to *sqlite3.Conn) (err error) {
	t.to = to
	// The keys are in no order: there is room for the index of a million, and the
	// log is folded into the file every 64 MiB.
	if err := to.Exec("PRAGMA cache_size = -65536; PRAGMA wal_autocheckpoint = 16384"); err != nil {
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
	return t.to.Exec("PRAGMA cache_size = -2000; PRAGMA wal_autocheckpoint = 1000") // SQLite's own
}

// some copies the next rows.
func (t *transfer) some() error {
	for range rowsAtOnce {
		if !t.rows.Step() {
			t.done, t.failed = true, t.rows.Err()
			return t.failed
		}
		row, err := t.row()
		if err != nil {
			t.failed = err
			return err
		}
		if err := t.copy(row); err != nil {
			return err
		}
	}
	return nil
}

// row returns the values of the row, with their checksum behind them. They are
// valid until the next one.
func (t *transfer) row() (row []any, err error) {
	number := t.rows.ColumnInt64(checksumColumn + 1)
	var key crosstalk.Key
	copy(key[:], t.rows.ColumnRawBlob(keyColumn))
	if number <= t.last { // the file leads in a circle
		return nil, &CorruptError{t.from.path, number, key, errOrder}
	}
	t.last = number
	if want := t.rows.ColumnRawBlob(checksumColumn); want != nil {
		row = rawValues(t.rows)
		if !bytes.Equal(want, checksum(row)) {
			return nil, &CorruptError{t.from.path, number, key, errChecksum}
		}
		return append(row, want), nil
	}
	record, err := t.from.scan(t.rows) // of version 1
	row = values(record)
	return append(row, checksum(row)), err
}

func (t *transfer) copy(row []any) error {
	key, sum := row[keyColumn].([]byte), row[checksumColumn].([]byte)
	t.merged.Asks++
	if err := bindAll(t.insert, row); err != nil {
		return err
	}
	if err := t.insert.Exec(); err != nil || t.to.Changes() > 0 {
		return err
	}
	defer t.known.Reset()
	if err := t.known.BindBlob(1, key); err != nil {
		return err
	}
	if t.known.Step() && !bytes.Equal(t.known.ColumnRawBlob(0), sum) && string(row[statusColumn].([]byte)) != string(crosstalk.Failed) {
		t.merged.Twice++
	}
	return t.known.Err()
}
