package parallel

import "golang.org/x/sync/errgroup"

// AtOnce is how many requests of one caller may be under way: more than any server
// takes at a time, and not so many that their goroutines fill memory.
const AtOnce = 1024

// Each calls f with the numbers below n, up to AtOnce of them at a time, and returns the first error when all calls
// have returned. It does not stop at an error: f may wait for an answer that is paid for.
func Each(n int, f func(i int) error) error {
	var group errgroup.Group
	group.SetLimit(AtOnce)
	for i := range n {
		group.Go(func() error { return f(i) })
	}
	return group.Wait()
}
