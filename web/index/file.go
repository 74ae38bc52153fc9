package index

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// layout is raised when the tables or their contents change.
const layout = 6

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
	c, err := sqlite3.OpenFlags(path, sqlite3.OPEN_READONLY)
	if err != nil {
		return 0, false
	}
	defer c.Close()
	const known = "SELECT value, (SELECT coalesce(sum(n), 0) FROM chunks) FROM meta WHERE name = 'stamp'"
	err = rows(c, known, nil, func(s *sqlite3.Stmt) { answers, ok = s.ColumnInt(1), s.ColumnText(0) == stamp })
	return answers, ok && err == nil
}

// pathIn is the path of a run's index in a cache.
func pathIn(cache, run string) string {
	whole, _ := filepath.Abs(run)
	sum := sha256.Sum256([]byte(cmp.Or(whole, run)))
	return filepath.Join(cache, hex.EncodeToString(sum[:12])+".db")
}

// create creates an unfinished index beside the path that it will have, in a cache that is made if there is none.
func create(whole string) (part string, err error) {
	cache := filepath.Dir(whole)
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return "", err
	}
	old, _ := filepath.Glob(filepath.Join(cache, "*.db*"))
	for _, path := range old {
		if info, err := os.Lstat(path); err == nil && time.Since(info.ModTime()) > unused {
			os.Remove(path)
		}
	}
	f, err := os.CreateTemp(cache, filepath.Base(whole)+".*.part")
	if err != nil {
		return "", err
	}
	return f.Name(), f.Close()
}

// unused is the time after which an index that was not opened, or not finished, is removed.
const unused = 60 * 24 * time.Hour

// remove removes an index with SQLite's files beside it.
func remove(path string) {
	for _, end := range []string{"", "-wal", "-shm", "-journal"} {
		os.Remove(path + end)
	}
}
