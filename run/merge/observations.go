package merge

import (
	"fmt"
	"iter"
	"slices"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/run"
	"crosstalk/study"
)

// mergeObservations records the observations of all shards in the order of the whole measurement, and sums them up.
func (s shards) mergeObservations(d *run.Dir, recorder *run.Recorder) ([]crosstalk.Estimate, error) {
	summary, err := study.NewSummary(d.Path, d.Manifest)
	if err != nil {
		return nil, err
	}
	for o, err := range s.observations() {
		if err != nil {
			return nil, err
		}
		if err := recorder.AddPlaced(o); err != nil {
			return nil, err
		}
		summary.Add(o.Observation)
	}
	return summary.Estimates()
}

// source is the observations of a shard.
type source struct {
	path string
	at   run.Placed // the next one
	more bool       // there is one
	next func() (run.Placed, error, bool)
}

// step takes the next observation, if there is one.
func (s *source) step() (err error) {
	s.at, err, s.more = s.next()
	return err
}

// observations yields those of all shards by their places.
func (s shards) observations() iter.Seq2[run.Placed, error] {
	return func(yield func(run.Placed, error) bool) {
		var open []*source
		for _, o := range s {
			kind := instrument.Named(o.Plan.Instrument)
			next, stop := iter.Pull2(run.ReadPlaced(o.path, kind.Reads...))
			defer stop()
			from := &source{path: o.path, next: next}
			if err := from.step(); err != nil {
				yield(run.Placed{}, err)
				return
			}
			open = append(open, from)
		}
		var last run.Place
		lastPath := ""
		for {
			open = slices.DeleteFunc(open, func(s *source) bool { return !s.more })
			if len(open) == 0 {
				return
			}
			from := slices.MinFunc(open, func(a, b *source) int { return a.at.At.Compare(b.at.At) })
			if from.path != lastPath && lastPath != "" && from.at.At == last {
				yield(run.Placed{}, fmt.Errorf("%s and %s both have the item %q: they are not shards of one measurement",
					lastPath, from.path, from.at.Item))
				return
			}
			last, lastPath = from.at.At, from.path
			if !yield(from.at, nil) {
				return
			}
			if err := from.step(); err != nil {
				yield(run.Placed{}, err)
				return
			}
		}
	}
}
