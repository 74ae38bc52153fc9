package study

import (
	"context"
	"iter"

	"crosstalk"
	"crosstalk/internal/parallel"
	"crosstalk/suite"
)

// Arm is one condition of a study: its instrument and its asker.
type Arm struct {
	Instrument crosstalk.Instrument
	Ask        crosstalk.Asker

	// Admit, if it is set, is called for each item in order, before it is
	// measured with the context it returns; end when it is done.
	Admit func(ctx context.Context, item int) (_ context.Context, end func())
}

// Measured is the result of one item in an arm: its observations, or an error.
type Measured struct {
	Arm, Number  int // of the arm, and of the item
	Item         crosstalk.Item
	Observations []crosstalk.Observation
	Err          error
}

// Measure measures items in every arm, up to n of them at a time, and yields them
// in the order of arms and items. After an error it continues, so that existing
// answers still count. When the loop is left, it starts no further items, waits
// for those in progress, whose requests may be paid for, and drops them.
func Measure(ctx context.Context, arms []Arm, items suite.Items, n int) iter.Seq[Measured] {
	type place struct {
		arm, number int
		item        crosstalk.Item
		ctx         context.Context
		end         func()
	}
	places := func(yield func(place, error) bool) {
		for arm := range arms {
			for number, item := range items.All() {
				at := place{arm, number, item, ctx, func() {}}
				if admit := arms[arm].Admit; admit != nil {
					at.ctx, at.end = admit(ctx, number)
				}
				if !yield(at, nil) {
					return
				}
			}
		}
	}
	measure := func(_ context.Context, at place) (Measured, error) {
		defer at.end()
		m := Measured{Arm: at.arm, Number: at.number, Item: at.item, Err: context.Cause(ctx)}
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
