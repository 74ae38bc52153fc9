package ask_test

import (
	"context"
	"fmt"
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

// queue is a server with some slots, which takes what it is sent, answers in the order of arrival, and goes on with
// requests whose senders have left.
func queue(l *log, slots int, each time.Duration) func(context.Context, crosstalk.Request) (crosstalk.Answer, error) {
	free := make(chan struct{}, slots)
	return func(ctx context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
		l.enter(req)
		defer l.leave()
		done := make(chan struct{})
		go func() {
			free <- struct{}{}
			time.Sleep(each + time.Duration(req.Sample%7)*each/20)
			<-free
			close(done)
		}()
		if err := until(ctx, done); err != nil {
			return crosstalk.Answer{}, err
		}
		return text("yes"), nil
	}
}

func until(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// A server of one's own gets about as many requests at once as it has slots: all answers arrive, each is asked for
// once, and the slots are busy.
func TestOwnServerIsNotFlooded(t *testing.T) {
	for _, c := range []struct {
		slots, most int           // of requests in flight
		each        time.Duration // for an answer
	}{
		{1, 2, time.Second}, {1, 2, 12 * time.Second}, {1, 1, 50 * time.Second}, {4, 8, 2 * time.Second},
		{16, 32, 2 * time.Second}, {200, 64, time.Second},
	} {
		t.Run(fmt.Sprintf("%d slots, %v", c.slots, c.each), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const asks = 600
				l := newLog()
				m := &model{endpoint: "http://127.0.0.1:8080/v1", answer: queue(l, c.slots, c.each)}
				s := ask.NewSession(&ask.Memory{}, ask.Options{})
				for i, r := range askAll(t.Context(), s.For(m), asks) {
					if r.err != nil || r.answer.Status != crosstalk.Text || r.answer.Attempts != 1 {
						t.Fatalf("%d: %+v", i, r)
					}
				}
				took, best := time.Since(l.start), asks*c.each/time.Duration(min(c.slots, 64))
				if l.total() != asks || l.most > c.most || s.Stats().Retries != 0 || took > 2*best+20*c.each {
					t.Errorf("%d requests, at most %d at once, %+v after %v, at best %v", l.total(), l.most, s.Stats(), took, best)
				}
			})
		})
	}
}

// Timeouts while other answers arrive show that the server is overloaded, not that it is down.
func TestTimeoutsAreNoOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLog()
		free := make(chan struct{}, 3)
		m := &model{endpoint: "https://slow.example", answer: func(ctx context.Context, req crosstalk.Request) (crosstalk.Answer,
			error) {
			l.enter(req)
			select {
			case free <- struct{}{}:
			case <-ctx.Done():
				return crosstalk.Answer{}, ctx.Err()
			}
			defer func() { <-free }()
			return text("yes"), wait(ctx, 2*time.Second+time.Duration(req.Sample%7)*100*time.Millisecond)
		}}
		s := ask.NewSession(&ask.Memory{}, ask.Options{Timeout: 20 * time.Second})
		down := false
		looking := time.NewTicker(time.Second)
		defer looking.Stop()
		done := make(chan struct{})
		go func() {
			for {
				select {
				case <-looking.C:
					for _, w := range s.Stats().Waits {
						down = down || w.Down
					}
				case <-done:
					return
				}
			}
		}()
		for i, r := range askAll(t.Context(), s.For(m), 200) {
			if r.err != nil || r.answer.Status != crosstalk.Text {
				t.Fatalf("%d: %+v", i, r)
			}
		}
		close(done)
		if down || l.total() == 200 || l.total() > 300 {
			t.Errorf("down: %v; %d requests for 200 answers", down, l.total())
		}
	})
}

// Stop repeats no request that fails afterwards, and counts none as repeated.
func TestStopRetriesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLog()
		m := &model{answer: func(ctx context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
			l.enter(req)
			if req.Sample == 0 {
				return text("it works"), nil
			}
			<-ctx.Done()
			return crosstalk.Answer{}, ctx.Err()
		}}
		s := ask.NewSession(&ask.Memory{}, ask.Options{Timeout: time.Minute})
		asker := s.For(m)
		asker.Ask(t.Context(), request(0))
		time.AfterFunc(time.Second, s.Stop)
		askAll(t.Context(), asker, 20)
		if s.Stats().Retries != 0 || l.total() != 20 || time.Since(l.start) != time.Minute {
			t.Errorf("%d retries, %d requests, %v", s.Stats().Retries, l.total(), time.Since(l.start))
		}
	})
}
