package merge

import (
	"container/heap"
	"fmt"
	"iter"

	"crosstalk"
	"crosstalk/run"
	"crosstalk/study"
)

// mergeObservations writes the observations of all shards in the order of the
// whole measurement, and sums them up.
func (s shards) mergeObservations(d *run.Dir) ([]crosstalk.Estimate, error) {
	summary, err := study.NewSummary(d.Path, d.Manifest)
	if err != nil {
		return nil, err
	}
	recorder, err := d.Record()
	if err != nil {
		return nil, err
	}
	defer recorder.Discard()
	for o, err := range s.observations() {
		if err != nil {
			return nil, err
		}
		if err := recorder.Add(o); err != nil {
			return nil, err
		}
		summary.Add(o)
	}
	if err := recorder.Commit(); err != nil {
		return nil, err
	}
	return summary.Estimates(d.Manifest), nil
}

// observations yields those of all shards by their places.
func (s shards) observations() iter.Seq2[crosstalk.Observation, error] {
	return func(yield func(crosstalk.Observation, error) bool) {
		var open sources
		for _, o := range s {
			next, stop := iter.Pull2(run.ReadPlaced(o.path))
			defer stop()
			from := &source{path: o.path, next: next}
			more, err := from.step()
			if err != nil {
				yield(crosstalk.Observation{}, err)
				return
			}
			if more {
				open = append(open, from)
			}
		}
		heap.Init(&open)
		var last run.Place
		lastPath := ""
		for len(open) > 0 {
			from := open[0]
			if from.path != lastPath && lastPath != "" && from.at.At == last {
				yield(crosstalk.Observation{}, fmt.Errorf("%s and %s both have the item %q: they are not shards of one measurement", lastPath, from.path, from.at.Item))
				return
			}
			last, lastPath = from.at.At, from.path
			if !yield(from.at.Observation, nil) {
				return
			}
			more, err := from.step()
			switch {
			case err != nil:
				yield(crosstalk.Observation{}, err)
				return
			case more:
				heap.Fix(&open, 0)
			default:
				heap.Pop(&open)
			}
		}
	}
}

// source is where the observations of a shard come from.
type source struct {
	path string
	next func() (run.Placed, error, bool)
	at   run.Placed // the next one
}

func (s *source) step() (more bool, err error) {
	s.at, err, more = s.next()
	return more, err
}

// sources are those that have more, with the first place first.
type sources []*source

// Len implements heap.Interface, as do the following.
func (s sources) Len() int           { return len(s) }
func (s sources) Less(i, j int) bool { return s[i].at.At.Compare(s[j].at.At) < 0 }
func (s sources) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }
func (s *sources) Push(x any)        { *s = append(*s, x.(*source)) }
func (s *sources) Pop() any {
	last := (*s)[len(*s)-1]
	*s = (*s)[:len(*s)-1]
	return last
}
