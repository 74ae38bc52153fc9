package parallel

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Each number is there once, no more than AtOnce at a time, and all calls have returned
// when Each does, also after an error.
func TestEach(t *testing.T) {
	for _, n := range []int{0, 1, AtOnce - 1, AtOnce, AtOnce + 1, 3 * AtOnce} {
		synctest.Test(t, func(t *testing.T) {
			odd := errors.New("odd")
			var now, most, ended atomic.Int32
			seen := make([]atomic.Bool, n)
			err := Each(n, func(i int) error {
				if seen[i].Swap(true) {
					t.Errorf("%d was there twice", i)
				}
				most.Store(max(most.Load(), now.Add(1))) // may miss one; the sleep lets all come
				time.Sleep(time.Second)
				most.Store(max(most.Load(), now.Load()))
				now.Add(-1)
				ended.Add(1)
				if i == 1 {
					return odd
				}
				return nil
			})
			if want := int32(min(n, AtOnce)); most.Load() != want || int(ended.Load()) != n || (n > 1) != (err == odd) {
				t.Errorf("%d: %d at a time, %d ended, %v", n, most.Load(), ended.Load(), err)
			}
		})
	}
}
