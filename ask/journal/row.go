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
	"crosstalk/model/settle"

	"github.com/ncruces/go-sqlite3"
)

// Record is one journalled ask.
type Record struct {
	Identity crosstalk.Identity
	Request  crosstalk.Request
	Answer   crosstalk.Answer
}

// CorruptError is a row of the journal that is not as it was written.
type CorruptError struct {
	Path string
	Row  int64         // SQLite's rowid
	Key  crosstalk.Key // of the ask, as the row has it
	Err  error         // what is wrong
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("%s: row %d (ask %s) is damaged: %v: put a copy of the file in its place, or move it away and ask again", e.Path, e.Row, e.Key, e.Err)
}

func (e *CorruptError) Unwrap() error { return e.Err }

var (
	errChecksum = errors.New("its content does not match its checksum")
	errOrder    = errors.New("its number is out of order")
)

// values are the columns of a row that its checksum is over, in their order:
// int64 or []byte each.
func values(r Record) []any {
	a := r.Answer
	var logprobs []byte
	if a.Logprobs != nil {
		logprobs = crosstalk.Canonical(a.Logprobs)
	}
	var missing []byte
	if len(a.Missing) > 0 {
		missing = crosstalk.Canonical(a.Missing)
	}
	text := func(s string) []byte { return []byte(s) }
	return []any{a.Key[:], text(r.Identity.Provider), text(r.Identity.Endpoint), text(r.Identity.Name), crosstalk.Canonical(r.Request),
		text(string(a.Status)), text(a.Text), text(a.Reason), text(a.Model),
		int64(a.Usage.Prompt), int64(a.Usage.Completion), int64(a.Usage.Reasoning), logprobs, []byte(a.Raw),
		int64(a.Latency), int64(a.Attempts), a.Time.UnixMilli(), text(a.Reasoning), text(string(a.Finish)), missing}
}

// The columns that are blobs, and where the status and the checksum stand.
const (
	keyColumn      = 0
	statusColumn   = 5
	rawColumn      = 13
	checksumColumn = 20
)

// bind sets the parameters of the insertion to a record.
func bind(s *sqlite3.Stmt, r Record) error {
	row := values(r)
	return bindAll(s, append(row, checksum(row)))
}

// bindAll sets the parameters of the insertion to the values of a row and their
// checksum.
func bindAll(s *sqlite3.Stmt, row []any) error {
	var errs []error
	for i, v := range row {
		switch v := v.(type) {
		case int64:
			errs = append(errs, s.BindInt64(i+1, v))
		case []byte:
			if i == keyColumn || i == rawColumn || i == checksumColumn {
				errs = append(errs, s.BindBlob(i+1, v))
			} else {
				errs = append(errs, s.BindRawText(i+1, v))
			}
		}
	}
	return errors.Join(errs...)
}

// rawValues are the values of a row that is read. They are valid until the next
// one.
func rawValues(s *sqlite3.Stmt) []any {
	row := make([]any, checksumColumn, checksumColumn+1)
	for i := range row {
		switch s.ColumnType(i) {
		case sqlite3.INTEGER:
			row[i] = s.ColumnInt64(i)
		default:
			row[i] = s.ColumnRawBlob(i)
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

// checksum is a hash over a row: each value's kind, length and content.
func checksum(row []any) []byte {
	h := sha256.New()
	var head [9]byte
	for _, v := range row {
		switch v := v.(type) {
		case int64:
			head[0] = 'i'
			binary.LittleEndian.PutUint64(head[1:], uint64(v))
			h.Write(head[:])
		case []byte:
			head[0] = 'b'
			binary.LittleEndian.PutUint64(head[1:], uint64(len(v)))
			h.Write(head[:])
			h.Write(v)
		}
	}
	return h.Sum(nil)[:16]
}

// scan reads a row of the columns, with its number in the column after them. In
// rows of version 1 it separates the model's thoughts from its answer, as is done
// today before an answer is written.
func (j *Journal) scan(s *sqlite3.Stmt) (Record, error) {
	r := Record{Identity: crosstalk.Identity{Provider: s.ColumnText(1), Endpoint: s.ColumnText(2), Name: s.ColumnText(3)}}
	a := &r.Answer
	copy(a.Key[:], s.ColumnRawBlob(keyColumn))
	corrupt := func(err error) (Record, error) {
		return r, &CorruptError{j.path, s.ColumnInt64(checksumColumn + 1), a.Key, err}
	}
	want := s.ColumnRawBlob(checksumColumn)
	if want != nil {
		if !bytes.Equal(want, checksum(rawValues(s))) {
			return corrupt(errChecksum)
		}
	}
	if err := json.Unmarshal(s.ColumnRawText(4), &r.Request); err != nil {
		return corrupt(fmt.Errorf("its request is not JSON: %w", err))
	}
	a.Status, a.Text, a.Reason, a.Model = crosstalk.Status(s.ColumnText(5)), s.ColumnText(6), s.ColumnText(7), s.ColumnText(8)
	a.Usage = crosstalk.Usage{Prompt: s.ColumnInt(9), Completion: s.ColumnInt(10), Reasoning: s.ColumnInt(11)}
	if logprobs := s.ColumnRawText(12); len(logprobs) > 0 {
		if err := json.Unmarshal(logprobs, &a.Logprobs); err != nil {
			return corrupt(fmt.Errorf("its log probabilities are no JSON: %w", err))
		}
	}
	a.Raw = s.ColumnBlob(rawColumn, nil)
	a.Latency, a.Attempts, a.Time = time.Duration(s.ColumnInt64(14)), s.ColumnInt(15), time.UnixMilli(s.ColumnInt64(16)).UTC()
	a.Reasoning, a.Finish = s.ColumnText(17), crosstalk.Finish(s.ColumnText(18))
	if missing := s.ColumnRawText(19); len(missing) > 0 {
		if err := json.Unmarshal(missing, &a.Missing); err != nil {
			return corrupt(fmt.Errorf("its list of missing parameters is not JSON: %w", err))
		}
	}
	if want == nil { // of version 1, which left thoughts in the text
		r.Answer = settle.Recorded(r.Answer)
	}
	return r, nil
}
