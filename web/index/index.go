// Package index is a search index of a run's observations: its answers, their lines in observations.jsonl, and which
// answers have a column's value or a word. It is an SQLite file in the user's cache, never in the run, which may come
// from somebody else. It can be deleted, and is rebuilt when the observations change.
//
// Answers are numbered from 1 in the order of the observations and grouped in chunks. For each value of a column, and
// each word, a chunk has the set of its answers; a search intersects sets, chunk by chunk, from where the last page
// ended. So every page takes the same time, and a chunk can be searched as soon as it is written.
//
// SQLite's FTS5 could do most of this: one contentless table without positions, with lists for prefixes of up to three
// letters, and columns as tokens. It was measured against these sets with bench/browse on a million answers and two
// busy cores, and was slower where it matters. Building took 86 CPU seconds instead of 59, for a file of 156 MB instead
// of 152 MB. Prefixes of four letters or more have no list, so FTS5 merges all their words before it returns the first
// answer: a page for "w123" took 267 ms instead of 10 ms (median, n = 20), and the query alone for a word in all
// answers 365 ms or more, while the page takes 15 ms here. Whole words were fast, but languages that inflect or join
// words (Korean, Turkish, German) need prefixes. It saved 75 lines.
package index

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"crosstalk"
	"crosstalk/internal/plainfile"

	"github.com/ncruces/go-sqlite3"
)

// Sizes and limits of indexes.
const (
	layout         = 6                   // raised when the tables or their contents change
	chunkSize      = 16384               // answers in a chunk
	batchSize      = 512                 // observations analysed together
	mostOfAnItem   = 20_000              // observations searched for others of the same answer
	mostValues     = 200                 // of a column that is offered as a filter
	mostConditions = 1000                // conditions kept; all others count as one more
	longestLine    = 256 << 20           // bytes in an observation
	longestText    = 1 << 20             // searchable bytes in each text of an observation
	longestWord    = 32                  // bytes that distinguish words
	longestValue   = 120                 // bytes in a column's value
	factSize       = 8 + 1 + 4 + 4 + 2   // bytes in a packed fact
	unused         = 60 * 24 * time.Hour // an index neither opened nor finished for so long is removed
)

// Index is the index of one run's observations. It is safe for concurrent use.
type Index struct {
	dir, stamp   string
	observations *os.File
	size         int64
	stop         context.CancelFunc
	built        chan struct{} // closed when building has ended

	mu    sync.RWMutex // held for writing while the file is moved
	path  string       // of the file being read
	conns chan *sqlite3.Conn

	state        sync.Mutex
	now          State
	lines        []answer // of the last chunk requested
	linesOfChunk int
}

// State is the progress of building an index.
type State struct {
	Answers  int   // searchable answers
	Read     int64 // bytes of observations read
	Size     int64 // bytes of all observations
	Building bool  // Answers is incomplete
	Err      error // why building ended early
}

// Open returns the index of the observations in a run's directory. If none is up to date, it starts to build one in the
// directory cache; the finished part can be used meanwhile. The error is fs.ErrNotExist if there are no observations
// yet. Building ends with an error if the observations are not those that the run recorded. book is called with every
// observation while building, and at the end for the data to store with the index.
func Open(dir, cache string, book Book) (*Index, error) {
	stamp := stampOf(dir)
	f, err := plainfile.Open(filepath.Join(dir, "observations.jsonl"))
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	x := &Index{dir: dir, stamp: stamp, observations: f, size: info.Size(), built: make(chan struct{}),
		conns: make(chan *sqlite3.Conn, 4), stop: func() {}}
	path := pathIn(cache, dir)
	if n, ok := current(path, stamp); ok {
		os.Chtimes(path, time.Time{}, time.Now()) // marks it as used
		x.path, x.now = path, State{Answers: n, Read: x.size, Size: x.size}
		close(x.built)
		return x, nil
	}
	b, err := newBuilder(path, stamp)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	x.path, x.now = b.part, State{Size: x.size, Building: true}
	ctx, cancel := context.WithCancel(context.Background())
	x.stop = cancel
	go x.build(ctx, b, book)
	return x, nil
}

// Book collects data from all observations to store with the index.
type Book interface {
	Add(crosstalk.Observation)
	Pages() ([]byte, error)
}

// Fresh reports whether the observations are unchanged since they were indexed.
func (x *Index) Fresh() bool { return stampOf(x.dir) == x.stamp }

// stampOf identifies the state of a run's observations and figures.
func stampOf(dir string) string {
	stamp := fmt.Sprintf("%d %s", layout, crosstalk.Version)
	for _, name := range []string{"observations.jsonl", "estimates.json"} {
		if info, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			stamp += fmt.Sprintf(" %d %d", info.Size(), info.ModTime().UnixNano())
		}
	}
	return stamp
}

// Progress returns the progress of building the index.
func (x *Index) Progress() State {
	x.state.Lock()
	defer x.state.Unlock()
	return x.now
}

func (x *Index) progress(change func(*State)) {
	x.state.Lock()
	defer x.state.Unlock()
	change(&x.now)
}

// Wait waits until the index is built, or ctx ends.
func (x *Index) Wait(ctx context.Context) error {
	select {
	case <-x.built:
		return x.Progress().Err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close stops building and closes the files.
func (x *Index) Close() error {
	x.stop()
	<-x.built
	x.mu.Lock()
	defer x.mu.Unlock()
	err := x.drain()
	if x.Progress().Err != nil {
		remove(x.path)
	}
	return errors.Join(err, x.observations.Close())
}

// drain closes idle connections.
func (x *Index) drain() (err error) {
	for {
		select {
		case c := <-x.conns:
			err = errors.Join(err, c.Close())
		default:
			return err
		}
	}
}

// read calls f with a read-only connection, and interrupts it when ctx ends.
func (x *Index) read(ctx context.Context, f func(*sqlite3.Conn) error) (err error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	var c *sqlite3.Conn
	select {
	case c = <-x.conns:
	default:
		if c, err = sqlite3.OpenFlags(x.path, sqlite3.OPEN_READONLY); err != nil {
			return err
		}
		if err := errors.Join(c.BusyTimeout(5*time.Second), c.Exec("PRAGMA query_only = ON; BEGIN; COMMIT")); err != nil {
			return errors.Join(err, c.Close())
		}
	}
	old := c.SetInterrupt(ctx)
	err = f(c)
	c.SetInterrupt(old)
	if ctx.Err() != nil {
		err = errors.Join(ctx.Err(), err)
	}
	if err == nil {
		select {
		case x.conns <- c:
			return nil
		default:
		}
	}
	return errors.Join(err, c.Close())
}

// Pages returns the data of Book, nil while the index is being built.
func (x *Index) Pages(ctx context.Context) ([]byte, error) { return x.meta(ctx, "pages") }

// Conditions returns the conditions of the answers, without the columns within an answer; nil while the index is being
// built.
func (x *Index) Conditions(ctx context.Context) (list []map[string]string, err error) {
	text, err := x.meta(ctx, "conditions")
	if err == nil && text != nil {
		err = json.Unmarshal(text, &list)
	}
	return list, err
}

// meta returns the index's data with this name, nil while the index is being built.
func (x *Index) meta(ctx context.Context, name string) (value []byte, err error) {
	err = x.read(ctx, func(c *sqlite3.Conn) (err error) {
		value, err = blob(c, "SELECT value FROM meta WHERE name = ?", name)
		return err
	})
	return value, err
}

// blob returns the only value of a query with these parameters, nil if there is none.
func blob(c *sqlite3.Conn, query string, parameters ...any) (value []byte, err error) {
	err = rows(c, query, parameters, func(s *sqlite3.Stmt) { value = s.ColumnBlob(0, nil) })
	return value, err
}

// rows calls f with each row of a query with these parameters.
func rows(c *sqlite3.Conn, query string, parameters []any, f func(*sqlite3.Stmt)) error {
	s, _, err := c.Prepare(query)
	if err != nil {
		return err
	}
	err = step(s, parameters, func() error { f(s); return nil })
	return errors.Join(err, s.Close())
}

// step calls f with each row of a statement with these parameters: numbers, texts and blobs.
func step(s *sqlite3.Stmt, parameters []any, f func() error) (err error) {
	defer s.Reset()
	for i, v := range parameters {
		switch v := v.(type) {
		case int:
			err = errors.Join(err, s.BindInt(i+1, v))
		case string:
			err = errors.Join(err, s.BindText(i+1, v))
		case []byte:
			err = errors.Join(err, s.BindBlob(i+1, v))
		}
	}
	for err == nil && s.Step() {
		err = f()
	}
	return errors.Join(err, s.Err())
}

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

func pathIn(cache, run string) string {
	whole, _ := filepath.Abs(run)
	sum := sha256.Sum256([]byte(cmp.Or(whole, run)))
	return filepath.Join(cache, hex.EncodeToString(sum[:12])+".db")
}

// create creates an unfinished index next to its final path. It makes the cache if there is none.
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

// remove removes an index with SQLite's files next to it.
func remove(path string) {
	for _, end := range []string{"", "-wal", "-shm", "-journal"} {
		os.Remove(path + end)
	}
}
