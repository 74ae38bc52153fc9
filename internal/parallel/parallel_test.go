package parallel_test

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"
	"testing"
	"time"

	"crosstalk/internal/parallel"
)

func numbers(n int, last error) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		for i := range n {
			if !yield(i, nil) {
				return
			}
		}
		if last != nil {
			yield(0, last)
		}
	}
}

func TestOrderAndBound(t *testing.T) {
	var now, most atomic.Int64
	want := 0
	for got, err := range parallel.Map(t.Context(), numbers(200, nil), 8, func(_ context.Context, i int) (int, error) {
		most.Store(max(most.Load(), now.Add(1)))
		time.Sleep(time.Duration(i%7) * 100 * time.Microsecond)
		now.Add(-1)
		return i * i, nil
	}) {
		if err != nil || got != want*want {
			t.Fatalf("got %d, %v; want %d", got, err, want*want)
		}
		want++
	}
	if want != 200 {
		t.Errorf("%d results; want 200", want)
	}
	if m := most.Load(); m > 9 || m < 2 {
		t.Errorf("%d at a time; want more than one and about 8", m)
	}
}

func TestErrorsEndIt(t *testing.T) {
	broken := errors.New("broken")
	for name, seq := range map[string]iter.Seq2[int, error]{
		"of the input": parallel.Map(t.Context(), numbers(5, broken), 3, func(_ context.Context, i int) (int, error) { return i, nil }),
		"of the work": parallel.Map(t.Context(), numbers(50, nil), 3, func(_ context.Context, i int) (int, error) {
			if i == 5 {
				return 0, broken
			}
			return i, nil
		}),
	} {
		n := 0
		var last error
		for _, err := range seq {
			if last = err; err == nil {
				n++
			}
		}
		if n != 5 || !errors.Is(last, broken) {
			t.Errorf("%s: %d results, then %v; want 5, then %v", name, n, last, broken)
		}
	}
}

func TestLeavingEarlyWaitsForTheWork(t *testing.T) {
	var under atomic.Int64
	for range parallel.Map(t.Context(), numbers(100, nil), 4, func(ctx context.Context, i int) (int, error) {
		under.Add(1)
		defer under.Add(-1)
		if i > 0 {
			<-ctx.Done()
		}
		return i, nil
	}) {
		break
	}
	if n := under.Load(); n != 0 {
		t.Errorf("%d still under way", n)
	}
}
