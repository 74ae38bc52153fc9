package study

import (
	"context"
	"iter"

	"crosstalk"
	"crosstalk/internal/parallel"
)

// Arm is one condition of a study: the instrument that is set to it, and who
// is asked.
type Arm struct {
	Instrument crosstalk.Instrument
	Ask        crosstalk.Asker
}

// Measured is what came of one item: its observations, or the error that kept
// it from being measured.
type Measured struct {
	Item         crosstalk.Item
	Observations []crosstalk.Observation
	Err          error
}

// Measure measures items in every arm, up to n of them at a time, and yields
// every one in the arms' and their own order. After an error it continues:
// what is answered already still counts. When the loop is left it starts no
// further items, waits for those under way, whose asks may be paid for, and
// drops them.
func Measure(ctx context.Context, arms []Arm, items []crosstalk.Item, n int) iter.Seq[Measured] {
	type place struct{ arm, item int }
	places := func(yield func(place, error) bool) {
		for arm := range arms {
			for item := range items {
				if !yield(place{arm, item}, nil) {
					return
				}
			}
		}
	}
	measure := func(_ context.Context, at place) (Measured, error) {
		m := Measured{Item: items[at.item], Err: context.Cause(ctx)}
		if m.Err == nil {
			arm := arms[at.arm]
			m.Observations, m.Err = arm.Instrument.Measure(ctx, arm.Ask, m.Item)
		}
		return m, nil
	}
	return func(yield func(Measured) bool) {
		for m := range parallel.Map(context.WithoutCancel(ctx), places, n, measure) {
			if !yield(m) {
				return
			}
		}
	}
}
