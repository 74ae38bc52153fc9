package index

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// layout is raised when the tables or their contents change.
const layout = 4

const schema = `
	CREATE TABLE meta (name TEXT PRIMARY KEY, value);
	CREATE TABLE chunks (
		chunk INTEGER PRIMARY KEY, -- from 0
		n     INTEGER NOT NULL,    -- answers
		lines BLOB NOT NULL,       -- where their observations are
		facts BLOB NOT NULL        -- what orders and compares them
	);
	CREATE TABLE sets (            -- answers that have a value of a column, or a word (of the column '')
		chunk  INTEGER NOT NULL,
		kind   TEXT NOT NULL,
		value  TEXT NOT NULL,
		places BLOB NOT NULL,
		PRIMARY KEY (chunk, kind, value)
	) WITHOUT ROWID;
	CREATE TABLE facets (          -- how many answers have a value of a column
		kind  TEXT NOT NULL,
		value TEXT NOT NULL,
		n     INTEGER NOT NULL,
		PRIMARY KEY (kind, value)
	) WITHOUT ROWID;`

// current reports whether the file is a complete index of the observations with
// this stamp, and returns its number of answers.
func current(path, stamp string) (answers int, ok bool) {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return 0, false
	}
	for _, end := range beside { // a whole index is one file; SQLite would open these
		if _, err := os.Lstat(path + end); !errors.Is(err, fs.ErrNotExist) {
			return 0, false
		}
	}
	c, err := sqlite3.OpenFlags(path, sqlite3.OPEN_READONLY)
	if err != nil {
		return 0, false
	}
	defer c.Close()
	if !ours(c) {
		return 0, false
	}
	have, err := blob(c, "SELECT value FROM meta WHERE name = 'stamp'")
	if err != nil || string(have) != stamp {
		return 0, false
	}
	s, _, err := c.Prepare("SELECT coalesce(sum(n), 0) FROM chunks")
	if err != nil {
		return 0, false
	}
	defer s.Close()
	ok = s.Step()
	return s.ColumnInt(0), ok
}

// ours reports whether a database has the tables of an index and nothing else: a
// view in their place could make a query endless.
func ours(c *sqlite3.Conn) bool {
	var tables []string
	for sql := range strings.SplitSeq(schema, ";") {
		if sql = strings.TrimSpace(sql); sql != "" {
			tables = append(tables, sql)
		}
	}
	s, _, err := c.Prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid")
	if err != nil {
		return false
	}
	defer s.Close()
	for s.Step() {
		if len(tables) == 0 || s.ColumnText(0) != tables[0] {
			return false
		}
		tables = tables[1:]
	}
	return s.Err() == nil && len(tables) == 0
}

// cacheName is the name of a run's index outside of the run.
func cacheName(run string) string {
	if whole, err := filepath.Abs(run); err == nil {
		run = whole
	}
	sum := sha256.Sum256([]byte(run))
	return hex.EncodeToString(sum[:12]) + ".db"
}

// create creates an unfinished index in the first of these places that is writable.
func create(places []string) (part, whole string, err error) {
	for i, place := range places {
		if i > 0 {
			err = errors.Join(err, os.MkdirAll(filepath.Dir(place), 0o700))
		}
		f, failed := os.CreateTemp(filepath.Dir(place), filepath.Base(place)+".*.part")
		if failed == nil {
			sweep(place)
			return f.Name(), place, f.Close()
		}
		err = errors.Join(err, failed)
	}
	return "", "", fmt.Errorf("cannot write an index of the answers: %w", err)
}

// sweep removes unfinished indexes of killed processes.
func sweep(place string) {
	left, _ := filepath.Glob(place + ".*.part")
	for _, path := range left {
		if info, err := os.Lstat(path); err == nil && time.Since(info.ModTime()) > 24*time.Hour {
			remove(path)
		}
	}
}

// remove removes an index with SQLite's files beside it.
func remove(path string) {
	os.Remove(path)
	removeBeside(path)
}

// beside are the endings of files that SQLite opens beside a database.
var beside = []string{"-wal", "-shm", "-journal"}

// removeBeside removes SQLite's files beside a database, and files with their names.
func removeBeside(path string) (err error) {
	for _, end := range beside {
		if failed := os.Remove(path + end); !errors.Is(failed, fs.ErrNotExist) {
			err = errors.Join(err, failed)
		}
	}
	return err
}

// seal signs a stamp with a key of this user. A run from somebody else may include
// an index with false figures: an index that was not made here is not used.
func seal(cache, stamp string) string {
	mac := hmac.New(sha256.New, keyIn(cache))
	mac.Write([]byte(stamp))
	return hex.EncodeToString(mac.Sum(nil))
}

var (
	keyLock sync.Mutex
	keys    = map[string][]byte{} // by directory; of this process where none can be kept
)

// keyIn returns the key in a directory, and creates it if there is none.
func keyIn(cache string) []byte {
	keyLock.Lock()
	defer keyLock.Unlock()
	if key := keys[cache]; key != nil {
		return key
	}
	path := filepath.Join(cache, "key")
	key, err := os.ReadFile(path)
	if err != nil || len(key) != sha256.Size {
		key = make([]byte, sha256.Size)
		rand.Read(key)
		if os.MkdirAll(cache, 0o700) == nil {
			os.WriteFile(path, key, 0o600) // if it cannot be kept, indexes are made anew next time
		}
	}
	keys[cache] = key
	return key
}
