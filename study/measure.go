package study

import (
	"context"
	"iter"

	"crosstalk"
	"crosstalk/internal/parallel"
	"crosstalk/suite"

	"golang.org/x/sync/semaphore"
)

// Arm is one condition of a study: its instrument and its asker.
type Arm struct {
	Instrument crosstalk.Instrument
	Ask        crosstalk.Asker
	Asks       int // of an item, about; 0 is 1

	// Scorer, if it is set, is called when the first item was asked for. What it returns
	// measures each item in turn, with the answers to what Instrument asked, which scores
	// nothing, as far as they are still in memory. Saved returns the others from where
	// Ask has saved them.
	Scorer func() crosstalk.Instrument
	Saved  func(crosstalk.Key) (answer crosstalk.Answer, found bool, err error)

	// Admit, if it is set, is called for each item in order, before it is asked for
	// with the context that it returns; end when what Instrument asks is answered.
	Admit func(ctx context.Context, item int) (_ context.Context, end func())
}

// Measured is the result of one item in an arm: its observations, or an error.
type Measured struct {
	Arm, Number  int // of the arm, and of the item
	Item         crosstalk.Item
	Observations []crosstalk.Observation
	Err          error
}

// What is in memory at most, of all items that are being measured.
const (
	waitingAsks  = 16       // answers that wait to be scored, or their keys, for each ask that may be under way
	waitingBytes = 16 << 20 // of these answers; the others are read again
	scoringBytes = 64 << 20 // of what is being scored, or waits for the items before it
	scoringItems = 256
)

// Measure measures items in every arm, with about n asks under way at a time, and
// yields them in the order of arms and items. After an error it continues, so that
// existing answers still count. When the loop is left, it starts no further items,
// waits for those in progress, whose requests may be paid for, and drops them.
func Measure(ctx context.Context, arms []Arm, items suite.Items, n int) iter.Seq[Measured] {
	n = max(1, n)
	asks := 1
	for _, arm := range arms {
		asks = max(asks, arm.Asks)
	}
	room := &room{asks: semaphore.NewWeighted(int64(n)), answers: semaphore.NewWeighted(waitingBytes), scoring: semaphore.NewWeighted(scoringBytes)}
	return func(yield func(Measured) bool) {
		inside, leave := context.WithCancel(context.WithoutCancel(ctx))
		defer leave()
		begun := func(yield func(*place, error) bool) {
			for arm := range arms {
				for number, item := range items.All() {
					p := &place{Measured: Measured{Arm: arm, Number: number, Item: item}, arm: &arms[arm], ctx: ctx, room: room}
					// Two items at least, so that the next is under way when the last answers of one are waited for.
					if p.enter(inside, max(1, n/2)) != nil || !yield(p, nil) {
						return
					}
				}
			}
		}
		asked := func(yield func(*place, error) bool) {
			for p := range parallel.Map(inside, begun, max(2, waitingAsks*n/asks), each((*place).ask)) {
				if p.weigh(inside) != nil || !yield(p, nil) {
					return
				}
			}
		}
		for p := range parallel.Map(inside, asked, scoringItems, each((*place).score)) {
			if !yield(p.Measured) {
				leave()
				return
			}
			room.scoring.Release(p.weight)
		}
	}
}

func each(do func(*place)) func(context.Context, *place) (*place, error) {
	return func(_ context.Context, p *place) (*place, error) {
		do(p)
		return p, nil
	}
}
