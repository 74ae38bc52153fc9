package run

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"crosstalk/measure/similarity"

	"github.com/ncruces/go-sqlite3"
)

// SimilarityCache is the run's similarity.db: vectors and scores that are slow to
// compute, so that scoring again is fast. It can be deleted. Safe for concurrent
// use; the journal's lock excludes other processes.
type SimilarityCache struct {
	path     string
	mu       sync.Mutex
	conn     *sqlite3.Conn
	get, put *sqlite3.Stmt
}

var _ similarity.Cache = (*SimilarityCache)(nil)

// OpenSimilarityCache opens the directory's similarity.db, and creates it if
// necessary.
func (d *Dir) OpenSimilarityCache() (*SimilarityCache, error) {
	k := &SimilarityCache{path: filepath.Join(d.Path, "similarity.db")}
	if err := k.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w (you can delete the file; it is only a cache)", k.path, err), k.Close())
	}
	return k, nil
}

func (k *SimilarityCache) open() (err error) {
	if k.conn, err = sqlite3.Open(k.path); err != nil {
		return err
	}
	// Values lost in a power failure are computed again.
	err = k.conn.Exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;
		CREATE TABLE IF NOT EXISTS kept (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID`)
	if err != nil {
		return err
	}
	if k.get, _, err = k.conn.Prepare("SELECT value FROM kept WHERE key = ?"); err != nil {
		return err
	}
	k.put, _, err = k.conn.Prepare("INSERT OR REPLACE INTO kept (key, value) VALUES (?, ?)")
	return err
}

// Get implements similarity.Cache.
func (k *SimilarityCache) Get(key similarity.Key) (value []byte, found bool, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	defer k.get.Reset()
	if err := k.get.BindBlob(1, key[:]); err != nil {
		return nil, false, err
	}
	if !k.get.Step() {
		return nil, false, k.get.Err()
	}
	return k.get.ColumnBlob(0, nil), true, nil
}

// Put implements similarity.Cache: all of values, or none.
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

// Close closes the file.
func (k *SimilarityCache) Close() error {
	return errors.Join(k.get.Close(), k.put.Close(), k.conn.Close())
}
