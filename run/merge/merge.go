// Package merge makes one run of the runs of a measurement's shards: it merges answers by request and observations by
// their places, and the figures equal a single run's to the last digit.
package merge

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/ask/journal"
	"crosstalk/internal/atomicfile"
	"crosstalk/internal/plainfile"
	"crosstalk/labels"
	"crosstalk/run"
	"crosstalk/study"

	"golang.org/x/sync/errgroup"
)

// Result is what was merged.
type Result struct {
	Shards    int
	Asks      int // that the run has
	Twice     int // of these: another shard, or an earlier merge, gave another answer to the same request, which stays
	Failed    int // requests without an answer
	Behind    int // requests that failed in a shard and have an answer
	Labels    int // labels and notes of people that were not in the run yet
	Estimates []crosstalk.Estimate
	Paths     []string // of the shards
}

// Text is what was merged in words: 3 shards, 12 answers.
func (r Result) Text() string {
	text := fmt.Sprintf("%d shards", r.Shards)
	if r.Asks > 0 {
		text += fmt.Sprintf(", %d answers", r.Asks)
	}
	if r.Labels > 0 {
		text += fmt.Sprintf(", %d labels and notes of people", r.Labels)
	}
	return text
}

// IncompleteError says that shards are missing, unfinished, or there twice.
type IncompleteError struct {
	Missing    []string // shards, as in 3/64
	Unfinished []string // why, with the path
	Twice      []string // the shard with both paths
	Out        string   // has the answers of the shards that are there; "": nothing was written, since some are twice
	Figures    bool     // Out has figures from before, which stay
}

func (e *IncompleteError) Error() string {
	var parts []string
	add := func(what string, list []string) {
		const most = 10
		if len(list) == 0 {
			return
		}
		text := strings.Join(list[:min(len(list), most)], ", ")
		if more := len(list) - most; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		parts = append(parts, what+text)
	}
	add("twice: ", e.Twice)
	add("missing: ", e.Missing)
	add("unfinished: ", e.Unfinished)
	text := "not all shards are there, and each once: " + strings.Join(parts, "; ")
	if e.Out == "" {
		return text + ": nothing was written; leave one out"
	}
	figures := "no figures"
	if e.Figures {
		figures = "its figures from before"
	}
	return text + fmt.Sprintf(": %s has the answers so far and %s; run these shards, and merge again", e.Out, figures)
}

// AheadError says that the merged run has answers to requests that failed in the shards, since it was resumed. The
// answers are merged, and the figures stay as they were: the shards' would be about the failures.
type AheadError struct {
	Requests int
	Out      string
}

func (e *AheadError) Error() string {
	return fmt.Sprintf("%s has answers to %d requests that failed in the shards: its figures stay as they are; "+
		"run the command that made the shards, without --shard and with --out %[1]s, for those of all answers", e.Out,
		e.Requests)
}

// Merge merges runs of shards into the run directory out. Each path is the run of a shard, or a directory that has
// such runs in it. The order does not matter, and merging again has no effect.
//
// Runs of different measurements, versions or scorings are refused with the field that differs. The error is an
// *IncompleteError if a shard is missing, unfinished or there twice, and an *AheadError if out was resumed.
func Merge(paths []string, out string) (result Result, err error) {
	shards, err := open(paths)
	if err != nil {
		return result, err
	}
	incomplete := shards.check()
	if incomplete != nil && len(incomplete.Twice) > 0 {
		return result, incomplete
	}
	d, err := run.Create(out, shards[0].Plan.Whole())
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	result.Shards = len(shards)
	for _, one := range shards {
		result.Paths = append(result.Paths, one.path)
	}
	if err := shards.copyInstructions(d); err != nil {
		return result, err
	}
	if result.Labels, err = labels.Merge(out, result.Paths); err != nil {
		return result, err
	}
	var both errgroup.Group // answers and observations: each takes long
	both.Go(func() error { return shards.mergeJournals(d.Journal, &result) })
	recorder, err := d.Record()
	if err != nil {
		return result, err
	}
	defer recorder.Discard()
	if incomplete == nil {
		shards.notes(&d.Manifest)
		both.Go(func() error {
			all, err := study.SumUp(out, d.Manifest, shards.observations(recorder), study.Figures{})
			if err == nil {
				result.Estimates = all[0]
			}
			return err
		})
	}
	if err := both.Wait(); err != nil {
		return result, err
	}
	if incomplete != nil {
		incomplete.Out, incomplete.Figures = out, d.Manifest.EstimatesSHA256 != ""
		return result, incomplete
	}
	if result.Behind > 0 && d.Manifest.EstimatesSHA256 != "" {
		return result, &AheadError{result.Behind, out}
	}
	if err := recorder.Commit(); err != nil {
		return result, err
	}
	m := &d.Manifest
	m.Asks = result.Asks
	// Only now does the run have the observations of this scoring.
	if err := d.SetScoring(m.Scoring, m.Suites, 0, m.Changes); err != nil {
		return result, err
	}
	return result, d.WriteEstimates(result.Estimates)
}

// copyInstructions copies the instructions that the models rewrote for all shards.
func (s shards) copyInstructions(d *run.Dir) error {
	const most = 16 << 20 // bytes
	var text []byte
	from := ""
	for _, one := range s {
		path := filepath.Join(one.path, study.InstructionsFile)
		next, err := plainfile.Read(path, most)
		switch {
		case errors.Is(err, fs.ErrNotExist): // it has not begun, or needs none
		case err != nil:
			return err
		case from == "":
			from, text = path, next
		case string(text) != string(next):
			return &DifferentError{Path: path, Field: "instructions are others", Than: from}
		}
	}
	if from == "" {
		return nil
	}
	return atomicfile.WriteBytesPrivate(filepath.Join(d.Path, study.InstructionsFile), text)
}

// mergeJournals merges the answers, in the order of the shards, and counts them.
func (s shards) mergeJournals(into *journal.Journal, result *Result) error {
	for _, o := range s {
		path := filepath.Join(o.path, journal.Name)
		from, err := journal.OpenReader(path)
		switch {
		case errors.Is(err, fs.ErrNotExist) && o.Asks == 0: // it asks nothing
			continue
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("%s: is missing: put a copy of the file in its place, or run the shard again", path)
		case err != nil:
			return err
		}
		merged, err := into.Merge(from)
		if err := errors.Join(err, from.Close()); err != nil {
			return err
		}
		result.Twice += merged.Twice
		result.Behind += merged.Behind
	}
	all, err := into.Progress()
	result.Asks, result.Failed = all.Done, all.Failed
	return err
}

// notes copies what the shards' manifests record into the whole's.
func (s shards) notes(whole *run.Manifest) {
	whole.Scoring, whole.Suites, whole.Names = s[0].Scoring, s[0].Suites, s[0].Names
	whole.Changes, whole.Adapted = nil, nil
	for _, o := range s {
		for _, change := range o.Changes {
			if !slices.Contains(whole.Changes, change) {
				whole.Changes = append(whole.Changes, change)
			}
		}
		for _, a := range o.Adapted {
			i := slices.IndexFunc(whole.Adapted, func(b run.Adapted) bool { return b.Condition == a.Condition })
			if i < 0 {
				whole.Adapted = append(whole.Adapted, a)
				continue
			}
			whole.Adapted[i].Room = whole.Adapted[i].Room || a.Room
		}
	}
	slices.SortFunc(whole.Adapted, func(a, b run.Adapted) int { return cmp.Compare(a.Condition, b.Condition) })
}
