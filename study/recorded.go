package study

import (
	"cmp"
	"context"
	"iter"
	"maps"

	"crosstalk"
	"crosstalk/internal/parallel"
	"crosstalk/run"
)

// recordedAnswers is what the sources of answers that were recorded elsewhere share.
type recordedAnswers[R any] struct {
	*Study
	reader  reader[R] // the source
	files   []string
	planned run.Plan
	groups  groups // of the items that check has seen
}

// answered is an item with the answers of a model.
type answered struct {
	model   string
	item    crosstalk.Item
	prompt  string // "" if it is unknown
	bytes   int    // of the answers
	thought int64  // answers with thoughts in them, which are not scored
}

func (a *answered) add(answers ...crosstalk.Answer) {
	for _, answer := range answers {
		a.bytes += len(answer.Text)
		if answer.Reasoning != "" {
			a.thought++
		}
	}
}

// reader reads and scores recorded answers in rows of one instrument.
type reader[R any] interface {
	// rows yields the rows of all files in order.
	rows(yield func(R, error) bool)
	// answered is what a row is about.
	answered(row R) answered
	// score scores a row, whose item has the labels of its groups. It is called
	// concurrently.
	score(ctx context.Context, protocol int, row R, of answered) ([]crosstalk.Observation, error)
	// note is called once with each row, in order.
	note(row R)
	// batch is how many rows are scored one after the other, and how many of these batches
	// at a time.
	batch(protocol int) (rows, atOnce int)
}

func (r *recordedAnswers[R]) plan() run.Plan { return r.planned }

// see notes an item before any is scored.
func (r *recordedAnswers[R]) see(labels map[string]string, prompt string) {
	r.columns.Add(labels)
	r.groups.see(labels, prompt)
}

// seen ends the check: all items have been seen.
func (r *recordedAnswers[R]) seen() error {
	r.groups.done()
	maps.Copy(r.columns, r.groups.columns())
	return r.checkBy(r.columns)
}

// conditionOf names the condition of recorded answers: their model and, if there are
// several protocols, the protocol.
func (s *Study) conditionOf(model string, protocol int) map[string]string {
	name := map[string]string{"model": model}
	if len(s.Protocols) > 1 {
		name[crosstalk.ProtocolColumn] = s.Protocols[protocol].Scoring.Protocol
	}
	return name
}

// has reports whether a recorded item is the shard's.
func (s *Study) has(item crosstalk.Item) bool { return s.shard.Has(cmp.Or(item.Cluster, item.ID)) }

// observations scores the shard's rows and yields what was observed of each, in order.
func (r *recordedAnswers[R]) observations(ctx context.Context, _ *Measurement, protocol int) iter.Seq2[scored, error] {
	type result struct {
		rows   []R
		scored []scored
	}
	in := r.reader
	score := func(ctx context.Context, b batch[R]) (result, error) {
		of := result{rows: b.rows}
		for i, a := range b.answered {
			if !r.has(a.item) {
				continue
			}
			if protocol == 0 {
				r.thought.Add(a.thought)
			}
			a.item.Labels = r.groups.label(a.item.Labels, a.prompt)
			observations, err := in.score(ctx, protocol, b.rows[i], a)
			if err != nil {
				return of, err
			}
			of.scored = append(of.scored, scored{run.Place{Item: b.first + i}, observations})
		}
		return of, nil
	}
	return func(yield func(scored, error) bool) {
		rows, atOnce := in.batch(protocol)
		for of, err := range parallel.Map(ctx, batches(in, rows), atOnce, score) {
			if err != nil {
				yield(scored{}, err)
				return
			}
			if protocol == 0 {
				for _, row := range of.rows {
					in.note(row)
				}
			}
			for _, one := range of.scored {
				if !yield(one, nil) {
					return
				}
			}
		}
	}
}

// batch is some of the rows that were read one after the other.
type batch[R any] struct {
	first    int // the number of the first
	rows     []R
	answered []answered
}

// batchBytes limits the answers in a batch, about.
const batchBytes = 1 << 16

// batches yields the rows in batches of at most so many.
func batches[R any](in reader[R], most int) iter.Seq2[batch[R], error] {
	return func(yield func(batch[R], error) bool) {
		var next batch[R]
		bytes := 0
		for row, err := range in.rows {
			if err != nil {
				yield(next, err)
				return
			}
			of := in.answered(row)
			next.rows, next.answered = append(next.rows, row), append(next.answered, of)
			bytes += of.bytes
			if len(next.rows) == most || bytes >= batchBytes {
				if !yield(next, nil) {
					return
				}
				next, bytes = batch[R]{first: next.first + len(next.rows)}, 0
			}
		}
		if next.rows != nil {
			yield(next, nil)
		}
	}
}
