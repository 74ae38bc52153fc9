package ask_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"crosstalk"
	"crosstalk/ask"
)

// Answers that the provider has are waited for, and asked for again only if it says that
// it has none, or if the user wants that.
func TestUnreadAnswers(t *testing.T) {
	half := func(_ string, _ time.Duration, sample int) bool { return sample%2 == 1 } // 20 of 39
	until := func(end time.Duration) func(string, time.Duration, int) bool {
		return func(_ string, since time.Duration, _ int) bool { return since < end }
	}
	all := func(string, time.Duration, int) bool { return true }
	for name, c := range map[string]struct {
		set     func(*provider)
		options ask.Options
		direct  int           // asked one by one, the first among them
		again   int           // of these, paid for twice
		waited  time.Duration // from the end of the batch, at least; at most a minute more
		says    string        // why it stopped; "": it did not
	}{
		"all there": {func(p *provider) {}, ask.Options{}, 1, 0, 0, ""},
		"late":      {func(p *provider) { p.hidden = until(9 * time.Minute) }, ask.Options{}, 1, 0, 9 * time.Minute, ""},
		"too late": {func(p *provider) { p.hidden = until(12 * time.Minute) }, ask.Options{}, 1, 0, 10 * time.Minute,
			"39 of the 39 answers in the batch batch1 of test:m cannot be read: the provider does not show them; tried since"},
		"half":              {func(p *provider) { p.hidden = half }, ask.Options{}, 1, 0, 10 * time.Minute, "20 of the 39 answers"},
		"half, patience":    {func(p *provider) { p.hidden = half }, ask.Options{Patience: time.Hour}, 1, 0, time.Hour, "(--patience 1h)"},
		"half failed":       {func(p *provider) { p.hidden, p.failed = half, 20 }, ask.Options{}, 21, 20, 0, ""},
		"one more is there": {func(p *provider) { p.hidden, p.failed = half, 19 }, ask.Options{}, 1, 0, 10 * time.Minute, "1 of the 20 answers"},
		"all failed":        {func(p *provider) { p.hidden, p.failed = all, 39 }, ask.Options{}, 40, 39, 0, ""},
		"no such count":     {func(p *provider) { p.hidden, p.failed = all, 40 }, ask.Options{}, 1, 0, 10 * time.Minute, "39 of the 39 answers"},
		"below 0":           {func(p *provider) { p.hidden, p.failed = half, -1 }, ask.Options{}, 1, 0, 10 * time.Minute, "20 of the 39 answers"},
		"given up":          {func(p *provider) { p.hidden = half }, ask.Options{BatchGiveUp: true}, 21, 20, 10 * time.Minute, ""},
		"broken for a while": {func(p *provider) {
			p.hidden = func(_ string, since time.Duration, sample int) bool { return since < 5*time.Minute && sample > 9 }
			p.broken = func(since time.Duration) error {
				if since < 5*time.Minute {
					return fault(crosstalk.Transient)
				}
				return nil
			}
		}, ask.Options{}, 1, 0, 5 * time.Minute, ""},
		"broken after the last": {func(p *provider) {
			p.broken = func(time.Duration) error { return fault(crosstalk.Rejected) }
		}, ask.Options{}, 1, 0, 0, ""},
		"stalls": {func(p *provider) { p.stalls, p.hidden = true, half }, ask.Options{}, 1, 0, 30 * time.Minute, "20 of the 39 answers"},
		"wrong key": {func(p *provider) {
			p.hidden = all
			p.broken = func(time.Duration) error {
				return &crosstalk.AskError{Fault: crosstalk.Denied, Status: 401, Message: "wrong key"}
			}
		}, ask.Options{}, 1, 0, 0, "wrong key; 39 requests are in a batch there (batch1), which keeps running"},
		"redirect": {func(p *provider) {
			p.hidden = all
			p.broken = func(time.Duration) error {
				return &crosstalk.AskError{Fault: crosstalk.Denied, Status: 302, Message: "elsewhere"}
			}
		}, ask.Options{}, 1, 0, 10 * time.Minute, "cannot be read: elsewhere; tried since"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, store := newProvider(), &batchMemory{}
				c.set(p)
				began := time.Now()
				s := ask.NewSession(store, c.options)
				_, _, err := batched(t.Context(), s, p, 40)
				if (err == nil) != (c.says == "") || err != nil && (!strings.Contains(err.Error(), c.says) || s.Reason() == nil) {
					t.Errorf("%v; want %q", err, c.says)
				}
				waited := time.Since(began) - p.batches[0].at.Sub(began) - p.delay // and at most a minute until its end is seen
				if waited < c.waited || waited > c.waited+2*time.Minute {
					t.Errorf("waited for %v; want %v", waited, c.waited)
				}
				direct := len(p.paid) - 39
				for _, n := range p.paid {
					direct += n - 1
				}
				if _, again := p.total(); direct != c.direct || again != c.again || len(p.batches) != 1 {
					t.Errorf("%d asks by themselves, %d of them paid for twice, in %d batches; want %d and %d",
						direct, again, len(p.batches), c.direct, c.again)
				}
				p.hidden, p.broken, p.stalls, p.failed = nil, nil, false, 0
				texts, _, err := batched(t.Context(), ask.NewSession(store, ask.Options{}), p, 40)
				if _, again := p.total(); err != nil || texts["direct"]+texts["batched"] != 40 || again != c.again {
					t.Errorf("resumed: %v, %v; %d paid for twice", texts, err, again)
				}
			})
		})
	}
}

// A batch that cannot be read does not keep the others from being collected.
func TestUnreadBatchAmongOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, store := newProvider(), &batchMemory{}
		p.takes, p.slow = 20, map[string]time.Duration{"batch2": 5 * time.Hour}
		p.hidden = func(b string, _ time.Duration, _ int) bool { return b == "batch1" }
		began := time.Now()
		_, _, err := batched(t.Context(), ask.NewSession(store, ask.Options{}), p, 40)
		if !errors.As(err, new(*ask.LimitError)) || time.Since(began) < 8*time.Hour {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		if open, _ := store.OpenBatches(); len(open) != 1 || open[0].ID != "batch1" {
			t.Errorf("%+v", open)
		}
		p.hidden = nil
		texts, _, err := batched(t.Context(), ask.NewSession(store, ask.Options{}), p, 40)
		if _, again := p.total(); err != nil || texts["batched"] != 39 || again > 0 {
			t.Errorf("%v, %v; %d paid for twice", texts, err, again)
		}
	})
}

// Stop ends the waiting for answers at once.
func TestStopWhileAnswersAreHidden(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProvider()
		p.hidden = func(string, time.Duration, int) bool { return true }
		s, began := ask.NewSession(&batchMemory{}, ask.Options{}), time.Now()
		time.AfterFunc(p.delay+5*time.Minute, s.Stop)
		_, _, err := batched(t.Context(), s, p, 40)
		if !errors.Is(err, ask.ErrStopped) || time.Since(began) != p.delay+5*time.Minute {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

// A request that failed and is answered later in the results is no failed one: an answer is waited for all the same.
func TestAnsweredAfterItFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &tracedProvider{provider: newProvider(), trace: &trace{began: time.Now()}}
		p.results = []crosstalk.BatchResult{{Key: crosstalk.KeyOf(p.Identity(), request(4)), Err: errors.New("no")}}
		p.hidden = func(_ string, _ time.Duration, sample int) bool { return sample == 7 }
		_, _, err := batched(t.Context(), ask.NewSession(&batchMemory{}, ask.Options{}), p, 40)
		if err == nil || !strings.Contains(err.Error(), "1 of the 39 answers in the batch batch1") {
			t.Error(err)
		}
	})
}

// What a budget spends on batches is their price, and an answer in a batch is of one attempt.
func TestBudgetAtPricesOfBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, store := newProvider(), &batchMemory{}
		p.used = crosstalk.Usage{Prompt: 1, Completion: 3} // of 2 and 10 at most
		prices := ask.Prices{"m": {Input: 1e6, Output: 1e6}}
		s := ask.NewSession(store, ask.Options{Budget: ask.Budget{Cost: 100, Prices: prices}})
		s.For(p)
		b, err := s.Batching()
		if err != nil {
			t.Fatal(err)
		}
		var came []int // batched answers, after each round
		for another := true; another && err == nil; {
			round, n := b.Round(), 0
			for i := range 100 {
				var need ask.Need
				need.Add(prices.Batched(), "m", request(i))
				ctx, end := round.Item(t.Context(), need)
				a, err := round.For(p).Ask(ctx, request(i))
				if end(); err == nil && a.Text == "batched" {
					if n++; a.Attempts != 1 {
						t.Errorf("%d attempts", a.Attempts)
					}
				}
			}
			came = append(came, n)
			another, err = round.Send(t.Context())
		}
		// The first costs 4, and each of the others up to 6 and then 2: 96 pay for 16, 64 for 10 more, 44 for too few.
		if err != nil || len(came) < 3 || !slices.Equal(came[:3], []int{0, 16, 26}) || came[len(came)-1] != 26 {
			t.Errorf("%v, %v", came, err)
		}
	})
}

// patient has the time that a submission is given.
type patient struct {
	*provider
	within time.Duration
}

func (p *patient) Submit(ctx context.Context, tag string, asks []crosstalk.BatchAsk) (string, error) {
	if end, ok := ctx.Deadline(); ok {
		p.within = time.Until(end)
	}
	return p.provider.Submit(ctx, tag, asks)
}

// An upload may take a quarter of an hour, or as long as an answer if that is longer.
func TestTimeOfSubmission(t *testing.T) {
	for timeout, want := range map[time.Duration]time.Duration{time.Second: 15 * time.Minute, time.Hour: time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			p := &patient{provider: newProvider()}
			s := ask.NewSession(&batchMemory{}, ask.Options{Timeout: timeout})
			if _, _, err := batched(t.Context(), s, p, 40); err != nil || p.within != want {
				t.Errorf("%v, within %v; want %v", err, p.within, want)
			}
		})
	}
}

// Models that cannot be asked for the same reason are told apart.
func TestHopelessAlike(t *testing.T) {
	s := ask.NewSession(&ask.Memory{}, ask.Options{})
	m := &model{answer: func(context.Context, crosstalk.Request) (crosstalk.Answer, error) {
		return crosstalk.Answer{}, fault(crosstalk.Denied)
	}}
	for _, name := range []string{"one", "two", "one"} {
		if _, err := s.For(named{m, name}).Ask(t.Context(), request(0)); err == nil {
			t.Error(name)
		}
	}
	if h := s.Hopeless(); len(h) != 2 || h[0].Model.Name != "one" || h[1].Model.Name != "two" {
		t.Errorf("%v", h)
	}
}
