package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"crosstalk"

	"github.com/ncruces/go-sqlite3"
)

// Record is one journalled ask.
type Record struct {
	Identity crosstalk.Identity
	Request  crosstalk.Request
	Answer   crosstalk.Answer
}

// corruptError is a row of the journal that is not as it was written.
type corruptError struct {
	Path string
	Row  int64         // SQLite's rowid
	Key  crosstalk.Key // of the ask, as the row has it
	Err  error         // what is wrong
}

func (e *corruptError) Error() string {
	return fmt.Sprintf("%s: row %d (ask %s) is damaged: %v: put a copy of the file in its place, or move it away and ask "+
		"again", e.Path, e.Row, e.Key, e.Err)
}

func (e *corruptError) Unwrap() error { return e.Err }

var (
	errChecksum = errors.New("its content does not match its checksum")
	errOrder    = errors.New("its number is out of order")
)

// value is a column of a row.
type value struct {
	bytes    []byte // of a text or a blob; nil: NULL
	number   int64
	isNumber bool
}

// values are the columns of a row that its checksum is over, in their order.
func values(r Record) []value {
	a := r.Answer
	var logprobs []byte
	if a.Logprobs != nil {
		logprobs = crosstalk.Canonical(a.Logprobs)
	}
	var missing []byte
	if len(a.Missing) > 0 {
		missing = crosstalk.Canonical(a.Missing)
	}
	blob := func(b []byte) value { return value{bytes: b} }
	text := func(s string) value { return value{bytes: []byte(s)} }
	number := func(n int64) value { return value{number: n, isNumber: true} }
	return []value{blob(a.Key[:]), text(r.Identity.Provider), text(r.Identity.Endpoint), text(r.Identity.Name),
		blob(crosstalk.Canonical(r.Request)), text(string(a.Status)), text(a.Text), text(a.Reason), text(a.Model),
		number(int64(a.Usage.Prompt)), number(int64(a.Usage.Completion)), number(int64(a.Usage.Reasoning)),
		blob(logprobs), blob(a.Raw), number(int64(a.Latency)), number(int64(a.Attempts)), number(a.Time.UnixMilli()),
		text(a.Reasoning), text(string(a.Finish)), blob(missing)}
}

// The columns that are blobs, those that are counted or compared, and where the checksum stands.
const (
	keyColumn        = 0
	modelColumn      = 3
	statusColumn     = 5
	textColumn       = 6
	promptColumn     = 9
	completionColumn = 10
	rawColumn        = 13
	checksumColumn   = 20
)

// bind sets the parameters of the insertion to a row, with its checksum.
func bind(s *sqlite3.Stmt, row []value) error {
	row = append(row, value{bytes: checksum(row)})
	var errs []error
	for i, v := range row {
		errs = append(errs, v.bind(s, i))
	}
	return errors.Join(errs...)
}

// bind sets the parameter of the insertion for a column.
func (v value) bind(s *sqlite3.Stmt, column int) error {
	switch {
	case v.isNumber:
		return s.BindInt64(column+1, v.number)
	case column == keyColumn, column == rawColumn, column == checksumColumn:
		return s.BindBlob(column+1, v.bytes)
	}
	return s.BindRawText(column+1, v.bytes)
}

// rawValues appends the values of a row that is read. They are valid until the next one.
func rawValues(row []value, s *sqlite3.Stmt) []value {
	for i := range checksumColumn {
		if s.ColumnType(i) == sqlite3.INTEGER {
			row = append(row, value{number: s.ColumnInt64(i), isNumber: true})
		} else {
			row = append(row, value{bytes: s.ColumnRawBlob(i)})
		}
	}
	return row
}

// size is about how many bytes a row takes.
func size(r Record) int {
	n := len(r.Request.Prompt) + len(r.Answer.Text) + len(r.Answer.Reasoning) + len(r.Answer.Raw)
	for _, m := range r.Request.Messages {
		n += len(m.Content)
	}
	for _, p := range r.Answer.Logprobs {
		n += 64 * (1 + len(p.Top))
	}
	return n + 512
}

// checksum returns a row's checksum.
func checksum(row []value) []byte {
	n := 0
	for _, v := range row {
		n += 9 + len(v.bytes)
	}
	return sumOf(appendSummed(make([]byte, 0, n), row))
}

// appendSummed appends what the checksum of a row is of: each value's kind, its
// length or the number, in 8 bytes, and its content.
func appendSummed(to []byte, row []value) []byte {
	for _, v := range row {
		if v.isNumber {
			to = binary.LittleEndian.AppendUint64(append(to, 'i'), uint64(v.number))
		} else {
			to = append(binary.LittleEndian.AppendUint64(append(to, 'b'), uint64(len(v.bytes))), v.bytes...)
		}
	}
	return to
}

// sumOf is the SHA-256, cut to 128 bits.
func sumOf(text []byte) []byte {
	sum := sha256.Sum256(text)
	return sum[:16]
}

// scan reads a row of the columns, with its number in the column after them.
func (j *Journal) scan(s *sqlite3.Stmt) (Record, error) {
	r := Record{Identity: crosstalk.Identity{Provider: s.ColumnText(1), Endpoint: s.ColumnText(2), Name: s.ColumnText(3)}}
	a := &r.Answer
	copy(a.Key[:], s.ColumnRawBlob(keyColumn))
	corrupt := func(err error) (Record, error) {
		return r, &corruptError{j.path, s.ColumnInt64(checksumColumn + 1), a.Key, err}
	}
	if !bytes.Equal(s.ColumnRawBlob(checksumColumn), checksum(rawValues(nil, s))) {
		return corrupt(errChecksum)
	}
	if err := json.Unmarshal(s.ColumnRawText(4), &r.Request); err != nil {
		return corrupt(fmt.Errorf("its request is not JSON: %w", err))
	}
	a.Status, a.Text, a.Reason, a.Model = crosstalk.Status(s.ColumnText(5)), s.ColumnText(6), s.ColumnText(7),
		s.ColumnText(8)
	a.Usage = crosstalk.Usage{Prompt: s.ColumnInt(9), Completion: s.ColumnInt(10), Reasoning: s.ColumnInt(11)}
	if logprobs := s.ColumnRawText(12); len(logprobs) > 0 {
		if err := json.Unmarshal(logprobs, &a.Logprobs); err != nil {
			return corrupt(fmt.Errorf("its log probabilities are no JSON: %w", err))
		}
	}
	a.Raw = s.ColumnBlob(rawColumn, nil)
	a.Latency, a.Attempts, a.Time = time.Duration(s.ColumnInt64(14)), s.ColumnInt(15),
		time.UnixMilli(s.ColumnInt64(16)).UTC()
	a.Reasoning, a.Finish = s.ColumnText(17), crosstalk.Finish(s.ColumnText(18))
	if missing := s.ColumnRawText(19); len(missing) > 0 {
		if err := json.Unmarshal(missing, &a.Missing); err != nil {
			return corrupt(fmt.Errorf("its list of missing parameters is not JSON: %w", err))
		}
	}
	return r, nil
}
