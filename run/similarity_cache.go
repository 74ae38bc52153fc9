package run

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"crosstalk/internal/plainfile"
	"crosstalk/measure/similarity"

	"github.com/ncruces/go-sqlite3"
)

// SimilarityCache is the run's similarity.db. It keeps vectors and scores that are slow to compute, so scoring again
// is fast. It can be deleted. Safe for concurrent use; the journal's lock excludes other processes.
type SimilarityCache struct {
	path     string
	mu       sync.Mutex
	conn     *sqlite3.Conn
	get, put *sqlite3.Stmt
}

var _ similarity.Cache = (*SimilarityCache)(nil)

// OpenSimilarityCache opens the directory's similarity.db, and creates it if needed. It refuses files that are not
// regular, and a database with more than the cache's table: a view could make a look-up endless.
func (d *Dir) OpenSimilarityCache() (*SimilarityCache, error) {
	k := &SimilarityCache{path: filepath.Join(d.Path, "similarity.db")}
	for _, end := range []string{"", "-wal", "-shm", "-journal"} { // SQLite's files next to it too
		if err := plainfile.Check(k.path + end); err != nil {
			return nil, err
		}
	}
	f, err := os.OpenFile(k.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		err = f.Close()
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	if err := k.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w (you can delete the file; it is only a cache)", k.path, err), k.Close())
	}
	return k, nil
}

func (k *SimilarityCache) open() (err error) {
	if k.conn, err = sqlite3.Open(k.path); err != nil {
		return err
	}
	if err := k.conn.Exec("CREATE TABLE IF NOT EXISTS " + keptTable); err != nil {
		return err
	}
	others, _, err := k.conn.Prepare("SELECT name, sql FROM sqlite_schema")
	if err != nil {
		return err
	}
	defer others.Close()
	for others.Step() {
		if sql := others.ColumnText(1); sql != "CREATE TABLE "+keptTable {
			return fmt.Errorf("is not a similarity cache: has %q", others.ColumnText(0))
		}
	}
	if err := others.Err(); err != nil {
		return err
	}
	// Values lost in a power cut are computed again.
	if err := k.conn.Exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF"); err != nil {
		return err
	}
	if k.get, _, err = k.conn.Prepare("SELECT value FROM kept WHERE key = ?"); err != nil {
		return err
	}
	k.put, _, err = k.conn.Prepare("INSERT OR REPLACE INTO kept (key, value) VALUES (?, ?)")
	return err
}

const keptTable = "kept (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID"

// Get implements similarity.Cache.
func (k *SimilarityCache) Get(key similarity.Key) (value []byte, found bool, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	defer k.get.Reset()
	if err = k.get.BindBlob(1, key[:]); err == nil && k.get.Step() {
		return k.get.ColumnBlob(0, nil), true, nil
	}
	return nil, false, cmp.Or(err, k.get.Err())
}

// Put implements similarity.Cache: it stores all values or none.
func (k *SimilarityCache) Put(values map[similarity.Key][]byte) (err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", k.path, err)
		}
	}()
	txn, err := k.conn.BeginImmediate()
	if err != nil {
		return err
	}
	defer txn.End(&err)
	for key, value := range values {
		if err := errors.Join(k.put.BindBlob(1, key[:]), k.put.BindBlob(2, value)); err != nil {
			return err
		}
		if err := k.put.Exec(); err != nil {
			return err
		}
	}
	return nil
}

func (k *SimilarityCache) Close() error {
	return errors.Join(k.get.Close(), k.put.Close(), k.conn.Close())
}
