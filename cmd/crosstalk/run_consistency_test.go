package main

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"crosstalk"
	"crosstalk/internal/testing/testserver"
	"crosstalk/model/reference"
	"crosstalk/suite"
)

// translator answers as a server whose model rewrites and classifies as the
// reference model does.
func translator(t *testing.T, name string, truth reference.Inconsistency) func(testserver.Request) testserver.Reply {
	t.Helper()
	s, err := suite.LoadFor("consistency", name)
	if err != nil {
		t.Fatal(err)
	}
	m, err := reference.NewInconsistent(s.Tasks, s.Items.List(), truth, 1)
	if err != nil {
		t.Fatal(err)
	}
	return func(r testserver.Request) testserver.Reply {
		sample := 0
		if r.Seed != nil {
			sample = int(*r.Seed)
		}
		a, err := m.Answer(t.Context(),
			crosstalk.Request{API: crosstalk.Chat, Messages: []crosstalk.Message{{Role: "user", Content: r.Prompt}}, Sample: sample})
		if err != nil {
			return testserver.Reply{Text: err.Error()}
		}
		return testserver.Reply{Text: a.Text}
	}
}

func runConsistency(s *testserver.Server, out string, more ...string) []string {
	return append([]string{"run", "consistency", "--model", "compatible:m", "--base-url", s.URL + "/v1", "--out", out, "--format", "json"}, more...)
}

// kill -9 twice in a run of the embedded tasks, whose asks are made of answers:
// no answered ask is asked again, and the result is that of a run that nobody
// disturbed.
func TestKilledConsistencyRun(t *testing.T) {
	t.Parallel()
	const concurrency = 32
	var answers brake // the run cannot end before it is killed
	answer := translator(t, "consistency", reference.Inconsistency{Flip: 0.2, Invalid: 0.02, Wrong: 0.2})
	s := newServer(t, testserver.Options{Seed: 7, Latency: 3 * time.Millisecond, Jitter: 12 * time.Millisecond,
		RetryAfter: 3 * time.Millisecond,
		Faults: map[testserver.Fault]float64{"429": 0.005, "500": 0.02,
			"cut": 0.02, "empty": 0.01, "refusal": 0.01},
		Answer: func(r testserver.Request) testserver.Reply { answers.begin(); return answer(r) }})
	out := filepath.Join(t.TempDir(), "run")
	args := runConsistency(s, out, "--to", "zh", "--items", "60", "--accept-rewrites", "--seed", "3", "--concurrency", "32", "--retries", "30", "--quiet", "--by", "category,class")

	random := rand.New(rand.NewPCG(1, 2))
	lost := map[string]int{} // by the request's hash: how often its answer was in flight at a kill
	lostInAll := 0
	for range 2 {
		want := answers.begun.Load() + 60 + int64(random.IntN(60))
		answers.limit.Store(want + concurrency)
		p := start(t, nil, args...)
		until(t, "answers", func() bool { return answers.begun.Load() >= want })
		p.cmd.Process.Kill()
		if p.code() != -1 {
			t.Fatalf("the kill came too late; stderr:\n%s", p.stderr.String())
		}
		answers.limit.Store(math.MaxInt64)
		until(t, "the server to notice", func() bool { return s.Stats().InFlight == 0 })
		durable := map[string]bool{}
		for _, r := range journalled(t, out) {
			durable[hash(t, r.Answer.Raw)] = true
		}
		now := 0
		for full, r := range s.Stats().Requests {
			if h := full[:24]; r.Answered > lost[h] && !durable[h] {
				lost[h]++
				now++
			}
		}
		if now > concurrency {
			t.Errorf("%d answers were lost in a kill", now)
		}
		lostInAll += now
	}
	start(t, nil, args...).expect(0)
	requests, more := 0, 0
	for full, r := range s.Stats().Requests {
		requests++
		more += r.Answered - 1
		if most := 1 + lost[full[:24]]; r.Answered < 1 || r.Answered > most {
			t.Errorf("an ask was answered %d times; at most %d were in flight at a kill", r.Answered, most-1)
		}
	}
	if more != lostInAll {
		t.Errorf("%d answers were given again, and %d lost", more, lostInAll)
	}
	t.Logf("%d asks; 2 kills lost %d answers in flight, which were asked for again", requests, lostInAll)

	undisturbed := filepath.Join(t.TempDir(), "run")
	args[slices.Index(args, out)] = undisturbed
	start(t, nil, args...).expect(0)
	sameResult(t, out, undisturbed)
	if a, b := readFile(t, out, "instructions.yaml"), readFile(t, undisturbed, "instructions.yaml"); a != b || !strings.Contains(a, "en>zh") {
		t.Error("the rewritten instructions differ")
	}
	if got := len(journalled(t, undisturbed)); got != requests {
		t.Errorf("%d answers in the undisturbed run, %d asks", got, requests)
	}
	noKey(t, out)
}

// Rewritten instructions are not used until people have approved them; both
// versions are kept, and what they edited is what is asked.
func TestReviewInstructions(t *testing.T) {
	t.Parallel()
	task := filepath.Join(t.TempDir(), "task.yaml")
	if err := os.WriteFile(task, []byte(smallTask), 0o666); err != nil {
		t.Fatal(err)
	}
	answer := translator(t, task, reference.Inconsistency{})
	s := newServer(t, testserver.Options{Record: true, Answer: func(r testserver.Request) testserver.Reply {
		r.Prompt = strings.ReplaceAll(r.Prompt, "Gleich?", "[German] The same?") // the reviewer's word
		return answer(r)
	}})
	out := filepath.Join(t.TempDir(), "run")
	args := runConsistency(s, out, "--suite", task, "--to", "de")
	p := start(t, nil, args...)
	p.expect(exitIncomplete)
	file := filepath.Join(out, "instructions.yaml")
	if p.stdout.Len() > 0 || !strings.Contains(p.stderr.String(), "1 rewritten instructions need a review: in "+file) {
		t.Errorf("%s%s", p.stdout.String(), p.stderr.String())
	}
	if n := len(journalled(t, out)); n != 2 {
		t.Errorf("%d asks before the review; want the instruction's 2 parts", n)
	}
	p = start(t, nil, args...) // nothing has changed
	p.expect(exitIncomplete)
	if n := len(journalled(t, out)); n != 2 {
		t.Errorf("%d asks", n)
	}
	edit := func(old, new string) {
		text := readFile(t, file)
		if !strings.Contains(text, old) {
			t.Fatalf("no %q in\n%s", old, text)
		}
		if err := os.WriteFile(file, []byte(strings.Replace(text, old, new, 1)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	edit(`text: "[German] The same?"`, `text: Gleich?`)
	edit("approved: false", "approved: true\n    reviewer: ab")
	edit("class: \"yes\"", "class: maybe")
	p = start(t, nil, args...)
	p.expect(2)
	if !strings.Contains(p.stderr.String(), `the instruction of same in en>de has a word with the unknown class "maybe"; choose one of: no, yes`) {
		t.Errorf("%s", p.stderr.String())
	}
	edit("class: maybe", "class: \"yes\"")
	p = start(t, nil, args...)
	p.expect(0)
	var document crosstalk.Document
	if err := json.Unmarshal(p.stdout.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	for _, e := range document.Estimates {
		if e.Measure == "consistency" && e.Value != 1 || !strings.Contains(e.Signature, "|rewrites:own+reviewed|") {
			t.Errorf("%+v", e)
		}
	}
	if text := readFile(t, file); !strings.Contains(text, `output: "[German] The same?"`) || !strings.Contains(text, "text: Gleich?") {
		t.Errorf("not both versions are kept:\n%s", text)
	}
	asked := 0
	for _, r := range s.Records() {
		if strings.Contains(string(r.Body), "Gleich? 1: [German] one") {
			asked++
		}
	}
	if asked != 2 {
		t.Errorf("the edited instruction was asked %d times", asked)
	}
	// Another run uses what was reviewed, and asks for no instruction.
	other := filepath.Join(t.TempDir(), "run")
	args[slices.Index(args, out)] = other
	start(t, nil, append(args, "--instructions", file)...).expect(0)
	for _, r := range journalled(t, other) {
		if strings.Contains(string(crosstalk.Canonical(r.Request)), "The same?\\\"") {
			t.Errorf("asked %s", crosstalk.Canonical(r.Request))
		}
	}
}

// Free answers can be compared by asking the model whether they mean the same.
func TestFreeAnswersAsked(t *testing.T) {
	t.Parallel()
	task := filepath.Join(t.TempDir(), "task.yaml")
	text := "suite: capitals\ninstrument: consistency\nlanguage: en\ntasks:\n- task: capitals\n  fields: [country]\n  layout: '{ask} {country}?'\n  instructions:\n    en: {ask: What is the capital of}\n" +
		"  items:\n  - {id: at, gold: Vienna, country: Austria}\n  - {id: ch, gold: Bern, country: Switzerland}\n"
	if err := os.WriteFile(task, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	var judged atomic.Int64
	s := newServer(t, testserver.Options{Answer: func(r testserver.Request) testserver.Reply {
		switch p := r.Prompt; {
		case strings.HasPrefix(p, "Two people were asked"):
			judged.Add(1)
			return testserver.Reply{Text: map[bool]string{true: "Yes.", false: "No."}[strings.Contains(p, "Wien") && strings.Contains(p, "Vienna")]}
		case strings.HasPrefix(p, "Translate") && strings.Contains(p, "Austria"):
			return testserver.Reply{Text: "Österreich"}
		case strings.HasPrefix(p, "Translate"):
			return testserver.Reply{Text: "die Schweiz"}
		case strings.Contains(p, "Österreich"):
			return testserver.Reply{Text: "Wien"}
		case strings.Contains(p, "Austria"):
			return testserver.Reply{Text: "Vienna"}
		case strings.Contains(p, "die Schweiz"):
			return testserver.Reply{Text: "Zürich"}
		}
		return testserver.Reply{Text: "bern."}
	}})
	p := start(t, nil, runConsistency(s, filepath.Join(t.TempDir(), "run"), "--suite", task, "--to", "de", "--part", "X", "--free", "model")...)
	p.expect(0)
	var document crosstalk.Document
	if err := json.Unmarshal(p.stdout.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, e := range document.Estimates {
		want := map[string]crosstalk.Value{"consistency X": 0.5, "accuracy X": 0.5, "consistency repeat": 1, "accuracy source": 1}
		if value, ok := want[e.Measure+" "+e.By["part"]]; ok {
			found++
			if e.Value != value || !strings.Contains(e.Signature, "|free:model|") {
				t.Errorf("%+v, want %g", e, value)
			}
		}
	}
	if found != 4 || judged.Load() != 3 { // Vienna and Wien; Zürich beside "bern." and beside Bern
		t.Errorf("%d figures; %d judgements, want 3: equal texts need none, and the same question is asked once", found, judged.Load())
	}
}

const smallTask = `suite: small
instrument: consistency
language: en
tasks:
- task: same
  classes: [no, yes]
  fields: [a, b]
  layout: '{prefix} 1: {a} 2: {b}{suffix}'
  instructions:
    en: {prefix: The same?, suffix: ' Say "yes" or "no".', words: {no: no, yes: yes}}
  items:
  - {id: 1, gold: yes, a: one, b: uno}
  - {id: 2, gold: no, a: one, b: two}
`
