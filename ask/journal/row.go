package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
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

type column struct {
	name, declared string
	field          func(*Record) any // a pointer to a text, bytes, a number or a time, or jsonField
}

// jsonField is a field that is saved as JSON, and empty where it says nothing.
type jsonField struct {
	at   any
	says bool
}

// layout lists the columns of asks, in order, but for the checksum of all of them, which comes last.
var layout = []column{
	{"key", "BLOB NOT NULL UNIQUE", func(r *Record) any { return &r.Answer.Key }}, // crosstalk.KeyOf
	{"provider", "TEXT NOT NULL", func(r *Record) any { return &r.Identity.Provider }},
	{"endpoint", "TEXT NOT NULL", func(r *Record) any { return &r.Identity.Endpoint }},
	{"model", "TEXT NOT NULL", func(r *Record) any { return &r.Identity.Name }},
	{"request", "TEXT NOT NULL", func(r *Record) any { return jsonField{&r.Request, true} }}, // as it was rendered
	{"status", "TEXT NOT NULL", func(r *Record) any { return (*string)(&r.Answer.Status) }},
	{"text", "TEXT NOT NULL", func(r *Record) any { return &r.Answer.Text }},
	{"reason", "TEXT NOT NULL", func(r *Record) any { return &r.Answer.Reason }},
	{"served_model", "TEXT NOT NULL", func(r *Record) any { return &r.Answer.Model }},
	{"prompt_tokens", "INTEGER NOT NULL", func(r *Record) any { return &r.Answer.Usage.Prompt }},
	{"completion_tokens", "INTEGER NOT NULL", func(r *Record) any { return &r.Answer.Usage.Completion }},
	{"reasoning_tokens", "INTEGER NOT NULL", func(r *Record) any { return &r.Answer.Usage.Reasoning }},
	{"logprobs", "TEXT NOT NULL", func(r *Record) any {
		return jsonField{&r.Answer.Logprobs, r.Answer.Logprobs != nil}
	}},
	{"raw", "BLOB", func(r *Record) any { return (*[]byte)(&r.Answer.Raw) }}, // the response body as it came
	{"latency_ns", "INTEGER NOT NULL", func(r *Record) any { return &r.Answer.Latency }},
	{"attempts", "INTEGER NOT NULL", func(r *Record) any { return &r.Answer.Attempts }},
	{"answered_at", "INTEGER NOT NULL", func(r *Record) any { return &r.Answer.Time }}, // Unix time in ms
	{"reasoning", "TEXT NOT NULL", func(r *Record) any { return &r.Answer.Reasoning }},
	{"finish", "TEXT NOT NULL", func(r *Record) any { return (*string)(&r.Answer.Finish) }},
	{"missing", "TEXT NOT NULL", func(r *Record) any { return jsonField{&r.Answer.Missing, len(r.Answer.Missing) > 0} }},
}

// The places of columns that are counted or compared, and where the checksum stands.
const (
	keyColumn        = 0
	modelColumn      = 3
	statusColumn     = 5
	promptColumn     = 9
	completionColumn = 10
	checksumColumn   = 20
)

type value struct {
	bytes    []byte // of a text or a blob; nil: NULL
	number   int64
	isNumber bool
}

// values are the columns of a row that its checksum is over, in their order.
func values(r Record) []value {
	row := make([]value, len(layout))
	for i, c := range layout {
		switch field := c.field(&r).(type) {
		case *string:
			row[i].bytes = []byte(*field)
		case *[]byte:
			row[i].bytes = *field
		case *crosstalk.Key:
			row[i].bytes = field[:]
		case jsonField:
			if field.says {
				row[i].bytes = crosstalk.Canonical(field.at)
			}
		case *int:
			row[i] = value{number: int64(*field), isNumber: true}
		case *time.Duration:
			row[i] = value{number: int64(*field), isNumber: true}
		case *time.Time:
			row[i] = value{number: field.UnixMilli(), isNumber: true}
		}
	}
	return row
}

func bind(s *sqlite3.Stmt, row []value) error {
	errs := []error{s.BindBlob(checksumColumn+1, checksum(row))}
	for i, v := range row {
		switch {
		case v.isNumber:
			errs = append(errs, s.BindInt64(i+1, v.number))
		case strings.HasPrefix(layout[i].declared, "BLOB"):
			errs = append(errs, s.BindBlob(i+1, v.bytes))
		default:
			errs = append(errs, s.BindRawText(i+1, v.bytes))
		}
	}
	return errors.Join(errs...)
}

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

func checksum(row []value) []byte {
	n := 0
	for _, v := range row {
		n += 9 + len(v.bytes)
	}
	return sumOf(appendSummed(make([]byte, 0, n), row))
}

// appendSummed appends what a row's checksum is of: each value's kind, length or number in 8 bytes, and content.
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
func (j *Journal) scan(s *sqlite3.Stmt) (r Record, err error) {
	copy(r.Answer.Key[:], s.ColumnRawBlob(keyColumn))
	row := make([]value, len(layout)) // valid until the next one is read
	for i := range row {
		if s.ColumnType(i) == sqlite3.INTEGER {
			row[i] = value{number: s.ColumnInt64(i), isNumber: true}
		} else {
			row[i].bytes = s.ColumnRawBlob(i)
		}
	}
	if !bytes.Equal(s.ColumnRawBlob(checksumColumn), checksum(row)) {
		return r, &corruptError{j.path, s.ColumnInt64(checksumColumn + 1), r.Answer.Key, errChecksum}
	}
	for i, c := range layout {
		switch field := c.field(&r).(type) {
		case *string:
			*field = s.ColumnText(i)
		case *[]byte:
			*field = s.ColumnBlob(i, nil)
		case jsonField:
			if text := s.ColumnRawText(i); len(text) > 0 {
				if err := json.Unmarshal(text, field.at); err != nil {
					err = fmt.Errorf("its %s is not JSON: %w", c.name, err)
					return r, &corruptError{j.path, s.ColumnInt64(checksumColumn + 1), r.Answer.Key, err}
				}
			}
		case *int:
			*field = s.ColumnInt(i)
		case *time.Duration:
			*field = time.Duration(s.ColumnInt64(i))
		case *time.Time:
			*field = time.UnixMilli(s.ColumnInt64(i)).UTC()
		}
	}
	return r, nil
}
