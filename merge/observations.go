package merge

import (
	"container/heap"
	"fmt"
	"iter"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/run"
	"crosstalk/study"
)

// mergeObservations records the observations of all shards in the order of the
// whole measurement, and sums them up.
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

// observations yields those of all shards by their places.
func (s shards) observations() iter.Seq2[run.Placed, error] {
	return func(yield func(run.Placed, error) bool) {
		done := make(chan struct{})
		defer close(done)
		var open sources
		for _, o := range s {
			from := &source{path: o.path, batches: ahead(run.ReadPlaced(o.path, instrument.Named(o.Plan.Instrument).Reads...), done)}
			more, err := from.step()
			if err != nil {
				yield(run.Placed{}, err)
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
				yield(run.Placed{}, fmt.Errorf("%s and %s both have the item %q: they are not shards of one measurement", lastPath, from.path, from.at.Item))
				return
			}
			last, lastPath = from.at.At, from.path
			if !yield(from.at, nil) {
				return
			}
			more, err := from.step()
			switch {
			case err != nil:
				yield(run.Placed{}, err)
				return
			case more:
				heap.Fix(&open, 0)
			default:
				heap.Pop(&open)
			}
		}
	}
}

// batch is some observations of a shard, and the error that ends them.
type batch struct {
	list []run.Placed
	err  error
}

// atOnce is the number of observations in a batch.
const atOnce = 64

// ahead reads observations in batches ahead of whoever takes them, since reading
// takes most of the time. It ends with done.
func ahead(in iter.Seq2[run.Placed, error], done <-chan struct{}) <-chan batch {
	out := make(chan batch, 1)
	go func() {
		defer close(out)
		var next batch
		send := func() bool {
			select {
			case out <- next:
				next = batch{}
				return true
			case <-done:
				return false
			}
		}
		for o, err := range in {
			if err != nil {
				next.err = err
				break
			}
			if next.list = append(next.list, o); len(next.list) == atOnce && !send() {
				return
			}
		}
		send()
	}()
	return out
}

// source is where the observations of a shard come from.
type source struct {
	path    string
	batches <-chan batch
	left    batch
	at      run.Placed // the next one
}

// step takes the next observation, and reports whether there is one.
func (s *source) step() (more bool, err error) {
	for len(s.left.list) == 0 {
		if s.left.err != nil {
			return false, s.left.err
		}
		if s.left, more = <-s.batches; !more {
			return false, nil
		}
	}
	s.at, s.left.list = s.left.list[0], s.left.list[1:]
	return true, nil
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
