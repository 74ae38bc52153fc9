package ask_test

import (
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

	"github.com/google/go-cmp/cmp"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/ask/journal"
)

// provider is a crosstalk.Batcher with batches in memory. Its clock is that of
// the test.
type provider struct {
	model
	delay  time.Duration // from the submission to the end
	listed time.Duration // from the submission to being in the list
	most   int           // asks that it takes at once; 0: any number

	submitting func(n int) (err error, made bool)          // of the n-th submission, from 1; nil: none fails
	polling    func(since time.Duration) error             // since the submission; nil: none fails
	result     func(req crosstalk.Request) (string, error) // nil: every request is answered
	sure       func() bool                                 // nil: always

	used   crosstalk.Usage                                      // by each answer
	takes  int                                                  // asks in a batch, at most; 0: any number
	slow   map[string]time.Duration                             // by a batch's id: more than delay
	failed int                                                  // requests that it reports as unanswered
	hidden func(b string, since time.Duration, sample int) bool // since the end: no result is shown; nil: all are
	stalls bool                                                 // a download of results does not end
	broken func(since time.Duration) error                      // the error that the results end with; nil: none

	mu          sync.Mutex
	submissions int
	batches     []*submitted
	paid        map[crosstalk.Key]int
}

type submitted struct {
	id, tag string
	at      time.Time
	asks    []crosstalk.BatchAsk
	full    bool
}

func newProvider() *provider {
	p := &provider{delay: 3 * time.Hour, paid: map[crosstalk.Key]int{}}
	p.answer = func(_ context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
		p.pay(req)
		return crosstalk.Answer{Status: crosstalk.Text, Text: "direct", Usage: p.used}, nil
	}
	return p
}

func (p *provider) pay(req crosstalk.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.paid[crosstalk.KeyOf(p.Identity(), req)]++
}

func (p *provider) Fits(asks []crosstalk.BatchAsk) int {
	if p.takes > 0 {
		return min(p.takes, len(asks))
	}
	return len(asks)
}

func (p *provider) Submit(_ context.Context, tag string, asks []crosstalk.BatchAsk) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.submissions++
	var err error
	made := true
	if p.submitting != nil {
		err, made = p.submitting(p.submissions)
	}
	b := &submitted{fmt.Sprint("batch", p.submissions), tag, time.Now(), asks, p.most > 0 && len(asks) > p.most}
	if made {
		p.batches = append(p.batches, b)
		for _, a := range asks {
			if b.full {
				continue
			}
			if p.result == nil {
				p.paid[a.Key]++
			} else if _, err := p.result(a.Request); err == nil {
				p.paid[a.Key]++
			}
		}
	}
	if err != nil {
		return "", err
	}
	return b.id, nil
}

func (p *provider) Find(_ context.Context, tag string, _ time.Time, _ []crosstalk.BatchAsk,
	known func(string) bool) (string, bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sure != nil && !p.sure() {
		return "", false, nil
	}
	for _, b := range p.batches {
		if b.tag == tag && time.Since(b.at) >= p.listed && !known(b.id) {
			return b.id, true, nil
		}
	}
	return "", true, nil
}

func (p *provider) find(id string) *submitted {
	for _, b := range p.batches {
		if b.id == id {
			return b
		}
	}
	return nil
}

func (p *provider) Poll(_ context.Context, id string) (crosstalk.BatchState, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.find(id)
	if b == nil {
		return crosstalk.BatchState{}, &crosstalk.AskError{Fault: crosstalk.Denied, Status: 404, Message: "no such batch"}
	}
	if p.polling != nil {
		if err := p.polling(time.Since(b.at)); err != nil {
			return crosstalk.BatchState{}, err
		}
	}
	if b.full {
		return crosstalk.BatchState{Ended: true, Problem: "too much", Full: true}, nil
	}
	return crosstalk.BatchState{Ended: p.since(b) >= 0, Failed: p.failed}, nil
}

func (p *provider) Results(ctx context.Context, id string,
	requests map[crosstalk.Key]crosstalk.Request) iter.Seq2[crosstalk.BatchResult, error] {
	return func(yield func(crosstalk.BatchResult, error) bool) {
		p.mu.Lock()
		b := p.find(id)
		p.mu.Unlock()
		for _, a := range b.asks {
			if p.hidden != nil && p.hidden(id, p.since(b), a.Request.Sample) {
				continue
			}
			r := crosstalk.BatchResult{Key: a.Key, Answer: text("batched")}
			r.Answer.Usage = p.used
			if p.result != nil {
				r.Answer.Text, r.Err = p.result(requests[a.Key])
			}
			if !yield(r, nil) {
				return
			}
		}
		if p.stalls {
			<-ctx.Done()
			yield(crosstalk.BatchResult{}, fault(crosstalk.Transient))
			return
		}
		if p.broken != nil {
			if err := p.broken(p.since(b)); err != nil {
				yield(crosstalk.BatchResult{}, err)
			}
		}
	}
}

// since is the time since the end of a batch.
func (p *provider) since(b *submitted) time.Duration {
	return time.Since(b.at) - p.delay - p.slow[b.id]
}

// total is how many asks were paid for, and how often one was again.
func (p *provider) total() (asks, again int) {
	for _, n := range p.paid {
		asks, again = asks+1, again+n-1
	}
	return asks, again
}

// batchMemory is a batchJournal that lasts as long as the test: each session on
// it is one after a kill.
type batchMemory struct {
	ask.Memory
	mu    sync.Mutex
	list  []journal.Batch
	ended map[int64]bool
	last  int64
}

func (m *batchMemory) change(b *journal.Batch, do func(i int)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	do(slices.IndexFunc(m.list, func(o journal.Batch) bool { return o.Number == b.Number }))
	return nil
}

func (m *batchMemory) AddBatch(b *journal.Batch) error {
	return m.change(b, func(int) { m.last++; b.Number = m.last; m.list = append(m.list, *b) })
}
func (m *batchMemory) UpdateBatch(b *journal.Batch) error {
	return m.change(b, func(i int) { m.list[i] = *b })
}
func (m *batchMemory) DropBatch(b *journal.Batch) error {
	return m.change(b, func(i int) { m.list = slices.Delete(m.list, i, i+1) })
}
func (m *batchMemory) EndBatch(b *journal.Batch) error {
	return m.change(b, func(int) {
		if m.ended == nil {
			m.ended = map[int64]bool{}
		}
		m.ended[b.Number] = true
	})
}
func (m *batchMemory) OpenBatches() (open []*journal.Batch, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, b := range m.list {
		if !m.ended[b.Number] {
			open = append(open, &b)
		}
	}
	return open, nil
}
func (m *batchMemory) BatchIDs() (ids []string, err error) {
	for _, b := range m.list {
		ids = append(ids, b.ID)
	}
	return ids, nil
}
func (m *batchMemory) Unanswered() (keys []crosstalk.Key, err error) {
	for _, b := range m.list {
		for _, a := range b.Asks {
			if _, found, _ := m.Get(a.Key); !found && m.ended[b.Number] {
				keys = append(keys, a.Key)
			}
		}
	}
	return keys, nil
}

// batched asks n requests in rounds, as a study does, and returns the answers'
// texts by number.
func batched(ctx context.Context, s *ask.Session, m crosstalk.Model, n int) (texts map[string]int, rounds int,
	err error) {
	return batchedAs(ctx, s, m, n, request)
}

func batchedAs(ctx context.Context, s *ask.Session, m crosstalk.Model, n int,
	request func(int) crosstalk.Request) (texts map[string]int, rounds int, err error) {
	s.For(m)
	b, err := s.Batching()
	if err != nil {
		return nil, 0, err
	}
	if err := b.Collect(ctx); err != nil {
		return nil, 0, err
	}
	for another := true; another; rounds++ {
		round := b.Round()
		asker := round.For(m)
		texts = map[string]int{}
		for i := range n {
			answer, err := asker.Ask(ctx, request(i))
			switch {
			case err == nil:
				texts[answer.Text]++
			case !errors.Is(err, ask.ErrDeferred):
				return texts, rounds, err
			}
		}
		if another, err = round.Send(ctx); err != nil {
			return texts, rounds, err
		}
	}
	return texts, rounds, nil
}

func unclear() error { return &crosstalk.UnclearError{Err: fault(crosstalk.Transient)} }

// Whatever happens to a batch, each ask is answered, and none is paid for twice.
func TestBatching(t *testing.T) {
	const all = 40
	for name, c := range map[string]struct {
		set     func(*provider)
		batches int // that were made
		direct  int
		took    time.Duration // at least
		warns   string
	}{
		"calm":             {func(*provider) {}, 1, 1, 3 * time.Hour, ""},
		"unclear and made": {func(p *provider) { p.submitting = func(n int) (error, bool) { return unclear(), true } }, 1, 1, 3 * time.Hour, ""},
		"listed late": {func(p *provider) {
			p.listed = 50 * time.Second
			p.submitting = func(int) (error, bool) { return unclear(), true }
		}, 1, 1, 3 * time.Hour, ""},
		"unclear, not made": {func(p *provider) { p.submitting = func(n int) (error, bool) { return unclear(), n > 1 } }, 1,
			1, 3*time.Hour + time.Minute, ""},
		"busy": {func(p *provider) {
			p.submitting = func(n int) (error, bool) {
				if n < 5 {
					return &crosstalk.AskError{Fault: crosstalk.Overloaded, Status: 429}, false
				}
				return nil, true
			}
		}, 1, 1, 3 * time.Hour, ""},
		"not sure": {func(p *provider) {
			began := time.Now()
			p.sure = func() bool { return time.Since(began) > 2*time.Hour }
			p.submitting = func(n int) (error, bool) { return unclear(), n == 1 }
		}, 1, 1, 3 * time.Hour, ""},
		"down for hours": {func(p *provider) {
			p.polling = func(since time.Duration) error {
				if since < 9*time.Hour {
					return fault(crosstalk.Transient)
				}
				return nil
			}
		}, 1, 1, 9 * time.Hour, ""},
		"expired": {func(p *provider) {
			p.delay = 24 * time.Hour
			p.result = func(crosstalk.Request) (string, error) { return "", errors.New("expired") }
		}, 1, all, 24 * time.Hour, "39 of 39 requests of the batch batch1 were sent again one by one: expired"},
		"a part fails": {func(p *provider) {
			p.result = func(r crosstalk.Request) (string, error) {
				if r.Sample%4 == 0 {
					return "", fault(crosstalk.Rejected)
				}
				return "batched", nil
			}
		}, 1, 10, 3 * time.Hour, "9 of 39 requests of the batch batch1 were sent again one by one: no"},
		"too large": {func(p *provider) { p.most = 25 }, 3, 2, 6 * time.Hour, "smaller ones follow"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newProvider()
				c.set(p)
				s, began := ask.NewSession(&batchMemory{}, ask.Options{Patience: 10 * time.Minute}), time.Now()
				texts, _, err := batched(t.Context(), s, p, all)
				if err != nil || texts["direct"] != c.direct || texts["direct"]+texts["batched"] != all {
					t.Errorf("%v, %v", texts, err)
				}
				if asks, again := p.total(); asks != all || again > 0 || len(p.batches) != c.batches {
					t.Errorf("%d asks paid for, %d again, in %d batches", asks, again, len(p.batches))
				}
				if took := time.Since(began); took < c.took || took > c.took+c.took/3+10*time.Minute {
					t.Errorf("took %v; want a little more than %v", took, c.took)
				}
				if got := strings.Join(s.Warnings(), "\n"); !strings.Contains(got, c.warns) || c.warns == "" && got != "" {
					t.Errorf("warnings: %s", got)
				}
				if st := s.Stats(); st.Done != all || st.Answered != all || st.Batches.N != 0 {
					t.Errorf("%+v", st)
				}
			})
		})
	}
}

// A session that finds batches of one that was killed collects them, and submits
// nothing that may be there.
func TestBatchesOfKilledSession(t *testing.T) {
	for name, c := range map[string]struct {
		when    time.Duration // the kill, from the start
		made    bool
		batches int
	}{
		"while submitting, made":     {time.Second, true, 1},
		"while submitting, not made": {time.Second, false, 1},
		"while it runs":              {time.Hour, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, store := newProvider(), &batchMemory{}
				p.listed = 30 * time.Second
				if c.when == time.Second {
					p.submitting = func(n int) (error, bool) { return unclear(), c.made || n > 1 }
				}
				ctx, kill := context.WithTimeout(t.Context(), c.when)
				defer kill()
				if _, _, err := batched(ctx, ask.NewSession(store, ask.Options{}), p, 40); !errors.Is(err,
					context.DeadlineExceeded) {
					t.Fatal(err)
				}
				if open, _ := store.OpenBatches(); len(open) != 1 || len(open[0].Asks) != 39 ||
					(open[0].ID == "") != (c.when == time.Second) {
					t.Fatalf("%+v", open)
				}
				p.submitting = nil
				texts, _, err := batched(t.Context(), ask.NewSession(store, ask.Options{}), p, 40)
				if asks, again := p.total(); err != nil || asks != 40 || again > 0 || len(p.batches) != c.batches ||
					texts["direct"]+texts["batched"] != 40 {
					t.Errorf("%v, %v: %d asks paid for, %d again, in %d batches", texts, err, asks, again, len(p.batches))
				}
			})
		})
	}
}

// Stop ends the waiting at once and leaves the batch to the next session.
func TestStopWhileBatchRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, store := newProvider(), &batchMemory{}
		s := ask.NewSession(store, ask.Options{})
		began := time.Now()
		time.AfterFunc(time.Hour, s.Stop)
		if _, _, err := batched(t.Context(), s, p, 40); !errors.Is(err, ask.ErrStopped) || time.Since(began) != time.Hour {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		if st := s.Stats().Batches; st.N != 1 || st.Asks != 39 {
			t.Errorf("%+v", st)
		}
		b := ask.NewSession(store, ask.Options{})
		if texts, _, err := batched(t.Context(), b, p, 40); err != nil || texts["batched"] != 39 {
			t.Errorf("%v, %v", texts, err)
		}
		if asks, again := p.total(); asks != 40 || again > 0 {
			t.Errorf("%d asks paid for, %d again", asks, again)
		}
	})
}

// Errors that no patience cures end the session and keep the batch, unless it
// was not accepted.
func TestBatchErrors(t *testing.T) {
	denied := &crosstalk.AskError{Fault: crosstalk.Denied, Status: 401, Message: "wrong key"}
	for name, c := range map[string]struct {
		set  func(*provider)
		open int
		says string
	}{
		"not accepted": {func(p *provider) { p.submitting = func(int) (error, bool) { return denied, false } }, 0, "the batch was not accepted: wrong key; ask without --batch"},
		"never accepted": {func(p *provider) {
			p.submitting = func(int) (error, bool) {
				return &crosstalk.AskError{Fault: crosstalk.Overloaded, Status: 503, Message: "busy"}, false
			}
		}, 0, "stopped: no batch could be submitted since"},
		"polls denied": {func(p *provider) { p.polling = func(time.Duration) error { return denied } }, 1, "wrong key; 39 requests are in a batch there (batch1), which keeps running"},
		"silence":      {func(p *provider) { p.polling = func(time.Duration) error { return fault(crosstalk.Transient) } }, 1, "stopped: nothing heard of a batch since"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, store := newProvider(), &batchMemory{}
				c.set(p)
				s := ask.NewSession(store, ask.Options{})
				_, _, err := batched(t.Context(), s, p, 40)
				if err == nil || !strings.Contains(err.Error(), c.says) || s.Reason() == nil {
					t.Errorf("%v", err)
				}
				if open, _ := store.OpenBatches(); len(open) != c.open {
					t.Errorf("%d open", len(open))
				}
			})
		})
	}
}

// A batch that the provider has deleted is asked for again, when it is old
// enough for that.
func TestForgottenBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, store := newProvider(), &batchMemory{}
		ctx, kill := context.WithTimeout(t.Context(), time.Hour)
		defer kill()
		batched(ctx, ask.NewSession(store, ask.Options{}), p, 40)
		p.batches = nil
		if _, _, err := batched(t.Context(), ask.NewSession(store, ask.Options{}), p, 40); !errors.As(err,
			new(*ask.LimitError)) ||
			!strings.Contains(err.Error(), "stopped: test:m: the batch batch1 is not there (HTTP 404); tried since") {
			t.Error(err)
		}
		time.Sleep(40 * 24 * time.Hour)
		if texts, _, err := batched(t.Context(), ask.NewSession(store, ask.Options{}), p, 40); err != nil || texts["batched"] != 38 {
			t.Error(texts, err)
		}
	})
}

// A few asks are sent by themselves, and one that fails is not sent in each
// round.
func TestFewAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProvider()
		answer, failing := p.answer, 0
		p.answer = func(ctx context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
			if req.Sample == 5 {
				failing++
				return crosstalk.Answer{}, fault(crosstalk.Rejected)
			}
			return answer(ctx, req)
		}
		s := ask.NewSession(&batchMemory{}, ask.Options{})
		texts, _, err := batched(t.Context(), s, p, 9)
		if err != nil || texts["direct"] != 8 || len(p.batches) > 0 || failing != 1 {
			t.Errorf("%v, %v; %d batches, %d failures", texts, err, len(p.batches), failing)
		}
		b, err := s.Batching()
		if err != nil {
			t.Fatal(err)
		}
		if a, err := b.Round().For(p).Ask(t.Context(), request(5)); err != nil || a.Status != crosstalk.Failed ||
			failing != 1 {
			t.Errorf("in the next round: %v, %v; %d failures", a.Status, err, failing)
		}
	})
}

// What comes in a batch costs half, also when the journal has it; what is asked directly costs the whole price.
// Attempts to hear of a batch count as retries.
func TestCostOfBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, store := newProvider(), &batchMemory{}
		p.used = crosstalk.Usage{Prompt: 100, Completion: 10, Reasoning: 3}
		polls := 0
		p.polling = func(time.Duration) error {
			if polls++; polls%2 == 1 && polls < 6 {
				return fault(crosstalk.Transient)
			}
			return nil
		}
		o := ask.Options{Batch: true, Budget: ask.Budget{Prices: ask.Prices{"m": {Input: 1e6, Output: 1e6}}}}
		for run, want := range []ask.Stats{
			{Done: 40, Answered: 40, Thought: 40, Retries: 3, Trouble: "no",
				Usage: crosstalk.Usage{Prompt: 4000, Completion: 400, Reasoning: 120}, Cost: 39*55 + 110},
			{Done: 40, Answered: 40, Thought: 40, Cached: 40, CachedCost: 40 * 55}, // as if they were asked in a batch now
		} {
			s := ask.NewSession(store, o)
			if _, _, err := batched(t.Context(), s, p, 40); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, s.Stats()); diff != "" {
				t.Errorf("run %d: %s", run, diff)
			}
		}
	})
}

// A budget takes items in their order, each as a whole, round after round.
func TestBudgetOfBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProvider()
		s := ask.NewSession(&batchMemory{}, ask.Options{Budget: ask.Budget{Asks: 61}})
		s.For(p)
		b, err := s.Batching()
		if err != nil {
			t.Fatal(err)
		}
		const items = 50
		var whole []int
		for another := true; another; {
			round := b.Round()
			whole = nil
			for i := range items {
				var need ask.Need
				need.Add(nil, "m", request(2*i))
				need.Add(nil, "m", request(2*i+1))
				ctx, end := round.Item(t.Context(), need)
				_, one := round.For(p).Ask(ctx, request(2*i))
				_, two := round.For(p).Ask(ctx, request(2*i+1))
				if end(); one == nil && two == nil {
					whole = append(whole, i)
				}
			}
			if another, err = round.Send(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if asks, again := p.total(); asks != 60 || again > 0 || len(whole) != 30 || whole[29] != 29 {
			t.Errorf("%d asks paid for, %d again; items %v", asks, again, whole)
		}
	})
}

// Ten asks make a batch, and a batch that is gone is asked for again after 31 days, when nobody keeps it any more. What
// a provider that has a batch says is waited for, for a day.
func TestBoundsOfBatches(t *testing.T) {
	for n, batches := range map[int]int{10: 0, 11: 1} { // the first goes ahead
		synctest.Test(t, func(t *testing.T) {
			p := newProvider()
			if texts, _, err := batched(t.Context(), ask.NewSession(&batchMemory{}, ask.Options{}), p, n); err != nil ||
				len(p.batches) != batches || texts["batched"] != batches*(n-1) {
				t.Errorf("%d asks: %v, %v in %d batches", n, texts, err, len(p.batches))
			}
		})
	}
	const kept = 31 * 24 * time.Hour
	for age, again := range map[time.Duration]bool{kept - 2*time.Hour: false, kept + time.Hour: true} {
		synctest.Test(t, func(t *testing.T) {
			p, store := newProvider(), &batchMemory{}
			ctx, kill := context.WithTimeout(t.Context(), time.Hour)
			defer kill()
			batched(ctx, ask.NewSession(store, ask.Options{}), p, 40)
			p.batches = nil
			time.Sleep(age - time.Hour)
			if _, _, err := batched(t.Context(), ask.NewSession(store, ask.Options{}), p, 40); (err == nil) != again {
				t.Errorf("after %v: %v", age, err)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		p, began := newProvider(), time.Now()
		p.polling = func(time.Duration) error { return fault(crosstalk.Transient) }
		_, _, err := batched(t.Context(), ask.NewSession(&batchMemory{}, ask.Options{}), p, 40)
		if took := time.Since(began); err == nil || took < 24*time.Hour || took > 24*time.Hour+time.Minute {
			t.Errorf("%v after %v", err, took)
		}
	})
}
