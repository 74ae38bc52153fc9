package journal

import (
	"bytes"
	"math"
	"sync"

	"crosstalk"

	"github.com/ncruces/go-sqlite3"
)

// ahead reads and checks the rows of a journal, in their order, ahead of who takes
// them. It has to be closed. Meanwhile the journal's reader is its own.
type ahead struct {
	from   *Journal
	stmt   *sqlite3.Stmt
	ready  chan *block
	free   chan *block
	done   chan struct{}
	reader sync.WaitGroup
}

// block is some rows, and the error that ends them.
type block struct {
	rows  [][]value // each with its checksum
	bytes []byte    // of the rows
	err   error
}

// The sizes of a block: it has no more rows, and no further one after so many bytes.
const (
	blockRows = 128
	blockSize = 1 << 17
)

// readAhead starts reading all rows.
func (j *Journal) readAhead() (*ahead, error) {
	stmt, _, err := j.reader.Prepare(selection + "ORDER BY rowid")
	if err != nil {
		return nil, err
	}
	const blocks = 4
	a := &ahead{from: j, stmt: stmt, ready: make(chan *block, blocks), free: make(chan *block, blocks),
		done: make(chan struct{})}
	for range blocks {
		a.free <- &block{}
	}
	a.reader.Go(a.read)
	return a, nil
}

// close stops reading.
func (a *ahead) close() {
	close(a.done)
	a.reader.Wait()
	a.stmt.Close() // its error is the last step's, which was reported
}

// next returns the next block; more is false if there is none.
func (a *ahead) next() (b *block, more bool) {
	b, more = <-a.ready
	return b, more
}

// reuse gives a block back.
func (a *ahead) reuse(b *block) {
	if cap(b.bytes) > 4*blockSize {
		b = &block{} // few rows are so large
	}
	a.free <- b
}

func (a *ahead) read() {
	defer close(a.ready)
	last := int64(math.MinInt64)
	for more := true; more; {
		select {
		case b := <-a.free:
			b.rows, b.bytes = b.rows[:0], b.bytes[:0]
			b.err = guard(func() (err error) {
				last, more, err = a.fill(b, last)
				return err
			})
			more = more && b.err == nil
			a.ready <- b // which has room for all blocks
		case <-a.done:
			return
		}
	}
}

// fill reads a block of the rows after the one with the number last, and reports whether there may be more.
func (a *ahead) fill(b *block, last int64) (number int64, more bool, err error) {
	for len(b.rows) < blockRows && len(b.bytes) < blockSize {
		if !a.stmt.Step() {
			return last, false, a.stmt.Err()
		}
		number := a.stmt.ColumnInt64(checksumColumn + 1)
		if number <= last { // the file leads in a circle
			return last, false, a.damaged(number, errOrder)
		}
		last = number
		if err := a.row(b, number); err != nil {
			return last, false, err
		}
	}
	return last, true, nil
}

// row adds the row to the block.
func (a *ahead) row(b *block, number int64) error {
	if len(b.rows) < cap(b.rows) {
		b.rows = b.rows[:len(b.rows)+1] // with the room of the row that was there
	} else {
		b.rows = append(b.rows, nil)
	}
	row := &b.rows[len(b.rows)-1]
	want := a.stmt.ColumnRawBlob(checksumColumn)
	start := len(b.bytes)
	*row = rawValues((*row)[:0], a.stmt)
	b.bytes = appendSummed(b.bytes, *row)
	if !bytes.Equal(want, sumOf(b.bytes[start:])) {
		return a.damaged(number, errChecksum)
	}
	// The values were SQLite's, until the next row.
	own := b.bytes[start:]
	for i := range *row {
		v := &(*row)[i]
		own = own[1+8:]
		if !v.isNumber {
			n := len(v.bytes)
			if v.bytes != nil {
				v.bytes = own[:n:n]
			}
			own = own[n:]
		}
	}
	b.bytes = append(b.bytes, want...)
	*row = append(*row, value{bytes: b.bytes[len(b.bytes)-len(want):]})
	return nil
}

func (a *ahead) damaged(number int64, err error) error {
	var key crosstalk.Key
	copy(key[:], a.stmt.ColumnRawBlob(keyColumn))
	return &corruptError{a.from.path, number, key, err}
}
