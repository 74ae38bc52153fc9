package study

import (
	"cmp"
	"context"
	"iter"
	"maps"

	"crosstalk"
	"crosstalk/internal/parallel"
	"crosstalk/run"

	"golang.org/x/sync/semaphore"
)

// recordedAnswers is what the sources of answers that were recorded elsewhere share.
type recordedAnswers struct {
	*Study
	files   []string
	planned run.Plan
	groups  groups                        // of the items that check has seen
	rows    iter.Seq2[recordedRow, error] // of all files in order
	batch   struct{ rows, together int }  // how many rows are scored one after the other, and batches at a time
}

type recordedRow struct {
	item    crosstalk.Item
	prompt  string // "" if it is unknown
	bytes   int    // of the answers
	thought int64  // answers with thoughts in them, which are not scored

	// score scores the row, whose item has the labels of its groups. It is called concurrently.
	score func(ctx context.Context, protocol int, item crosstalk.Item) ([]crosstalk.Observation, error)
	note  func() // is called once, in the order of rows; nil: nothing is noted
}

func (r *recordedRow) add(answers ...crosstalk.Answer) {
	for _, answer := range answers {
		r.bytes += len(answer.Text)
		if answer.Reasoning != "" {
			r.thought++
		}
	}
}

// rowsOf yields what is read as rows, until the first error.
func rowsOf[R any](read iter.Seq2[R, error], row func(R) recordedRow) iter.Seq2[recordedRow, error] {
	return func(yield func(recordedRow, error) bool) {
		for of, err := range read {
			if err != nil {
				yield(recordedRow{}, err)
				return
			}
			if !yield(row(of), nil) {
				return
			}
		}
	}
}

func (r *recordedAnswers) plan() run.Plan { return r.planned }

// see notes an item before any is scored.
func (r *recordedAnswers) see(labels map[string]string, prompt string) {
	r.columns.Add(labels)
	r.groups.see(labels, prompt)
}

func (r *recordedAnswers) seen() error {
	r.groups.done()
	maps.Copy(r.columns, r.groups.columns())
	return r.checkBy(r.columns)
}

// conditionOf names the condition of recorded answers: their model and, if there are several, the protocol.
func (s *Study) conditionOf(model string, protocol int) map[string]string {
	name := map[string]string{"model": model}
	if len(s.Protocols) > 1 {
		name[crosstalk.ProtocolColumn] = s.Protocols[protocol].Scoring.Protocol
	}
	return name
}

// observations scores the shard's rows and yields what was observed of each, in order.
func (r *recordedAnswers) observations(ctx context.Context, _ *Measurement, protocol int) iter.Seq2[scored, error] {
	score := func(ctx context.Context, b recordedBatch) (recordedBatch, error) {
		for i, row := range b.rows {
			if !r.shard.Has(cmp.Or(row.item.Cluster, row.item.ID)) {
				continue
			}
			if protocol == 0 {
				r.thought.Add(row.thought)
			}
			row.item.Labels = r.groups.label(row.item.Labels, row.prompt)
			observations, err := row.score(ctx, protocol, row.item)
			if err != nil {
				return b, err
			}
			b.scored = append(b.scored, scored{run.Place{Item: b.first + i}, observations})
		}
		return b, nil
	}
	return func(yield func(scored, error) bool) {
		inside, leave := context.WithCancel(ctx)
		defer leave()
		const short = 4 << 10 // bytes of the answers of a row for which there is always room
		room := semaphore.NewWeighted(scoringBytes)
		weighed := func(yield func(recordedBatch, error) bool) {
			for b, err := range r.batches {
				b.weight = min(scoringBytes, scoringTimes*int64(max(0, b.longest-short)))
				if room.Acquire(inside, b.weight) != nil || !yield(b, err) {
					return
				}
			}
		}
		for b, err := range parallel.Map(inside, weighed, r.batch.together, score) {
			if err != nil {
				leave() // so that nothing more waits for room
				yield(scored{}, err)
				return
			}
			for _, row := range b.rows {
				if protocol == 0 && row.note != nil {
					row.note()
				}
			}
			for _, one := range b.scored {
				if !yield(one, nil) {
					leave()
					return
				}
			}
			room.Release(b.weight)
		}
	}
}

// recordedBatch is some of the rows that were read one after the other.
type recordedBatch struct {
	first   int // the number of the first
	rows    []recordedRow
	scored  []scored
	longest int   // bytes of the answers of the longest row
	weight  int64 // bytes, about, that scoring it takes
}

// batchBytes limits the answers in a batch, about.
const batchBytes = 1 << 16

func (r *recordedAnswers) batches(yield func(recordedBatch, error) bool) {
	var next recordedBatch
	bytes := 0
	for row, err := range r.rows {
		if err != nil {
			yield(next, err)
			return
		}
		next.rows, next.longest = append(next.rows, row), max(next.longest, row.bytes)
		bytes += row.bytes
		if len(next.rows) == r.batch.rows || bytes >= batchBytes {
			if !yield(next, nil) {
				return
			}
			next, bytes = recordedBatch{first: next.first + len(next.rows)}, 0
		}
	}
	if next.rows != nil {
		yield(next, nil)
	}
}
