// Package watch shows the progress of runs: of those in a directory, shards as one, and of one being measured.
package watch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/ask/journal"
	"crosstalk/run"
	"crosstalk/run/shard"
)

// Run is a run, or all shards of one that are in a directory.
type Run struct {
	Path    string   `json:"path"`
	Suite   string   `json:"suite"`
	Models  []string `json:"models"`
	Shards  int      `json:"shards,omitempty"`  // 0: the run has none
	Missing []int    `json:"missing,omitempty"` // shards that have not begun
	Parts   []Part   `json:"parts"`             // the shards that have; of a run without shards the run itself

	Totals // Requests and Left are estimates that include Missing, and shards that are being planned
}

// planned is how many shards know what they will ask.
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

// Totals are what can be added up.
type Totals struct {
	State    State         `json:"state"`
	Requests int           `json:"requests"` // planned; 0: nothing is asked, or it is not known
	Done     int           `json:"done"`     // of them, with an answer or failed
	Failed   int           `json:"failed"`   // of Done
	Rate     float64       `json:"rate"`     // answers per second now
	Left     time.Duration `json:"left_ns"`  // until all is done, at this rate; of a run, of its slowest shard; 0: unknown
	Last     time.Time     `json:"last,omitzero"`
	Cost     *float64      `json:"cost,omitempty"` // of the answers; nil: prices are not known
}

// State is what a run is at.
type State string

// The states. A run without an answer for a minute waits for its server, or was stopped: its files do not tell.
const (
	Finished State = "finished"
	Cut      State = "cut"     // finished without the items that a limit kept from being measured
	Running  State = "running" // it had an answer in the last minute
	Quiet    State = "quiet"   // not finished, and no answer in the last minute
	Broken   State = "broken"  // it cannot be read
)

// Silence is the time without an answer after which a run is not running.
const Silence = time.Minute

// deepest is how many directories below the named one are searched.
const deepest = 8

// Read returns the runs in a directory, which may be a run itself, in the order of their paths. prices may be nil. An
// error is one of the directory; what is wrong with a run is in its part.
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
	together := map[string]int{} // place in runs, by directory and plan
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

// Whole identifies the run that a shard in this directory is a part of.
func Whole(path string, m run.Manifest) string {
	return fmt.Sprint(filepath.Dir(path), m.Plan.Shard.Count, m.Plan.Whole().Hash())
}

// Find calls use with each run directory at or below a directory until use returns false. With links, the run of a
// shard may be a symbolic link, as in shard.Runs; no other link is followed.
func Find(dir string, links bool, use func(path string) bool) error {
	dir = filepath.Clean(dir)
	root := dir + string(filepath.Separator) // dir may be a link
	return filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		path = filepath.Clean(path)
		if err != nil {
			if path == dir {
				return err
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
		if c.Model.Name == "" { // of recorded answers
			name = c.Model.Provider
		}
		if !slices.Contains(r.Models, name) {
			r.Models = append(r.Models, name)
		}
	}
	return r
}

// Of reads the progress of one run, whole or of a shard. prices may be nil.
func Of(path string, m run.Manifest, prices ask.Prices, now time.Time) Part {
	p := Part{Path: path, Shard: m.Plan.Shard, Totals: Totals{State: Quiet, Requests: m.Asks}}
	j, err := journal.OpenReader(filepath.Join(path, journal.Name))
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
	case recent && (!done || p.Last.After(figures.ModTime())): // of a run that was finished too, if it is resumed
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

// sum adds the parts up, and finds those that are slow.
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
		if p.State == Running && p.Rate > 0 {
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
	if planned := r.planned(); planned < r.Shards && planned > 0 { // the others have as many requests on average
		r.Requests = r.Requests * r.Shards / planned
	}
	if r.Rate > 0 { // those that wait, stopped or have not begun will be done at the same rate
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
	switch {
	case states[Running] > 0:
		r.State = Running
	case states[Quiet] > 0 || len(r.Missing) > 0:
		r.State = Quiet
	case states[Broken] > 0:
		r.State = Broken
	case states[Cut] > 0:
		r.State = Cut
	default:
		r.State = Finished
	}
}
