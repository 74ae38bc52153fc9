package study

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/instrument/leakage"
	"crosstalk/internal/testing/golden"
	"crosstalk/internal/testing/testserver"
	"crosstalk/report"
	"crosstalk/report/overview"
	"crosstalk/run"
	"crosstalk/run/figures"
	"crosstalk/run/shard"
)

// opener is Leakage, Confusion or Consistency.
type opener interface{ Open() (*Study, error) }

// sumsFile is a task whose answers are free.
const sumsFile = `suite: sums
instrument: consistency
tasks:
  - task: sum
    fields: [a]
    layout: "{q} {a}"
    languages: [en, de]
    instructions:
      en: {q: "How many?"}
      de: {q: "Wie viele?"}
    items:
      - {id: "1", category: x, gold: "2", texts: {en: {a: "1 and 1"}, de: {a: "1 und 1"}}}
      - {id: "2", category: y, gold: "5", texts: {en: {a: "2 and 3"}, de: {a: "2 und 3"}}}
`

// spoken is what the server says of sums: right, in words, and wrong.
func spoken(r testserver.Request) testserver.Reply {
	switch said := fmt.Sprint(r.Prompt, r.Messages); {
	case strings.Contains(said, "mean the same"):
		return testserver.Reply{Text: "Yes."}
	case strings.Contains(said, "1 and 1"):
		return testserver.Reply{Text: "two"}
	case strings.Contains(said, "1 und 1"):
		return testserver.Reply{Text: "2"}
	case strings.Contains(said, "2 and 3"):
		return testserver.Reply{Text: "5 times"}
	}
	return testserver.Reply{Text: "4"}
}

// TestServed measures models of a server that refuses, thinks, fails and answers in batches, some of them twice in
// the same directory. testdata/served.txt has the forecast, what was sent, the errors, what the run keeps and the
// figures. Read what differs and write it with -update.
func TestServed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sums := filepath.Join(dir, "sums.yaml")
	if err := os.WriteFile(sums, []byte(sumsFile), 0o600); err != nil {
		t.Fatal(err)
	}
	seven := int64(7)
	small := Sweep{Models: []string{"compatible:m"}, Items: 2, Samples: 1, MaxTokens: 20}
	with := func(change func(*Sweep)) Sweep {
		s := small
		change(&s)
		return s
	}
	seeded := with(func(s *Sweep) { s.Seed = &seven })
	one := with(func(s *Sweep) { s.Items = 1 })
	sampled := with(func(s *Sweep) { s.Temperatures = []string{"1"}; s.Samples = 3 })
	two := with(func(s *Sweep) { s.Temperatures = []string{"0", "1"} })
	free := with(func(s *Sweep) { s.Items, s.MaxTokens = 0, 0 })
	both := with(func(s *Sweep) { s.Models = []string{"compatible:m", "compatible:n"} })
	refuses := func(params ...string) testserver.Options { return testserver.Options{Unsupported: params} }
	prices := ask.Prices{"m": {Input: 1, Output: 2}}
	dear := ask.Prices{"m": {Input: 1, Output: 1e6}}
	batches := ask.Options{Batch: true, Poll: time.Millisecond}
	var b strings.Builder
	for _, c := range []struct {
		name   string
		server testserver.Options
		of     func(Sweep) opener
		sweep  Sweep
		runs   []ask.Options
	}{
		{"plain", testserver.Options{}, leaks, small, []ask.Options{{}, {}}},
		{"refused once", refuses("seed"), leaks, seeded, []ask.Options{{}, {}}},
		{"refused of completions", refuses("seed"), leaks,
			with(func(s *Sweep) { s.Seed, s.APIs = &seven, []string{"completions"} }), []ask.Options{{}, {}}},
		{"thinks for ever", testserver.Options{Faults: map[testserver.Fault]float64{"thinking": 1}}, leaks, one, []ask.Options{{StopEmpty: -1}, {}}},
		{"thinks without a limit", testserver.Options{Faults: map[testserver.Fault]float64{"thinking": 1}}, leaks,
			with(func(s *Sweep) { s.Items, s.ReasoningTokens = 1, 9 }), []ask.Options{{StopEmpty: -1}}},
		{"refused twice, and stopped meanwhile", refuses("seed", "temperature"), leaks, seeded,
			[]ask.Options{{Budget: ask.Budget{Asks: 2}}, {}, {}}},
		{"refused, and must not be", refuses("seed"), strict, seeded, []ask.Options{{}}},
		{"known to be refused, and must not be", testserver.Options{}, strict,
			with(func(s *Sweep) { s.Models = []string{"compatible:gpt-5-mini"} }), []ask.Options{{}}},
		{"refused, and compared", refuses("temperature"), leaks, two, []ask.Options{{}}},
		{"known to be refused, and compared", testserver.Options{}, leaks, with(func(s *Sweep) {
			s.Models, s.Temperatures = []string{"compatible:gpt-5-mini"}, []string{"0", "1"}
		}), []ask.Options{{}}},
		{"refused in vain", refuses("top_k"), leaks, with(func(s *Sweep) { s.Items, s.Params = 1, []string{"top_k=3"} }), []ask.Options{{}}},
		{"a system message refused", testserver.Options{Profile: "no system message"}, leaks, with(func(s *Sweep) {
			s.APIs, s.Systems = []string{"chat"}, []string{"Be brief."}
		}), []ask.Options{{}, {}}},
		{"known to think", testserver.Options{}, leaks, with(func(s *Sweep) { s.Models = []string{"compatible:gpt-5-mini"} }),
			[]ask.Options{{Budget: ask.Budget{Prices: ask.Prices{"gpt-5-mini": {Input: 1, Output: 2}}}}, {}}},
		{"thinks", testserver.Options{Profile: "qwen-open"}, leaks, small, []ask.Options{{Budget: ask.Budget{Asks: 3}}, {}, {}}},
		{"thinks and refuses", testserver.Options{Profile: "gpt-5"}, leaks, with(func(s *Sweep) { s.Reasoning = []string{"off"} }),
			[]ask.Options{{}, {}}},
		{"answers are lost", testserver.Options{Faults: map[testserver.Fault]float64{"filtered": 0.5, "empty": 0.2}}, leaks, sampled,
			[]ask.Options{{StopEmpty: -1}}},
		{"all fail", testserver.Options{Faults: map[testserver.Fault]float64{"500": 1}}, leaks, one, []ask.Options{{Retries: -1}}},
		{"no such model", testserver.Options{Models: []string{"m"}}, leaks, both, []ask.Options{{}, {}}},
		{"no model", testserver.Options{Models: []string{"x"}}, leaks, one, []ask.Options{{}}},
		{"no key", testserver.Options{Key: "sk-0123456789"}, leaks, small, []ask.Options{{}}},
		{"two models", testserver.Options{}, leaks, both, []ask.Options{{}}},
		{"two addresses", testserver.Options{}, leaks, with(func(s *Sweep) {
			s.Models, s.BaseURLs = []string{"compatible:m", "compatible:m"}, []string{"", "/x/.."}
		}), []ask.Options{{}}},
		{"a price", testserver.Options{}, leaks, two, []ask.Options{{Budget: ask.Budget{Prices: prices, Cost: 1}}}},
		{"too dear", testserver.Options{}, leaks, sampled, []ask.Options{{Budget: ask.Budget{Prices: dear, Cost: 41}}, {}}},
		{"batches", testserver.Options{}, leaks, two, []ask.Options{batches, {}}},
		{"batches with a price", testserver.Options{Answer: same}, leaks, sampled,
			[]ask.Options{{Batch: true, Poll: time.Millisecond, Budget: ask.Budget{Prices: dear, Cost: 41}}, batches}},
		{"batches that expire", testserver.Options{Batches: testserver.Batches{Expire: 1}}, leaks, sampled, []ask.Options{batches}},
		{"batches that are refused", testserver.Options{Batches: testserver.Batches{Refuse: "no batches today"}}, leaks, sampled, []ask.Options{batches}},
		{"batches of what is refused", refuses("seed"), leaks, seeded, []ask.Options{batches, batches}},
		{"batches of what must not be refused", refuses("seed"), strict, seeded, []ask.Options{batches}},
		{"batches in rounds", testserver.Options{Answer: spoken}, sumsOf(sums, "model", "de"), free, []ask.Options{batches, {}}},
		{"no batches", testserver.Options{}, leaks, with(func(s *Sweep) { s.Models = []string{"ollama:m"} }), []ask.Options{batches}},
		{"numbers", testserver.Options{Answer: spoken}, sumsOf(sums, "number"), free, []ask.Options{{}}},
		{"texts", testserver.Options{Answer: spoken}, sumsOf(sums, ""), free, []ask.Options{{}}},
		{"a similarity", testserver.Options{Answer: spoken}, sumsOf(sums, "gloss>=0.5"), free, []ask.Options{{}}},
		{"judged by the model", testserver.Options{Answer: spoken}, sumsOf(sums, "model"), with(func(s *Sweep) {
			s.Items, s.MaxTokens, s.Temperatures, s.TopPs, s.Systems = 0, 0, []string{"0", "1"}, []string{"0.5", "1"}, []string{"", "Be brief."}
		}), []ask.Options{{}}},
		{"candidates", testserver.Options{}, func(s Sweep) opener {
			return Confusion{Sweep: s, Logprobs: 2, Languages: []string{"de"}}
		}, small, []ask.Options{{}}},
		{"beams", testserver.Options{}, func(s Sweep) opener {
			return Confusion{Sweep: s, Beams: []int{1, 3}, Languages: []string{"pt"}, Templates: []string{"qa"}}
		}, with(func(s *Sweep) { s.Models = []string{"vllm:m"}; s.Params = []string{"top_k=3"} }), []ask.Options{{}}},
	} {
		fmt.Fprintf(&b, "== %s ==\n", c.name)
		c.server.Record = true
		server := testserver.New(c.server)
		plain := strings.NewReplacer(server.URL, "URL", strings.TrimPrefix(server.URL, "http://"), "URL", dir, "DIR")
		say := func(format string, of ...any) { fmt.Fprintln(&b, plain.Replace(fmt.Sprintf(format, of...))) }
		for i := range c.sweep.BaseURLs {
			c.sweep.BaseURLs = slices.Clone(c.sweep.BaseURLs)
			c.sweep.BaseURLs[i] = server.URL + c.sweep.BaseURLs[i] + "/v1"
		}
		if c.sweep.BaseURLs == nil {
			c.sweep.BaseURLs = []string{server.URL + "/v1"}
		}
		seen := 0
		for i, o := range c.runs {
			if i > 0 {
				say("-- again --")
			}
			s, err := c.of(c.sweep).Open()
			if err != nil {
				say("cannot open: %v", err)
				continue
			}
			o.Concurrency, o.Backoff, o.Patience = 1, time.Millisecond, time.Second
			records := server.Records()
			if measured(t.Context(), say, s, filepath.Join(dir, c.name), o) == nil { // else what is under way may be sent or not
				records = server.Records()
				// What is under way when a model refuses or turns out to think is sent as it was.
				sent(say, records[seen:], c.server.Unsupported == nil && c.server.Profile == "" && !strings.HasPrefix(c.name, "thinks"))
			}
			seen = len(records)
		}
		server.Close()
	}
	golden.Check(t, "testdata/served.txt", b.String())
}

// same is the same answer to everything.
func same(testserver.Request) testserver.Reply { return testserver.Reply{Text: "a cat"} }

func leaks(s Sweep) opener { return Leakage{Sweep: s} }

func strict(s Sweep) opener {
	return Leakage{Sweep: s, Options: leakage.Options{Protocols: []string{"gonen-2024"}}}
}

func sumsOf(suite, free string, to ...string) func(Sweep) opener {
	return func(s Sweep) opener {
		return Consistency{Sweep: s, Suite: suite, From: []string{"en"}, To: append([]string{}, to...), Mixed: []string{"de"},
			Free: free, AcceptRewrites: true}
	}
}

// measured describes the result of measuring.
func measured(ctx context.Context, say func(string, ...any), s *Study, dir string, o ask.Options) error {
	before, _ := run.ReadEstimates(dir)
	f, err := s.Forecast(ctx, o)
	if err != nil {
		say("cannot count: %v", err)
		return err
	}
	var table strings.Builder
	overview.WriteForecast(&table, f, report.Names{}, "runs/x")
	say("%s", strings.TrimSpace(table.String()))
	m, err := s.Begin(ctx, dir, o)
	if err != nil {
		say("cannot begin: %v", err)
		return err
	}
	defer m.Close()
	result, err := m.Run(ctx)
	stats := m.Session.Stats()
	say("%d planned, all done %v, %d failed, not measured %d: %v; hopeless: %d", m.Planned, stats.Answered >= m.Planned, stats.Failed,
		result.NotMeasured, result.Why(), len(result.Hopeless))
	if err != nil {
		say("error: %v", m.Explain(err))
		return err
	}
	say("missing: %v", m.Missing(result))
	for _, line := range s.Remarks() {
		say("remark: %s", line)
	}
	manifest, err := run.ReadManifest(dir)
	if err != nil {
		return err
	}
	say("adapted %+v, changes %q, not measured %d", manifest.Adapted, manifest.Changes, manifest.NotMeasured)
	written, err := run.ReadEstimates(dir)
	if err != nil {
		return err
	}
	if equal(before, written) {
		say("the same figures")
		return nil
	}
	for _, e := range written {
		maps.DeleteFunc(e.Counts, func(_ string, n int) bool { return n == 0 })
		value := "-"
		if e.Value.Defined() {
			value = fmt.Sprintf("%.4f", e.Value)
		}
		say("%s %v %s %d/%d %v %q", e.Measure, e.By, value, e.N, e.Observations, e.Counts, e.Warnings)
	}
	if len(written) > 0 {
		say("%s", written[0].Signature)
	}
	var again []crosstalk.Estimate
	if again, err = (figures.Set{By: []string{}, Cross: []string{}}).Of(dir); err != nil {
		say("figures: %v", err)
	}
	say("%d figures without groups", len(again))
	return nil
}

var text = regexp.MustCompile(`"(prompt|content|text)":"(?:[^"\\]|\\.)*"`)

// sent lists the kinds of requests that a server got, without prompts, with counts where they are certain.
func sent(say func(string, ...any), records []testserver.Record, certain bool) {
	times := map[string]int{}
	for _, r := range records {
		if strings.Contains(r.Path, "/batches") || strings.Contains(r.Path, "/files") {
			continue // how often it is looked for depends on time
		}
		body := map[string]any{}
		json.Unmarshal(r.Body, &body)
		plain, _ := json.Marshal(body)
		times[r.Path+" "+text.ReplaceAllString(string(plain), `"$1":"..."`)]++
	}
	for _, kind := range slices.Sorted(maps.Keys(times)) {
		if !certain {
			times[kind] = 0
		}
		say("sent %d times %s", times[kind], kind)
	}
}

// Shards share the instructions that a model rewrote, and refuse a directory of other settings.
func TestServedShards(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	var b strings.Builder
	say := func(format string, of ...any) {
		fmt.Fprintln(&b, strings.ReplaceAll(fmt.Sprintf(format, of...), filepath.Dir(dir), "DIR"))
	}
	for _, c := range []struct {
		index, count int
		accept       bool
		temperature  string
	}{{1, 2, false, "0"}, {2, 2, false, "0"}, {1, 2, true, "0"}, {2, 2, true, "0"}, {1, 3, true, "0"}, {1, 2, true, "1"}, {0, 0, true, "0"}} {
		say("== %+v ==", c)
		s, err := Consistency{Sweep: Sweep{Models: []string{"reference:inconsistent"}, Temperatures: []string{c.temperature}, Items: 6, Samples: 1},
			To: []string{"de"}, AcceptRewrites: c.accept}.Open()
		if err != nil {
			t.Fatal(err)
		}
		s.Protocols[0].Conditions[0].Model.Provider = "other" // a reference model's need no review
		of := shard.Shard{Index: c.index, Count: c.count}
		if err := s.Take(t.Context(), of); err != nil {
			t.Fatal(err)
		}
		at := dir
		if c.count == 0 {
			at = of.Dir(dir)
		}
		if s.Shard() != of {
			t.Errorf("%+v", s.Shard())
		}
		m, err := s.Begin(t.Context(), at, ask.Options{})
		if err != nil {
			say("%v", err)
			continue
		}
		result, err := m.Run(t.Context())
		said := err
		if err != nil {
			said = m.Explain(err)
		} else {
			said = m.Missing(result)
		}
		stats := m.Session.Stats()
		say("%d items, %d planned, %d done, %d saved before, %d figures; %v", s.Items(), m.Planned, stats.Done, stats.Cached, len(result.Estimates), said)
		path := m.Dir.Path
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		var places []string
		for o, place := range placesOf(path) {
			places = append(places, fmt.Sprint(o, place))
		}
		slices.Sort(places)
		say("%q", places)
		for _, file := range []string{filepath.Join(dir, run.InstructionsFile), filepath.Join(path, run.InstructionsFile)} {
			text, err := os.ReadFile(file)
			if errors.Is(err, os.ErrNotExist) {
				text = []byte("none")
			}
			say("%s: %d lines", file, strings.Count(string(text), "\n"))
		}
	}
	golden.Check(t, "testdata/shards.txt", b.String())
}

// placesOf are the items of a run's observations, with how many each has; none if it has no observations.
func placesOf(path string) map[string]int {
	items := map[string]int{}
	for o, err := range run.ReadObservations(path) {
		if err != nil {
			return items // it has none
		}
		items[o.Item]++
	}
	return items
}
