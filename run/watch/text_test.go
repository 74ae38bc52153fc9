package watch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"crosstalk/internal/golden"
	"crosstalk/run/shard"
)

func TestWrite(t *testing.T) {
	cost := 1.5
	last := time.Date(2026, 11, 22, 20, 15, 0, 0, time.Local)
	part := func(i int, totals Totals) Part {
		return Part{Shard: shard.Shard{Index: i, Count: 7}, Totals: totals}
	}
	sweep := Run{Path: "runs/sweep", Suite: "leakage-en@1", Models: []string{"a:1", "a:2", "b:\x1b3", "b:4"}, Shards: 7, Missing: []int{7},
		Totals: Totals{State: Running, Requests: 50, Done: 20, Failed: 2, Rate: 1.25, Left: 24 * time.Second, Cost: &cost}}
	slow := part(2, Totals{State: Running, Requests: 10, Done: 2, Rate: 0.3, Left: 20 * time.Second})
	slow.Slow = true
	broken := part(5, Totals{State: Broken})
	broken.Error = "no http://u:secret@h\x1b"
	sweep.Parts = []Part{part(1, Totals{State: Finished, Requests: 10, Done: 10}), slow,
		part(3, Totals{State: Quiet, Requests: 10, Done: 1, Last: last}),
		part(4, Totals{State: Quiet, Requests: 10, Left: time.Minute}), broken, part(6, Totals{State: Quiet})}
	three := Run{Path: "runs/b", Suite: "s@1", Models: []string{"a", "b", "c"}, Totals: Totals{State: Finished, Done: 1}}
	single := Run{Path: "runs/lost", Totals: Totals{State: Broken}, Parts: []Part{{Error: "is gone"}}}
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
	if err := Write(&b, []Run{sweep, single}, false); err != nil || b.String() != want {
		t.Errorf("%v\n%s", err, b.String())
	}
	b.Reset()
	if err := Write(&b, []Run{three}, false); err != nil || !strings.HasPrefix(b.String(), "runs/b: finished\n  s@1, a, b, c\n") {
		t.Errorf("%v\n%s", err, b.String())
	}
	b.Reset()
	if err := Write(&b, []Run{sweep}, true); err != nil || !strings.Contains(b.String(), "  1/7  10 of 10 requests ") {
		t.Errorf("%v\n%s", err, b.String())
	}

	failed := Run{Shards: 2, Parts: []Part{part(1, Totals{State: Finished, Requests: 10, Done: 10, Failed: 1}),
		part(2, Totals{State: Finished, Requests: 10, Done: 10})}}
	b.Reset()
	if err := Write(&b, []Run{failed}, false); err != nil ||
		!strings.Contains(b.String(), "1/7  10 of 10 requests, 1 failed") || strings.Contains(b.String(), "2/7") {
		t.Errorf("%v\n%s", err, b.String())
	}

	many := Run{Shards: 30, Totals: Totals{State: Quiet}}
	for i := range 30 {
		many.Parts = append(many.Parts,
			Part{Shard: shard.Shard{Index: i + 1, Count: 30}, Totals: Totals{State: Quiet, Requests: 1}})
	}
	for all, want := range map[bool]int{false: mostShards, true: 30} {
		b.Reset()
		err := Write(&b, []Run{many}, all)
		if n := strings.Count(b.String(), "no answer yet"); err != nil || n != want || strings.Contains(b.String(), "and 10 more (--all)") == all {
			t.Errorf("all %v: %d shards, %v\n%s", all, n, err, b.String())
		}
	}
}

func TestWriteJSON(t *testing.T) {
	for n, runs := range [][]Run{nil, {{Path: "a"}}} {
		var b bytes.Buffer
		var got struct {
			Schema string
			Runs   []Run
		}
		err := WriteJSON(&b, runs)
		if err == nil {
			err = json.Unmarshal(b.Bytes(), &got)
		}
		if err != nil || got.Schema != "crosstalk/status/v1" || got.Runs == nil || len(got.Runs) != n {
			t.Error(fmt.Sprint(err), b.String())
		}
	}
}

// The schema, to the byte.
func TestWriteJSONText(t *testing.T) {
	cost := 0.5
	part := Part{Path: "a/1", Shard: shard.Shard{Index: 1, Count: 2}, Slow: true, Totals: Totals{State: Running, Requests: 9,
		Done: 4, Failed: 1, Rate: 0.5, Left: 10 * time.Second, Last: now, Cost: &cost}}
	var b bytes.Buffer
	if err := WriteJSON(&b, []Run{{Path: "a", Suite: "s@1", Models: []string{"p:m"}, Shards: 2, Missing: []int{2},
		Parts: []Part{part, {Path: "a/2", Error: "x"}}, Totals: Totals{State: Quiet}}}); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/status.json", b.String())
	if err := WriteJSON(failing{}, nil); err == nil {
		t.Error("a writer's error is lost")
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("full") }
