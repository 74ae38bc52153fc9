// Package watch shows the progress of runs: of the runs in a directory, shards taken together, or of one being
// measured.
package watch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/ask/journal"
	"crosstalk/internal/duration"
	"crosstalk/internal/statusline"
	"crosstalk/run"
	"crosstalk/run/shard"
)

// Run is a run, or all shards of one in a directory.
type Run struct {
	Path    string   `json:"path"`
	Suite   string   `json:"suite"`
	Models  []string `json:"models"`
	Shards  int      `json:"shards,omitempty"`  // 0: the run is not sharded
	Missing []int    `json:"missing,omitempty"` // shards that have not begun
	Parts   []Part   `json:"parts"`             // the shards that have begun; without shards, the run itself

	Totals // Requests and Left are estimates that include Missing and shards still being planned
}

// planned returns the number of shards whose requests are known.
func (r *Run) planned() (n int) {
	for _, p := range r.Parts {
		if p.Requests > 0 || p.State == Finished || p.State == Cut {
			n++
		}
	}
	return n
}

// Part is the run of one shard, or a whole run.
type Part struct {
	Path  string      `json:"path"`
	Shard shard.Shard `json:"shard,omitzero"`
	Slow  bool        `json:"slow,omitempty"`  // its rate is less than half the usual shard's
	Error string      `json:"error,omitempty"` // why it cannot be read

	Totals

	Status map[crosstalk.Status]int   `json:"-"` // Done by status
	Usage  map[string]crosstalk.Usage `json:"-"` // tokens by model
}

// Totals are the values that add up over parts.
type Totals struct {
	State    State         `json:"state"`
	Requests int           `json:"requests"` // planned; 0: none, or unknown
	Done     int           `json:"done"`     // of Requests: answered or failed
	Failed   int           `json:"failed"`   // of Done
	Rate     float64       `json:"rate"`     // answers per second now
	Left     time.Duration `json:"left_ns"`  // until all is done at this rate; for a run, in its slowest shard; 0: unknown
	Last     time.Time     `json:"last,omitzero"`
	Cost     *float64      `json:"cost,omitempty"` // of the answers; nil: unknown prices
}

// State is the state of a run.
type State string

// The states. A run without an answer for a minute waits for its server or was stopped: its files do not tell which.
const (
	Finished State = "finished"
	Cut      State = "cut"     // finished, but without items that a limit kept from being measured
	Running  State = "running" // it had an answer in the last minute
	Quiet    State = "quiet"   // not finished, and no answer in the last minute
	Broken   State = "broken"  // it cannot be read
)

// Silence is the time without an answer after which a run is considered not running.
const Silence = time.Minute

// deepest limits how many levels of directories are searched.
const deepest = 8

// Read returns the runs in a directory, which may be a run itself, in the order of their paths. prices may be nil. An
// error concerns the directory; a problem with a run is in its part.
func Read(dir string, prices ask.Prices, now time.Time) ([]Run, error) {
	var paths []string
	err := Find(dir, true, func(path string) bool {
		paths = append(paths, path)
		return true
	})
	if err != nil {
		return nil, err
	}
	var runs []Run
	together := map[string]int{} // index in runs, by directory and plan
	for _, path := range paths {
		manifest, err := run.ReadManifest(path)
		if err != nil {
			broken := Totals{State: Broken}
			runs = append(runs, Run{Path: path, Totals: broken, Parts: []Part{{Path: path, Error: err.Error(), Totals: broken}}})
			continue
		}
		part := Of(path, manifest, prices, now)
		if manifest.Plan.Shard.IsZero() {
			runs = append(runs, newRun(path, manifest, part))
			continue
		}
		whole := Whole(path, manifest)
		i, again := together[whole]
		if !again {
			i = len(runs)
			together[whole] = i
			runs = append(runs, newRun(filepath.Dir(path), manifest))
		}
		runs[i].Parts = append(runs[i].Parts, part)
	}
	for i := range runs {
		runs[i].sum(now)
	}
	return runs, nil
}

// Whole identifies the run to which a shard in this directory belongs.
func Whole(path string, m run.Manifest) string {
	return fmt.Sprint(filepath.Dir(path), m.Plan.Shard.Count, m.Plan.Whole().Hash())
}

// Find calls use with each run directory at or below dir until use returns false. With links, the run of a shard may
// be a symbolic link, as in shard.Runs; no other link is followed.
func Find(dir string, links bool, use func(path string) bool) error {
	dir = filepath.Clean(dir)
	root := dir + string(filepath.Separator) // dir may be a link
	return filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		path = filepath.Clean(path)
		if err != nil {
			if path == dir {
				return fmt.Errorf("%s: %w", dir, errors.Unwrap(err))
			}
			return fs.SkipDir // an unreadable directory does not hide the others
		}
		linked := links && e.Type()&fs.ModeSymlink != 0 && shard.IsRun(e.Name())
		if !e.IsDir() && !linked {
			return nil
		}
		name, err := filepath.Rel(dir, path)
		hidden := path != dir && strings.HasPrefix(e.Name(), ".")
		switch {
		case linked && !isRun(path):
			return nil
		case err != nil || hidden || strings.Count(name, string(filepath.Separator)) >= deepest:
			return fs.SkipDir
		case !isRun(path):
			return nil
		case !use(path):
			return fs.SkipAll
		case linked:
			return nil
		}
		return fs.SkipDir
	})
}

func isRun(path string) bool {
	_, err := os.Lstat(filepath.Join(path, "manifest.json"))
	return err == nil
}

func newRun(path string, m run.Manifest, parts ...Part) Run {
	r := Run{Path: path, Suite: m.Plan.Suite, Shards: m.Plan.Shard.Count, Parts: parts}
	for _, c := range m.Plan.Conditions {
		name := c.Model.String()
		if c.Model.Name == "" { // for recorded answers
			name = c.Model.Provider
		}
		if !slices.Contains(r.Models, name) {
			r.Models = append(r.Models, name)
		}
	}
	return r
}

// Of reads the progress of one run, whole or a shard. prices may be nil.
func Of(path string, m run.Manifest, prices ask.Prices, now time.Time) Part {
	p := Part{Path: path, Shard: m.Plan.Shard, Totals: Totals{State: Quiet, Requests: m.Asks}}
	j, err := run.OpenAnswers(path)
	var progress journal.Progress
	if err == nil {
		progress, err = j.Progress()
		err = errors.Join(err, j.Close())
	}
	if err != nil {
		p.State, p.Error = Broken, err.Error()
		return p
	}
	p.Done, p.Failed, p.Last = progress.Done, progress.Failed, progress.Last
	p.Status, p.Usage = progress.Status, progress.Usage
	p.Requests = max(p.Requests, p.Done)
	cost, priced := 0.0, prices != nil
	for model, u := range p.Usage {
		_, known := prices[model]
		priced = priced && known
		cost += prices.Cost(model, u)
	}
	if priced {
		p.Cost = &cost
	}
	figures, missing := os.Lstat(filepath.Join(path, "estimates.json"))
	done, recent := missing == nil && m.EstimatesSHA256 != "", now.Sub(p.Last) <= Silence
	switch {
	// Also a finished run that was resumed. File systems round times down, by up to two seconds.
	case recent && (!done || p.Last.Sub(figures.ModTime()) > 2*time.Second):
		p.State, p.Rate = Running, progress.Rate
	case done && m.NotMeasured > 0:
		p.State = Cut
	case done:
		p.State = Finished
	}
	if p.Rate > 0 {
		p.Left = time.Duration(float64(p.Requests-p.Done) / p.Rate * float64(time.Second)).Round(time.Second)
	}
	return p
}

// sum adds up the parts, and marks slow ones.
func (r *Run) sum(now time.Time) {
	slices.SortFunc(r.Parts, func(a, b Part) int { return a.Shard.Index - b.Shard.Index })
	have := map[int]bool{}
	states := map[State]int{}
	var rates []float64
	cost, priced := 0.0, true
	for _, p := range r.Parts {
		have[p.Shard.Index] = true
		states[p.State]++
		r.Requests += p.Requests
		r.Done += p.Done
		r.Failed += p.Failed
		r.Rate += p.Rate
		r.Left = max(r.Left, p.Left)
		if p.Last.After(r.Last) {
			r.Last = p.Last
		}
		if p.Rate > 0 { // it is running
			rates = append(rates, p.Rate)
		}
		if priced = priced && p.Cost != nil; priced {
			cost += *p.Cost
		}
	}
	if priced {
		r.Cost = &cost
	}
	for i := 1; i <= r.Shards; i++ {
		if !have[i] {
			r.Missing = append(r.Missing, i)
		}
	}
	if planned := r.planned(); planned < r.Shards && planned > 0 { // assume as many requests on average for the others
		r.Requests = r.Requests * r.Shards / planned
	}
	if r.Rate > 0 { // assume the same rate for shards that wait, stopped or have not begun
		r.Left = max(r.Left, time.Duration(float64(r.Requests-r.Done)/r.Rate*float64(time.Second)).Round(time.Second))
	}
	if len(rates) > 2 {
		slices.Sort(rates)
		usual := rates[len(rates)/2]
		for i := range r.Parts {
			p := &r.Parts[i]
			p.Slow = p.State == Running && p.Rate < usual/2
		}
	}
	if len(r.Missing) > 0 {
		states[Quiet]++
	}
	r.State = Finished
	for _, state := range []State{Cut, Broken, Quiet, Running} { // the last one that any part is in
		if states[state] > 0 {
			r.State = state
		}
	}
}

// WriteJSON writes runs in the schema crosstalk/status/v1.
func WriteJSON(w io.Writer, runs []Run) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	runs = append([]Run{}, runs...) // write no runs as [], not null
	return e.Encode(map[string]any{"schema": "crosstalk/status/v1", "runs": runs})
}

// Amounts describes the counts of a run in words.
func (r Run) Amounts() string {
	if r.planned() < r.Shards {
		return strings.Replace(r.Totals.Amounts(), " of ", " of about ", 1)
	}
	return r.Totals.Amounts()
}

// Amounts describes the counts in words.
func (t Totals) Amounts() string {
	if t.Requests == 0 {
		return "no requests"
	}
	text := fmt.Sprintf("%d of %d requests", t.Done, t.Requests)
	if t.Failed > 0 {
		text += fmt.Sprintf(", %d failed", t.Failed)
	}
	if t.Rate > 0 {
		text += fmt.Sprintf(", %.1f/s", t.Rate)
	}
	if t.Left > 0 {
		text += ", " + duration.Text(t.Left) + " left"
	}
	if t.Cost != nil {
		text += fmt.Sprintf(", cost %.4f", *t.Cost)
	}
	return text
}

type progress struct {
	line    *statusline.Line
	session *ask.Session
	planned int
	started time.Time
	trouble string // the last failure printed, at told
	told    time.Time
}

// Show writes the progress of a session, out of the planned requests, until stop is called: one line that is
// rewritten on a terminal, else an occasional line. The first comes soon. stop may be called more than once.
func Show(w io.Writer, s *ask.Session, planned int) (stop func()) {
	p := newProgress(w, s, planned)
	return p.line.Repeat(p.show)
}

// ShowScored writes how many answers have been scored until stop is called, which may be called more than once. It
// counts the observations given to counting, which passes them to observe (see study.Study.Observe).
func ShowScored(w io.Writer, observe func(crosstalk.Observation)) (counting func(crosstalk.Observation), stop func()) {
	var n atomic.Int64
	var last crosstalk.Observation
	counting = func(o crosstalk.Observation) {
		observe(o)
		if o.Item != last.Item || o.Sample != last.Sample || o.Variant != last.Variant {
			n.Add(1)
		}
		last = o
	}
	line := statusline.New(w)
	return counting, line.Repeat(func() {
		if n := n.Load(); n > 0 {
			line.Show(fmt.Sprintf("%d answers scored", n))
		}
	})
}

func newProgress(w io.Writer, s *ask.Session, planned int) *progress {
	return &progress{line: statusline.New(w), session: s, planned: planned, started: time.Now()}
}

func (p *progress) show() {
	s, took := p.session.Stats(), time.Since(p.started)
	var b strings.Builder
	fmt.Fprintf(&b, "%d/%d requests", s.Done, max(s.Done, p.planned))
	if s.Batches.N > 0 {
		b.WriteString("; waiting for " + s.Batches.Text())
	} else if asked := s.Done - s.Cached; asked > 0 {
		rate := float64(asked) / took.Seconds()
		left := time.Duration(float64(max(0, p.planned-s.Done)) / rate * float64(time.Second))
		fmt.Fprintf(&b, ", %.1f/s, %s left", rate, duration.Text(left.Round(time.Second)))
	}
	if s.Failed > 0 {
		fmt.Fprintf(&b, ", %d failed", s.Failed)
	}
	if s.Retries > 0 {
		fmt.Fprintf(&b, ", %d retries", s.Retries)
	}
	if tokens := s.Usage.Prompt + s.Usage.Completion; tokens > 0 {
		fmt.Fprintf(&b, ", %d tokens", tokens)
	}
	if s.Cost > 0 {
		fmt.Fprintf(&b, ", cost %.4f", s.Cost)
	}
	for _, wait := range s.Waits {
		b.WriteString("; " + wait.Text(time.Now()))
	}
	if s.Trouble != p.trouble && time.Since(p.told) > 5*time.Second {
		p.trouble, p.told = s.Trouble, time.Now()
		p.line.Note("request failed: " + p.trouble)
	}
	p.line.Show(b.String())
}
