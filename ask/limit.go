package ask

import (
	"cmp"
	"container/list"
	"context"
	"sync"
	"time"

	"crosstalk"

	"golang.org/x/time/rate"
)

// limiter keeps the asks in flight at one endpoint to what it can take: the limit doubles each round trip until the
// endpoint first says that it is overloaded, is halved whenever it says so, and grows by one a round trip after that
// (additive increase, multiplicative decrease: Chiu and Jain 1989).
type limiter struct {
	requests *rate.Limiter // nil: no limit

	mu       sync.Mutex
	limit    float64
	max      float64
	inFlight int
	cut      time.Time // of the last decrease
	probing  bool      // before the first decrease
	resume   time.Time // nothing is sent before: the server's Retry-After
	why      string    // the server's words
	waiting  line
}

func newLimiter(o Options) *limiter {
	l := &limiter{max: float64(o.Concurrency), limit: min(float64(o.Concurrency), 32), probing: true}
	if o.RPM > 0 {
		l.requests = rate.NewLimiter(rate.Limit(o.RPM)/60, 1)
	}
	return l
}

// acquire waits for a slot, which leave releases. It fails when ctx ends first.
func (l *limiter) acquire(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	l.mu.Lock()
	if l.waiting.len() == 0 && float64(l.inFlight) < l.limit {
		l.inFlight++
		l.mu.Unlock()
	} else if err := l.waiting.wait(ctx, l.waiting.join(), &l.mu, func() { l.inFlight--; l.admit() }); err != nil {
		return err
	}
	if err := l.rates(ctx); err != nil {
		l.leave()
		return cmp.Or(context.Cause(ctx), err)
	}
	return nil
}

func (l *limiter) rates(ctx context.Context) error {
	for {
		l.mu.Lock()
		wait := time.Until(l.resume)
		l.mu.Unlock()
		if wait <= 0 {
			break
		}
		if err := sleep(ctx, wait); err != nil {
			return err
		}
	}
	if l.requests == nil {
		return nil
	}
	return l.requests.Wait(ctx)
}

func (l *limiter) learn(started time.Time, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err == nil && l.probing:
		l.limit = min(l.max, l.limit+1)
	case err == nil:
		l.limit = min(l.max, l.limit+1/l.limit)
	case said(err).Fault == crosstalk.Overloaded:
		if until := time.Now().Add(said(err).RetryAfter); said(err).RetryAfter > 0 && until.After(l.resume) {
			l.resume, l.why = until, err.Error()
		}
		// Asks that were sent before the last decrease say nothing new.
		if started.After(l.cut) {
			l.limit, l.cut, l.probing = max(1, l.limit/2), time.Now(), false
		}
	}
}

func (l *limiter) leave() {
	l.mu.Lock()
	l.inFlight--
	l.admit()
	l.mu.Unlock()
}

// admit admits waiters while slots are free. The caller holds mu.
func (l *limiter) admit() {
	for l.waiting.len() > 0 && float64(l.inFlight) < l.limit {
		l.inFlight++
		l.waiting.next()
	}
}

func (l *limiter) wait() (w Wait, waiting bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Wait{Until: l.resume, Why: l.why}, time.Now().Before(l.resume)
}

// merge returns a context that ends when either does, with its cause.
func merge(ctx, stop context.Context) (context.Context, func()) {
	either, cancel := context.WithCancelCause(ctx)
	unhook := context.AfterFunc(stop, func() { cancel(context.Cause(stop)) })
	if stop.Err() != nil { // so that it has ended by now
		cancel(context.Cause(stop))
	}
	return either, func() { unhook(); cancel(nil) }
}

// line is a queue of waiting asks, first come first served. Its owner's mutex guards it.
type line struct{ list list.List } // of chan struct{}

// join takes a place at the end. The caller holds the mutex.
func (l *line) join() *list.Element { return l.list.PushBack(make(chan struct{})) }

// wait returns when next has let in the ask that has this place, or with an error when ctx ends first. The caller
// holds mu; it is released on return. If the ask was let in but has to leave, back is called, with mu held.
func (l *line) wait(ctx context.Context, place *list.Element, mu *sync.Mutex, back func()) error {
	ready := place.Value.(chan struct{})
	mu.Unlock()
	err := until(ctx, ready)
	if err == nil {
		return nil
	}
	mu.Lock()
	defer mu.Unlock()
	select {
	case <-ready:
		back()
	default:
		l.list.Remove(place)
	}
	return err
}

func (l *line) len() int { return l.list.Len() }

// next lets the first in. The line is not empty; the caller holds the mutex.
func (l *line) next() { close(l.list.Remove(l.list.Front()).(chan struct{})) }
