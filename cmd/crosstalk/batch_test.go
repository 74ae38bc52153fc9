package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"crosstalk/ask/journal"
	"crosstalk/internal/testing/testserver"
	"crosstalk/model/reference"
)

// batchAPIs are the models behind the batch APIs, and the base URLs below the
// server's.
var batchAPIs = []struct{ model, base string }{{"compatible:m", "/v1"}, {"anthropic:m", "/v1"}, {"gemini:m", "/v1beta/openai"}}

// runBatch are the arguments of a run in batches.
func runBatch(s *testserver.Server, model, base, suite, out string, more ...string) []string {
	return append([]string{"run", "leakage", "--model", model, "--base-url", s.URL + base, "--key-var", "CROSSTALK_API_KEY",
		"--suite", suite, "--out", out, "--format", "json", "--samples", "1", "--batch"}, more...)
}

// paidAt is how many requests were paid for, in batches and by themselves, and
// how often one was paid for again.
func paidAt(s *testserver.Server) (batched, direct, batchedAgain, directAgain int) {
	for _, n := range s.Stats().Paid {
		batched++
		batchedAgain += n - 1
	}
	for _, r := range s.Stats().Requests {
		if r.Answered > 0 {
			direct++
			directAgain += r.Answered - 1
		}
	}
	return batched, direct, batchedAgain, directAgain
}

// paidOnce checks what was paid for in one batch, and by itself.
func paidOnce(t *testing.T, s *testserver.Server, batched, direct int) {
	t.Helper()
	inBatch, byItself, again, more := paidAt(s)
	if inBatch != batched || byItself != direct || again+more > 0 || s.Stats().Batches != 1 {
		t.Errorf("%d requests were paid for in %d batches and %d by themselves, %d and %d of them again; want %d in 1 batch and %d",
			inBatch, s.Stats().Batches, byItself, again, more, batched, direct)
	}
}

// A run in batches comes to the figures of one without, and asks directly only
// to find out whether the model can be asked.
func TestBatchRun(t *testing.T) {
	t.Parallel()
	for _, api := range batchAPIs {
		t.Run(api.model, func(t *testing.T) {
			t.Parallel()
			const asks = 100
			s := newServer(t, testserver.Options{Batches: testserver.Batches{Delay: 50 * time.Millisecond}})
			suite, out, plain := writeSuite(t, asks/10), filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "run")
			args := runBatch(s, api.model, api.base, suite, out)
			start(t, nil, args...).expect(0, fmt.Sprintf("%d answers", asks))
			if batched, direct, again, more := paidAt(s); batched != asks-1 || direct != 1 || again+more > 0 ||
				s.Stats().Batches != 1 {
				t.Errorf("%d and %d asks paid, %d and %d again, in %d batches", batched, direct, again, more, s.Stats().Batches)
			}
			start(t, nil, args...).expect(0, fmt.Sprintf("%d answers, %d of them from an earlier run", asks, asks))
			if s.Stats().Batches != 1 {
				t.Error("it was asked again")
			}
			args[slices.Index(args, out)] = plain
			start(t, nil, slices.DeleteFunc(args, func(a string) bool { return a == "--batch" })...).expect(0)
			sameResult(t, out, plain)
			noKey(t, out)
		})
	}
}

// kill -9 at random moments of runs in batches: every ask is answered, none is
// paid for twice, but for single asks whose answer was in flight at a kill, and
// the result is that of a run that nobody disturbed. CROSSTALK_TEST_KILLS is another number of kills for each API.
func TestKilledBatch(t *testing.T) {
	t.Parallel()
	kills := kills(1)
	for i, api := range batchAPIs {
		t.Run(api.model, func(t *testing.T) {
			t.Parallel()
			const asks = 200
			random := rand.New(rand.NewPCG(uint64(i), uint64(kills)))
			done, runs, lostInAll, unclear, open := 0, 0, 0, 0, 0
			for done < kills {
				runs++
				s := newServer(t, testserver.Options{Seed: int64(runs), Latency: 5 * time.Millisecond,
					Batches: testserver.Batches{Delay: 150 * time.Millisecond, Late: 300 * time.Millisecond, Most: asks / 3,
						Expire: 0.01, Fail: 0.01,
						Results: "damaged", Faulty: 1, Page: 2}})
				suite, out, plain := writeSuite(t, asks/10), filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "run")
				args := runBatch(s, api.model, api.base, suite, out, "--quiet")
				lost := map[string]int{} // by the request's hash: how often its answer was in flight at a kill
				for done < kills {
					// While a batch is made, some time after another call, or
					// at any time at all.
					before := s.Stats()
					before.BatchCalls += random.IntN(7)
					p := start(t, nil, args...)
					switch random.IntN(4) {
					case 0, 1:
						until(t, "a batch", func() bool { return s.Stats().Creates > before.Creates || p.over() })
						time.Sleep(time.Duration(random.IntN(350)) * time.Millisecond)
					case 2:
						until(t, "calls", func() bool { return s.Stats().BatchCalls > before.BatchCalls || p.over() })
						time.Sleep(time.Duration(random.IntN(100)) * time.Millisecond)
					default:
						time.Sleep(time.Duration(random.IntN(500)) * time.Millisecond)
					}
					p.cmd.Process.Kill()
					if p.code() != -1 {
						p.expect(0)
						break
					}
					done++
					until(t, "the server to notice", func() bool { return s.Stats().InFlight == 0 })
					noteLost(t, s, out, lost)
					for _, b := range openBatches(t, out) {
						if open++; b.ID == "" {
							unclear++
						}
					}
				}
				start(t, nil, args...).expect(0)
				batched, direct, twice, more := paidAt(s)
				extra := 0
				for _, n := range lost {
					extra += n
				}
				if batched+direct+more != asks+extra || twice > 0 {
					t.Errorf("%d asks in batches and %d by themselves were paid for, expected %d and %d whose answers were lost in flight; %d in batches again",
						batched, direct+more, asks, extra, twice)
				}
				lostInAll += extra
				if got := len(journalled(t, out)); got != asks {
					t.Errorf("%d answers; want %d", got, asks)
				}
				args[slices.Index(args, out)] = plain
				start(t, nil, slices.DeleteFunc(args, func(a string) bool { return a == "--batch" })...).expect(0)
				sameResult(t, out, plain)
			}
			t.Logf("%d kills in %d runs of %d asks, %d with a batch under way, %d of these with one that may have been submitted: "+
				"no ask lost, none paid for twice in a batch; %d answers to single asks lost in flight", done, runs, asks, open, unclear, lostInAll)
		})
	}
}

// noteLost counts the answers to single asks that the server has sent and the
// journal does not have.
func noteLost(t *testing.T, s *testserver.Server, out string, lost map[string]int) {
	t.Helper()
	durable := map[string]bool{}
	for _, r := range journalled(t, out) {
		var answer struct{ ID string }
		if err := json.Unmarshal(r.Answer.Raw, &answer); err != nil && len(r.Answer.Raw) > 0 {
			t.Error(err)
		}
		durable[answer.ID[strings.LastIndexAny(answer.ID, "-_")+1:]] = true
	}
	for full, r := range s.Stats().Requests {
		if h := full[:24]; r.Answered > lost[h] && !durable[h] {
			lost[h]++
		}
	}
}

// openBatches are the batches under way in a run's journal.
func openBatches(t *testing.T, out string) []*journal.Batch {
	t.Helper()
	j, err := journal.OpenReader(filepath.Join(out, "answers.db"))
	if err != nil {
		return nil // killed before there was one
	}
	defer j.Close()
	open, err := j.OpenBatches()
	if err != nil {
		t.Error(err)
	}
	return open
}

// Ctrl-C while a batch is waited for ends the program and not the batch.
func TestInterruptedBatch(t *testing.T) {
	t.Parallel()
	s := newServer(t, testserver.Options{Batches: testserver.Batches{Delay: 5 * time.Second}})
	suite, out := writeSuite(t, 10), filepath.Join(t.TempDir(), "run")
	args := runBatch(s, "compatible:m", "/v1", suite, out)
	p := start(t, nil, args...)
	until(t, "a batch", func() bool { open := openBatches(t, out); return len(open) == 1 && open[0].ID != "" })
	p.cmd.Process.Signal(os.Interrupt)
	p.expect(exitInterrupted, "interrupted: 1 of 100 requests are answered and saved", "run the same command again to resume", "99 requests in 1 batch since")
	// Without --batch it is waited for, too: it is paid for.
	start(t, nil, slices.DeleteFunc(args, func(a string) bool { return a == "--batch" })...).expect(0)
	if batched, direct, again, more := paidAt(s); batched != 99 || direct != 1 || again+more > 0 {
		t.Errorf("%d and %d asks paid, %d and %d again", batched, direct, again, more)
	}
}

// A server that is down while a batch runs does not end the run, whatever
// --patience says.
func TestOutageWhileBatchRuns(t *testing.T) {
	t.Parallel()
	s := newServer(t, testserver.Options{Batches: testserver.Batches{Delay: 300 * time.Millisecond}})
	out := filepath.Join(t.TempDir(), "run")
	p := start(t, nil, runBatch(s, "compatible:m", "/v1", writeSuite(t, 10), out, "--patience", "200ms")...)
	until(t, "a batch", func() bool { return s.Stats().Batches == 1 })
	s.SetDown(true)
	time.Sleep(time.Second)
	s.SetDown(false)
	p.expect(0)
	if batched, direct, again, more := paidAt(s); batched != 99 || direct != 1 || again+more > 0 {
		t.Errorf("%d and %d asks paid, %d and %d again", batched, direct, again, more)
	}
}

// What expires or fails in a batch is asked by itself, once; results with cut
// lines and unknown ids are read again; too large batches are made smaller.
func TestTroubledBatches(t *testing.T) {
	if testing.Short() {
		t.Skip("makes many runs")
	}
	t.Parallel()
	for i, c := range []struct {
		name    string
		apis    int // that can do this
		batches testserver.Batches
		direct  func(int) bool
		says    string
	}{
		{"all expire", 3, testserver.Batches{Expire: 1}, func(n int) bool { return n == 100 }, "99 of 99 requests of the batch "},
		{"some fail", 3, testserver.Batches{Expire: 0.2, Fail: 0.2}, func(n int) bool { return n > 20 && n < 70 }, "were sent again one by one"},
		{"damaged", 3, testserver.Batches{Results: "damaged", Faulty: 1}, func(n int) bool { return n == 1 }, ""},
		{"broken", 3, testserver.Batches{Results: "broken", Faulty: 4}, func(n int) bool { return n == 1 }, ""},
		{"twice", 3, testserver.Batches{Results: "twice"}, func(n int) bool { return n == 1 }, ""},
		{"foreign", 3, testserver.Batches{Results: "foreign"}, func(n int) bool { return n == 1 }, "99 lines that cannot be read"},
		{"too large", 1, testserver.Batches{Most: 30}, func(n int) bool { return n < 12 }, "smaller ones follow"},
		{"no metadata", 1, testserver.Batches{NoMetadata: true, Late: 100 * time.Millisecond, Delay: 300 * time.Millisecond},
			func(n int) bool { return n == 1 }, ""},
	} {
		for _, api := range inTurn(i, batchAPIs[:c.apis]) {
			t.Run(c.name+" "+api.model, func(t *testing.T) {
				t.Parallel()
				s := newServer(t, testserver.Options{Batches: c.batches})
				suite, out := writeSuite(t, 10), filepath.Join(t.TempDir(), "run")
				p := start(t, nil, runBatch(s, api.model, api.base, suite, out)...).expect(0, "100 answers", c.says)
				if batched, direct, again, more := paidAt(s); !c.direct(direct) || again+more > 0 || batched+direct < 100 {
					t.Errorf("%d and %d asks paid, %d and %d again\n%s", batched, direct, again, more, p.stderr.String())
				}
				if strings.Contains(readFile(t, out, "answers.db"), "OTHER ") {
					t.Error("a later answer took the place of the first")
				}
			})
		}
	}
}

// What a provider has answered in a batch is not asked again when its results come late,
// or not at all: the run waits, then stops, and resumes when they are there.
func TestUnreadBatch(t *testing.T) {
	t.Parallel()
	for i, c := range []struct {
		fault, says string
		apis        int
	}{
		{"late", "stopped: 99 of the 99 answers in the batch ", 3},
		{"gone", "HTTP 404", 3},
		{"vanished", "batch_0001 is not there (HTTP 404); tried since ", 3},
		{"html", "sent no answer but an HTML page: ", 3},
		{"redirect", "it redirects to http://127.0.0.1:1 (HTTP 302", 3},
		{"random", "stopped: 99 of the 99 answers in the batch ", 3},
		{"half", "stopped: 49 of the 99 answers in the batch ", 3},
		{"broken", "broke off its answer", 3},
		{"damaged", " of the 99 answers in the batch ", 3},
		{"long", "a line is longer than 16 MiB", 2}, // Gemini's results are no lines
	} {
		for _, api := range inTurn(i, batchAPIs[:c.apis]) {
			t.Run(c.fault+" "+api.model, func(t *testing.T) {
				t.Parallel()
				s := newServer(t, testserver.Options{Batches: testserver.Batches{Results: c.fault}})
				args := runBatch(s, api.model, api.base, writeSuite(t, 10), filepath.Join(t.TempDir(), "run"), "--patience", "1s")
				start(t, nil, args...).expect(exitIncomplete, c.says, "--patience 1s", "--batch-give-up", "run the same command again")
				paidOnce(t, s, 99, 1)
				s.Heal()
				start(t, nil, args...).expect(0, "100 answers")
				paidOnce(t, s, 99, 1)
			})
		}
	}
}

// With --batch-give-up, what cannot be read is asked again, once, and nothing else is.
func TestGivenUpBatch(t *testing.T) {
	t.Parallel()
	for i, c := range []struct {
		fault string
		again int // requests by themselves
		apis  int
	}{
		{"long", 2, 2}, {"late", 100, 3}, {"half", 50, 3}, {"vanished", 100, 3},
	} {
		for _, api := range inTurn(i, batchAPIs[:c.apis]) {
			t.Run(c.fault+" "+api.model, func(t *testing.T) {
				t.Parallel()
				s := newServer(t, testserver.Options{Batches: testserver.Batches{Results: c.fault}})
				suite, out := writeSuite(t, 10), filepath.Join(t.TempDir(), "run")
				args := runBatch(s, api.model, api.base, suite, out, "--patience", "500ms")
				start(t, nil, args...).expect(exitIncomplete)
				args = append(args, "--batch-give-up")
				start(t, nil, args...).expect(0, fmt.Sprintf("%d of 99 requests of the batch ", c.again-1),
					"batch_0001 were sent again one by one: ", "100 answers")
				start(t, nil, args...).expect(0, "100 answers, 100 of them from an earlier run")
				paidOnce(t, s, 99, c.again)
			})
		}
	}
}

// A batch that the provider does not take ends the run, with its words.
func TestRefusedBatch(t *testing.T) {
	t.Parallel()
	for _, api := range batchAPIs {
		if api.model == "anthropic:m" {
			continue // its batches are refused at once
		}
		s := newServer(t, testserver.Options{Batches: testserver.Batches{Refuse: "the model is not available for batches"}})
		start(t, nil, runBatch(s, api.model, api.base, writeSuite(t, 10), filepath.Join(t.TempDir(), "run"))...).
			expect(exitUsage, `the batch was not accepted: "the model is not available for batches`, "without --batch")
	}
}

// A budget counts batches at their price, and stops at the same items as they
// come.
func TestBatchBudget(t *testing.T) {
	t.Parallel()
	s := newServer(t, testserver.Options{})
	prices := filepath.Join(t.TempDir(), "prices.yaml")
	if err := os.WriteFile(prices, []byte("m: {input: 0, output: 1000000}\n"), 0o666); err != nil { // 1 a token
		t.Fatal(err)
	}
	suite := writeSuite(t, 10)
	out := func() string { return filepath.Join(t.TempDir(), "run") }
	whole := start(t, nil, runBatch(s, "compatible:m", "/v1", suite, out(), "--prices", prices)...).expect(0, ", cost ")
	full := start(t, nil, slices.DeleteFunc(runBatch(s, "compatible:m", "/v1", suite, out(), "--prices", prices),
		func(a string) bool { return a == "--batch" })...).expect(0)
	cost := func(p *process) float64 {
		all := strings.Split(p.stderr.String(), ", cost ") // in lines of progress, too
		rest := all[len(all)-1]
		c, err := strconv.ParseFloat(strings.TrimSuffix(strings.Fields(rest)[0], "."), 64)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if part := cost(whole) / cost(full); part < 0.5 || part > 0.52 { // the first ask is not in a batch
		t.Errorf("%v for %v", cost(whole), cost(full))
	}
	asked := newServer(t, testserver.Options{})
	p := start(t, nil, runBatch(asked, "compatible:m", "/v1", suite, out(), "--prices", prices, "--budget-cost", "150", "--max-tokens", "8")...).
		expect(exitIncomplete, "stopped at a cost of", "--budget-cost 150")
	if c := cost(p); c > 150 || c < 120 {
		t.Errorf("a cost of %v", c)
	}
	// How many asks come together in a batch depends on the machine; what no
	// longer fits as one is asked by itself.
	if batched, direct, again, more := paidAt(asked); batched <= direct || batched > 60 || again+more > 0 {
		t.Errorf("%d asks paid in batches and %d by themselves, %d and %d again", batched, direct, again, more)
	}
	start(t, nil, runBatch(s, "compatible:m", "/v1", suite, out(), "--prices", prices, "--dry-run")...).expect(0)
}

// A model that cannot be asked in batches is an error before anything is asked.
func TestNoBatchAPI(t *testing.T) {
	t.Parallel()
	start(t, nil, "run", "leakage", "--batch", "--out", filepath.Join(t.TempDir(), "run")).
		expect(exitUsage, "--batch: reference:", "has no batch API that crosstalk knows; models of these have: openai, anthropic, gemini")
}

// Asks that are made of answers are asked in the round after them, and come to
// the same figures.
func TestBatchRounds(t *testing.T) {
	t.Parallel()
	s := newServer(t, testserver.Options{Answer: translator(t, "consistency",
		reference.Inconsistency{Flip: 0.2, Invalid: 0.02, Wrong: 0.2})})
	out, plain := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "run")
	args := runConsistency(s, out, "--to", "de", "--items", "60", "--accept-rewrites", "--batch")
	start(t, nil, args...).expect(0)
	batched, direct, again, more := paidAt(s)
	if batches := s.Stats().Batches; batches != 2 || direct > 20 || batched < 300 || again+more > 0 {
		t.Errorf("%d and %d asks paid, %d and %d again, in %d batches", batched, direct, again, more, batches)
	}
	t.Logf("%d asks in %d batches, %d by themselves", batched, s.Stats().Batches, direct)
	args[slices.Index(args, out)] = plain
	start(t, nil, slices.DeleteFunc(args, func(a string) bool { return a == "--batch" })...).expect(0)
	sameResult(t, out, plain)
}

// What a model refuses is found out by single asks, before a batch of them.
func TestBatchOfRefusingModel(t *testing.T) {
	t.Parallel()
	s := newServer(t, testserver.Options{Profile: "gpt-5"})
	out := filepath.Join(t.TempDir(), "run")
	start(t, nil, runBatch(s, "compatible:unheard-of", "/v1", writeSuite(t, 10), out)...).expect(0, "temperature 0 is not sent: unheard-of refused it", "unheard-of thinks, and has 4000 tokens for it")
	if batched, direct, again, more := paidAt(s); batched < 95 || again+more > 0 {
		t.Errorf("%d and %d asks paid, %d and %d again", batched, direct, again, more)
	}
}
