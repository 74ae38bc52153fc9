package jsonlog

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestWriter(t *testing.T) {
	var b strings.Builder
	w := New(&b)
	fmt.Fprint(w, "note: it is ")
	fmt.Fprint(w, "late\n\nsaved in \"runs\"\ncrosstalk: no\nnot ended")
	w.Log("progress", "done", 3)
	var got []string
	for line := range strings.Lines(b.String()) {
		var r struct {
			Time, Level, Msg string
			Done             int
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil || r.Time == "" {
			t.Fatalf("%q: %v", line, err)
		}
		got = append(got, fmt.Sprint(r.Level, " ", r.Msg, " ", r.Done))
	}
	want := `WARN it is late 0|INFO saved in "runs" 0|ERROR no 0|INFO progress 3`
	if strings.Join(got, "|") != want {
		t.Errorf("%q", got)
	}
}
