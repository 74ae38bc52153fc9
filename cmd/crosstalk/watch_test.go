package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"crosstalk/internal/testserver"
)

// With --log json every line on stderr is a record, the error included.
func TestLoggedRun(t *testing.T) {
	t.Parallel()
	s := newServer(t, testserver.Options{Answer: testserver.Continue})
	suite, out := writeSuite(t, 10), filepath.Join(t.TempDir(), "run")
	p := start(t, nil, runLeakage(s, suite, out, "--log", "json", "--budget-asks", "60")...)
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
