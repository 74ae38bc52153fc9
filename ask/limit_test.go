package ask_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"crosstalk"
	"crosstalk/ask"
)

// capacity is a model that takes a number of asks at a time and says that it
// is overloaded above that.
func capacity(l *log, n int, overloads *int) *model {
	return &model{answer: func(ctx context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
		l.enter(req)
		defer l.leave()
		if l.flying() > n {
			time.Sleep(10 * time.Millisecond)
			l.mu.Lock()
			*overloads++
			l.mu.Unlock()
			return crosstalk.Answer{}, fault(crosstalk.Overloaded)
		}
		time.Sleep(time.Second)
		return text("yes"), nil
	}}
}

// The number in flight rises to the limit that was set, and not above it.
func TestConcurrencyRises(t *testing.T) {
	for _, most := range []int{1, 3, 32, 100} {
		synctest.Test(t, func(t *testing.T) {
			l, overloads := newLog(), 0
			s := ask.NewSession(&ask.Memory{}, ask.Options{Concurrency: most})
			askAll(t.Context(), s.For(capacity(l, 1000, &overloads)), 600)
			if l.most != most || l.total() != 600 {
				t.Errorf("%d in flight, %d attempts; want %d, 600", l.most, l.total(), most)
			}
		})
	}
}

// Additive increase, multiplicative decrease: an endpoint's capacity is found,
// kept nearly full, and passed only now and then.
func TestConcurrencyAdapts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const asks, room = 3000, 12
		l, overloads := newLog(), 0
		s := ask.NewSession(&ask.Memory{}, ask.Options{Concurrency: 256, Retries: 100, Backoff: 100 * time.Millisecond})
		start := time.Now()
		for i, r := range askAll(t.Context(), s.For(capacity(l, room, &overloads)), asks) {
			if r.err != nil || r.answer.Status != crosstalk.Text {
				t.Fatalf("%d: %+v", i, r)
			}
		}
		took, best := time.Since(start), asks/room*time.Second
		if took > best*7/4 || overloads > asks/4 {
			t.Errorf("%v (at best %v), overloaded %d times", took, best, overloads)
		}
		t.Logf("%v, at best %v; overloaded %d times", took, best, overloads)
	})
}

// The attempts that were in flight at a decrease do not cause another.
func TestOneDecreaseARoundTrip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLog()
		m := &model{answer: func(_ context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
			attempt := l.enter(req)
			defer l.leave()
			time.Sleep(time.Second)
			if req.Sample >= 1000 && attempt == 1 {
				time.Sleep(time.Duration(req.Sample-1000) * 100 * time.Millisecond)
				return crosstalk.Answer{}, fault(crosstalk.Overloaded)
			}
			return text("yes"), nil
		}}
		s := ask.NewSession(&ask.Memory{}, ask.Options{Concurrency: 16})
		asker := s.For(m)
		askAll(t.Context(), asker, 100) // opens the limit
		done := make(chan struct{})
		for i := range 16 {
			go func() { asker.Ask(t.Context(), request(1000+i)); done <- struct{}{} }()
		}
		for range 16 {
			<-done
		}
		for i := range 100 {
			go func() { asker.Ask(t.Context(), request(2000+i)); done <- struct{}{} }()
		}
		synctest.Wait()
		if l.flying() < 8 || l.flying() > 10 {
			t.Errorf("%d in flight after 16 overloads at a time; want 8 and a little", l.flying())
		}
		for range 100 {
			<-done
		}
	})
}

// In no minute are there more asks than --rpm, and they are not far fewer.
func TestRPM(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, overloads := newLog(), 0
		s := ask.NewSession(&ask.Memory{}, ask.Options{RPM: 120})
		askAll(t.Context(), s.For(capacity(l, 1000, &overloads)), 600)
		times := l.sorted()
		for i := 121; i < len(times); i++ { // the first may fall on the stroke
			if times[i]-times[i-121] < time.Minute-time.Millisecond {
				t.Fatalf("122 asks within %v", times[i]-times[i-121])
			}
		}
		if last := times[len(times)-1]; last > 301*time.Second {
			t.Errorf("600 asks took %v at 120 a minute", last)
		}
	})
}
