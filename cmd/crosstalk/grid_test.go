package main

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"crosstalk/compare"
	"crosstalk/gate"
	"crosstalk/internal/testing/testserver"
)

// A grid of 4 temperatures x 2 models x 2 similarities in one run, which is
// compared and gated: each ask is asked once, the model that leaks and the
// temperature that makes it are found, and nothing else is.
func TestGridComparedAndGated(t *testing.T) {
	t.Parallel()
	// "calm" never leaks; "leaky" does with a probability of half the
	// temperature.
	var asked atomic.Int64
	server := newServer(t, testserver.Options{Answer: func(r testserver.Request) testserver.Reply {
		asked.Add(1)
		h := fnv.New64a()
		fmt.Fprint(h, r.Prompt, r.Model, *r.Temperature)
		draw := float64(h.Sum64()*0x9E3779B97F4A7C15>>11) / (1 << 53)
		_, after, likes := strings.Cut(r.Prompt, " likes ")
		concept, _, _ := strings.Cut(after, ".")
		switch {
		case likes && r.Model == "leaky" && draw < *r.Temperature/2:
			return testserver.Reply{Text: "some " + concept + "."}
		case draw < 0.5:
			return testserver.Reply{Text: "a chair in the hall."}
		}
		return testserver.Reply{Text: "a desk by the door."}
	}})
	suite, out := writeSuite(t, 20), filepath.Join(t.TempDir(), "grid")
	start(t, nil, "run", "leakage", "--model", "compatible:calm,compatible:leaky", "--base-url", server.URL+"/v1", "--temperature", "0,0.5,1,1.5",
		"--similarity", "gloss,compatible:embed@"+server.URL+"/v1", "--suite", suite, "--out", out, "--by", "category").expect(0)
	if got := asked.Load(); got != 2*4*200 {
		t.Errorf("%d asks; want those of 200 prompts under 8 conditions", got)
	}

	compared := func(args ...string) (r compare.Result) {
		t.Helper()
		p := start(t, nil, append([]string{"compare", "--format", "json"}, args...)...).expect(0)
		if err := json.Unmarshal(p.stdout.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := compared(out, "--reference", "temperature=0")
	if len(r.Comparisons) != 2*2*3 || r.Family != 12 {
		t.Errorf("%d comparisons in a family of %d", len(r.Comparisons), r.Family)
	}
	for _, c := range r.Comparisons {
		for column, value := range c.Condition {
			if column != "temperature" && c.Reference[column] != value {
				t.Errorf("%v is compared with %v", c.Condition, c.Reference)
			}
		}
		leaks := c.Condition["model"] == "compatible:leaky"
		if strongly := leaks && c.Condition["temperature"] != "0.5"; c.Shown && !leaks || !c.Shown && strongly || strongly &&
			c.Difference < 0.1 {
			t.Errorf("%v: difference %v, adjusted p %v", c.Condition, c.Difference, c.Adjusted)
		}
		if c.N != 180 || c.Clusters != 20 || c.Reference["temperature"] != "0" {
			t.Errorf("%+v", c)
		}
	}
	// Against the first condition, of each similarity.
	if r := compared(out); len(r.Comparisons) != 14 || len(r.Refused) != 1 || r.Refused[0].Fields["sim"] == [2]string{} {
		t.Errorf("%d comparisons, refused %+v", len(r.Comparisons), r.Refused)
	}
	for want, args := range map[string][]string{
		"  similarity        temperature  category  reference %": {"--reference", "model=compatible:calm", "--by", "category"},
		"not compared: leak rate (language en) was measured differently under similarity gloss@1 and under similarity compatible:embed: sim is gloss@1 and compatible:embed (use --across sim": {},
	} {
		p := start(t, nil, append([]string{"compare", out}, args...)...).expect(0)
		if !strings.Contains(p.stdout.String(), want) {
			t.Errorf("%q: no %q in\n%s", args, want, &p.stdout)
		}
	}

	judged := func(code int, args ...string) (v gate.Verdict) {
		t.Helper()
		p := start(t, nil, append([]string{"gate", out, "--format", "json"}, args...)...).expect(code)
		if err := json.Unmarshal(p.stdout.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	if v := judged(0, "--point", "--require", "leak_rate<=60% where model=compatible:calm", "--no-worse-than", out, "--margin", "20%"); len(v.Checks) != 8+16 {
		t.Errorf("%d checks", len(v.Checks))
	}
	junit := filepath.Join(t.TempDir(), "gate.xml")
	v := judged(1, "--point", "--require", "leak_rate<=60%", "--junit", junit)
	for _, c := range v.Checks {
		if want := c.By["model"] == "compatible:calm" || c.By["temperature"] == "0"; c.Passed != want {
			t.Errorf("%+v", c)
		}
	}
	var suites struct {
		Failures int `xml:"failures,attr"`
	}
	if err := xml.Unmarshal([]byte(readFile(t, junit)), &suites); err != nil || suites.Failures != v.Failed() ||
		suites.Failures == 0 {
		t.Errorf("%d failures of %d, %v", suites.Failures, v.Failed(), err)
	}
}

// A run that a limit stopped before its end is not good enough, whatever its
// figures.
func TestGateOfAnIncompleteRun(t *testing.T) {
	t.Parallel()
	server := newServer(t, testserver.Options{})
	suite, out := writeSuite(t, 3), filepath.Join(t.TempDir(), "run")
	start(t, nil, runLeakage(server, suite, out, "--budget-asks", "20")...).expect(exitIncomplete)
	for _, require := range []string{"leak_rate>=0", "leak_rate>=0 by category"} {
		p := start(t, nil, "gate", out, "--require", require).expect(1, "the gate failed")
		if !strings.Contains(p.stdout.String(), "items were not measured; resume the run to measure them") {
			t.Errorf("%s:\n%s", require, &p.stdout)
		}
	}
	start(t, nil, runLeakage(server, suite, out)...).expect(0)
	start(t, nil, "gate", out, "--require", "leak_rate>=0").expect(0)
}

// Neither is a run with failed asks.
func TestGateOfFailedAsks(t *testing.T) {
	t.Parallel()
	server := newServer(t, testserver.Options{Faults: map[testserver.Fault]float64{"500": 0.2}})
	suite, out := writeSuite(t, 3), filepath.Join(t.TempDir(), "run")
	start(t, nil, runLeakage(server, suite, out, "--retries", "0", "--concurrency", "1")...).expect(exitIncomplete)
	p := start(t, nil, "gate", out, "--require", "leak_rate>=0").expect(1)
	if !strings.Contains(p.stdout.String(), "answers failed; resume the run to retry them") {
		t.Errorf("%s", &p.stdout)
	}
}
