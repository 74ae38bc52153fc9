package web

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"crosstalk"
	"crosstalk/gate"
	"crosstalk/instrument"
	"crosstalk/internal/ordered"
	"crosstalk/internal/shell"
	"crosstalk/internal/visible"
	"crosstalk/report/page"
	"crosstalk/report/plot"
	"crosstalk/report/results"
	"crosstalk/run"
	"crosstalk/run/watch"
)

type listRow struct {
	*runEntry
	Title  string
	Models string
	State  string
	Result page.Result // its first figures
	More   int         // conditions not shown
	Shards []listRow   // nil: a single run
	Nights []listRow   // runs that differ only by their date, the latest first; nil: a single run
	Chart  plot.Plot   // of Nights
	Since  []string    // findings of the last of Nights
}

var listOrders = []struct {
	Name  string
	Title string
	less  func(a, b listRow) int
}{
	{"changed", "last changed", func(a, b listRow) int { return b.Changed.Compare(a.Changed) }},
	{"run", "name", func(a, b listRow) int { return strings.Compare(a.Name, b.Name) }},
	{"measured", "instrument and suite", func(a, b listRow) int {
		return cmp.Or(strings.Compare(a.Title, b.Title), strings.Compare(a.Manifest.Plan.Suite, b.Manifest.Plan.Suite))
	}},
	{"models", "models", func(a, b listRow) int { return strings.Compare(a.Models, b.Models) }},
	{"state", "state", func(a, b listRow) int { return strings.Compare(a.State, b.State) }},
}

func (s *Server) list(w http.ResponseWriter, r *http.Request) error {
	runs, err := s.listing.all()
	if err != nil {
		return err
	}
	rows := make([]listRow, len(runs))
	for i, run := range runs {
		about := run.about()
		r := listRow{runEntry: run, State: "not finished", Title: about.Title, Models: strings.Join(about.Models, ", "),
			Result: page.NewResult(run.Estimates)}
		if run.finished {
			r.State = "finished"
		}
		if n := len(r.Result.Parts) - mostListed; n > 0 {
			r.Result.Parts, r.More = r.Result.Parts[:mostListed], n
		}
		r.Result.Measures = r.Result.Measures[:min(len(r.Result.Measures), mostListed)]
		for i, part := range r.Result.Parts {
			r.Result.Parts[i].Figures = part.Figures[:min(len(part.Figures), mostListed)]
		}
		rows[i] = r
	}
	rows = s.together(rows)
	search := strings.TrimSpace(visible.Line(r.URL.Query().Get("q")))
	rows = slices.DeleteFunc(rows, func(r listRow) bool {
		text := r.Name + "\n" + r.Title + "\n" + r.Models + "\n" + r.Manifest.Plan.Suite
		return !strings.Contains(strings.ToLower(text), strings.ToLower(search))
	})
	data := struct {
		frame
		Dir    string
		All    int
		Search string
		Orders []option
		Rows   []listRow
		More   int
		Runs   []string // commands that make a run in the directory
		Score  string
	}{frame: frame{Title: "Runs"}, Dir: s.listing.dir, All: len(runs), Search: search}
	into := func(name string, command ...string) string {
		return shell.Line(append(command, "--out", filepath.Join(s.listing.dir, name)))
	}
	for _, k := range instrument.Kinds() {
		data.Runs = append(data.Runs, into(k.Name, "crosstalk", "run", k.Name))
	}
	data.Score = into("mine", "crosstalk", "score", "confusion", "answers.csv")
	for _, o := range listOrders {
		chosen := o.Name == cmp.Or(r.URL.Query().Get("sort"), listOrders[0].Name)
		if chosen {
			slices.SortStableFunc(rows, o.less)
		}
		data.Orders = append(data.Orders, option{o.Name, o.Title, chosen})
	}
	if search == "" {
		rows = s.histories(rows)
	}
	if data.Rows = rows; len(rows) > mostRows {
		data.Rows, data.More = rows[:mostRows], len(rows)-mostRows
	}
	return show(w, http.StatusOK, "list.html", data)
}

type option struct {
	Value, Title string
	Chosen       bool
}

func (r *runEntry) about() page.About { return page.NewAbout(r.Manifest, r.Estimates) }

// together merges the shards of a run in one directory into one row, in place of the one that changed last.
func (s *Server) together(rows []listRow) (list []listRow) {
	whole := func(r listRow) string {
		if r.Manifest.Plan.Shard.IsZero() {
			return "run " + r.ID
		}
		return "shards " + watch.Whole(r.path, r.Manifest)
	}
	for _, of := range ordered.Groups(rows, whole) {
		all, entry := of[0], *of[0].runEntry
		if entry.Manifest.Plan.Shard.IsZero() {
			list = append(list, of...)
			continue
		}
		slices.SortFunc(of, func(a, b listRow) int { return a.Manifest.Plan.Shard.Index - b.Manifest.Plan.Shard.Index })
		entry.Name, entry.Trouble = filepath.Dir(entry.Name), ""
		all.runEntry, all.Shards, all.State, all.Result, all.More = &entry, of, s.stateOf(of), page.Result{}, 0
		list = append(list, all)
	}
	return list
}

// histories merges finished runs that differ only by their date into one entry, in place of the first of them.
func (s *Server) histories(rows []listRow) (list []listRow) {
	key := func(r listRow) string {
		if r.Shards != nil || !r.finished || r.Trouble != "" {
			return r.Name
		}
		suite := r.Manifest.Plan.Suite
		if gate.Recorded(r.Manifest) {
			suite = "" // each file has its own name
		}
		return strings.Join([]string{r.Title, r.Models, suite}, "\x00")
	}
	for _, nights := range ordered.Groups(rows, key) {
		if len(nights) < fewestNights {
			list = append(list, nights...)
			continue
		}
		paths := make([]string, len(nights))
		for i, n := range nights {
			paths[i] = n.path
		}
		found, err := gate.Histories(paths)
		if err != nil { // they differ by more than their date
			list = append(list, nights...)
			continue
		}
		h := results.History{History: found}
		all := nights[0]
		all.Nights, all.Chart, all.Since = nights, h.Plots()[0], h.Last()
		list = append(list, all)
	}
	place := map[string]int{}
	for i, r := range rows {
		place[r.ID] = i
	}
	slices.SortStableFunc(list, func(a, b listRow) int { return place[a.ID] - place[b.ID] })
	return list
}

func (s *Server) stateOf(shards []listRow) string {
	finished := 0
	for _, r := range shards {
		if r.finished {
			finished++
		}
	}
	of := shards[0].Manifest.Plan.Shard
	state := fmt.Sprintf("%d of %d shards finished", finished, of.Count)
	if finished == of.Count {
		return state + "; merge them to see the figures of all"
	}
	runs, _ := watch.Read(filepath.Dir(shards[0].path), nil, time.Now())
	i := slices.IndexFunc(runs, func(r watch.Run) bool { return r.Shards == of.Count })
	if i < 0 {
		return state
	}
	return state + ", " + runs[i].Amounts()
}

type runEntry struct {
	ID       string // used in URLs
	Name     string // its path relative to the directory
	path     string
	Manifest run.Manifest
	Changed  time.Time // last change of its manifest or figures

	Estimates []crosstalk.Estimate
	Trouble   string // why its figures cannot be read
	finished  bool
	stamp     [2]fileStamp
}

// Argument is the run's path as an argument of a command, where the server was started.
func (r *runEntry) Argument() string { return shell.Quote(r.path) }

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

type listing struct {
	dir string

	mu   sync.Mutex
	when time.Time
	runs map[string]*runEntry // by id
}

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
		if r, err := l.read(path, name); err == nil {
			found[r.ID] = r
		}
		return len(found) < mostRuns
	})
	if errors.Is(err, fs.ErrNotExist) { // it may appear later
		err = nil
	}
	if err == nil {
		l.runs, l.when = found, time.Now()
	}
	return err
}

// read returns the run in a directory, unless its manifest cannot be read.
func (l *listing) read(path, name string) (*runEntry, error) {
	stamp := [2]fileStamp{stampOf(filepath.Join(path, "manifest.json")), stampOf(filepath.Join(path, "estimates.json"))}
	id := idOf(name)
	if known, ok := l.runs[id]; ok && known.stamp == stamp {
		return known, nil
	}
	m, err := run.ReadManifest(path)
	if err != nil {
		return nil, err
	}
	if whole, err := filepath.Abs(path); name == "." && err == nil {
		name = filepath.Base(whole)
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
	return r, nil
}

func idOf(name string) string {
	sum := sha256.Sum256([]byte(filepath.ToSlash(name)))
	return hex.EncodeToString(sum[:8])
}

// ItemPath returns the path of the answers of an item, relative to the address of a server for the run's own directory
// ('crosstalk serve RUN').
func ItemPath(item string) string {
	return (&url.URL{Path: "/runs/" + idOf(".") + "/answers", RawQuery: url.Values{"q": {item}}.Encode()}).String()
}
