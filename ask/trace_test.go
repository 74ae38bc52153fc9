package ask_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/ask/journal"
	"crosstalk/internal/testing/golden"
)

// trace records events with their times. Events at the same time are one line, in alphabetical order, and so are
// repeated ones.
type trace struct {
	mu     sync.Mutex
	began  time.Time
	events []event
	on     func(what string, n int) error // called before the n-th event of a kind; the event fails with its error
	counts map[string]int
}

type event struct {
	at   time.Duration
	what string
}

func (tr *trace) note(what string) error {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.events = append(tr.events, event{time.Since(tr.began).Round(time.Millisecond), what})
	if tr.counts == nil {
		tr.counts = map[string]int{}
	}
	kind, _, _ := strings.Cut(what, " ")
	tr.counts[kind]++
	if tr.on == nil {
		return nil
	}
	return tr.on(kind, tr.counts[kind])
}

func (tr *trace) String() string {
	slices.SortStableFunc(tr.events, func(a, b event) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.what, b.what))
	})
	type moment struct {
		at   []time.Duration
		what string
	}
	var moments []moment
	for i := 0; i < len(tr.events); {
		at, all := tr.events[i].at, []string{}
		for i < len(tr.events) && tr.events[i].at == at {
			what, n := tr.events[i].what, 0
			for ; i < len(tr.events) && tr.events[i] == (event{at, what}); i++ {
				n++
			}
			if n > 1 {
				what = fmt.Sprintf("%d %s", n, what)
			}
			all = append(all, what)
		}
		m := moment{[]time.Duration{at}, strings.Join(all, ", ")}
		if last := len(moments) - 1; last >= 0 && moments[last].what == m.what {
			moments[last].at = append(moments[last].at, m.at...)
		} else {
			moments = append(moments, m)
		}
	}
	var b strings.Builder
	for _, m := range moments {
		switch n := len(m.at); n {
		case 1, 2:
			fmt.Fprintln(&b, strings.Trim(fmt.Sprint(m.at), "[]")+":", m.what)
		default:
			fmt.Fprintf(&b, "%v %v ... %v (%d times): %s\n", m.at[0], m.at[1], m.at[n-1], n, m.what)
		}
	}
	return b.String()
}

// tracedProvider records its calls, and can be told to answer differently.
type tracedProvider struct {
	*provider
	*trace
	state   crosstalk.BatchState    // replaces the provider's
	results []crosstalk.BatchResult // come before the provider's
	last    error                   // ends the results
}

func (p *tracedProvider) Answer(ctx context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
	if err := p.note("asked"); err != nil {
		return crosstalk.Answer{}, err
	}
	return p.provider.Answer(ctx, req)
}

func (p *tracedProvider) Submit(ctx context.Context, tag string, asks []crosstalk.BatchAsk) (string, error) {
	if err := p.note(fmt.Sprint("submit ", len(asks))); err != nil {
		return "", err
	}
	return p.provider.Submit(ctx, tag, asks)
}

func (p *tracedProvider) Find(ctx context.Context, tag string, at time.Time, asks []crosstalk.BatchAsk,
	known func(string) bool) (string, bool, error) {
	if err := p.note(fmt.Sprintf("find among %d", len(asks))); err != nil {
		return "", false, err
	}
	return p.provider.Find(ctx, tag, at, asks, known)
}

func (p *tracedProvider) Poll(ctx context.Context, id string) (crosstalk.BatchState, error) {
	if err := p.note("poll " + id); err != nil {
		return crosstalk.BatchState{}, err
	}
	state, err := p.provider.Poll(ctx, id)
	if p.state.Problem != "" {
		state = p.state
	}
	return state, err
}

func (p *tracedProvider) Results(ctx context.Context, id string,
	requests map[crosstalk.Key]crosstalk.Request) iter.Seq2[crosstalk.BatchResult, error] {
	return func(yield func(crosstalk.BatchResult, error) bool) {
		if err := p.note("results of " + id); err != nil {
			yield(crosstalk.BatchResult{}, err)
			return
		}
		for _, r := range p.results {
			if !yield(r, nil) {
				return
			}
		}
		for r, err := range p.provider.Results(ctx, id, requests) {
			if !yield(r, err) {
				return
			}
		}
		if p.last != nil {
			yield(crosstalk.BatchResult{}, p.last)
		}
	}
}

// tracedMemory records the calls to the journal.
type tracedMemory struct {
	*batchMemory
	*trace
}

func (m tracedMemory) Get(key crosstalk.Key) (crosstalk.Answer, bool, error) {
	if err := m.note("Get"); err != nil {
		return crosstalk.Answer{}, false, err
	}
	return m.batchMemory.Get(key)
}
func (m tracedMemory) Put(r journal.Record) error {
	if err := m.note("Put"); err != nil {
		return err
	}
	return m.batchMemory.Put(r)
}
func (m tracedMemory) AddBatch(b *journal.Batch) error {
	if err := m.note(fmt.Sprint("AddBatch ", len(b.Asks))); err != nil {
		return err
	}
	return m.batchMemory.AddBatch(b)
}
func (m tracedMemory) UpdateBatch(b *journal.Batch) error {
	if err := m.note("UpdateBatch " + b.ID); err != nil {
		return err
	}
	return m.batchMemory.UpdateBatch(b)
}
func (m tracedMemory) DropBatch(b *journal.Batch) error {
	if err := m.note("DropBatch " + b.ID); err != nil {
		return err
	}
	return m.batchMemory.DropBatch(b)
}
func (m tracedMemory) EndBatch(b *journal.Batch) error {
	if err := m.note("EndBatch " + b.ID); err != nil {
		return err
	}
	return m.batchMemory.EndBatch(b)
}
func (m tracedMemory) OpenBatches() ([]*journal.Batch, error) {
	if err := m.note("OpenBatches"); err != nil {
		return nil, err
	}
	return m.batchMemory.OpenBatches()
}
func (m tracedMemory) BatchIDs() ([]string, error) {
	if err := m.note("BatchIDs"); err != nil {
		return nil, err
	}
	return m.batchMemory.BatchIDs()
}
func (m tracedMemory) Unanswered() ([]crosstalk.Key, error) {
	if err := m.note("Unanswered"); err != nil {
		return nil, err
	}
	return m.batchMemory.Unanswered()
}

// TestTracesOfBatches compares all calls to a provider and to the journal, their times and their outcomes, with
// testdata/batches.txt. A second session, on a journal and a provider that work, finishes each.
func TestTracesOfBatches(t *testing.T) {
	utc(t)
	busy := &crosstalk.AskError{Fault: crosstalk.Overloaded, Status: 429, Message: "busy"}
	denied := &crosstalk.AskError{Fault: crosstalk.Denied, Status: 401, Message: "wrong key"}
	full := errors.New("disk full")
	first := func(kind string, most int, err error) func(string, int) error { // the first calls of a kind fail
		return func(what string, n int) error {
			if what == kind && n <= most {
				return err
			}
			return nil
		}
	}
	nth := func(kind string, at int) func(string, int) error { // the n-th call of a kind fails
		return func(what string, n int) error {
			if what == kind && n == at {
				return full
			}
			return nil
		}
	}
	const always = 1 << 30
	var b strings.Builder
	for _, c := range []struct {
		name    string
		set     func(*tracedProvider)
		on      func(string, int) error
		n       int // asks; 0: 40
		stop    time.Duration
		cancel  time.Duration
		options ask.Options
	}{
		{name: "calm"},
		{name: "in three batches", set: func(p *tracedProvider) { p.takes = 15 }},
		{name: "busy three times", on: first("submit", 3, busy)},
		{name: "busy for ever", on: first("submit", always, busy)},
		{name: "stopped while busy", on: first("submit", always, busy), stop: 102 * time.Second},
		{name: "cancelled while busy", on: first("submit", always, busy), cancel: 102 * time.Second},
		{name: "not accepted", on: first("submit", 1, denied)},
		{name: "taken back", set: func(p *tracedProvider) { p.state = crosstalk.BatchState{Ended: true, Problem: "too odd"} }},
		{name: "too large", set: func(p *tracedProvider) { p.most = 25 }},
		{name: "always too large", set: func(p *tracedProvider) {
			p.state = crosstalk.BatchState{Ended: true, Problem: "too much", Full: true}
		}},
		{name: "stopped when too large", stop: 15 * time.Second, set: func(p *tracedProvider) { p.most = 25 }},
		{name: "unclear and made", set: func(p *tracedProvider) {
			p.listed = 20 * time.Second
			p.submitting = func(int) (error, bool) { return unclear(), true }
		}},
		{name: "unclear and not made", set: func(p *tracedProvider) {
			p.submitting = func(n int) (error, bool) { return unclear(), n > 1 }
		}},
		{name: "unclear, stopped while it is looked for", stop: 12 * time.Second, set: func(p *tracedProvider) {
			p.submitting = func(n int) (error, bool) { return unclear(), false }
		}},
		{name: "unclear, and the key is wrong", on: first("find", 1, denied), set: func(p *tracedProvider) {
			p.submitting = func(n int) (error, bool) { return unclear(), n == 1 }
		}},
		{name: "unclear, and nothing is heard of it for a while", on: first("find", 3, busy), set: func(p *tracedProvider) {
			p.submitting = func(n int) (error, bool) { return unclear(), true }
		}},
		{name: "polls fail", on: first("poll", 3, busy)},
		{name: "polls fail for ever", on: first("poll", always, busy)},
		{name: "stopped while polls fail", on: first("poll", always, busy), stop: 12 * time.Second},
		{name: "polls are denied", on: first("poll", 1, denied)},
		{name: "stopped while it runs", stop: 5 * time.Minute},
		{name: "cancelled while it runs", cancel: 5 * time.Minute},
		{name: "results fail", on: first("results", 3, busy)},
		{name: "results fail for ever", on: first("results", always, busy)},
		{name: "results fail for ever and are given up", on: first("results", always, busy),
			options: ask.Options{BatchGiveUp: true}},
		{name: "stopped while results fail", on: first("results", always, busy), stop: 25*time.Minute + 1},
		{name: "strange results", set: func(p *tracedProvider) {
			p.results = []crosstalk.BatchResult{{Err: errors.New("odd")}, {Err: errors.New("odder")}}
		}},
		{name: "broken after strange results", set: func(p *tracedProvider) {
			p.results = []crosstalk.BatchResult{{Err: errors.New("odd")}}
			p.hidden = func(_ string, _ time.Duration, sample int) bool { return sample > 5 }
			p.last = busy
		}, options: ask.Options{Patience: 20 * time.Second}},
		{name: "strange results in place of answers", set: func(p *tracedProvider) {
			p.results = []crosstalk.BatchResult{{Err: errors.New("odd")}, {Err: errors.New("odder")}}
			p.hidden = func(_ string, _ time.Duration, sample int) bool { return sample > 5 }
		}, options: ask.Options{Patience: 20 * time.Second}},
		{name: "as many results as there may be", set: func(p *tracedProvider) {
			p.results = slices.Repeat([]crosstalk.BatchResult{{}}, 100+9*39)
		}},
		{name: "a result more than there may be", set: func(p *tracedProvider) {
			p.results = slices.Repeat([]crosstalk.BatchResult{{}}, 100+9*39+1)
		}, options: ask.Options{Patience: 20 * time.Second}},
		{name: "an answer twice, and one after it failed", set: func(p *tracedProvider) {
			key := func(i int) crosstalk.Key { return crosstalk.KeyOf(p.Identity(), request(i)) }
			p.results = []crosstalk.BatchResult{{Key: key(3), Answer: text("first")}, {Key: key(4), Err: errors.New("no")},
				{Key: key(3), Err: errors.New("no")}}
		}},
		{name: "some failed", set: func(p *tracedProvider) {
			p.result = func(req crosstalk.Request) (string, error) {
				if req.Sample == 7 {
					return "", errors.New("too long")
				}
				return "batched", nil
			}
		}},
		{name: "nine after the first", n: 10},
		{name: "eleven", n: 11},
		{name: "no answers are kept", on: nth("Get", 1)},
		{name: "no answer is found again", on: nth("Get", 42)},
		{name: "wants cannot be looked up", on: nth("Get", 60)},
		{name: "results cannot be looked up", on: nth("Get", 33), n: 11}, // the last: they are saved at the same time
		{name: "answers cannot be looked up", on: nth("Get", 125)},
		{name: "the first answer is not saved", on: nth("Put", 1)},
		{name: "an answer is not saved", on: nth("Put", 11), n: 11},
		{name: "unanswered asks are not known", on: nth("Unanswered", 1)},
		{name: "open batches are not known", on: nth("OpenBatches", 1)},
		{name: "a batch is not noted", on: nth("AddBatch", 1)},
		{name: "a second batch is not noted", on: nth("AddBatch", 2), set: func(p *tracedProvider) { p.takes = 15 }},
		{name: "a submission is not noted", on: nth("UpdateBatch", 1)},
		{name: "an id is not noted", on: nth("UpdateBatch", 2)},
		{name: "an end is not noted", on: nth("EndBatch", 1)},
		{name: "a batch is not dropped", on: nth("DropBatch", 1), set: func(p *tracedProvider) { p.most = 25 }},
		{name: "the ids of batches are not known", on: nth("BatchIDs", 1), set: func(p *tracedProvider) {
			p.submitting = func(int) (error, bool) { return unclear(), true }
		}},
	} {
		synctest.Test(t, func(t *testing.T) {
			tr := &trace{began: time.Now(), on: c.on}
			p := &tracedProvider{provider: newProvider(), trace: tr}
			p.delay = 20 * time.Minute
			p.used = crosstalk.Usage{Prompt: 10, Completion: 5}
			if c.set != nil {
				c.set(p)
			}
			store := &batchMemory{}
			c.options.Backoff = 1 // waits without jitter
			s := ask.NewSession(tracedMemory{store, tr}, c.options)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			if c.stop > 0 {
				time.AfterFunc(c.stop, s.Stop)
			}
			if c.cancel > 0 {
				time.AfterFunc(c.cancel, func() { cancel(errors.New("cancelled")) })
			}
			n := max(c.n, 40*(1-min(c.n, 1)))
			texts, rounds, err := batched(ctx, s, p, n)
			synctest.Wait()
			fmt.Fprintf(&b, "== %s ==\n%s%v after %d rounds: %v\n", c.name, tr, texts, rounds, err)
			stats := s.Stats()
			fmt.Fprintf(&b, "reason: %v\nwarnings: %q\n%s; %d retries, %d failed, trouble %q; waits for %d of %d done\n",
				s.Reason(), s.Warnings(), stats.Text(), stats.Retries, stats.Failed, stats.Trouble, stats.Batches.Done,
				stats.Batches.Asks)
			open, _ := store.OpenBatches()
			for _, o := range open {
				fmt.Fprintf(&b, "open: %q of %v with %d\n", o.ID, o.At.Sub(tr.began), len(o.Asks))
			}
			*tr = trace{began: tr.began}
			p.state, p.results, p.last = crosstalk.BatchState{}, nil, nil
			p.submitting, p.result, p.hidden, p.most = nil, nil, nil, 0
			texts, _, err = batched(t.Context(), ask.NewSession(store, ask.Options{Backoff: 1}), p.provider, n)
			asks, again := p.total()
			fmt.Fprintf(&b, "then: %v, %v; %d paid for, %d of them again\n\n", texts, err, asks, again)
		})
	}
	golden.Check(t, "testdata/batches.txt", b.String())
}

// Batches that an earlier session could not submit are forgotten; a batch of a model that this session lacks ends it.
// A finished batch is not waited for.
func TestOpenBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &batchMemory{}
		store.AddBatch(&journal.Batch{Tag: "of nothing"})
		p := newProvider()
		p.takes, p.slow = 20, map[string]time.Duration{"batch2": 5 * time.Hour}
		s := ask.NewSession(store, ask.Options{})
		time.AfterFunc(4*time.Hour, func() {
			if got := s.Stats().Batches; got.N != 1 || got.Asks > 20 {
				t.Errorf("%+v", got)
			}
		})
		if texts, _, err := batched(t.Context(), s, p, 40); err != nil || texts["batched"] != 39 || len(store.list) != 2 {
			t.Errorf("%v, %v, %d batches", texts, err, len(store.list))
		}
		store.AddBatch(&journal.Batch{Tag: "of nothing"}) // a second one follows
		store.AddBatch(&journal.Batch{Identity: crosstalk.Identity{Provider: "test", Name: "gone"}, Tag: "x",
			Asks: []crosstalk.BatchAsk{{Request: request(1)}}})
		s = ask.NewSession(store, ask.Options{})
		_, _, err := batched(t.Context(), s, p, 40)
		if err == nil || err.Error() != "test:gone: a batch of 1 requests is open, and this run has no such model any more: use another "+
			"--out" || s.Reason() != err {
			t.Errorf("%v, %v", err, s.Reason())
		}
	})
}

// If any answer of a batch cannot be saved, the session ends with that error, and later rounds send nothing. Each way
// of asking has one ask that goes ahead.
func TestEndsOfBatches(t *testing.T) {
	full := errors.New("disk full")
	for n := 2; n < 40; n += 3 {
		synctest.Test(t, func(t *testing.T) {
			tr := &trace{began: time.Now(), on: func(what string, at int) error {
				if what == "Put" && at == n {
					return full
				}
				return nil
			}}
			store, p := tracedMemory{&batchMemory{}, tr}, newProvider()
			s := ask.NewSession(store, ask.Options{})
			if _, _, err := batched(t.Context(), s, p, 40); err != full || s.Reason() != full {
				t.Errorf("%d: %v, %v", n, err, s.Reason())
			}
			s = ask.NewSession(store.batchMemory, ask.Options{})
			s.For(p)
			b, err := s.Batching()
			if err != nil {
				t.Fatal(err)
			}
			s.Stop()
			if another, err := b.Round().Send(t.Context()); another || err != nil {
				t.Errorf("%v, %v", another, err)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		p := newProvider()
		s := ask.NewSession(&batchMemory{}, ask.Options{})
		texts, _, err := batchedAs(t.Context(), s, p, 60, func(i int) crosstalk.Request {
			r := request(i)
			r.Decoding.MaxTokens = 10 + i%3
			return r
		})
		if err != nil || texts["direct"] != 3 || texts["batched"] != 57 {
			t.Errorf("%v, %v", texts, err)
		}
	})
}

// Models at one endpoint share its limits, whatever their names.
func TestModelsShareEndpoints(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l := ask.NewSession(&ask.Memory{}, ask.Options{Concurrency: 3}), newLog()
		m := &model{endpoint: "e", answer: func(ctx context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
			l.enter(req)
			defer l.leave()
			return text("yes"), wait(ctx, time.Second)
		}}
		var group sync.WaitGroup
		for _, name := range []string{"one", "two"} {
			group.Go(func() { askAll(t.Context(), s.For(named{m, name}), 20) })
		}
		group.Wait()
		if l.most != 3 || l.total() != 40 {
			t.Errorf("%d of %d at once", l.most, l.total())
		}
	})
}

// TestTracesOfAsks compares the times and outcomes of twelve asks to a model in each state with testdata/asks.txt.
func TestTracesOfAsks(t *testing.T) {
	utc(t)
	status := func(fault crosstalk.Fault, status int, after time.Duration) error {
		return &crosstalk.AskError{Fault: fault, Status: status, RetryAfter: after, Message: fmt.Sprintf("HTTP %d", status)}
	}
	odd := status(crosstalk.Transient, 500, 0)
	between := func(from, to time.Duration, err error) func(int, time.Duration) error {
		return func(_ int, at time.Duration) error {
			if at >= from && at < to {
				return err
			}
			return nil
		}
	}
	of := func(err error, bad ...int) func(int, time.Duration) error {
		return func(i int, _ time.Duration) error {
			if slices.Contains(bad, i) {
				return err
			}
			return nil
		}
	}
	all := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
	const ever = 1000 * time.Hour
	var hangs = errors.New("hangs")
	var b strings.Builder
	for _, c := range []struct {
		name    string
		server  func(i int, at time.Duration) error
		answer  crosstalk.Answer // zero: a text
		options ask.Options
		on      func(string, int) error
		stop    time.Duration
		cancel  time.Duration
		first   int // asks of an earlier session
		bad     []int
	}{
		{name: "well", server: of(nil)},
		{name: "thirty a minute", server: of(nil), options: ask.Options{RPM: 30}},
		{name: "one at a time", server: of(nil), options: ask.Options{Concurrency: 1}},
		{name: "busy for a while", server: between(2*time.Second, 9*time.Second, status(crosstalk.Overloaded, 429, 0))},
		{name: "to come back later", server: between(2*time.Second, 9*time.Second, status(crosstalk.Overloaded, 503, 4*time.Second))},
		{name: "to come back in an hour", server: of(status(crosstalk.Overloaded, 503, time.Hour), 7)},
		{name: "down for a while", server: between(2*time.Second, time.Minute, odd)},
		{name: "down from the start", server: between(0, ever, odd)},
		{name: "down for ever after some answers", server: between(2*time.Second, ever, odd), options: ask.Options{Patience: time.Minute}},
		{name: "gone from the start", server: between(0, ever, unreachable)},
		{name: "gone after some answers", server: between(2*time.Second, ever, unreachable), options: ask.Options{Patience: time.Minute}},
		{name: "three bad asks", server: of(odd, 3, 6, 9), options: ask.Options{Retries: 2}},
		{name: "the last ones are bad", server: of(odd, 10, 11), options: ask.Options{Retries: 2, Patience: 5 * time.Second}},
		{name: "all that are left are bad", server: of(odd, 8, 9, 10, 11), first: 8, options: ask.Options{Retries: 2, Patience: 30 * time.Second}},
		{name: "some failed in an earlier run", server: of(odd, 4, 5, 6, 7), first: 8, bad: []int{4, 5, 6, 7},
			options: ask.Options{Retries: 2, Patience: 30 * time.Second}},
		{name: "no retries", server: of(odd, 3), options: ask.Options{Retries: -1}},
		{name: "one is rejected", server: of(status(crosstalk.Rejected, 400, 0), 3)},
		{name: "all are rejected", server: of(status(crosstalk.Rejected, 400, 0), all...)},
		{name: "a parameter is refused", server: of(&crosstalk.AskError{Fault: crosstalk.Rejected, Status: 400, Param: "seed",
			Message: "no seed"}, all...)},
		{name: "denied", server: of(status(crosstalk.Denied, 401, 0), all...)},
		{name: "denied after some answers", server: between(2*time.Second, ever, status(crosstalk.Denied, 403, 0))},
		{name: "one hangs", server: of(hangs, 4), options: ask.Options{Timeout: 20 * time.Second, Retries: 1}},
		{name: "hangs from the start", server: between(0, ever, hangs), options: ask.Options{Timeout: 20 * time.Second}},
		{name: "hangs for a while", server: between(2*time.Second, 50*time.Second, hangs), options: ask.Options{Timeout: 20 * time.Second}},
		{name: "all empty", server: of(nil), answer: crosstalk.Answer{Status: crosstalk.Empty}, options: ask.Options{StopEmpty: 3}},
		{name: "empty after thinking", server: of(nil), answer: crosstalk.Answer{Status: crosstalk.Empty, Finish: crosstalk.FinishLength,
			Usage: crosstalk.Usage{Reasoning: 5}}, options: ask.Options{StopEmpty: 3}},
		{name: "empty and never stopped", server: of(nil), answer: crosstalk.Answer{Status: crosstalk.Empty}, options: ask.Options{StopEmpty: -1}},
		{name: "refused", server: of(nil), answer: crosstalk.Answer{Status: crosstalk.Refused,
			Usage: crosstalk.Usage{Prompt: 3, Completion: 4}},
			options: ask.Options{Budget: ask.Budget{Prices: ask.Prices{"m": {Input: 1e6, Output: 1e6}}}}},
		{name: "five asks", server: of(nil), options: ask.Options{Budget: ask.Budget{Asks: 5}}},
		{name: "five asks, some answered", server: of(nil), first: 4, options: ask.Options{Budget: ask.Budget{Asks: 5}}},
		{name: "stopped", server: of(nil), stop: 3500 * time.Millisecond},
		{name: "cancelled", server: of(nil), cancel: 3500 * time.Millisecond},
		{name: "stopped while down", server: between(2*time.Second, ever, odd), stop: 20500 * time.Millisecond},
		{name: "cancelled while down", server: between(2*time.Second, ever, odd), cancel: 20500 * time.Millisecond},
		{name: "stopped while it hangs", server: between(2*time.Second, ever, hangs), stop: 20500 * time.Millisecond},
		{name: "an answer is not saved", server: of(nil), on: func(what string, n int) error {
			if what == "Put" && n == 5 {
				return errors.New("disk full")
			}
			return nil
		}},
		{name: "an answer is not looked up", server: of(nil), on: func(what string, n int) error {
			if what == "Get" && n == 5 {
				return errors.New("disk full")
			}
			return nil
		}},
	} {
		synctest.Test(t, func(t *testing.T) {
			store := &batchMemory{}
			before := ask.NewSession(store, ask.Options{Retries: -1, Concurrency: 1})
			well := &model{endpoint: "https://e.example", answer: func(_ context.Context, req crosstalk.Request) (crosstalk.Answer,
				error) {
				if slices.Contains(c.bad, req.Sample) {
					return crosstalk.Answer{}, odd
				}
				return text("old"), nil
			}}
			for i := range c.first {
				before.For(well).Ask(t.Context(), request(i))
			}
			tr := &trace{began: time.Now(), on: c.on}
			m := &model{endpoint: "https://e.example", answer: func(ctx context.Context, req crosstalk.Request) (crosstalk.Answer,
				error) {
				at := time.Since(tr.began)
				tr.note("ask")
				if err := wait(ctx, time.Second); err != nil {
					return crosstalk.Answer{}, err
				}
				switch err := c.server(req.Sample, at); {
				case err == hangs:
					<-ctx.Done()
					return crosstalk.Answer{}, ctx.Err()
				case err != nil:
					return crosstalk.Answer{}, err
				case c.answer.Status == "":
					return text("yes"), nil
				}
				return c.answer, nil
			}}
			if c.options.Concurrency == 0 {
				c.options.Concurrency = 3
			}
			c.options.Backoff = 1 // waits without jitter
			s := ask.NewSession(tracedMemory{store, tr}, c.options)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			if c.stop > 0 {
				time.AfterFunc(c.stop, s.Stop)
			}
			if c.cancel > 0 {
				time.AfterFunc(c.cancel, func() { cancel(errors.New("cancelled")) })
			}
			for at := 4700 * time.Millisecond; at < 50*time.Second; at *= 3 {
				time.AfterFunc(at, func() {
					for _, w := range s.Stats().Waits {
						tr.note(fmt.Sprintf("waits for %s: %s (%s)", w.Endpoint, w.Text(time.Now()), w.Why))
					}
				})
			}
			var group sync.WaitGroup
			came := make([]string, len(all))
			asker := s.For(m)
			for i := range all {
				group.Go(func() {
					if i > 0 { // after the model has answered, in order
						time.Sleep(1100*time.Millisecond + time.Duration(i)*20*time.Millisecond)
					}
					answer, err := asker.Ask(ctx, request(i))
					came[i] = fmt.Sprintf("%s%s %d attempts, %v", answer.Status, answer.Reason, answer.Attempts, err)
				})
			}
			group.Wait()
			fmt.Fprintf(&b, "== %s ==\n%s", c.name, tr)
			slices.Sort(came)
			for len(came) > 0 {
				n := 1
				for n < len(came) && came[n] == came[0] {
					n++
				}
				fmt.Fprintf(&b, "%d times %s\n", n, came[0])
				came = came[n:]
			}
			stats := s.Stats()
			fmt.Fprintf(&b, "%s; %d done, %d failed, %d empty, %d refused, %d retries, trouble %q; reason: %v; hopeless: %v; warnings: %q\n\n",
				stats.Text(), stats.Done, stats.Failed, stats.Empty, stats.Refused, stats.Retries, stats.Trouble, s.Reason(),
				s.Hopeless(), s.Warnings())
		})
	}
	golden.Check(t, "testdata/asks.txt", b.String())
}

// utc makes local time the same everywhere.
func utc(t *testing.T) {
	was := time.Local
	time.Local = time.UTC
	t.Cleanup(func() { time.Local = was })
}
