package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"
)

// SQLite's errors are explained to those who write a journal and to those who read it.
func TestWords(t *testing.T) {
	path := newPath(t)
	write(t, path, record(1))
	writer, reader := open(t, path), open2(t, path)
	for _, c := range []struct {
		err           error
		writes, reads string // "": unchanged
	}{
		{nil, "", ""}, {fmt.Errorf("x: %w", ErrGone), "", ""}, {&DamageError{}, "", ""},
		{&fs.PathError{Op: "open", Path: "f", Err: errors.New("x")}, "open f: x", ""},
		{sqlite3.FULL, "the disk is full: free some space and run", "the disk is full: free some space and run"},
		{sqlite3.IOERR, "sqlite3: disk I/O error", "sqlite3: disk I/O error"},
		{sqlite3.READONLY, "cannot be written: check the directory's permissions or use another --out: ", "cannot be read: check its permissions"},
		{sqlite3.CANTOPEN, "cannot be written: check the directory's permissions or use another --out: ", "cannot be read: check its permissions"},
		{sqlite3.NOTADB, "is not a readable journal: move it away, or use another --out: ", "is not a readable journal: put a copy of the file"},
		{sqlite3.CORRUPT, "is not a readable journal: move it away, or use another --out: ", "is not a readable journal: put a copy of the file"},
		{sqlite3.INTERRUPT, "is not a readable journal: reading it would never end", "is not a readable journal: reading it would never end"},
		{errors.New("odd"), "odd", "odd"},
	} {
		for j, want := range map[*Journal]string{writer: c.writes, reader: c.reads} {
			if got := j.wrap(c.err); want == "" && got != c.err || want != "" && !strings.HasPrefix(got.Error(), path+": "+want) {
				t.Errorf("%v, writing %v: %v; want %s", c.err, j == writer, got, want)
			}
		}
	}
}

// A journal's connection cannot change the schema of its file, or run what the schema calls.
func TestDefensive(t *testing.T) {
	path := newPath(t)
	write(t, path, record(1))
	j := open(t, path)
	if j.writer.Exec("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = '' WHERE name = 'counts'") == nil {
		t.Error("the schema can be written")
	}
	var copies transfer
	must(t, copies.open(path, open2(t, path)))
	defer copies.close()
	for _, c := range []*sqlite3.Conn{j.writer, j.reader, copies.to} {
		for pragma, want := range map[string]string{"trusted_schema": "0", "cell_size_check": "1", "busy_timeout": "10000"} {
			if got, err := query(c, "PRAGMA "+pragma); err != nil || len(got) != 1 || got[0] != want {
				t.Errorf("%s is %q, %v", pragma, got, err)
			}
		}
	}
	// A commit survives a power cut.
	for _, c := range []*sqlite3.Conn{j.writer, copies.to} {
		for pragma, want := range map[string]string{"synchronous": "2", "journal_mode": "wal"} {
			if got, err := query(c, "PRAGMA "+pragma); err != nil || len(got) != 1 || got[0] != want {
				t.Errorf("%s is %q, %v", pragma, got, err)
			}
		}
	}
}

// A panic of SQLite's is an error.
func TestPanic(t *testing.T) {
	err := guard(func() error { panic("out of memory") })
	if err == nil || err.Error() != "SQLite gave up: out of memory" {
		t.Errorf("%v", err)
	}
}
