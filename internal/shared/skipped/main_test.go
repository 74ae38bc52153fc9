package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What go test -json of Go 1.26 said of a package that does not build, one that fails, one that panics and one that
// passes, without times and traces.
const recorded = "testdata/events.jsonl"

const printed = `# m/broken [m/broken.test]
broken/a_test.go:3:27: undefined: x
=== RUN   TestB
=== RUN   TestB/x
    a_test.go:4: 1, want 2
--- FAIL: TestB/x (0.00s)
--- FAIL: TestB (0.00s)
FAIL
FAIL	m/bad	0.009s
FAIL	m/broken [build failed]
ok  	m/good	0.004s
=== RUN   TestB
--- FAIL: TestB (0.00s)
panic: oh [recovered, repanicked]
FAIL	m/panics	0.007s
other tests skipped: 1
  good TestB/y: there is no browser: install chromium
comparisons with reference data skipped: 2, because ../shared/data does not exist or is incomplete
`

func TestSummarize(t *testing.T) {
	b, err := os.ReadFile(recorded)
	if err != nil {
		t.Fatal(err)
	}
	events := string(b)
	var good string
	for line := range strings.Lines(events) {
		if strings.Contains(line, `"Package":"m/good"`) {
			good += line
		}
	}
	const ok, others = "ok  \tm/good\t0.004s\n", "other tests skipped: 1\n  good TestB/y: there is no browser: install chromium\n"
	const two, none = "comparisons with reference data skipped: 2, because ../shared/data does not exist or is incomplete\n", "comparisons with reference data skipped: 0\n"
	for name, c := range map[string]struct {
		events, want string
		well         bool
	}{
		"failures":     {events, printed, false},
		"all is well":  {good, ok + others + two, true},
		"killed":       {good[:strings.LastIndex(good, `{"Action":"output","Package":"m/good","Output"`)], "FAIL\tm/good\t[not finished]\n" + none, false},
		"nothing":      {"", none, false},
		"not of tests": {"go: go.mod file not found\n", "go: go.mod file not found\n" + none, false},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			well := summarize(strings.NewReader(c.events), &out)
			if diff := cmp.Diff(c.want, out.String()); diff != "" {
				t.Errorf("printed (-want +got):\n%s", diff)
			}
			if well != c.well {
				t.Errorf("all is well: %t, want %t", well, c.well)
			}
		})
	}
}
