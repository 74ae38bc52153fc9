package results

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"crosstalk/run/shard"
	"crosstalk/run/watch"
)

func TestWriteStatus(t *testing.T) {
	cost := 1.5
	last := time.Date(2026, 11, 22, 20, 15, 0, 0, time.Local)
	part := func(i int, totals watch.Totals) watch.Part {
		return watch.Part{Shard: shard.Shard{Index: i, Count: 7}, Totals: totals}
	}
	sweep := watch.Run{Path: "runs/sweep", Suite: "leakage-en@1", Models: []string{"a:1", "a:2", "b:\x1b3", "b:4"}, Shards: 7, Missing: []int{7},
		Totals: watch.Totals{State: watch.Running, Requests: 50, Done: 20, Failed: 2, Rate: 1.25,
			Left: 24 * time.Second, Cost: &cost}}
	slow := part(2, watch.Totals{State: watch.Running, Requests: 10, Done: 2, Rate: 0.3, Left: 20 * time.Second})
	slow.Slow = true
	broken := part(5, watch.Totals{State: watch.Broken})
	broken.Error = "no http://u:secret@h\x1b"
	sweep.Parts = []watch.Part{part(1, watch.Totals{State: watch.Finished, Requests: 10, Done: 10}), slow,
		part(3, watch.Totals{State: watch.Quiet, Requests: 10, Done: 1, Last: last}),
		part(4, watch.Totals{State: watch.Quiet, Requests: 10, Left: time.Minute}), broken, part(6,
			watch.Totals{State: watch.Quiet})}
	three := watch.Run{Path: "runs/b", Suite: "s@1", Models: []string{"a", "b", "c"}, Totals: watch.Totals{State: watch.Finished, Done: 1}}
	single := watch.Run{Path: "runs/lost", Totals: watch.Totals{State: watch.Broken}, Parts: []watch.Part{{Error: "is gone"}}}
	want := `runs/sweep: running
  leakage-en@1, a:1, a:2, b:␛3 and 1 more
  20 of about 50 requests, 2 failed, 1.2/s, 24s left, cost 1.5000
  7 shards: 1 finished, 1 running, 3 quiet, 1 broken, 1 not begun
  4/7  0 of 10 requests, 1m left          no answer yet
  2/7  2 of 10 requests, 0.3/s, 20s left  slow
  3/7  1 of 10 requests                   no answer since 2026-11-22 20:15
  5/7  no requests                        cannot be read: no http://[hidden]@h␛
  6/7  no requests                        not finished

runs/lost: broken
  no requests
  cannot be read: is gone
`
	var b bytes.Buffer
	if err := WriteStatus(&b, []watch.Run{sweep, single}, false); err != nil || b.String() != want {
		t.Errorf("%v\n%s", err, b.String())
	}
	b.Reset()
	if err := WriteStatus(&b, []watch.Run{three}, false); err != nil || !strings.HasPrefix(b.String(), "runs/b: finished\n  s@1, a, b, c\n") {
		t.Errorf("%v\n%s", err, b.String())
	}
	b.Reset()
	if err := WriteStatus(&b, []watch.Run{sweep}, true); err != nil || !strings.Contains(b.String(), "  1/7  10 of 10 requests ") {
		t.Errorf("%v\n%s", err, b.String())
	}

	failed := watch.Run{Shards: 2, Parts: []watch.Part{part(1, watch.Totals{State: watch.Finished, Requests: 10,
		Done: 10, Failed: 1}),
		part(2, watch.Totals{State: watch.Finished, Requests: 10, Done: 10})}}
	b.Reset()
	if err := WriteStatus(&b, []watch.Run{failed}, false); err != nil ||
		!strings.Contains(b.String(), "1/7  10 of 10 requests, 1 failed") || strings.Contains(b.String(), "2/7") {
		t.Errorf("%v\n%s", err, b.String())
	}

	many := watch.Run{Shards: 30, Totals: watch.Totals{State: watch.Quiet}}
	for i := range 30 {
		many.Parts = append(many.Parts,
			watch.Part{Shard: shard.Shard{Index: i + 1, Count: 30}, Totals: watch.Totals{State: watch.Quiet, Requests: 1}})
	}
	for all, want := range map[bool]int{false: mostShards, true: 30} {
		b.Reset()
		err := WriteStatus(&b, []watch.Run{many}, all)
		if n := strings.Count(b.String(), "no answer yet"); err != nil || n != want || strings.Contains(b.String(), "and 10 more (--all)") == all {
			t.Errorf("all %v: %d shards, %v\n%s", all, n, err, b.String())
		}
	}
}

// Shards that run are said to run, those that are left out are counted, and none that
// have not begun are none.
func TestWriteStatusOfShards(t *testing.T) {
	of := func(count int) watch.Run {
		r := watch.Run{Path: "runs/a", Shards: count, Totals: watch.Totals{State: watch.Running, Requests: 2 * count, Done: count}}
		for i := range count {
			r.Parts = append(r.Parts, watch.Part{Shard: shard.Shard{Index: i + 1, Count: count},
				Totals: watch.Totals{State: watch.Running, Requests: 2, Done: 1, Last: time.Now()}})
		}
		return r
	}
	var b bytes.Buffer
	want := `runs/a: running
  2 of 4 requests
  2 shards: 2 running
  1/2  1 of 2 requests  running
  2/2  1 of 2 requests  running
`
	if err := WriteStatus(&b, []watch.Run{of(2)}, false); err != nil || b.String() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, b.String(), want)
	}
	b.Reset()
	if err := WriteStatus(&b, []watch.Run{of(mostShards + 1)}, false); err != nil || !strings.HasSuffix(b.String(), "\n  and 1 more (--all)\n") {
		t.Errorf("%v\n%s", err, b.String())
	}
	b.Reset()
	if err := WriteStatus(&b, []watch.Run{of(mostShards)}, false); err != nil || strings.Contains(b.String(), "more") {
		t.Errorf("%v\n%s", err, b.String())
	}
	if err := WriteStatus(full{}, []watch.Run{of(2)}, false); err != errFull {
		t.Errorf("nothing could be written: %v", err)
	}
}

// full is a disk on which nothing can be written.
type full struct{}

var errFull = errors.New("no space left")

func (full) Write([]byte) (int, error) { return 0, errFull }
