package watch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"crosstalk/internal/testing/golden"
	"crosstalk/run/shard"
)

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
