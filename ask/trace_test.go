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
	"crosstalk/internal/golden"
)

// trace notes what happens and when. What happens at one time is one line, in alphabetical order, and so is what is
// repeated.
type trace struct {
	mu     sync.Mutex
	began  time.Time
	events []event
	on     func(what string, n int) error // before the n-th event of a kind; its error is what comes of it
	counts map[string]int
}

type event struct {
	at   time.Duration
	what string
}

func (tr *trace) note(what string) error {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.events = append(tr.events, event{time.Since(tr.began), what})
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
		m := moment{[]time.Duration{at.Round(time.Millisecond)}, strings.Join(all, ", ")}
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

// tracedProvider notes what it is asked, and can be made to answer otherwise.
type tracedProvider struct {
	*provider
	*trace
	state   crosstalk.BatchState    // besides what the provider says
	results []crosstalk.BatchResult // besides the provider's, before them
	last    error                   // that the results end with
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

// tracedMemory notes what is asked of the journal.
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

// TestTracesOfBatches compares all that is asked of a provider and of the journal, when, and what comes of it, with
// testdata/batches.txt. A second session, on a journal and a provider that work, finishes each.
func TestTracesOfBatches(t *testing.T) {
	utc(t)
	busy := &crosstalk.AskError{Fault: crosstalk.Overloaded, Status: 429, Message: "busy"}
	denied := &crosstalk.AskError{Fault: crosstalk.Denied, Status: 401, Message: "wrong key"}
	full := errors.New("disk full")
	first := func(kind string, most int, err error) func(string, int) error { // of a kind, the first so many fail
		return func(what string, n int) error {
			if what == kind && n <= most {
				return err
			}
			return nil
		}
	}
	nth := func(kind string, at int) func(string, int) error { // the journal fails at the n-th of a kind
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
			c.options.Backoff = 1 // no chance in the waits
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

// utc makes local time the same everywhere.
func utc(t *testing.T) {
	was := time.Local
	time.Local = time.UTC
	t.Cleanup(func() { time.Local = was })
}
