package journal

import (
	"bytes"
	"errors"
	"math"
	"sync"

	"crosstalk"

	"github.com/ncruces/go-sqlite3"
)

// ahead reads and checks the rows of a journal, in their order, ahead of who copies them. It has to be closed.
// Meanwhile the journal's reader is its own.
type ahead struct {
	from   *Journal
	stmt   *sqlite3.Stmt
	ready  chan span
	done   chan struct{}
	reader sync.WaitGroup
	room   []byte // for a row
	row    []value
}

// span is rows that follow each other and are as they were written, or the error that ends them.
type span struct {
	after, last int64 // their numbers are above after, up to last
	rows, bytes int
	counts      sums
	err         error
}

// Limits of a span: the most rows, and the bytes after which it takes no further row.
const (
	spanRows = 1 << 12
	spanSize = 1 << 22
)

// bind sets the parameters of ofSpan.
func (s span) bind(stmt *sqlite3.Stmt) error {
	return errors.Join(stmt.BindInt64(1, s.after), stmt.BindInt64(2, s.last), stmt.BindInt(3, s.rows))
}

// readAhead starts reading all rows.
func (j *Journal) readAhead() (*ahead, error) {
	stmt, _, err := j.reader.Prepare(selection + "ORDER BY rowid")
	if err != nil {
		return nil, err
	}
	a := &ahead{from: j, stmt: stmt, ready: make(chan span, 4), done: make(chan struct{})}
	a.reader.Go(a.read)
	return a, nil
}

func (a *ahead) close() {
	close(a.done)
	a.reader.Wait()
	a.stmt.Close() // its error is the last step's, which was reported
}

func (a *ahead) read() {
	defer close(a.ready)
	last := int64(math.MinInt64)
	for more := true; more; {
		s := span{after: last, last: last, counts: sums{}}
		s.err = guard(func() (err error) {
			more, err = a.fill(&s)
			return err
		})
		more = more && s.err == nil
		last = s.last
		select {
		case a.ready <- s:
		case <-a.done:
			return
		}
	}
}

// fill reads the rows of a span, and reports whether there may be more.
func (a *ahead) fill(s *span) (more bool, err error) {
	for s.rows < spanRows && s.bytes < spanSize {
		if !a.stmt.Step() {
			return false, a.stmt.Err()
		}
		number := a.stmt.ColumnInt64(checksumColumn + 1)
		if number <= s.last { // the file leads in a circle
			return false, a.damaged(number, errOrder)
		}
		a.row = rawValues(a.row[:0], a.stmt)
		a.room = appendSummed(a.room[:0], a.row)
		if !bytes.Equal(a.stmt.ColumnRawBlob(checksumColumn), sumOf(a.room)) {
			return false, a.damaged(number, errChecksum)
		}
		s.last = number
		s.rows++
		s.bytes += len(a.room)
		s.counts.row(a.row)
	}
	return true, nil
}

func (a *ahead) damaged(number int64, err error) error {
	var key crosstalk.Key
	copy(key[:], a.stmt.ColumnRawBlob(keyColumn))
	return &corruptError{a.from.path, number, key, err}
}
