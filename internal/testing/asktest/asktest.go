// Package asktest checks how instruments ask.
package asktest

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"crosstalk"
)

// Paid checks that Measure lets the other asks of an item finish when one of them fails: a request that has been sent
// is paid for, so its answer must reach the journal. Of the n asks for the item, the one that fails picks fails at
// once; the others take an hour of fake time, and are lost if their context ends before that.
func Paid(t *testing.T, in crosstalk.Instrument, item crosstalk.Item, n int64, fails func(crosstalk.Request) bool) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		broken := errors.New("the disk is full")
		var failed, answered, lost atomic.Int64
		_, err := in.Measure(t.Context(), asker(func(ctx context.Context, r crosstalk.Request) (crosstalk.Answer, error) {
			if fails(r) {
				failed.Add(1)
				return crosstalk.Answer{}, broken
			}
			select {
			case <-time.After(time.Hour):
				answered.Add(1)
				return crosstalk.Answer{Status: crosstalk.Text, Text: "yes"}, nil
			case <-ctx.Done():
				lost.Add(1)
				return crosstalk.Answer{}, context.Cause(ctx)
			}
		}), item)
		if !errors.Is(err, broken) {
			t.Errorf("Measure returned the error %v; want %v", err, broken)
		}
		if failed.Load() != 1 || answered.Load() != n-1 || lost.Load() != 0 {
			t.Errorf("%d asks failed, %d were answered, %d were lost; want 1, %d, 0", failed.Load(), answered.Load(),
				lost.Load(), n-1)
		}
	})
}

type asker func(context.Context, crosstalk.Request) (crosstalk.Answer, error)

func (a asker) Ask(ctx context.Context, r crosstalk.Request) (crosstalk.Answer, error) {
	return a(ctx, r)
}
