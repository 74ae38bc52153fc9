package journal

import (
	"bytes"
	"errors"

	"crosstalk"

	"github.com/ncruces/go-sqlite3"
)

// Merged counts what Merge has done.
type Merged struct {
	Asks   int // of the other journal
	Twice  int // of Asks: answered in both, by different answers; the one that was there stays
	Behind int // of Asks: failed in the other journal, and answered in this one
}

// Merge takes in every ask of another journal, which is only read. As with Put, an answer is never overwritten, unless
// it was a failed one. It returns when all is on the disk; after an error a part of it may be. To merge a journal
// again has no effect.
func (j *Journal) Merge(from *Journal) (Merged, error) {
	from.reading.Lock()
	defer from.reading.Unlock()
	if from.get == nil {
		return Merged{}, from.wrap(errClosed)
	}
	rows, err := from.readAhead()
	if err != nil {
		return Merged{}, from.wrap(err)
	}
	defer rows.close()
	t := transfer{counts: &j.counts, rows: rows}
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

// transfer copies the rows of a journal to another one. Its methods are called by the goroutine that writes the other.
type transfer struct {
	rows   *ahead
	done   bool
	failed error // of the rows
	merged Merged

	to                     *sqlite3.Conn
	counts                 *counts // of the other
	insert, known, replace *sqlite3.Stmt
	bound                  [checksumColumn + 1]struct { // the parameters of insert that are short
		known bool
		value
	}
}

// rowsAtOnce is about the number of rows in a transaction, so that the disk is rarely waited for.
const rowsAtOnce = 1 << 17

func (t *transfer) begin(to *sqlite3.Conn) (err error) {
	t.to = to
	// The keys are in no order: there is room for the index of a million, and the
	// log is folded into the file every 64 MiB.
	if err := to.Exec("PRAGMA cache_size = -98304; PRAGMA wal_autocheckpoint = 16384"); err != nil {
		return err
	}
	for _, s := range []struct {
		stmt **sqlite3.Stmt
		sql  string
	}{{&t.insert, insertion() + " DO NOTHING"}, {&t.known, known}, {&t.replace, insertion() + replacing()}} {
		if *s.stmt, _, err = to.Prepare(s.sql); err != nil {
			return err
		}
	}
	return nil
}

// end gives back what begin took.
func (t *transfer) end() error {
	for _, s := range []*sqlite3.Stmt{t.insert, t.known, t.replace} {
		s.Close() // its error is the last run's, which was reported
	}
	return t.to.Exec("PRAGMA cache_size = -2000; " + checkpoints) // SQLite's own size
}

// some copies the next rows.
func (t *transfer) some() error {
	for n := 0; n < rowsAtOnce; {
		block, more := t.rows.next()
		if !more {
			t.done = true
			return nil
		}
		for _, row := range block.rows {
			if err := t.copy(row); err != nil {
				return err
			}
		}
		if t.failed = block.err; t.failed != nil {
			return t.failed
		}
		n += len(block.rows)
		t.rows.reuse(block)
	}
	return nil
}

// bind sets the parameters of the insertion. Most columns are in every row what they are in the row before.
func (t *transfer) bind(row []value) error {
	const short = 64
	for i, v := range row {
		was := &t.bound[i]
		if was.known && v.isNumber == was.isNumber && v.number == was.number && bytes.Equal(v.bytes, was.bytes) &&
			(v.bytes == nil) == (was.bytes == nil) {
			continue
		}
		if err := v.bind(t.insert, i); err != nil {
			return err
		}
		if was.known = len(v.bytes) <= short && i != keyColumn && i != checksumColumn; was.known {
			was.value = v
			was.bytes = bytes.Clone(v.bytes)
		}
	}
	return nil
}

// copy copies a row.
func (t *transfer) copy(row []value) error {
	t.merged.Asks++
	if err := t.bind(row); err != nil {
		return err
	}
	if err := t.insert.Exec(); err != nil {
		return err
	}
	if t.to.Changes() > 0 {
		t.counts.row(row)
		return nil
	}
	return t.meet(row)
}

// meet is copy where there is a row of the same ask.
func (t *transfer) meet(row []value) error {
	defer t.known.Reset()
	if err := t.known.BindBlob(1, row[keyColumn].bytes); err != nil {
		return err
	}
	if !t.known.Step() {
		return t.known.Err()
	}
	switch there := crosstalk.Status(t.known.ColumnText(0)); {
	case failed(row):
		if there != crosstalk.Failed {
			t.merged.Behind++
		}
		return nil
	case there != crosstalk.Failed:
		if string(there) != string(row[statusColumn].bytes) || !bytes.Equal(t.known.ColumnRawText(2), row[textColumn].bytes) {
			t.merged.Twice++
		}
		return nil
	}
	t.counts.replaced(t.known)
	t.counts.row(row)
	for i, v := range row {
		if err := v.bind(t.replace, i); err != nil {
			return err
		}
	}
	return t.replace.Exec()
}
