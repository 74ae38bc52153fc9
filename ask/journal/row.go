package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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

// DamageError reports a row that is not as it was written. The others may be used.
type DamageError struct {
	Path string
	Row  int64         // SQLite's rowid
	Key  crosstalk.Key // of the ask, as the row states it
	Err  error         // the error in the row
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("%s: row %d (ask %s) is damaged: %v", e.Path, e.Row, e.Key, e.Err)
}

func (e *DamageError) Unwrap() error { return e.Err }

// MissingError reports that a journal has fewer rows than were written.
type MissingError struct {
	Path       string
	Have, Want int
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("%s: has %d answers, and %d were saved: the file is damaged", e.Path, e.Have, e.Want)
}

var (
	errChecksum = errors.New("its content does not match its checksum")
	errOrder    = errors.New("its number is out of order: put a copy of the file in its place, or move it away")
)

type column struct {
	name, declared string
	field          func(*Record) any // points to a text, bytes, a number or a time, or is a jsonField
}

type jsonField struct {
	at   any
	says bool
}

// layout lists the columns of asks, in order, without the last one, the checksum of all others.
var layout = []column{
	{"key", "BLOB NOT NULL UNIQUE", func(r *Record) any { return &r.Answer.Key }}, // crosstalk.KeyOf
	{"provider", "TEXT NOT NULL", func(r *Record) any { return &r.Identity.Provider }},
	{"endpoint", "TEXT NOT NULL", func(r *Record) any { return &r.Identity.Endpoint }},
	{"model", "TEXT NOT NULL", func(r *Record) any { return &r.Identity.Name }},
	{"request", "TEXT NOT NULL", func(r *Record) any { return jsonField{&r.Request, true} }}, // as rendered
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
	{"raw", "BLOB", func(r *Record) any { return (*[]byte)(&r.Answer.Raw) }}, // the response body as received
	{"latency_ns", "INTEGER NOT NULL", func(r *Record) any { return &r.Answer.Latency }},
	{"attempts", "INTEGER NOT NULL", func(r *Record) any { return &r.Answer.Attempts }},
	{"answered_at", "INTEGER NOT NULL", func(r *Record) any { return &r.Answer.Time }}, // Unix time in ms
	{"reasoning", "TEXT NOT NULL", func(r *Record) any { return &r.Answer.Reasoning }},
	{"finish", "TEXT NOT NULL", func(r *Record) any { return (*string)(&r.Answer.Finish) }},
	{"missing", "TEXT NOT NULL", func(r *Record) any { return jsonField{&r.Answer.Missing, len(r.Answer.Missing) > 0} }},
}

// The positions of columns that are counted or compared, and of the checksum.
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

func checksum(row []value) []byte { return sumOf(appendSummed(nil, row)) }

// appendSummed appends the input of a row's checksum: for each value its kind, its length or number in 8 bytes, and its
// content.
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

func sumOf(text []byte) []byte {
	sum := sha256.Sum256(text)
	return sum[:16]
}

// scan reads a row of the columns, followed by a column with its number.
func (j *Journal) scan(s *sqlite3.Stmt) (r Record, err error) {
	copy(r.Answer.Key[:], s.ColumnRawBlob(keyColumn))
	row := make([]value, len(layout)) // valid until the next row is read
	for i := range row {
		if s.ColumnType(i) == sqlite3.INTEGER {
			row[i] = value{number: s.ColumnInt64(i), isNumber: true}
		} else {
			row[i].bytes = s.ColumnRawBlob(i)
		}
	}
	if !bytes.Equal(s.ColumnRawBlob(checksumColumn), checksum(row)) {
		return r, &DamageError{j.path, s.ColumnInt64(checksumColumn + 1), r.Answer.Key, errChecksum}
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
					return r, &DamageError{j.path, s.ColumnInt64(checksumColumn + 1), r.Answer.Key, err}
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

// version is the version of the schema, in PRAGMA user_version. Earlier ones were never released.
const version = 5

// columns lists the columns of asks, schema makes the tables, insertion writes a row, replacing lets it replace
// another.
var columns, schema, insertion, replacing = func() (names, tables, insert, replace string) {
	for _, c := range layout {
		names += c.name + ", "
		tables += c.name + " " + c.declared + ", "
		replace += c.name + " = excluded." + c.name + ", "
	}
	names += "checksum"
	tables = "CREATE TABLE asks (" + tables + "checksum BLOB NOT NULL);" + otherTables
	insert = fmt.Sprintf("INSERT INTO asks (%s) VALUES (%s?) ON CONFLICT (key)", names, strings.Repeat("?, ", len(layout)))
	return names, tables, insert, " DO UPDATE SET " + replace + "checksum = excluded.checksum"
}()

const otherTables = `	CREATE TABLE batches (
		number       INTEGER PRIMARY KEY,
		provider     TEXT NOT NULL,
		endpoint     TEXT NOT NULL,
		model        TEXT NOT NULL,
		tag          TEXT NOT NULL,    -- what the batch is found by
		id           TEXT NOT NULL,    -- the provider's, empty as long as it is not known
		submitted_at INTEGER NOT NULL, -- Unix time in ms, shortly before
		ended        INTEGER NOT NULL  -- 1: what came of it is in asks
	);
	CREATE TABLE batch_asks (
		batch   INTEGER NOT NULL,      -- its number
		key     BLOB NOT NULL,         -- crosstalk.KeyOf
		request TEXT NOT NULL          -- canonical JSON
	);
	CREATE TABLE counts (              -- of asks, so that nobody has to read every answer
		model             TEXT NOT NULL,
		status            TEXT NOT NULL,
		asks              INTEGER NOT NULL,
		prompt_tokens     INTEGER NOT NULL, -- of all of them
		completion_tokens INTEGER NOT NULL,
		PRIMARY KEY (model, status)
	) WITHOUT ROWID`

var tables = []struct{ name, columns string }{
	{"asks", columns},
	{"batch_asks", "batch, key, request"},
	{"batches", "number, provider, endpoint, model, tag, id, submitted_at, ended"},
	{"counts", "model, status, asks, prompt_tokens, completion_tokens"},
}

type notJournal struct{ why string }

func (e notJournal) Error() string {
	return "is not a journal of crosstalk: " + e.why + ": move it away, or use another --out"
}

// admit reports whether a file contains a journal that this program can read, or is empty. Anything else is an error.
func admit(conn *sqlite3.Conn) (journal bool, err error) {
	numbers, err := query(conn, "PRAGMA user_version")
	if err != nil {
		return false, err
	}
	var have int
	if _, err := fmt.Sscan(numbers[0], &have); err != nil || have < 0 {
		return false, notJournal{fmt.Sprintf("it has the version %s", numbers[0])}
	}
	if have > version {
		return false, fmt.Errorf("was written by a newer crosstalk (journal version %d, this one reads %d): "+
			"update crosstalk, or use another --out", have, version)
	}
	// Triggers, views and virtual tables could run anything when they are used.
	objects, err := query(conn, "SELECT type || ' ' || name || iif(rootpage > 0, '', ' virtual') FROM sqlite_schema "+
		"WHERE name <> 'sqlite_autoindex_asks_1' ORDER BY name")
	if err != nil {
		return false, err
	}
	var names []string
	for _, t := range tables {
		names = append(names, "table "+t.name)
	}
	switch {
	case have == 0 && len(objects) == 0:
		return false, nil
	case have == 0:
		return false, notJournal{fmt.Sprintf("it has no version, and a %.100q in it", objects[0])}
	case have < version:
		return false, fmt.Errorf("was written by crosstalk before its first release (journal version %d, "+
			"this one reads %d): move it away, or use another --out", have, version)
	case !slices.Equal(objects, names):
		return false, notJournal{fmt.Sprintf("it should have %s, and has %.200q", strings.Join(names, ", "), objects)}
	}
	for _, t := range tables {
		columns, err := query(conn, fmt.Sprintf("SELECT name || iif(hidden, ' hidden', '') FROM pragma_table_xinfo('%s')",
			t.name))
		if err != nil {
			return false, err
		}
		if has := strings.Join(columns, ", "); has != t.columns {
			return false, notJournal{fmt.Sprintf("its table %s should have the columns %s, and has %.500s", t.name, t.columns,
				has)}
		}
	}
	return true, nil
}

// query returns the first column of all rows, as text.
func query(conn *sqlite3.Conn, sql string) (list []string, err error) {
	stmt, _, err := conn.Prepare(sql)
	if err != nil {
		return nil, err
	}
	defer stmt.Close()
	for stmt.Step() {
		if list = append(list, stmt.ColumnText(0)); len(list) > 1000 {
			return nil, notJournal{"it has more than 1000 objects"}
		}
	}
	return list, stmt.Err()
}
