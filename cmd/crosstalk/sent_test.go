package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/internal/testing/testserver"
	"crosstalk/model/reference"
	"crosstalk/run"
)

// estimatesOf are the estimates that a command printed.
func estimatesOf(t *testing.T, p *process) []crosstalk.Estimate {
	t.Helper()
	var document struct{ Estimates []crosstalk.Estimate }
	if err := json.Unmarshal(p.stdout.Bytes(), &document); err != nil || len(document.Estimates) == 0 {
		t.Fatalf("%d estimates, %v\n%s", len(document.Estimates), err, p.stdout.String())
	}
	return document.Estimates
}

// expectSent checks that all figures and observations of a run say what was
// sent, "" for what was asked for.
func expectSent(t *testing.T, estimates []crosstalk.Estimate, out, sent string) {
	t.Helper()
	for _, e := range estimates {
		if got := e.By[crosstalk.SentColumn]; got != sent {
			t.Fatalf("%s under sent %q; want %q", e.Measure, got, sent)
		}
		if field := "|sent:" + sent + "|v"; strings.Contains(e.Signature, "sent:") != (sent != "") || sent != "" &&
			!strings.Contains(e.Signature, field) {
			t.Fatalf("signature %s; want %q in it", e.Signature, field)
		}
	}
	n := 0
	for o, err := range run.ReadObservations(out) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; o.Condition[crosstalk.SentColumn] != sent {
			t.Fatalf("an observation under sent %q; want %q", o.Condition[crosstalk.SentColumn], sent)
		}
	}
	if n == 0 {
		t.Error("no observations")
	}
}

// What a model takes instead of what was asked for is in conditions and
// signatures: known in advance, found by asking, after a resumption, and when
// it is scored again without the server.
func TestSent(t *testing.T) {
	t.Parallel()
	suite := writeSuite(t, 5)
	s := newServer(t, testserver.Options{Profile: "gpt-5", Record: true})
	found := filepath.Join(t.TempDir(), "found")
	args := runLeakage(s, suite, found)
	p := start(t, nil, args...).expect(0, "temperature 0 is not sent: m refused it")
	expectSent(t, estimatesOf(t, p), found, "temperature default")

	first := p.stdout.String()
	asked := s.Stats().Attempts
	manifest, observations := readFile(t, found, "manifest.json"), readFile(t, found, "observations.jsonl")
	for _, file := range []string{"estimates.json", "observations.jsonl"} {
		if err := os.Remove(filepath.Join(found, file)); err != nil {
			t.Fatal(err)
		}
	}
	p = start(t, nil, args...).expect(0, "temperature 0 is not sent: m refused it", "50 of them from an earlier run")
	if p.stdout.String() != first || readFile(t, found, "manifest.json") != manifest || readFile(t, found, "observations.jsonl") != observations {
		t.Error("the run that was scored again differs")
	}
	if n := s.Stats().Attempts - asked; n != 0 {
		t.Errorf("%d requests to score again", n)
	}

	// Cut by a budget and resumed: the same as undisturbed, and what was refused
	// is not sent again.
	cut := filepath.Join(t.TempDir(), "cut")
	start(t, nil, runLeakage(s, suite, cut, "--budget-asks", "20")...).expect(3)
	asked = len(s.Records())
	start(t, nil, runLeakage(s, suite, cut)...).expect(0)
	sameResult(t, found, cut)
	for _, r := range s.Records()[asked:] {
		if strings.Contains(string(r.Body), `"temperature"`) {
			t.Fatalf("a temperature is sent after the resumption: %s", r.Body)
		}
	}

	// Known in advance.
	known := filepath.Join(t.TempDir(), "known")
	p = start(t, []string{"OPENAI_API_KEY=" + apiKey}, "run", "leakage", "--model", "openai:gpt-5-mini", "--base-url", s.URL+"/v1", "--suite", suite,
		"--out", known, "--format", "json").expect(0, "takes only its default")
	expectSent(t, estimatesOf(t, p), known, "temperature default")

	// A model that refuses nothing.
	plain := newServer(t, testserver.Options{Profile: testserver.NoProfile})
	same, warm := filepath.Join(t.TempDir(), "plain"), filepath.Join(t.TempDir(), "warm")
	p = start(t, nil, runLeakage(plain, suite, same)...).expect(0)
	expectSent(t, estimatesOf(t, p), same, "")
	if strings.Contains(readFile(t, same, "manifest.json"), "adapted") {
		t.Error("the manifest of a model that refuses nothing says what it refused")
	}
	start(t, nil, runLeakage(plain, suite, warm, "--temperature", "0.7")...).expect(0)

	// Different settings do not look equal.
	start(t, nil, "compare", same, found).expect(2, "sent is - and temperature default (use --across sent to compare anyway)")
	p = start(t, nil, "compare", same, found, "--across", "sent").expect(0)
	if !strings.Contains(p.stdout.String(), "settings differ: temperature is 0 and default") {
		t.Errorf("compare does not say what differs:\n%s", p.stdout.String())
	}
	p = start(t, nil, "compare", same, warm).expect(0)
	if !strings.Contains(p.stdout.String(), "settings differ: temperature is 0 and 0.7") {
		t.Errorf("compare does not say what differs:\n%s", p.stdout.String())
	}
	p = start(t, nil, "compare", found, cut).expect(0)
	if strings.Contains(p.stdout.String(), "settings differ") {
		t.Errorf("compare of equal runs:\n%s", p.stdout.String())
	}
	start(t, nil, "gate", found, "--require", `leak_rate<=100% where sent="temperature default"`).expect(0)
	start(t, nil, "gate", found, "--no-worse-than", same, "--margin", "50%").expect(1)

	// Tables, exports and pages have it.
	for _, c := range [][]string{{"report", found}, {"export", found, "--format", "csv"}, {"report", found, "--format", "csv"}} {
		p := start(t, nil, c...).expect(0)
		if !strings.Contains(p.stdout.String(), "temperature default") {
			t.Errorf("%v does not say what was sent:\n%.500s", c, p.stdout.String())
		}
	}
	page := filepath.Join(t.TempDir(), "page.html")
	start(t, nil, "report", found, "--html", page).expect(0)
	if !strings.Contains(readFile(t, page), "sent:temperature default") {
		t.Error("the page does not say what was sent")
	}
}

// A sweep over a setting that turns out to be refused has nothing to compare.
func TestSweepRefused(t *testing.T) {
	t.Parallel()
	s := newServer(t, testserver.Options{Profile: "gpt-5"})
	start(t, nil, runLeakage(s, writeSuite(t, 1), filepath.Join(t.TempDir(), "run"), "--temperature", "0,0.5")...).
		expect(2, "temperature: ", "so its values cannot be compared")
}

// The instruments that scale and rewrite know what was sent.
func TestSentEverywhere(t *testing.T) {
	if testing.Short() {
		t.Skip("makes many runs")
	}
	t.Parallel()
	s := newServer(t, testserver.Options{Profile: "gpt-5", Answer: translator(t, "consistency", reference.Inconsistency{})})
	for _, c := range []struct {
		instrument, sent string
		more             []string
	}{
		{"confusion", "temperature default; top_p default", []string{"--language", "fr"}},
		{"consistency", "temperature default", []string{"--accept-rewrites", "--to", "de", "--items", "40"}}, // its top-p is 1, the default
	} {
		out := filepath.Join(t.TempDir(), c.instrument)
		args := append([]string{"run", c.instrument, "--model", "compatible:m", "--base-url", s.URL + "/v1", "--out", out, "--format", "json"}, c.more...)
		p := start(t, nil, args...).expect(0, "temperature")
		expectSent(t, estimatesOf(t, p), out, c.sent)
		asked, first := s.Stats().Attempts, p.stdout.String()
		if p = start(t, nil, args...).expect(0); p.stdout.String() != first || s.Stats().Attempts != asked {
			t.Errorf("%s: scored again it differs, after %d requests", c.instrument, s.Stats().Attempts-asked)
		}
	}
}
