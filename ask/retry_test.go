package ask_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"crosstalk"
	"crosstalk/ask"
)

func TestRetries(t *testing.T) {
	for _, c := range []struct {
		name     string
		fault    error
		times    int // so often, then an answer
		retries  int
		attempts int
		status   crosstalk.Status
	}{
		{"none needed", nil, 0, 3, 1, crosstalk.Text},
		{"transient", fault(crosstalk.Transient), 3, 3, 4, crosstalk.Text},
		{"overloaded", fault(crosstalk.Overloaded), 2, 3, 3, crosstalk.Text},
		{"no *AskError", errors.New("odd"), 1, 3, 2, crosstalk.Text},
		{"wrapped", fmt.Errorf("in the way: %w", fault(crosstalk.Overloaded)), 1, 3, 2, crosstalk.Text},
		{"used up", fault(crosstalk.Transient), 4, 3, 4, crosstalk.Failed},
		{"none", fault(crosstalk.Transient), 1, -1, 1, crosstalk.Failed},
		{"default", fault(crosstalk.Transient), 99, 0, 9, crosstalk.Failed},
		{"rejected", fault(crosstalk.Rejected), 1, 3, 1, crosstalk.Failed},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLog()
				m := &model{answer: func(_ context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
					if attempt := l.enter(req); req.Sample == 0 && attempt <= c.times {
						return crosstalk.Answer{}, c.fault
					}
					return text("yes"), nil
				}}
				s := ask.NewSession(&ask.Memory{}, ask.Options{Retries: c.retries})
				asker := s.For(m)
				asker.Ask(t.Context(), request(1)) // the model works
				a, err := asker.Ask(t.Context(), request(0))
				if err != nil || a.Status != c.status || a.Attempts != c.attempts || l.total() != c.attempts+1 {
					t.Errorf("%+v, %v after %d attempts", a, err, l.total())
				}
				if c.status == crosstalk.Failed && (a.Reason != c.fault.Error() || s.Stats().Trouble != a.Reason) {
					t.Errorf("reason %q, trouble %q", a.Reason, s.Stats().Trouble)
				}
				if s.Reason() != nil {
					t.Errorf("the session ended: %v", s.Reason())
				}
			})
		})
	}
}

// The wait before a retry doubles, is at most half a minute and random by half.
func TestBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLog()
		m := &model{answer: func(_ context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
			if req.Sample == 1 {
				return text("it works"), nil
			}
			l.enter(req)
			return crosstalk.Answer{}, fault(crosstalk.Transient)
		}}
		s := ask.NewSession(&ask.Memory{}, ask.Options{Retries: 40, Backoff: time.Second})
		s.For(m).Ask(t.Context(), request(1))
		s.For(m).Ask(t.Context(), request(0))
		distinct := map[time.Duration]bool{}
		for n := 1; n < len(l.times); n++ {
			got, most := l.times[n]-l.times[n-1], min(time.Second<<min(n-1, 10), 30*time.Second)
			if got < most/2 || got > most {
				t.Errorf("wait %d: %v; want %v to %v", n, got, most/2, most)
			}
			distinct[got] = true
		}
		if len(l.times) != 41 || len(distinct) < 30 {
			t.Errorf("%d attempts, %d different waits", len(l.times), len(distinct))
		}
	})
}

// What a server says about waiting holds for all asks, and is added up from
// several answers.
func TestRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLog()
		m := &model{answer: func(_ context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
			switch attempt := l.enter(req); {
			case req.Sample == 0 && attempt == 1:
				time.Sleep(time.Second)
				return crosstalk.Answer{}, &crosstalk.AskError{Fault: crosstalk.Overloaded, RetryAfter: time.Minute, Message: "later"}
			case req.Sample == 1 && attempt == 1: // while the others wait: a longer wish
				time.Sleep(30 * time.Second)
				return crosstalk.Answer{}, &crosstalk.AskError{Fault: crosstalk.Overloaded, RetryAfter: 2 * time.Minute, Message: "later"}
			}
			return text("now"), nil
		}}
		s := ask.NewSession(&ask.Memory{}, ask.Options{Concurrency: 2})
		asker := s.For(m)
		go asker.Ask(t.Context(), request(0))
		go asker.Ask(t.Context(), request(1))
		synctest.Wait()
		for i, r := range askAll(t.Context(), asker, 20) {
			if r.err != nil || r.answer.Status != crosstalk.Text {
				t.Errorf("%d: %+v", i, r)
			}
		}
		for _, at := range l.times[2:] {
			if at < 150*time.Second || at > 152*time.Second {
				t.Errorf("an ask at %v; want none before 2 m 30 s", at)
			}
		}
	})
}

func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLog()
		m := &model{answer: func(ctx context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
			if l.enter(req) == 1 {
				<-ctx.Done()
				return crosstalk.Answer{}, ctx.Err()
			}
			return text("at last"), nil
		}}
		s := ask.NewSession(&ask.Memory{}, ask.Options{Timeout: time.Minute})
		a, err := s.For(m).Ask(t.Context(), request(0))
		if err != nil || a.Text != "at last" || l.times[1] < time.Minute || l.times[1] > time.Minute+time.Second {
			t.Errorf("%+v, %v, %v", a, err, l.times)
		}
		if s.Stats().Trouble != "test:m: no answer within 1m (--timeout)" {
			t.Errorf("%+v", s.Stats())
		}
	})
}
