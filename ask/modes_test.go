package ask_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/internal/testing/testserver"
	providers "crosstalk/model"
)

func open(t *testing.T, api, url string) crosstalk.Model {
	t.Helper()
	m, err := providers.Open(api+":m", providers.Options{BaseURL: url,
		Getenv: func(string) string { return "sk-test-0123456789" }})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// An answer that comes a byte at a time is read to its end; the time limit ends one that takes too long.
func TestDribble(t *testing.T) {
	t.Parallel()
	for _, api := range []string{"openai", "anthropic"} {
		var answers []crosstalk.Answer
		for _, o := range []testserver.Options{{}, {Stall: time.Millisecond}, {Stall: 1000 * time.Hour}} {
			limit := time.Hour
			if o.Stall > 0 {
				o.Faults = map[testserver.Fault]float64{"dribble": 1}
			}
			if o.Stall > time.Hour {
				limit = 100 * time.Millisecond
			}
			s := testserver.New(o)
			defer s.Close()
			session := ask.NewSession(&ask.Memory{}, ask.Options{Timeout: limit, Retries: -1})
			answer, err := session.For(open(t, api, s.URL+"/v1")).Ask(t.Context(),
				crosstalk.PromptConfig{API: crosstalk.Chat, Decoding: crosstalk.Decoding{MaxTokens: 20}}.Request("Prompt", 0))
			if err != nil {
				answer.Reason = err.Error()
			}
			answers = append(answers, answer)
		}
		if whole, slow, late := answers[0], answers[1], answers[2]; whole.Text == "" || slow.Text != whole.Text ||
			string(slow.Raw) != string(whole.Raw) || late.Text != "" || !strings.Contains(late.Reason, "no answer within 100ms") {
			t.Errorf("%s: %q, %q, %s: %s", api, whole.Text, slow.Text, late.Status, late.Reason)
		}
	}
}

// Whatever a provider does with a batch, in its format, no answer that it has is paid for again: the session ends with
// all answers, or stops and gets them once the provider is well. What the provider says it did not answer, and only
// that, is asked for by itself.
func TestBatchModes(t *testing.T) {
	if testing.Short() {
		t.Skip("many sessions of one kind")
	}
	t.Parallel()
	const all = 40
	chat := func(i int) crosstalk.Request {
		config := crosstalk.PromptConfig{API: crosstalk.Chat, Decoding: crosstalk.Decoding{MaxTokens: 20}}
		return config.Request(fmt.Sprint("Prompt ", i), 0)
	}
	type mode struct {
		batches testserver.Batches
		stops   bool             // until the server is well
		direct  func(n int) bool // asks by themselves; nil: the first alone
		only    string           // the API that has it
	}
	some := func(n int) bool { return n > 5 && n < 35 }
	every := func(n int) bool { return n == all }
	slow := testserver.Batches{Late: 200 * time.Millisecond, Delay: 100 * time.Millisecond}
	nameless := slow
	nameless.NoMetadata = true
	modes := map[string]mode{
		"at once": {}, "later": {batches: testserver.Batches{Delay: 300 * time.Millisecond}}, "made slowly": {batches: slow},
		"no metadata":  {batches: nameless, only: "openai"},
		"all expire":   {batches: testserver.Batches{Expire: 1}, direct: every},
		"some expire":  {batches: testserver.Batches{Expire: 0.5}, direct: some},
		"some fail":    {batches: testserver.Batches{Fail: 0.5}, direct: some},
		"some of both": {batches: testserver.Batches{Expire: 0.2, Fail: 0.2}, direct: some},
		"failed":       {batches: testserver.Batches{Results: "failed"}, direct: every},
		"unlisted":     {batches: testserver.Batches{Results: "unlisted", Faulty: 4}},
		"elsewhere":    {batches: testserver.Batches{Results: "elsewhere"}, stops: true, only: "openai"},
	}
	for _, f := range []string{"slow upload", "made, 500", "made, cut", "endless list", "cancelled", "wrong counts",
		"other batch", "twice", "foreign", "swapped"} {
		modes[f] = mode{batches: testserver.Batches{Results: string(f)}}
	}
	for f, stops := range map[string]bool{"no status": false, "unknown status": false, "late": true,
		"gone": true, "down": true, "vanished": true, "html": true, "redirect": true, "random": true, "half": true,
		"cut": true, "broken": true, "endless": true, "damaged": true, "control": true, "long": true} {
		modes[string(f)+", once"] = mode{batches: testserver.Batches{Results: f, Faulty: 1}}
		if stops {
			modes[string(f)] = mode{batches: testserver.Batches{Results: f}, stops: true}
		}
	}
	var mu sync.Mutex
	table := map[string]map[string]string{} // by mode and API: the asks that were paid for, in batches and by themselves
	var together sync.WaitGroup             // most of the time they wait
	defer func() {
		together.Wait()
		for _, name := range slices.Sorted(maps.Keys(table)) {
			t.Logf("| %s | %s | %s | %s |", name, table[name]["openai"], table[name]["anthropic"], table[name]["gemini"])
		}
	}()
	apis := []struct{ name, base string }{{"openai", "/v1"}, {"anthropic", "/v1"}, {"gemini", "/v1beta/openai"}}
	for _, api := range apis {
		for name, c := range modes {
			if c.only != "" && c.only != api.name {
				continue
			}
			together.Go(func() {
				t.Run(api.name+" "+name, func(t *testing.T) {
					s := testserver.New(testserver.Options{Batches: c.batches})
					defer s.Close()
					if f := c.batches.Results; f == "endless list" || f == "down" && api.name == "gemini" {
						// A provider that is down while it has a batch is waited for, for a day.
						defer time.AfterFunc(500*time.Millisecond, s.Heal).Stop()
					}
					m := open(t, api.name, s.URL+api.base)
					paid := func() (batched, direct int) {
						for id, n := range s.Stats().Paid {
							if batched++; n > 1 {
								t.Errorf("%s is paid for %d times in batches", id, n)
							}
						}
						for hash, r := range s.Stats().Requests {
							if r.Answered > 0 {
								direct++
							}
							if r.Answered > 1 {
								t.Errorf("%s is paid for %d times", hash, r.Answered)
							}
						}
						return batched, direct
					}
					store := &batchMemory{}
					options := ask.Options{Poll: time.Millisecond, Settle: 5 * time.Second, Patience: 300 * time.Millisecond,
						Timeout: time.Minute}
					if c.batches.Faulty > 0 {
						options.Patience = time.Minute
					}
					texts, _, err := batchedAs(t.Context(), ask.NewSession(store, options), m, all, chat)
					if batched, direct := paid(); c.stops && direct > 1 || batched+direct > 2*all-1 {
						t.Errorf("%d asks are paid for in batches, and %d by themselves", batched, direct)
					}
					switch {
					case !c.stops && err != nil:
						t.Fatal(err)
					case c.stops && err != nil:
						if !errors.As(err, new(*ask.LimitError)) || !strings.HasPrefix(err.Error(), "stopped: ") {
							t.Errorf("stopped with %v", err)
						}
						s.Heal()
						if texts, _, err = batchedAs(t.Context(), ask.NewSession(store, options), m, all, chat); err != nil {
							t.Fatal(err)
						}
					}
					n := 0
					for text, times := range texts {
						if n += times; strings.Contains(text, "OTHER") {
							t.Errorf("a later answer took the place of the first: %q", text)
						}
					}
					batched, direct := paid()
					if c.direct == nil && (batched != all-1 || direct != 1) || c.direct != nil && !c.direct(direct) || n != all {
						t.Errorf("%d answers; %d asks are paid for in batches, and %d by themselves", n, batched, direct)
					}
					mu.Lock()
					defer mu.Unlock()
					if table[name] == nil {
						table[name] = map[string]string{}
					}
					table[name][api.name] = fmt.Sprintf("%d + %d", batched, direct)
				})
			})
		}
	}
}
