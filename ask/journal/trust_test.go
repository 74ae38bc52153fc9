package journal

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"crosstalk"
)

// A row that is not as it was written is an error that names it, and never an
// answer.
func TestChecksum(t *testing.T) {
	for column, change := range map[string]string{
		"text": "'other'", "request": "'{}'", "status": "'empty'", "raw": "NULL", "logprobs": "'[]'", "reasoning": "''",
		"prompt_tokens": "7", "attempts": "2", "answered_at": "0", "finish": "''", "missing": "''", "model": "'x'", "served_model": "'y'", "checksum": "zeroblob(16)",
	} {
		t.Run(column, func(t *testing.T) {
			path := newPath(t)
			write(t, path, thoughtful(1), thoughtful(2), thoughtful(3))
			execute(t, path, fmt.Sprintf("UPDATE asks SET %s = %s WHERE rowid = 2", column, change))
			j := open2(t, path)
			key := thoughtful(2).Answer.Key
			check := func(err error) {
				t.Helper()
				var corrupt *DamageError
				if !errors.As(err, &corrupt) || corrupt.Row != 2 || corrupt.Key != key || strings.Count(err.Error(), path) != 1 ||
					!strings.Contains(err.Error(), fmt.Sprintf("%s: row 2 (ask %s) is damaged", path, key)) {
					t.Errorf("%v", err)
				}
			}
			_, found, err := j.Get(key)
			if check(err); found {
				t.Error("it was found all the same")
			}
			_, err = j.Latest(3)
			check(err)
			n := 0
			for _, err = range j.All() {
				if n++; n == 2 {
					check(err)
				}
			}
			if n != 3 || err != nil {
				t.Errorf("%d rows, and in the end %v", n, err)
			}
			if a, found, err := j.Get(thoughtful(1).Answer.Key); !found || err != nil || a.Text != "answer 1" {
				t.Errorf("another row: %+v, %v, %v", a, found, err)
			}
		})
	}
}

// Each bit of a row's content counts.
func TestBitFlips(t *testing.T) {
	path := newPath(t)
	write(t, path, thoughtful(1))
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprint(thoughtful(1))
	at := bytes.Index(good, []byte("answer 1"))
	if at < 0 {
		t.Fatal("the text is not in the file")
	}
	for i := max(0, at-200); i < min(len(good), at+100); i++ {
		bad := bytes.Clone(good)
		bad[i] ^= 1 << (i % 8)
		path := newPath(t)
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		j, err := OpenReader(path)
		if err != nil {
			continue
		}
		for r, err := range j.All() {
			if err == nil && fmt.Sprint(r) != want {
				t.Errorf("byte %d: %v", i, r)
			}
		}
		j.Close()
	}
}

// What is an SQLite file and no journal is refused, by readers and writers, and
// not changed.
func TestNotAJournal(t *testing.T) {
	long := "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE i >= 0) SELECT i AS key FROM n WHERE i < 0"
	for name, c := range map[string]struct{ sql, says string }{
		"negative":       {"PRAGMA user_version = -1", "is not a journal of crosstalk: it has the version -1: move it away"},
		"no version":     {"PRAGMA user_version = 0", `it has no version, and a "table asks" in it`},
		"foreign":        {"DROP TABLE asks; DROP TABLE batches; DROP TABLE batch_asks; DROP TABLE counts; CREATE TABLE people (name); PRAGMA user_version = 0", `it has no version, and a "table people" in it`},
		"empty":          {"DROP TABLE asks", `it should have table asks, table batch_asks, table batches, table counts, and has ["table batch_asks" "table batches" "table counts"]`},
		"view":           {"DROP TABLE asks; CREATE VIEW asks AS " + long, `has ["view asks virtual" "table batch_asks" "table batches" "table counts"]`},
		"trigger":        {"CREATE TRIGGER t AFTER INSERT ON asks BEGIN DELETE FROM asks; END", `"trigger t virtual"`},
		"another":        {"CREATE TABLE b (x)", `"table b"`},
		"renamed":        {"ALTER TABLE asks RENAME COLUMN text TO words", "its table asks should have the columns key, "},
		"more":           {"ALTER TABLE asks ADD COLUMN more", "its table asks should have the columns key, "},
		"batches":        {"ALTER TABLE batches RENAME COLUMN tag TO label", "its table batches should have the columns number, provider"},
		"counts":         {"ALTER TABLE counts RENAME COLUMN asks TO n", "its table counts should have the columns model, status, asks, "},
		"generated":      {"ALTER TABLE asks DROP COLUMN checksum; ALTER TABLE asks ADD COLUMN checksum AS (text)", "checksum hidden"},
		"virtual":        {"DROP TABLE asks; CREATE VIRTUAL TABLE asks USING fts5(key)", "it should have table asks, table batch_asks, table batches, table counts, and has"},
		"more than fit":  {views(997), "is not a journal of crosstalk: it has more than 1000 objects"},
		"as many as fit": {views(996), "it should have table asks, table batch_asks, table batches, table counts, and has"},
	} {
		t.Run(name, func(t *testing.T) {
			path := newPath(t)
			write(t, path, record(1))
			if name == "virtual" {
				if err := tryExecute(path, c.sql); err != nil {
					t.Skip(err)
				}
			} else {
				execute(t, path, c.sql)
			}
			before, _ := os.ReadFile(path)
			for name, open := range map[string]func(string) (*Journal, error){"Open": Open, "OpenReader": OpenReader} {
				if _, err := open(path); err == nil || !strings.Contains(err.Error(), c.says) ||
					strings.Count(err.Error(), path) != 1 {
					t.Errorf("%s: %v", name, err)
				}
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
		})
	}
}

// views makes n views at once: each by a statement of its own would take seconds.
func views(n int) string {
	return fmt.Sprintf(`PRAGMA writable_schema = ON;
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < %d)
		INSERT INTO sqlite_schema SELECT 'view', 'v'||i, 'v'||i, 0, 'CREATE VIEW v'||i||' AS SELECT 1' FROM n`, n)
}

// A journal whose run was killed before it had a table has no answers.
func TestNothingInIt(t *testing.T) {
	path := newPath(t)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenReader(path); err == nil || err.Error() != path+": has no answers yet: run the command that made it again" {
		t.Errorf("%v", err)
	}
	putAll(t, open(t, path), record(1))
}

// Only regular files are opened; anything else is reported at once.
func TestOnlyRegularFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("has no such files")
	}
	elsewhere := newPath(t)
	write(t, elsewhere, record(1))
	for name, c := range map[string]struct {
		make func(string) error
		says string
	}{
		"pipe":      {makePipe, "a named pipe"},
		"link":      {func(path string) error { return os.Symlink(elsewhere, path) }, "a symbolic link"},
		"dangling":  {func(path string) error { return os.Symlink(elsewhere+".new", path) }, "a symbolic link"},
		"directory": {func(path string) error { return os.Mkdir(path, 0o777) }, "a directory"},
		"socket": {func(path string) error {
			l, err := net.Listen("unix", path)
			if err == nil {
				l.(*net.UnixListener).SetUnlinkOnClose(false)
				l.Close()
			}
			return err
		}, "a socket"},
	} {
		for _, suffix := range []string{"", "-wal", "-shm", "-journal", ".lock"} {
			t.Run(name+suffix, func(t *testing.T) {
				dir, err := os.MkdirTemp("", "j") // a socket's path is short
				if err != nil {
					t.Fatal(err)
				}
				defer os.RemoveAll(dir)
				path := filepath.Join(dir, "answers.db")
				if suffix != "" {
					write(t, path, record(1))
					os.Remove(path + suffix)
				}
				if err := c.make(path + suffix); err != nil {
					t.Skip(err)
				}
				for opener, open := range map[string]func(string) (*Journal, error){"Open": Open, "OpenReader": OpenReader} {
					_, err := open(path)
					if name == "dangling" && suffix == "" && opener == "OpenReader" && os.IsNotExist(err) {
						continue
					}
					if err == nil || err.Error() != fmt.Sprintf("%s%s: is %s; expected a regular file: move it away, or use another --out", path, suffix, c.says) {
						t.Errorf("%s: %v", opener, err)
					}
				}
			})
		}
	}
	if _, err := os.Stat(elsewhere + ".new"); err == nil {
		t.Error("a link's target was made")
	}
	// The directory may be a link: that is the user's own.
	dir := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(filepath.Dir(elsewhere), dir); err != nil {
		t.Fatal(err)
	}
	if got := texts(t, open(t, filepath.Join(dir, "answers.db"))); len(got) != 1 {
		t.Errorf("%v", got)
	}
}

// A journal that is deleted, moved or replaced during a run ends it at the next
// answer.
func TestGone(t *testing.T) {
	for name, remove := range map[string]func(path string) error{
		"file":      os.Remove,
		"log":       func(path string) error { return os.Remove(path + "-wal") },
		"lock":      func(path string) error { return os.Remove(path + ".lock") },
		"directory": func(path string) error { return os.RemoveAll(filepath.Dir(path)) },
		"moved":     func(path string) error { return os.Rename(filepath.Dir(path), filepath.Dir(path)+"-old") },
		"replaced": func(path string) error {
			content, err := os.ReadFile(path)
			return errors.Join(err, os.Remove(path), os.WriteFile(path, content, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "run", "answers.db")
			if err := os.Mkdir(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			j, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer j.Close()
			putAll(t, j, record(1))
			if err := remove(path); err != nil {
				t.Skip(err)
			}
			for i := range 3 {
				err := j.Put(record(2 + i))
				if !errors.Is(err, ErrGone) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "was deleted or replaced during the run") {
					t.Errorf("%v", err)
				}
			}
		})
	}
}

// Prompts and answers are for nobody else.
func TestPermissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("has no such permissions")
	}
	path := newPath(t)
	j := open(t, path)
	putAll(t, j, record(1))
	for _, suffix := range []string{"", "-wal", ".lock"} {
		info, err := os.Stat(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("answers.db%s: %v", suffix, info.Mode())
		}
	}
}

// An answer that is too large is refused; those that came with it are saved.
func TestLargeAnswers(t *testing.T) {
	j := open(t, newPath(t))
	big := func(i, n int) Record {
		r := record(i)
		r.Answer.Raw = bytes.Repeat([]byte("x"), n)
		return r
	}
	errs := make(chan error, 20)
	for i := range 10 {
		go func() { errs <- j.Put(big(i, 9<<20)) }()
		go func() { errs <- j.Put(record(100 + i)) }()
	}
	for range 20 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if err := j.Put(big(50, 30<<20)); err == nil || !strings.Contains(err.Error(), "has 30 MB; at most 24 MB can be kept") {
		t.Errorf("%v", err)
	}
	exact := largest - size(record(51))
	if j.Put(big(51, exact+1)) == nil {
		t.Error("an answer was kept that is a byte too large")
	}
	putAll(t, j, record(200), big(51, exact))
	for i := range 10 {
		if a, _, err := j.Get(big(i, 0).Answer.Key); err != nil || len(a.Raw) != 9<<20 {
			t.Errorf("%d bytes, %v", len(a.Raw), err)
		}
	}
}

// Whatever is in the file, it is read or refused, and soon.
func FuzzOpen(f *testing.F) {
	path := filepath.Join(f.TempDir(), "answers.db")
	j, err := Open(path)
	if err != nil {
		f.Fatal(err)
	}
	for i := range 30 {
		if err := j.Put(thoughtful(i)); err != nil {
			f.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		f.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good, 0, byte(0))
	f.Add(good[:5000], 100, byte(1))
	for i := 0; i < len(good); i += len(good) / 50 {
		f.Add(good, i, byte(255))
	}
	f.Add([]byte("SQLite format 3\x00"), 0, byte(0))
	f.Fuzz(func(t *testing.T, content []byte, at int, flip byte) {
		if len(content) > 0 {
			content = bytes.Clone(content)
			content[uint(at)%uint(len(content))] ^= flip
		}
		dir := t.TempDir()
		for name, open := range map[string]func(string) (*Journal, error){"Open": Open, "OpenReader": OpenReader} {
			path := filepath.Join(dir, name+".db")
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			j, err := open(path)
			if err != nil {
				if !strings.Contains(err.Error(), path) {
					t.Errorf("%s: %v", name, err)
				}
				continue
			}
			for r, err := range j.All() {
				if err == nil && r.Answer.Key == (crosstalk.Key{}) {
					t.Error("a record without a key")
				}
			}
			j.Get(thoughtful(3).Answer.Key)
			j.Latest(3)
			j.Progress()
			if name == "Open" {
				j.Put(thoughtful(1000))
			}
			j.Close()
			if took := time.Since(start); took > 5*time.Minute { // it would not end
				t.Errorf("%s took %v", name, took)
			}
		}
	})
}

// Journals of earlier runs stay readable: the checksum of a row does not change.
func TestChecksumOfEarlierRuns(t *testing.T) {
	if got := fmt.Sprintf("%x", checksum(values(thoughtful(1)))); got != "2503dd65a58c3e1c46fb7fd852413169" {
		t.Errorf("the checksum is %s", got)
	}
}

// A column that has its checksum and is no JSON is an error that names it: another program wrote it.
func TestForgedColumn(t *testing.T) {
	path := newPath(t)
	r := thoughtful(1)
	write(t, path, r)
	row := values(r)
	for i, c := range layout {
		if c.name == "logprobs" {
			row[i].bytes = []byte("{")
		}
	}
	execute(t, path, fmt.Sprintf("UPDATE asks SET logprobs = '{', checksum = x'%x'", checksum(row)))
	_, _, err := open2(t, path).Get(r.Answer.Key)
	var corrupt *DamageError
	if !errors.As(err, &corrupt) || corrupt.Row != 1 || !strings.Contains(err.Error(), "its logprobs is not JSON: ") {
		t.Errorf("%v", err)
	}
}

// The next answer to an ask replaces a row that could not be read, and the counts are right again. A row that is there
// and intact stays.
func TestDamageIsMended(t *testing.T) {
	for column, change := range map[string]string{"text": "'forged'", "status": "'odd'", "model": "'odd'", "prompt_tokens": "10000"} {
		path := newPath(t)
		write(t, path, thoughtful(1), thoughtful(2), thoughtful(3))
		j := open(t, path)
		want, err := j.Progress()
		if err != nil || j.Close() != nil {
			t.Fatal(err)
		}
		execute(t, path, fmt.Sprintf("UPDATE asks SET %s = %s WHERE rowid = 2", column, change))
		j = open(t, path)
		if _, _, err := j.Get(thoughtful(2).Answer.Key); !errors.As(err, new(*DamageError)) {
			t.Fatal(err)
		}
		other := thoughtful(3)
		other.Answer.Text = "later"
		putAll(t, j, other, thoughtful(2))
		for i := 1; i <= 3; i++ {
			r, found, err := j.Record(thoughtful(i).Answer.Key)
			if !found || err != nil || !reflect.DeepEqual(r, thoughtful(i)) {
				t.Errorf("%s: %+v, %v, %v", column, r, found, err)
			}
		}
		got, err := j.Progress()
		got.Last, want.Last, got.Rate, want.Rate = time.Time{}, time.Time{}, 0, 0
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v; want %+v", column, got, err, want)
		}
	}
}

// A journal with fewer rows than were saved says so after those that it has.
func TestMissingRows(t *testing.T) {
	for lost, want := range map[string]int{"rowid = 2": 2, "true": 0} {
		path := newPath(t)
		write(t, path, record(1), record(2), record(3))
		execute(t, path, "DELETE FROM asks WHERE "+lost)
		n := 0
		var missing *MissingError
		for _, err := range open2(t, path).All() {
			if err == nil {
				n++
			} else if !errors.As(err, &missing) {
				t.Error(err)
			}
		}
		if n != want || missing == nil || missing.Have != want || missing.Want != 3 {
			t.Errorf("%s: %d rows, %+v", lost, n, missing)
		}
	}
}
