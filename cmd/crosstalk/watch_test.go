package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"crosstalk/internal/testserver"
)

// A run can be watched while it runs: counts for Prometheus, and logs of which
// every line is a record, the error included.
func TestWatchedRun(t *testing.T) {
	t.Parallel()
	wait := make(chan struct{})
	var n atomic.Int64
	s := newServer(t, testserver.Options{Answer: func(r testserver.Request) testserver.Reply {
		if n.Add(1) > 30 {
			<-wait
		}
		return testserver.Continue(r)
	}})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	suite, out := writeSuite(t, 10), filepath.Join(t.TempDir(), "run")
	p := start(t, nil, runLeakage(s, suite, out, "--metrics", addr, "--log", "json", "--budget-asks", "60")...)
	until(t, "counts", func() bool {
		r, err := http.Get("http://" + addr + "/metrics")
		if err != nil {
			return false
		}
		defer r.Body.Close()
		text, _ := io.ReadAll(r.Body)
		return strings.Contains(string(text), "crosstalk_answers_total{status=\"text\"} 30\n") && strings.Contains(string(text), "crosstalk_requests_planned 100\n")
	})
	close(wait)
	p.expect(3)
	last := ""
	for line := range strings.Lines(p.stderr.String()) {
		var r struct{ Time, Level, Msg string }
		if err := json.Unmarshal([]byte(line), &r); err != nil || r.Time == "" || r.Msg == "" {
			t.Errorf("%q: %v", line, err)
		}
		last = fmt.Sprint(r.Level, " ", r.Msg)
	}
	if !strings.HasPrefix(last, "ERROR stopped after ") {
		t.Errorf("the last record: %s", last)
	}
}
