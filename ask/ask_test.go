package ask_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/ask/journal"

	"github.com/google/go-cmp/cmp"
)

// model is a crosstalk.Model made of a function.
type model struct {
	endpoint string
	answer   func(ctx context.Context, req crosstalk.Request) (crosstalk.Answer, error)
}

var _ crosstalk.Model = (*model)(nil)

func (m *model) Identity() crosstalk.Identity {
	return crosstalk.Identity{Provider: "test", Endpoint: m.endpoint, Name: "m"}
}
func (m *model) API() crosstalk.API { return crosstalk.Completions }
func (m *model) Answer(ctx context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
	return m.answer(ctx, req)
}

// request is the i-th of a number of different requests.
func request(i int) crosstalk.Request {
	return crosstalk.Request{API: crosstalk.Completions, Prompt: "ask", Sample: i, Decoding: crosstalk.Decoding{MaxTokens: 10}}
}

func text(s string) crosstalk.Answer { return crosstalk.Answer{Status: crosstalk.Text, Text: s} }

// wait is a model's time to answer.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// result is the result of one ask of many.
type result struct {
	answer crosstalk.Answer
	err    error
	at     time.Duration
}

// askAll asks n different requests at the same time.
func askAll(ctx context.Context, a crosstalk.Asker, n int) []result {
	results := make([]result, n)
	var group sync.WaitGroup
	start := time.Now()
	for i := range n {
		group.Go(func() {
			answer, err := a.Ask(ctx, request(i))
			results[i] = result{answer, err, time.Since(start)}
		})
	}
	group.Wait()
	return results
}

// log counts the attempts that a model sees.
type log struct {
	mu       sync.Mutex
	attempts map[int]int // by sample
	times    []time.Duration
	start    time.Time
	inFlight int
	most     int
}

func newLog() *log { return &log{attempts: map[int]int{}, start: time.Now()} }

func (l *log) enter(req crosstalk.Request) (attempt int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.attempts[req.Sample]++
	l.times = append(l.times, time.Since(l.start))
	l.inFlight++
	l.most = max(l.most, l.inFlight)
	return l.attempts[req.Sample]
}

func (l *log) leave() { l.mu.Lock(); l.inFlight--; l.mu.Unlock() }

func (l *log) flying() int { l.mu.Lock(); defer l.mu.Unlock(); return l.inFlight }

func (l *log) total() int { l.mu.Lock(); defer l.mu.Unlock(); return len(l.times) }

func fault(f crosstalk.Fault) error { return &crosstalk.AskError{Fault: f, Status: 500, Message: "no"} }

func TestAnswersAreAskedForOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLog()
		m := &model{answer: func(_ context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
			l.enter(req)
			time.Sleep(time.Second)
			if req.Sample == 1 && l.total() < 4 {
				return crosstalk.Answer{}, fault(crosstalk.Transient)
			}
			answer := text(fmt.Sprint("answer ", req.Sample))
			answer.Usage = crosstalk.Usage{Prompt: 3, Completion: 2, Reasoning: 1}
			return answer, nil
		}}
		memory := &ask.Memory{}
		first := ask.NewSession(memory, ask.Options{Retries: -1})
		results := askAll(t.Context(), first.For(m), 3)
		for i, r := range results {
			want := crosstalk.Text
			if i == 1 {
				want = crosstalk.Failed
			}
			if r.err != nil || r.answer.Status != want || r.answer.Attempts != 1 || r.answer.Time.IsZero() ||
				r.answer.Latency != time.Second ||
				r.answer.Key != crosstalk.KeyOf(m.Identity(), request(i)) {
				t.Errorf("%d: %+v", i, r)
			}
		}
		checkStats(t, first, ask.Stats{Done: 3, Answered: 2, Thought: 2, Failed: 1,
			Usage: crosstalk.Usage{Prompt: 6, Completion: 4, Reasoning: 2}, Trouble: "no"})
		// Another session asks for the failed one only; a session counts an ask once.
		second := ask.NewSession(memory, ask.Options{})
		asker := second.For(m)
		askAll(t.Context(), asker, 3)
		results = askAll(t.Context(), asker, 3)
		if l.attempts[0] != 1 || l.attempts[1] != 2 || l.attempts[2] != 1 {
			t.Errorf("attempts %v", l.attempts)
		}
		if r := results[1]; r.answer.Text != "answer 1" {
			t.Errorf("%+v", r)
		}
		checkStats(t, second,
			ask.Stats{Done: 3, Answered: 3, Cached: 2, Thought: 3,
				Usage: crosstalk.Usage{Prompt: 3, Completion: 2, Reasoning: 1}})
	})
}

func TestStatsCountKinds(t *testing.T) {
	kinds := []crosstalk.Status{crosstalk.Empty, crosstalk.Refused, crosstalk.Text}
	m := &model{answer: func(_ context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
		return crosstalk.Answer{Status: kinds[req.Sample%3],
			Finish: map[int]crosstalk.Finish{2: crosstalk.FinishLength}[req.Sample],
			Usage:  crosstalk.Usage{Prompt: 1e6, Completion: 2e6, Reasoning: 1e6}}, nil
	}}
	s := ask.NewSession(&ask.Memory{}, ask.Options{Budget: ask.Budget{Prices: ask.Prices{"m": {Input: 1, Output: 2}}}})
	askAll(t.Context(), s.For(m), 6)
	// Reasoning is a part of the completion, and billed once.
	checkStats(t, s, ask.Stats{Done: 6, Answered: 6, Empty: 2, Refused: 2, Cut: 1, Thought: 6,
		Usage: crosstalk.Usage{Prompt: 6e6, Completion: 12e6, Reasoning: 6e6}, Cost: 30})
}

func TestStatsText(t *testing.T) {
	for want, s := range map[string]ask.Stats{
		"0 answers": {},
		"7 answers, 2 of them from an earlier run, 1 cut at the token limit, 3 after thinking (50 tokens), cost 0.1235": {
			Answered: 7, Cached: 2, Cut: 1, Thought: 3, Usage: crosstalk.Usage{Reasoning: 50}, Cost: 0.12346},
	} {
		if got := s.Text(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func checkStats(t *testing.T, s *ask.Session, want ask.Stats) {
	t.Helper()
	if diff := cmp.Diff(want, s.Stats()); diff != "" {
		t.Error(diff)
	}
}

func TestEqualAsksAreOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLog()
		m := &model{answer: func(_ context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
			l.enter(req)
			time.Sleep(time.Second)
			return text("one"), nil
		}}
		s := ask.NewSession(&ask.Memory{}, ask.Options{})
		asker := s.For(m)
		var group sync.WaitGroup
		for range 50 {
			group.Go(func() {
				if a, err := asker.Ask(t.Context(), request(0)); err != nil || a.Text != "one" {
					t.Errorf("%+v, %v", a, err)
				}
			})
		}
		group.Wait()
		if l.total() != 1 || s.Stats().Done != 1 || s.Stats().Cached != 0 {
			t.Errorf("%d attempts, %+v", l.total(), s.Stats())
		}
	})
}

// Who shares an ask with somebody who gives up still gets an answer.
func TestFirstCallerGoesAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLog()
		m := &model{answer: func(ctx context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
			l.enter(req)
			return text("late"), wait(ctx, time.Minute)
		}}
		s := ask.NewSession(&ask.Memory{}, ask.Options{})
		asker := s.For(m)
		gaveUp := errors.New("gave up")
		ctx, cancel := context.WithCancelCause(t.Context())
		var group sync.WaitGroup
		group.Go(func() {
			if _, err := asker.Ask(ctx, request(0)); err != gaveUp {
				t.Errorf("who gave up got %v", err)
			}
		})
		synctest.Wait()
		group.Go(func() {
			if a, err := asker.Ask(t.Context(), request(0)); err != nil || a.Text != "late" {
				t.Errorf("who stayed got %+v, %v", a, err)
			}
		})
		time.Sleep(time.Second)
		cancel(gaveUp)
		group.Wait()
		if l.total() != 2 || s.Reason() != nil {
			t.Errorf("%d attempts, %v", l.total(), s.Reason())
		}
	})
}

// A journal that fails ends the session, with its own words.
func TestJournalFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("disk full")
		l := newLog()
		m := &model{answer: func(_ context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
			l.enter(req)
			time.Sleep(time.Duration(l.total()) * time.Second)
			return text("lost"), nil
		}}
		var puts atomic.Int32
		j := &brokenJournal{put: func(journal.Record) error {
			if puts.Add(1) > 2 {
				return full
			}
			return nil
		}}
		s := ask.NewSession(j, ask.Options{Concurrency: 4})
		var saved int
		for _, r := range askAll(t.Context(), s.For(m), 100) {
			if r.err == nil {
				saved++
			} else if r.err != full {
				t.Errorf("%v; want the journal's error", r.err)
			}
		}
		if saved != 2 || s.Stats().Done != 2 || l.total() > 8 || s.Reason() != full {
			t.Errorf("%d saved, %+v, %d attempts, %v", saved, s.Stats(), l.total(), s.Reason())
		}
		j = &brokenJournal{get: full}
		s = ask.NewSession(j, ask.Options{})
		if _, err := s.For(m).Ask(t.Context(), request(0)); err != full || s.Reason() != full {
			t.Errorf("%v, %v", err, s.Reason())
		}
	})
}

type brokenJournal struct {
	get error
	put func(journal.Record) error
}

func (j *brokenJournal) Get(crosstalk.Key) (crosstalk.Answer, bool, error) {
	return crosstalk.Answer{}, false, j.get
}
func (j *brokenJournal) Put(r journal.Record) error { return j.put(r) }

// Models at one endpoint share its limits, others do not.
func TestEndpointsHaveTheirOwnLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := ask.NewSession(&ask.Memory{}, ask.Options{Concurrency: 3})
		var group sync.WaitGroup
		logs := map[string]*log{"a": newLog(), "b": newLog()}
		for _, endpoint := range []string{"a", "a", "b"} {
			l := logs[endpoint]
			m := &model{endpoint: endpoint, answer: func(_ context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
				l.enter(req)
				defer l.leave()
				time.Sleep(time.Second)
				return text(""), nil
			}}
			asker := s.For(m)
			for i := range 20 {
				group.Go(func() { asker.Ask(t.Context(), request(i)) })
			}
		}
		group.Wait()
		if logs["a"].most != 3 || logs["b"].most != 3 {
			t.Errorf("in flight at most: %d and %d; want 3", logs["a"].most, logs["b"].most)
		}
	})
}

func TestWorst(t *testing.T) {
	chat := crosstalk.Request{Messages: []crosstalk.Message{{Role: "system", Content: "abc"}, {Role: "user", Content: strings.Repeat("x", 30)}}}
	for _, c := range []struct {
		req  crosstalk.Request
		want crosstalk.Usage
	}{
		{request(0), crosstalk.Usage{Prompt: 2, Completion: 10}},
		{crosstalk.Request{Prompt: "日本"}, crosstalk.Usage{Prompt: 7}},
		{chat, crosstalk.Usage{Prompt: 1 + 2 + 4 + 11 + 4}},
		{crosstalk.Request{Decoding: crosstalk.Decoding{MaxTokens: 5, Extra: map[string]any{"max_completion_tokens": 900.0}}},
			crosstalk.Usage{Prompt: 1, Completion: 900}},
		{crosstalk.Request{Decoding: crosstalk.Decoding{MaxTokens: 5, Extra: map[string]any{"n": 4}}},
			crosstalk.Usage{Prompt: 1, Completion: 20}},
	} {
		if got := ask.Worst(c.req); got != c.want {
			t.Errorf("%+v: %+v; want %+v", c.req, got, c.want)
		}
	}
}

// sorted returns the times in order.
func (l *log) sorted() []time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(slices.Values(l.times))
}
