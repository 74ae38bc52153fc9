package ask_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/ask/journal"
)

// What shows that the settings are wrong is found out with few asks, and ends
// the session; what may be one ask's fault does not.
func TestHopeless(t *testing.T) {
	refused := &crosstalk.AskError{Message: "nothing listens", Err: &net.OpError{Op: "dial", Err: errors.New("refused")}}
	for _, c := range []struct {
		name string
		err  error
		most int // attempts in all
	}{
		{"denied", fault(crosstalk.Denied), 4},
		{"rejected", fault(crosstalk.Rejected), 7},
		{"refused", refused, 12},
		{"no such host", fmt.Errorf("w: %w", &net.OpError{Op: "dial", Err: &net.DNSError{}}), 12},
		{"proxy", &net.OpError{Op: "proxyconnect", Err: errors.New("refused")}, 12},
		{"certificate", &crosstalk.AskError{Err: &tls.CertificateVerificationError{}}, 12},
		{"no TLS", &crosstalk.AskError{Err: tls.RecordHeaderError{}}, 12},
		{"failing", fault(crosstalk.Transient), 20},
		{"overloaded", fault(crosstalk.Overloaded), 20},
		{"cut off", &net.OpError{Op: "read", Err: errors.New("reset")}, 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLog()
				m := &model{answer: func(_ context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
					l.enter(req)
					time.Sleep(10 * time.Millisecond)
					return crosstalk.Answer{}, c.err
				}}
				s := ask.NewSession(&ask.Memory{}, ask.Options{Retries: 4})
				results := askAll(t.Context(), s.For(m), 100)
				if l.total() > c.most {
					t.Errorf("%d attempts; want at most %d", l.total(), c.most)
				}
				told := 0
				for _, r := range results {
					if errors.Is(r.err, c.err) {
						told++
					}
				}
				var hopeless *ask.ModelError
				if !errors.Is(s.Reason(), c.err) || !errors.As(s.Reason(), &hopeless) || hopeless.Model != m.Identity() ||
					told < 94 {
					t.Errorf("%v; told to %d of 100", s.Reason(), told)
				}
				if len(s.Hopeless()) != 1 {
					t.Errorf("%v", s.Hopeless())
				}
				if last := l.times[len(l.times)-1]; last > 8*time.Second { // four waits of at most 0.5, 1, 2 and 4 s
					t.Errorf("took %v", last)
				}
			})
		})
	}
}

// After an answer, a rejection is one ask's own; a wrong key is not, and
// neither is an answer from an earlier session forgotten.
func TestRejectedLater(t *testing.T) {
	for _, resumed := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			l := newLog()
			denied := false
			m := &model{answer: func(_ context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
				l.enter(req)
				switch {
				case denied:
					return crosstalk.Answer{}, fault(crosstalk.Denied)
				case req.Sample > 0:
					return crosstalk.Answer{}, fault(crosstalk.Rejected)
				}
				return text("fine"), nil
			}}
			memory := &ask.Memory{}
			s := ask.NewSession(memory, ask.Options{})
			asker := s.For(m)
			asker.Ask(t.Context(), request(0))
			if resumed {
				s = ask.NewSession(memory, ask.Options{})
				asker = s.For(m)
				asker.Ask(t.Context(), request(0))
			}
			for i, r := range askAll(t.Context(), asker, 50) {
				if r.err != nil || i > 0 && r.answer.Status != crosstalk.Failed {
					t.Errorf("%d: %+v", i, r)
				}
			}
			if l.total() != 50 || s.Reason() != nil {
				t.Errorf("%d attempts, %v", l.total(), s.Reason())
			}
			denied = true
			if _, err := asker.Ask(t.Context(), request(100)); err == nil || s.Reason().Error() != err.Error() {
				t.Errorf("%v, %v", err, s.Reason())
			}
		})
	}
}

// One that is rejected at first does not end a session that works.
func TestFirstRejected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{answer: func(_ context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
			if req.Sample < 2 {
				return crosstalk.Answer{}, fault(crosstalk.Rejected) // sooner than any answer
			}
			time.Sleep(time.Second)
			return text("fine"), nil
		}}
		s := ask.NewSession(&ask.Memory{}, ask.Options{})
		askAll(t.Context(), s.For(m), 50)
		if got := s.Stats(); got.Done != 50 || got.Failed != 2 || s.Reason() != nil {
			t.Errorf("%+v, %v", got, s.Reason())
		}
	})
}

// Stop lets what is in flight finish and be saved. Whoever waits, for
// whatever, gets ErrStopped at once.
func TestStop(t *testing.T) {
	for name, c := range map[string]struct {
		options  ask.Options
		inFlight int // so many asks hang when the session is stopped
		behave   func(req crosstalk.Request, attempt int) error
	}{
		"a place":      {ask.Options{Concurrency: 2}, 2, nil},
		"first answer": {ask.Options{}, 4, nil},
		"a retry": {ask.Options{Concurrency: 8, Backoff: time.Hour}, 1, func(req crosstalk.Request, attempt int) error {
			if req.Sample >= 0 {
				return &crosstalk.AskError{Status: 429}
			}
			return nil
		}},
		"retry after": {ask.Options{Concurrency: 8, Patience: 2 * time.Hour}, 1, func(req crosstalk.Request, attempt int) error {
			if req.Sample >= 0 {
				return &crosstalk.AskError{Fault: crosstalk.Overloaded, RetryAfter: time.Hour}
			}
			return nil
		}},
		"rpm":        {ask.Options{RPM: 1}, 2, nil},
		"the budget": {ask.Options{Budget: ask.Budget{Cost: 25, Prices: ask.Prices{"m": {Input: 1e6, Output: 1e6}}}}, 2, nil},
	} {
		for _, hard := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, hard %v", name, hard), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					l := newLog()
					m := &model{answer: func(ctx context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
						attempt := l.enter(req)
						defer l.leave()
						if c.behave != nil {
							if err := c.behave(req, attempt); err != nil {
								return crosstalk.Answer{}, err
							}
						}
						answer := text("saved")
						answer.Usage = crosstalk.Usage{Prompt: 2, Completion: 10}
						return answer, wait(ctx, time.Minute+30*time.Second)
					}}
					memory := &saves{}
					s := ask.NewSession(memory, c.options)
					ctx, cancel := context.WithCancelCause(t.Context())
					defer cancel(nil)
					asker := s.For(m)
					var results []result
					done := make(chan struct{})
					first := make(chan struct{})
					go func() { asker.Ask(ctx, request(-1)); close(first) }() // which hangs before another makes the rest wait
					synctest.Wait()
					go func() { results = askAll(ctx, asker, 40); close(done) }()
					time.Sleep(time.Minute + time.Second)
					synctest.Wait()
					if l.flying() != c.inFlight {
						t.Errorf("%d in flight; the test wants %d", l.flying(), c.inFlight)
					}
					stoppedAt := time.Minute + time.Second
					want := error(ask.ErrStopped)
					if hard {
						want = errors.New("now")
						cancel(want)
						<-done
					} else {
						s.Stop()
						s.Stop()
						<-done
					}
					<-first
					saved, before := 0, l.total()
					for i, r := range results {
						switch {
						case r.err == nil && r.answer.Status == crosstalk.Text:
							saved++
						case !errors.Is(r.err, want) && !errors.Is(r.err, context.Canceled):
							t.Errorf("%d: %+v", i, r)
						case r.at != stoppedAt:
							t.Errorf("%d was kept waiting until %v", i, r.at)
						}
					}
					if !hard && (saved != c.inFlight-1 || memory.n != c.inFlight) || hard && (saved != 0 || memory.n != 0) {
						t.Errorf("%d asks were answered, %d saved; %d were in flight", saved, memory.n, c.inFlight)
					}
					if hard {
						if s.Reason() != nil {
							t.Errorf("a caller that goes away ended the session: %v", s.Reason())
						}
						return
					}
					if _, err := asker.Ask(t.Context(), request(1000)); err != ask.ErrStopped || s.Reason() != ask.ErrStopped ||
						l.total() != before {
						t.Errorf("after Stop: %v, %v, %d attempts more", err, s.Reason(), l.total()-before)
					}
				})
			})
		}
	}
}

// saves counts the answers put.
type saves struct {
	ask.Memory
	mu sync.Mutex
	n  int
}

func (s *saves) Put(r journal.Record) error {
	s.mu.Lock()
	s.n++
	s.mu.Unlock()
	return s.Memory.Put(r)
}

// What is known to be wrong is said before that the user stopped, and the
// first of two wanted ends stands.
func TestReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("disk full")
		m := &model{answer: func(ctx context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
			return text("late"), wait(ctx, time.Minute)
		}}
		s := ask.NewSession(&brokenJournal{put: func(journal.Record) error { return full }}, ask.Options{})
		go func() { time.Sleep(time.Second); s.Stop() }()
		if _, err := s.For(m).Ask(t.Context(), request(0)); err != full || s.Reason() != full {
			t.Errorf("%v, %v", err, s.Reason())
		}

		s = ask.NewSession(&ask.Memory{}, ask.Options{Budget: ask.Budget{Asks: 1}})
		asker := s.For(m)
		asker.Ask(t.Context(), request(0))
		_, err := asker.Ask(t.Context(), request(1))
		s.Stop()
		if !errors.As(err, new(*ask.LimitError)) || s.Reason() != err {
			t.Errorf("%v, %v", err, s.Reason())
		}
	})
}
