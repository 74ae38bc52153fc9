package study

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"crosstalk"
)

// Of long recorded answers few are scored at a time, since to judge one takes a hundred times its length; of short ones
// as many as were wanted. Nothing waits for room when the reader has enough, or at an error.
func TestRoomForRecorded(t *testing.T) {
	const rows = 40
	for _, c := range []struct{ bytes, atOnce, most int }{{0, 16, 16}, {4 << 10, 16, 16}, {36 << 10, 32, 16},
		{100 << 10, 16, 5}, {260 << 10, 16, 2}, {1 << 20, 16, 1}, {16 << 20, 16, 1}} {
		for _, last := range []int{rows, 3} { // what is read
			for _, bad := range []int{rows, 20} {
				synctest.Test(t, func(t *testing.T) {
					now, most := make(chan int, 1), 0
					now <- 0
					r := &recordedAnswers{Study: &Study{}}
					r.batch.rows, r.batch.together = 1, c.atOnce
					r.rows = func(yield func(recordedRow, error) bool) {
						for i := range rows {
							row := recordedRow{item: crosstalk.Item{ID: fmt.Sprint(i)}, bytes: c.bytes,
								score: func(context.Context, int, crosstalk.Item) ([]crosstalk.Observation, error) {
									n := <-now + 1
									most = max(most, n)
									now <- n
									time.Sleep(time.Second)
									now <- <-now - 1
									return nil, nil
								}}
							var err error
							if i == bad {
								err = errors.New("cannot be read")
							}
							if !yield(row, err) || err != nil {
								return
							}
						}
					}
					n, failed := 0, error(nil)
					for one, err := range r.observations(t.Context(), nil, 0) {
						if failed = err; err != nil || n == last {
							break
						}
						if one.place.Item != n {
							t.Errorf("row %d comes as number %d", one.place.Item, n)
						}
						n++
					}
					if most != c.most || n != min(last, bad) || (failed != nil) != (last > bad) {
						t.Errorf("%d bytes: %d at once, want %d; %d rows, %v", c.bytes, most, c.most, n, failed)
					}
				})
			}
		}
	}
}
