package web

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"crosstalk"
	"crosstalk/run"
	"crosstalk/run/watch"
)

// runEntry is a run in the listing.
type runEntry struct {
	ID       string // used in URLs
	Name     string // its path below the directory
	path     string
	Manifest run.Manifest
	Changed  time.Time // last change of its manifest or figures

	Estimates []crosstalk.Estimate
	Trouble   string // why its figures cannot be read
	finished  bool
	stamp     [2]fileStamp
}

// manifestText is the manifest as it is written.
func (r *runEntry) manifestText() ([]byte, error) { return run.ManifestText(r.path) }

// fileStamp identifies a version of a file.
type fileStamp struct {
	size int64
	time time.Time
}

func stampOf(path string) (s fileStamp) {
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
		s = fileStamp{info.Size(), info.ModTime()}
	}
	return s
}

// listing finds the runs below a directory.
type listing struct {
	dir string

	mu   sync.Mutex
	when time.Time
	runs map[string]*runEntry // by id
}

// listingAge is the age after which the listing is read again.
const listingAge = time.Second

// mostRuns is the maximum number of runs in the listing.
const mostRuns = 5000

// all returns the runs, most recently changed first.
func (l *listing) all() ([]*runEntry, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.refresh(); err != nil {
		return nil, err
	}
	runs := slices.Collect(maps.Values(l.runs))
	slices.SortFunc(runs, func(a, b *runEntry) int {
		return cmp.Or(b.Changed.Compare(a.Changed), strings.Compare(a.Name, b.Name))
	})
	return runs, nil
}

// run returns the run with this id.
func (l *listing) run(id string) (*runEntry, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.refresh(); err != nil {
		return nil, err
	}
	if r, ok := l.runs[id]; ok {
		return r, nil
	}
	return nil, errNothing
}

func (l *listing) refresh() error {
	if time.Since(l.when) < listingAge {
		return nil
	}
	found := map[string]*runEntry{}
	err := watch.Find(l.dir, false, func(path string) bool {
		name, err := filepath.Rel(l.dir, path)
		if err != nil {
			return true
		}
		if r := l.read(path, name); r != nil {
			found[r.ID] = r
		}
		return len(found) < mostRuns
	})
	if errors.Is(err, fs.ErrNotExist) { // it may come to exist
		err = nil
	}
	if err == nil {
		l.runs, l.when = found, time.Now()
	}
	return err
}

// read returns the run in a directory, or nil if it cannot be read.
func (l *listing) read(path, name string) *runEntry {
	stamp := [2]fileStamp{stampOf(filepath.Join(path, "manifest.json")), stampOf(filepath.Join(path, "estimates.json"))}
	id := idOf(name)
	if known, ok := l.runs[id]; ok && known.stamp == stamp {
		return known
	}
	m, err := run.ReadManifest(path)
	if err != nil {
		return nil
	}
	if name == "." {
		whole, err := filepath.Abs(path)
		if err == nil {
			name = filepath.Base(whole)
		}
	}
	r := &runEntry{ID: id, Name: filepath.ToSlash(name), path: path, Manifest: m, Changed: stamp[0].time, stamp: stamp}
	if r.finished = stamp[1] != (fileStamp{}); r.finished {
		if stamp[1].time.After(r.Changed) {
			r.Changed = stamp[1].time
		}
		if r.Estimates, err = run.ReadEstimates(path); err != nil {
			r.Trouble = strings.ReplaceAll(err.Error(), path, name)
		}
	}
	return r
}

// idOf is the id of a run in URLs.
func idOf(name string) string {
	sum := sha256.Sum256([]byte(filepath.ToSlash(name)))
	return hex.EncodeToString(sum[:8])
}

// ItemPath is the path of the answers of an item, below the address of a server
// of the run's own directory ('crosstalk serve RUN').
func ItemPath(item string) string {
	return (&url.URL{Path: "/runs/" + idOf(".") + "/answers", RawQuery: url.Values{"q": {item}}.Encode()}).String()
}
