// Package parallel works concurrently and yields the results in order.
package parallel

import (
	"context"
	"iter"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// Enough is an n for Map when the work is bound by processors: none idles while a slow element delays the results.
// More would only fill memory.
func Enough() int { return 8 * runtime.GOMAXPROCS(0) }

// Map yields f of each element of in, in the order of in, with up to n calls running at a time and at most n results
// waiting. An error of in or f is yielded in its place and ends the sequence. The context of f is cancelled when the
// sequence ends; Map returns when no f is running.
func Map[T, R any](ctx context.Context, in iter.Seq2[T, error], n int,
	f func(context.Context, T) (R, error)) iter.Seq2[R, error] {
	type result struct {
		value R
		err   error
	}
	return func(yield func(R, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		queue := make(chan chan result, max(1, n)-1)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			defer close(queue)
			for element, err := range in {
				done := make(chan result, 1)
				select {
				case queue <- done: // blocks while n are running
				case <-ctx.Done():
					return
				}
				if err != nil {
					done <- result{err: err}
					return
				}
				go func() {
					value, err := f(ctx, element)
					done <- result{value, err}
				}()
			}
		}()
		defer func() {
			cancel()
			for done := range queue {
				<-done
			}
			<-ended
		}()
		for done := range queue {
			r := <-done
			if !yield(r.value, r.err) || r.err != nil {
				return
			}
		}
	}
}

// AtOnce is the most requests that one caller may have under way: more than any server accepts at a time, and few
// enough that their goroutines fit in memory.
const AtOnce = 1024

// Each calls f with the numbers below n, up to AtOnce at a time, and returns the first error once all calls have
// returned. It does not stop at an error: f may wait for an answer that is paid for.
func Each(n int, f func(i int) error) error {
	var group errgroup.Group
	group.SetLimit(AtOnce)
	for i := range n {
		group.Go(func() error { return f(i) })
	}
	return group.Wait()
}
