package journal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"crosstalk"

	"github.com/google/go-cmp/cmp"
	"github.com/ncruces/go-sqlite3"
)

// withMigrations puts others in the place of the numbered migrations.
func withMigrations(t *testing.T, m []string) {
	old := migrations
	migrations = m
	t.Cleanup(func() { migrations = old })
}

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
	execute(t, path, fmt.Sprintf("ALTER TABLE asks RENAME COLUMN text TO words; PRAGMA user_version = %d", len(migrations)+1))
	before, _ := os.ReadFile(path)
	want := path + ": was written by a newer crosstalk (journal version 6, this one reads up to 5): update crosstalk, or use another --out"
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

// version1 writes records into a journal as the first version of the schema had
// them.
func version1(t *testing.T, path string, records ...Record) {
	t.Helper()
	execute(t, path, migrations[0]+"; PRAGMA user_version = 1; PRAGMA journal_mode = WAL")
	c, err := sqlite3.Open("file:" + path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s, _, err := c.Prepare("INSERT INTO asks VALUES (?" + strings.Repeat(", ?", 16) + ")")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		for i, v := range values(r)[:17] {
			if err := v.bind(s, i); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Exec(); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
}

// thoughtful is a record with what version 2 has.
func thoughtful(i int) Record {
	r := record(i)
	r.Answer.Reasoning, r.Answer.Finish, r.Answer.Missing, r.Answer.Raw = "I think", crosstalk.FinishLength, []string{"seed"}, []byte("{}")
	return r
}

// A journal of version 1 is read as it is, brought up to date for writing, and
// keeps its answers.
func TestVersion1(t *testing.T) {
	path := newPath(t)
	version1(t, path, record(1), record(2))
	check := func(j *Journal, want ...Record) {
		t.Helper()
		var got []Record
		for r, err := range j.All() {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, r)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if r, found, err := j.Record(want[0].Answer.Key); err != nil || !found || r.Answer.Text != want[0].Answer.Text {
			t.Errorf("%+v, %v, %v", r, found, err)
		}
		if latest, err := j.Latest(1); err != nil || latest[0].Answer.Text != want[len(want)-1].Answer.Text {
			t.Errorf("%+v, %v", latest, err)
		}
	}
	reader, err := OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	check(reader, record(1), record(2))
	j := open(t, path)
	if have, err := admit(j.writer); have != 5 || err != nil {
		t.Errorf("version %d, %v", have, err)
	}
	putAll(t, j, thoughtful(3))
	check(j, record(1), record(2), thoughtful(3))
	check(open2(t, path), record(1), record(2), thoughtful(3))
	checkCounts(t, j)
	// Who opened it before goes on reading, without what is new.
	old := thoughtful(3)
	old.Answer.Reasoning, old.Answer.Finish, old.Answer.Missing = "", "", nil
	check(reader, record(1), record(2), old)
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

// A migration is whole or not made at all, over several versions, too.
func TestMigrations(t *testing.T) {
	path := newPath(t)
	write(t, path, record(1), record(2))
	broken := "CREATE INDEX a ON asks (text); CREATE INDEX a ON asks (text)"
	withMigrations(t, append(slices.Clone(migrations), broken))
	oldest := newPath(t)
	version1(t, oldest, record(1))
	if _, err := Open(oldest); err == nil || !strings.Contains(err.Error(), "cannot be brought from journal version 1 to 6") {
		t.Errorf("%v", err)
	}
	if have, err := admit(open2(t, oldest).reader); have != 1 || err != nil {
		t.Errorf("version %d, %v", have, err)
	}
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "cannot be brought from journal version 5 to 6") {
		t.Errorf("%v", err)
	}
	withMigrations(t, migrations[:5])
	if got := texts(t, open(t, path)); len(got) != 2 { // which was not half made
		t.Errorf("%v", got)
	}
}

// A file that is no journal, or only a part of one, is an error that says so.
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
					if _, _, err := j.Get(r.Answer.Key); err != nil {
						return err
					}
				}
				for _, err := range j.All() {
					if err != nil {
						return err
					}
				}
				return nil
			}
			for name, open := range map[string]func(string) (*Journal, error){"Open": Open, "OpenReader": OpenReader} {
				if err := try(open(path)); err == nil || !strings.Contains(err.Error(), path+": is not a readable journal: move it away, or use another --out") {
					t.Errorf("%s: %v", name, err)
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
	if _, err := Open(missing); err == nil || !strings.Contains(err.Error(), missing) {
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

// A run that somebody archived read-only can be read.
func TestReadOnlyDirectory(t *testing.T) {
	path := newPath(t)
	write(t, path, record(1))
	for _, name := range []string{path, path + ".lock", filepath.Dir(path)} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		os.Chmod(name, info.Mode().Perm()&^0o222)
		t.Cleanup(func() { os.Chmod(name, 0o777) })
	}
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
}
