package main

import (
	"iter"
	"runtime"
)

// inOrder applies f to what in yields, on all cores, and yields the results in
// the same order. At most ahead of them are under way at a time. It ends with
// the first error.
func inOrder[In, Out any](in iter.Seq2[In, error], ahead int, f func(In) Out) iter.Seq2[Out, error] {
	type result struct {
		out Out
		err error
	}
	type job struct {
		in   In
		done chan<- result
	}
	return func(yield func(Out, error) bool) {
		stop := make(chan struct{})
		defer close(stop)
		queue, jobs := make(chan (<-chan result), ahead), make(chan job, ahead)
		go func() {
			defer close(queue)
			defer close(jobs)
			for input, err := range in {
				done := make(chan result, 1)
				select {
				case queue <- done: // waits while enough are under way
				case <-stop:
					return
				}
				if err != nil {
					done <- result{err: err}
					return
				}
				jobs <- job{input, done}
			}
		}()
		for range runtime.GOMAXPROCS(0) {
			go func() {
				for j := range jobs {
					j.done <- result{out: f(j.in)}
				}
			}()
		}
		for done := range queue {
			r := <-done
			if !yield(r.out, r.err) || r.err != nil {
				return
			}
		}
	}
}
