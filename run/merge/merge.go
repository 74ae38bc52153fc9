// Package merge makes one run of the runs of a measurement's shards. It merges answers by request and observations by
// place, so the figures equal a single run's to the last digit.
package merge

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"crosstalk"
	"crosstalk/ask/journal"
	"crosstalk/instrument"
	"crosstalk/internal/atomicfile"
	"crosstalk/internal/plainfile"
	"crosstalk/run"
	"crosstalk/run/figures"
	"crosstalk/run/shard"

	"golang.org/x/sync/errgroup"
)

// Result describes what was merged.
type Result struct {
	Shards    int
	Asks      int // requests with an answer in the merged run
	Twice     int // of these: another shard, or an earlier merge, has another answer to the same request, which is kept
	Failed    int // requests without an answer
	Behind    int // requests that failed in a shard but have an answer
	Labels    int // people's labels and notes that were new to the run
	Estimates []crosstalk.Estimate
	Paths     []string // paths of the shards
}

// Text describes the result in words: 3 shards, 12 answers.
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

// IncompleteError reports that shards are missing, unfinished or duplicated.
type IncompleteError struct {
	Missing    []string // shards, as in 3/64
	Unfinished []string // reasons, with paths
	Twice      []string // the shard with both paths
	Out        string   // where the present shards' answers were merged; "": nowhere, because of duplicates
	Figures    bool     // Out has figures from before, which are kept
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

// AheadError reports that the merged run has answers to requests that failed in the shards, because it was resumed.
// The answers are merged, but the figures stay unchanged: the shards' figures would include the failures.
type AheadError struct {
	Requests int
	Out      string
}

func (e *AheadError) Error() string {
	return fmt.Sprintf("%s has answers to %d requests that failed in the shards: its figures stay as they are; "+
		"run the command that made the shards, without --shard and with --out %[1]s, for those of all answers", e.Out,
		e.Requests)
}

// Merge merges runs of shards into the run directory out. Each path is the run of a shard, or a directory of such
// runs. The order does not matter, and merging again has no effect.
//
// people merges what people recorded on the shards, and counts it; nil: nothing (labels.Merge).
//
// Runs of different measurements, versions or scorings are refused with an error that names the differing field. The
// error is an *IncompleteError if a shard is missing, unfinished or duplicated, and an *AheadError if out was
// resumed.
func Merge(paths []string, out string, people func(run string, shards []string) (int, error)) (
	result Result, err error) {
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
	if people != nil {
		if result.Labels, err = people(out, result.Paths); err != nil {
			return result, err
		}
	}
	recorder, err := d.Record()
	if err != nil {
		return result, err
	}
	defer recorder.Discard()
	var both errgroup.Group // answers and observations in parallel: each takes long
	both.Go(func() error { return shards.mergeJournals(d.Journal, &result) })
	if incomplete == nil {
		shards.notes(&d.Manifest)
		both.Go(func() error {
			all, err := figures.SumUp(out, d.Manifest, shards.observations(recorder), figures.Set{})
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
	// Only now are the run's observations those of this scoring.
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
		path := filepath.Join(one.path, run.InstructionsFile)
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
	return atomicfile.WriteBytesPrivate(filepath.Join(d.Path, run.InstructionsFile), text)
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

// notes copies the records in the shards' manifests into the manifest of the whole.
func (s shards) notes(whole *run.Manifest) {
	whole.Scoring, whole.Settings, whole.Suites, whole.Names = s[0].Scoring, s[0].Settings, s[0].Suites, s[0].Names
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

// DifferentError reports that two runs are not shards of one measurement.
type DifferentError struct {
	Path  string
	Field string // with both values, the first that of Path
	Than  string // the path of the other run
}

func (e *DifferentError) Error() string {
	return fmt.Sprintf("%s is not of the same measurement as %s: its %s", e.Path, e.Than, e.Field)
}

// WholeError reports that a run does not belong to a shard.
type WholeError struct{ Path string }

func (e *WholeError) Error() string {
	return e.Path + " is a run of all items: expected runs of shards, made with --shard"
}

// shards are the runs of shards, in the order of their numbers.
type shards []one

type one struct {
	run.Manifest
	path string
}

// open reads the manifests of the runs at paths, and refuses runs of different measurements.
func open(paths []string) (list shards, err error) {
	all, err := expand(paths)
	if err != nil {
		return nil, err
	}
	for _, path := range all {
		manifest, err := run.ReadManifest(path)
		if err != nil {
			return nil, err
		}
		if manifest.Plan.Shard.IsZero() {
			return nil, &WholeError{path}
		}
		list = append(list, one{manifest, path})
	}
	slices.SortStableFunc(list, func(a, b one) int {
		return cmp.Or(cmp.Compare(a.Plan.Shard.Index, b.Plan.Shard.Index), cmp.Compare(a.path, b.path))
	})
	for _, other := range list[1:] {
		if field := other.difference(list[0]); field != "" {
			return nil, &DifferentError{other.path, field, list[0].path}
		}
	}
	return list, list.sameScoring()
}

// expand replaces a directory of shards by the runs in it.
func expand(paths []string) (all []string, err error) {
	for _, path := range paths {
		path = filepath.Clean(path)
		if _, err := run.ReadManifest(path); !errors.Is(err, fs.ErrNotExist) {
			all = append(all, path)
			continue
		}
		runs, err := shard.Runs(path)
		if err != nil {
			return nil, fmt.Errorf("%s: expected the run of a shard, or a directory with such runs: %w", path, err)
		}
		begun := slices.DeleteFunc(runs, func(path string) bool {
			_, err := run.ReadManifest(path)
			return errors.Is(err, fs.ErrNotExist) // killed before it began
		})
		if len(begun) == 0 {
			return nil, fmt.Errorf("%s has no runs of shards: expected directories such as %s", path,
				shard.Shard{Index: 1, Count: 2}.Dir(path))
		}
		all = append(all, begun...)
	}
	return all, nil
}

// difference names the first field in which the measurements of two shards differ, with both values; "" for none.
func (o one) difference(from one) string {
	if a, b := o.Crosstalk, from.Crosstalk; a != b {
		return fmt.Sprintf("crosstalk is version %s, not %s", a, b)
	}
	if a, b := o.Plan.Shard.Count, from.Plan.Shard.Count; a != b {
		return fmt.Sprintf("number of shards is %d, not %d", a, b)
	}
	return o.Plan.Whole().Difference(from.Plan.Whole())
}

// sameScoring refuses finished shards that were scored differently, or whose models refused different settings.
func (s shards) sameScoring() error {
	var first, asked *one // the first finished shard, and the first with observations: one without them met no refusals
	for i := range s {
		o := &s[i]
		if o.unfinished() != "" {
			continue
		}
		first = cmp.Or(first, o)
		field := ""
		if len(o.Scoring) == len(first.Scoring) {
			for k, s := range o.Scoring {
				field = cmp.Or(field, s.Difference(first.Scoring[k]))
			}
		}
		field = cmp.Or(field, differ("scoring", o.Scoring, first.Scoring), differ("suites", o.Suites, first.Suites),
			run.OtherSettings(o.Manifest, first.Manifest))
		if field != "" {
			return &DifferentError{o.path, field, first.path}
		}
		if o.Observations == nil || o.Observations.N == 0 {
			continue
		}
		asked = cmp.Or(asked, o)
		if field := differ("adapted", o.refused(), asked.refused()); field != "" {
			return &DifferentError{o.path, field, asked.path}
		}
	}
	return nil
}

// differ names a field in which two shards differ, with both values; "" if they do not.
func differ(name string, value, other any) string {
	a, b := crosstalk.Canonical(value), crosstalk.Canonical(other)
	if bytes.Equal(a, b) {
		return ""
	}
	return fmt.Sprintf("%s is %s, not %s", name, a, b)
}

func (o *one) refused() map[int][]string {
	of := map[int][]string{}
	for _, a := range o.Adapted {
		if len(a.Without) > 0 {
			of[a.Condition] = slices.Sorted(slices.Values(a.Without))
		}
	}
	return of
}

// unfinished returns the reason why a shard has no figures to merge, or "".
func (o one) unfinished() string {
	switch _, err := os.Lstat(filepath.Join(o.path, "estimates.json")); {
	case o.NotMeasured > 0:
		return fmt.Sprintf("%d items not measured", o.NotMeasured)
	case o.EstimatesSHA256 == "" || len(o.Scoring) == 0 || err != nil:
		return "no figures yet"
	}
	return ""
}

// check returns nil if every shard is present once and finished, or else the error that lists the others.
func (s shards) check() *IncompleteError {
	e := &IncompleteError{}
	have := map[int]string{}
	for _, o := range s {
		of := o.Plan.Shard
		if first, again := have[of.Index]; again {
			e.Twice = append(e.Twice, fmt.Sprintf("%v (%s and %s)", of, first, o.path))
			continue
		}
		have[of.Index] = o.path
		if why := o.unfinished(); why != "" {
			e.Unfinished = append(e.Unfinished, fmt.Sprintf("%v (%s: %s)", of, o.path, why))
		}
	}
	count := s[0].Plan.Shard.Count
	for i := 1; i <= count; i++ {
		if _, there := have[i]; !there {
			e.Missing = append(e.Missing, shard.Shard{Index: i, Count: count}.String())
		}
	}
	if e.Twice != nil || e.Unfinished != nil || e.Missing != nil {
		return e
	}
	return nil
}

// look is the interval at which Wait looks for shards.
var look = time.Second

// Wait returns when all shards in paths are finished, when Merge would refuse them, after most, or with ctx's error.
func Wait(ctx context.Context, paths []string, most time.Duration) error {
	for end := time.Now().Add(most); time.Now().Before(end); {
		shards, err := open(paths)
		switch {
		case errors.As(err, new(*DifferentError)), errors.As(err, new(*WholeError)):
			return nil
		case err == nil:
			if incomplete := shards.check(); incomplete == nil || incomplete.Twice != nil {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(min(look, time.Until(end))):
		}
	}
	return nil
}

type source struct {
	path       string
	run.Placed // the next observation
	more       bool
	next       func() (run.Placed, error, bool)
}

// observations yields the observations of all shards in the order of the whole measurement, after recording them.
func (s shards) observations(recorder *run.Recorder) iter.Seq2[crosstalk.Observation, error] {
	return func(yield func(crosstalk.Observation, error) bool) {
		var open []*source
		for _, o := range s {
			next, stop := iter.Pull2(run.ReadPlaced(o.path, instrument.Named(o.Plan.Instrument).Reads...))
			defer stop()
			open = append(open, &source{path: o.path, next: next})
		}
		var last run.Place
		lastPath := ""
		for due := open; ; { // due are the shards whose next observation has to be read
			for _, s := range due {
				var err error
				if s.Placed, err, s.more = s.next(); err != nil {
					yield(crosstalk.Observation{}, err)
					return
				}
			}
			open = slices.DeleteFunc(open, func(s *source) bool { return !s.more })
			if len(open) == 0 {
				return
			}
			from := slices.MinFunc(open, func(a, b *source) int { return a.At.Compare(b.At) })
			if from.path != lastPath && lastPath != "" && from.At == last {
				yield(from.Observation, fmt.Errorf("%s and %s both have the item %q: they are not shards of one "+
					"measurement", lastPath, from.path, from.Item))
				return
			}
			last, lastPath, due = from.At, from.path, []*source{from}
			if err := recorder.AddPlaced(from.Placed); !yield(from.Observation, err) || err != nil {
				return
			}
		}
	}
}
