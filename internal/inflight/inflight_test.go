package inflight_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"crosstalk/internal/inflight"
)

// Shares never exceed the total, and an ask that takes again while all others
// wait gives back first, so no two wait for each other.
func TestShare(t *testing.T) {
	const each = inflight.Total/3 + 1 // two at a time
	var most atomic.Int64
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			ctx, share := inflight.With(t.Context())
			defer share.Release()
			for range 20 {
				same, returned := inflight.Of(ctx)
				if same != share {
					t.Error("another share")
				}
				if err := same.Take(ctx, each); err != nil {
					t.Error(err)
				}
				returned()
				now := inflight.Used()
				for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
				}
			}
		})
	}
	group.Wait()
	if most.Load() > inflight.Total || inflight.Used() != 0 {
		t.Errorf("%d bytes at most, %d in the end", most.Load(), inflight.Used())
	}
}

// Without a share in the context, what was taken is back when the answer was
// returned; a full budget ends with the context.
func TestNoShare(t *testing.T) {
	share, returned := inflight.Of(t.Context())
	if err := share.Take(t.Context(), inflight.Total); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	other, back := inflight.Of(ended)
	if err := other.Take(ended, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	back()
	if inflight.Used() != inflight.Total {
		t.Errorf("%d bytes taken", inflight.Used())
	}
	if returned(); inflight.Used() != 0 {
		t.Errorf("%d bytes taken after the answer", inflight.Used())
	}
}
