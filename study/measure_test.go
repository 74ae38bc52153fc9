package study

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"crosstalk"
	"crosstalk/suite"
)

// fakeInstrument is a crosstalk.Instrument whose Measure is a function.
type fakeInstrument func(ctx context.Context, item crosstalk.Item) ([]crosstalk.Observation, error)

var _ crosstalk.Instrument = fakeInstrument(nil)

func (f fakeInstrument) Measure(ctx context.Context, _ crosstalk.Asker, item crosstalk.Item) ([]crosstalk.Observation,
	error) {
	return f(ctx, item)
}

func items(n int) (items suite.Items) {
	for i := range n {
		items.Add(crosstalk.Item{ID: fmt.Sprint(i)})
	}
	return items
}

// Items come in their order, errors in their place, and as many at a time as
// was said.
func TestMeasure(t *testing.T) {
	for _, parallel := range []int{0, 1, 2, 7, 1000} {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 1))
			waits := make(map[string]time.Duration)
			for _, item := range items(100).All() {
				waits[item.ID] = time.Duration(random.IntN(1000)) * time.Millisecond
			}
			odd := errors.New("odd")
			var underWay, most atomic.Int32
			in := fakeInstrument(func(_ context.Context, item crosstalk.Item) ([]crosstalk.Observation, error) {
				now := underWay.Add(1)
				defer underWay.Add(-1)
				for {
					if old := most.Load(); now <= old || most.CompareAndSwap(old, now) {
						break
					}
				}
				time.Sleep(waits[item.ID])
				if item.ID[len(item.ID)-1]%2 == 1 {
					return nil, odd
				}
				return []crosstalk.Observation{{Item: item.ID}}, nil
			})
			i := 0
			for m := range Measure(t.Context(), []Arm{{Instrument: in}}, items(100), parallel) {
				if m.Item.ID != fmt.Sprint(i) || i%2 == 1 && m.Err != odd || i%2 == 0 &&
					(m.Err != nil || m.Observations[0].Item != m.Item.ID) {
					t.Errorf("%d: %+v", i, m)
				}
				i++
			}
			if want := int32(min(max(1, parallel), 100)); i != 100 || most.Load() != want {
				t.Errorf("%d items, %d at a time; want 100, %d", i, most.Load(), want)
			}
		})
	}
	for range Measure(t.Context(), []Arm{{Instrument: fakeInstrument(nil)}}, suite.Items{}, 3) {
		t.Error("an item out of nothing")
	}
}

// Arms come one after the other, and items of the next begin while the last of
// one are under way.
func TestMeasureArms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var arms []Arm
		for k := range 3 {
			arms = append(arms, Arm{Instrument: fakeInstrument(func(_ context.Context,
				item crosstalk.Item) ([]crosstalk.Observation, error) {
				time.Sleep(time.Second)
				return []crosstalk.Observation{{Item: item.ID, Sample: k}}, nil
			})})
		}
		i, begin := 0, time.Now()
		for m := range Measure(t.Context(), arms, items(10), 30) {
			if o := m.Observations[0]; o.Item != fmt.Sprint(i%10) || o.Sample != i/10 {
				t.Errorf("%d: %+v", i, o)
			}
			i++
		}
		if i != 30 || time.Since(begin) != time.Second {
			t.Errorf("%d measured in %v", i, time.Since(begin))
		}
	})
}

// Who leaves the loop waits for the items under way, and no more are started than the
// one that takes the place of the first.
func TestMeasureIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var started, ended atomic.Int32
		in := fakeInstrument(func(ctx context.Context, item crosstalk.Item) ([]crosstalk.Observation, error) {
			started.Add(1)
			defer ended.Add(1)
			if item.ID != "0" {
				time.Sleep(time.Minute)
			}
			time.Sleep(time.Second) // until the others have started
			return nil, ctx.Err()
		})
		for range Measure(t.Context(), []Arm{{Instrument: in}}, items(100), 10) {
			break
		}
		if n := started.Load(); n < 10 || n > 11 || ended.Load() != n {
			t.Errorf("%d started, %d ended; want 10 or 11", n, ended.Load())
		}
	})
}

// When the context ends, every item is still accounted for, those not begun
// without being begun.
func TestMeasureIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := errors.New("now")
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		var started atomic.Int32
		in := fakeInstrument(func(ctx context.Context, item crosstalk.Item) ([]crosstalk.Observation, error) {
			started.Add(1)
			time.Sleep(time.Second)
			return nil, nil
		})
		n, failed := 0, 0
		for m := range Measure(ctx, []Arm{{Instrument: in}}, items(100), 10) {
			if n++; n == 15 {
				cancel(now)
			}
			if m.Err != nil {
				failed++
				if m.Err != now {
					t.Error(m.Err)
				}
			}
		}
		if n != 100 || failed != 100-int(started.Load()) || started.Load() > 30 {
			t.Errorf("%d items, %d started, %d failed", n, started.Load(), failed)
		}
	})
}
