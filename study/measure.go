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

	// Admit, if it is set, is called for each item in order, before it is
	// measured with the context it returns; end when it is done.
	Admit func(ctx context.Context, item int) (_ context.Context, end func())
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
	type place struct {
		arm, item int
		ctx       context.Context
		end       func()
	}
	places := func(yield func(place, error) bool) {
		for arm := range arms {
			for item := range items {
				at := place{arm, item, ctx, func() {}}
				if admit := arms[arm].Admit; admit != nil {
					at.ctx, at.end = admit(ctx, item)
				}
				if !yield(at, nil) {
					return
				}
			}
		}
	}
	measure := func(_ context.Context, at place) (Measured, error) {
		defer at.end()
		m := Measured{Item: items[at.item], Err: context.Cause(ctx)}
		if m.Err == nil {
			arm := arms[at.arm]
			m.Observations, m.Err = arm.Instrument.Measure(at.ctx, arm.Ask, m.Item)
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
