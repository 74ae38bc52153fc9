package journal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"crosstalk"

	"github.com/ncruces/go-sqlite3"
)

func execute(t *testing.T, path, sql string) {
	t.Helper()
	if err := tryExecute(path, sql); err != nil {
		t.Fatal(err)
	}
}

func tryExecute(path, sql string) error {
	c, err := sqlite3.Open("file:" + path)
	if err != nil {
		return err
	}
	return errors.Join(c.Exec(sql), c.Close())
}

func write(t *testing.T, path string, records ...Record) {
	t.Helper()
	j, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	putAll(t, j, records...)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestNewerVersionIsRefused(t *testing.T) {
	path := newPath(t)
	write(t, path, record(1))
	// A newer schema may not hold the columns that this one asks for.
	execute(t, path, fmt.Sprintf("ALTER TABLE asks RENAME COLUMN text TO words; PRAGMA user_version = %d", version+1))
	before, _ := os.ReadFile(path)
	want := path + ": was written by a newer crosstalk (journal version 6, this one reads 5): update crosstalk, or use another --out"
	if _, err := Open(path); err == nil || err.Error() != want {
		t.Errorf("Open: %v", err)
	}
	if _, err := OpenReader(path); err == nil || err.Error() != want {
		t.Errorf("OpenReader: %v", err)
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Error("the file was changed")
	}
}

// A journal of a version that was never released is refused, and so is one with its number and these tables.
func TestOlderVersionIsRefused(t *testing.T) {
	for _, sql := range []string{"PRAGMA user_version = 4", "DROP TABLE counts; PRAGMA user_version = 1"} {
		path := newPath(t)
		write(t, path, record(1))
		execute(t, path, sql)
		before, _ := os.ReadFile(path)
		for _, open := range []func(string) (*Journal, error){Open, OpenReader} {
			if _, err := open(path); err == nil || !strings.HasPrefix(err.Error(), path+": was written by crosstalk before its first "+
				"release (journal version ") {
				t.Error(err)
			}
		}
		if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
			t.Error("the file was changed")
		}
	}
}

// Journals whose table of asks was made in steps have the same columns, without NOT NULL for the checksum.
func TestTableMadeInSteps(t *testing.T) {
	path := newPath(t)
	asks, rest, _ := strings.Cut(schema, ", reasoning TEXT NOT NULL,")
	_, rest, _ = strings.Cut(rest, ");")
	asks += "); "
	for _, column := range []string{"reasoning TEXT NOT NULL DEFAULT ''", "finish TEXT NOT NULL DEFAULT ''",
		"missing TEXT NOT NULL DEFAULT ''", "checksum BLOB"} {
		asks += "ALTER TABLE asks ADD COLUMN " + column + "; "
	}
	execute(t, path, fmt.Sprintf("%s%s; PRAGMA user_version = %d; PRAGMA journal_mode = WAL", asks, rest, version))
	write(t, path, thoughtful(1))
	write(t, path, record(2))
	if got := texts(t, open2(t, path)); len(got) != 2 {
		t.Errorf("%v", got)
	}
}

// thoughtful is a record with all that an answer may have.
func thoughtful(i int) Record {
	r := record(i)
	r.Answer.Reasoning, r.Answer.Finish, r.Answer.Missing, r.Answer.Raw = "I think", crosstalk.FinishLength, []string{"seed"}, []byte("{}")
	return r
}

func open2(t *testing.T, path string) *Journal {
	t.Helper()
	j, err := OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

// A file that is no journal, or only a part of one, is reported as an error.
func TestDamagedFile(t *testing.T) {
	path := newPath(t)
	var records []Record
	for i := range 200 {
		records = append(records, record(i))
	}
	write(t, path, records...)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	hole := bytes.Clone(good)
	copy(hole[len(hole)/4:], bytes.Repeat([]byte{0xa5}, len(hole)/2))
	for name, content := range map[string][]byte{
		"text":      bytes.Repeat([]byte("this is no journal\n"), 1000),
		"cut":       good[:len(good)/2],
		"cut short": good[:100],
		"hole":      hole,
		"header":    append([]byte("SQLite format 4\x00"), good[16:]...),
	} {
		t.Run(name, func(t *testing.T) {
			path := newPath(t)
			if err := os.WriteFile(path, content, 0o666); err != nil {
				t.Fatal(err)
			}
			try := func(j *Journal, err error) error {
				if err != nil {
					return err
				}
				defer j.Close()
				for _, r := range records {
					_, found, err := j.Get(r.Answer.Key)
					if err != nil {
						return err
					}
					if !found {
						t.Error("an answer in a damaged file is missing without an error")
					}
				}
				for _, err := range j.All() {
					if err != nil {
						return err
					}
				}
				return nil
			}
			for _, c := range []struct {
				open   func(string) (*Journal, error)
				advice string
			}{{Open, "move it away, or use another --out"}, {OpenReader, "put a copy of the file in its place, or move it away and ask again"}} {
				if err := try(c.open(path)); err == nil || !strings.Contains(err.Error(), path+": is not a readable journal: "+c.advice) {
					t.Errorf("%v; want advice to %s", err, c.advice)
				}
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(content, after) {
				t.Error("the file was changed")
			}
		})
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "none", "answers.db")
	if _, err := Open(missing); err == nil || !strings.HasPrefix(err.Error(), missing+": cannot be written: ") ||
		errors.Is(err, ErrLocked) {
		t.Errorf("%v", err)
	}
	if _, err := OpenReader(filepath.Join(dir, "answers.db")); !os.IsNotExist(err) {
		t.Errorf("%v", err)
	}
	if err := os.Mkdir(filepath.Join(dir, "answers.db"), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(filepath.Join(dir, "answers.db")); err == nil || !strings.Contains(err.Error(), "answers.db: ") {
		t.Errorf("%v", err)
	}
}

// A path is a path, not a URI.
func TestOddPaths(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"a?b#c %41 'd'", "file:x?mode=memory", ":memory:"} {
		if err := os.Mkdir(name, 0o777); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(name, "answers.db")
		write(t, path, record(1))
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
		if got := texts(t, open(t, path)); len(got) != 1 {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// asNobody takes from root, for the rest of the test, what other users may not do with files.
var asNobody = func(*testing.T) {}

// readOnly lets everybody read a journal and its directory, and nobody write them.
func readOnly(t *testing.T, path string) {
	t.Helper()
	list, err := filepath.Glob(path + "*")
	for _, name := range list {
		err = errors.Join(err, os.Chmod(name, 0o444))
	}
	dir := filepath.Dir(path)
	must(t, errors.Join(err, os.Chmod(dir, 0o555), os.Chmod(filepath.Dir(dir), 0o755)))
	t.Cleanup(func() { os.Chmod(dir, 0o777) })
}

// A run that somebody archived read-only can be read.
func TestReadOnlyDirectory(t *testing.T) {
	path := newPath(t)
	write(t, path, record(1))
	readOnly(t, path)
	asNobody(t)
	if f, err := os.Create(filepath.Join(filepath.Dir(path), "x")); err == nil {
		f.Close()
		t.Skip("this user may write anywhere")
	}
	j, err := OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if got := texts(t, j); len(got) != 1 {
		t.Errorf("%v", got)
	}
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "cannot") {
		t.Errorf("%v", err)
	}
	if left, err := filepath.Glob(path + "-*"); len(left) > 0 || err != nil {
		t.Errorf("%q, %v", left, err)
	}
}

// Where nothing can be written, what is in a log is read or is missed, and never left out without an error.
func TestReadOnlyLog(t *testing.T) {
	from, path := newPath(t), newPath(t)
	write(t, from, record(1))
	putAll(t, open(t, from), record(2))
	for _, suffix := range []string{"", "-wal"} {
		content, err := os.ReadFile(from + suffix)
		must(t, err, os.WriteFile(path+suffix, content, 0o600))
	}
	readOnly(t, path)
	asNobody(t)
	j, err := OpenReader(path)
	if err == nil {
		defer j.Close()
		if got := texts(t, j); len(got) != 2 {
			t.Errorf("%q", got)
		}
	} else if !strings.Contains(err.Error(), path+": cannot be read: check its permissions") {
		t.Error(err)
	}
}

// Whether something is in the log decides how a file is read where nothing can be written.
func TestLogs(t *testing.T) {
	path := newPath(t)
	for _, c := range []struct {
		log, header string
		hasLog, is  bool
	}{{"", "", false, false}, {"", "SQLite", false, false}, {"x", strings.Repeat("\x02", 20), true, true},
		{"x", strings.Repeat("\x02", 19) + "\x01", true, false}, {"x", strings.Repeat("\x02", 18) + "\x01\x02", true, false}} {
		err := os.WriteFile(path, []byte(c.header), 0o600)
		if err = errors.Join(err, os.WriteFile(path+"-wal", []byte(c.log), 0o600)); err != nil {
			t.Fatal(err)
		}
		is, err := isInLog(path)
		if hasLog(path) != c.hasLog || is != c.is || err != nil {
			t.Errorf("%+v: %v, %v, %v", c, hasLog(path), is, err)
		}
	}
	if err := errors.Join(os.Remove(path), os.Remove(path+"-wal")); err != nil {
		t.Fatal(err)
	}
	if _, err := isInLog(filepath.Dir(path)); err == nil {
		t.Error("a directory was read")
	}
	if _, err := isInLog(path); err == nil || makeBeside(path) == nil || hasLog(path) || !hasLog(path+"\x00") {
		t.Errorf("of no file: %v", err)
	}
}
