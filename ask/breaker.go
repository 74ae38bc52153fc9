package ask

import (
	"cmp"
	"container/list"
	"context"
	"sync"
	"time"

	"crosstalk"
	"crosstalk/internal/duration"

	"golang.org/x/time/rate"
)

// breaker distinguishes an endpoint that is down from asks that fail by themselves. It counts a streak: the failures
// since the last answer. When several asks in a row have failed, the circuit opens: one ask at a time is tried, with
// growing pauses; the others wait. An answer closes it; a streak that outlasts the patience ends the asking.
//
// A failure counts against its ask only if attempts that began later were answered, or if no other ask fails.
type breaker struct {
	patience time.Duration
	longest  time.Duration // the longest pause of an open circuit; the first is a 30th of it

	mu       sync.Mutex
	reached  bool // the server responded once, even if only with an error
	begun    int  // attempts so far
	newest   int  // the number of the latest attempt that was answered
	inFlight int
	streak   streak
	open     bool
	trying   bool          // the single attempt of an open circuit is under way, or about to start
	offered  bool          // an ask was let in to make that attempt
	pause    time.Duration // before the next attempt
	next     time.Time     // when the next attempt starts
	waiting  line
}

type streak struct {
	since       time.Time // zero: nothing has failed
	begun       int       // attempts begun before that
	older       int       // of these, how many are still under way
	failures    int       // by asks that are not to blame themselves
	unreachable int       // of these failures, without a connection
	asks        map[*trial]struct{}
	last        error
}

type trial struct {
	failures int  // failures that count against the ask
	suspect  bool // it failed in an earlier run, or attempts that began after its first were answered
	probe    bool // it is the one that an open circuit tries
	first    int  // the number of its first attempt
	number   int  // the number of the attempt under way
	failed   int  // the number of the attempt that failed last
}

// The circuit opens after this many failures in a row, of two asks or more, or after this many attempts that could not
// connect. For a while it waits for attempts that began before the first failure: they may still be answered.
const (
	openAfter            = 4
	openAfterUnreachable = 3
	openRegardless       = 10 * time.Second
)

// enter waits until the circuit is closed, or until it is t's turn to be tried.
func (b *breaker) enter(ctx context.Context, t *trial) error {
	b.mu.Lock()
	for b.open {
		place := b.waiting.join()
		b.tryOne()
		if err := b.waiting.wait(ctx, place, &b.mu, b.decline); err != nil {
			return err
		}
		b.mu.Lock()
		if b.open && b.offered {
			b.offered, t.probe = false, true
			break
		}
	}
	b.mu.Unlock()
	return nil
}

// begin records that t's attempt starts. It reports false if the circuit has opened meanwhile.
func (b *breaker) begin(t *trial) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open && !t.probe {
		return false
	}
	b.begun++
	b.inFlight++
	t.number = b.begun
	if t.first == 0 {
		t.first, t.failed = t.number, t.number
	}
	return true
}

// leave records that t ends before its attempt has begun.
func (b *breaker) leave(t *trial) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if t.probe {
		t.probe, b.trying = false, false
		b.tryOne()
	}
}

// decline returns the right to make the attempt. The caller holds mu.
func (b *breaker) decline() {
	if b.offered {
		b.offered, b.trying = false, false
		b.tryOne()
	}
}

func (b *breaker) drop(t *trial) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.streak.asks, t)
}

// ended records that t's attempt is over, and reports whether it was a probe. The caller holds mu.
func (b *breaker) ended(t *trial) (probe bool) {
	b.inFlight--
	if !b.streak.since.IsZero() && t.number <= b.streak.begun {
		b.streak.older--
	}
	probe, t.probe = t.probe, false
	if probe {
		b.trying = false
	}
	return probe
}

func (b *breaker) answered(t *trial) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended(t)
	b.newest = max(b.newest, t.number)
	b.reach()
}

// passed records an attempt that shows only whether the endpoint responds: it was rejected, or its caller went away.
func (b *breaker) passed(t *trial, reached bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended(t)
	if reached {
		b.reach()
	}
	b.tryOne()
}

// blame counts t's failure if an attempt that began after it was answered. answered: another request just was answered.
func (b *breaker) blame(t *trial, answered bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if answered {
		b.begun++
		b.newest = b.begun
		b.reach()
	}
	if b.newest <= t.number {
		return false
	}
	t.failures++
	return true
}

// ignored records a failure that is no evidence against the endpoint: nobody knows yet whether its model works at all.
func (b *breaker) ignored(t *trial, reached bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reached = b.reached || reached
	if b.ended(t) && b.open {
		b.schedule(time.Now(), 0)
	}
}

// reach ends the streak, closes the circuit and lets all asks in. The caller holds mu.
func (b *breaker) reach() {
	b.reached, b.streak = true, streak{}
	b.open, b.offered, b.trying = false, false, false
	for b.waiting.len() > 0 {
		b.waiting.next()
	}
}

// failed records a passing failure, and returns whether it counts against the ask. ends is set if patience is over.
func (b *breaker) failed(t *trial, err error) (counts bool, ends error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	asked := said(err).RetryAfter
	busy := said(err).Status == 429 // it responds, but limits the rate of asks
	now, dead := time.Now(), unreachable(err)
	s := &b.streak
	if s.since.IsZero() {
		*s = streak{since: now, begun: b.begun, older: b.inFlight, asks: map[*trial]struct{}{}}
	}
	probe := b.ended(t)
	s.last = err
	b.reached = b.reached || !dead
	t.suspect = t.suspect || b.newest > t.first
	if !t.suspect && !dead {
		s.asks[t] = struct{}{}
	}
	switch {
	case dead: // no ask is to blame
	case b.open: // a probe, unless it was under way when the circuit opened
		counts = probe && !gateway(err) && b.waiting.len() < 2
	case t.suspect:
		counts = b.newest > t.failed || len(s.asks) == 0
	default:
		counts = len(s.asks) == 1
	}
	if counts {
		t.failures++
	}
	t.failed = t.number
	if !t.suspect && !busy {
		s.failures++
	}
	if dead {
		s.unreachable++
	}
	if (b.open || !counts && s.older <= 0) && now.Add(asked).Sub(s.since) >= b.patience {
		if asked > 0 {
			return counts, limited("stopped: no answer since %s, and the server asks to wait for another %s (--patience %s); "+
				"it said: %v", clock(s.since), duration.Text(asked), duration.Text(b.patience), s.last)
		}
		return counts, limited("stopped: no answer since %s (--patience %s); the last attempt: %v", clock(s.since),
			duration.Text(b.patience), s.last)
	}
	switch {
	case b.open && probe:
		b.pause = min(2*b.pause, b.longest)
		b.schedule(now, asked)
	case b.open, busy:
	case s.older > 0 && now.Sub(s.since) < openRegardless:
	case s.unreachable >= openAfterUnreachable, len(s.asks) > 1 && s.failures >= openAfter:
		b.open, b.pause = true, b.longest/30
		b.schedule(now, asked)
	}
	return counts, nil
}

// schedule sets when the next ask is tried: after the pause or the wait that the server asked for. The caller holds mu.
func (b *breaker) schedule(now time.Time, asked time.Duration) {
	wait := max(b.pause, asked)
	if left := b.streak.since.Add(b.patience).Sub(now); wait > left {
		wait = max(left, asked)
	}
	b.next = now.Add(wait)
	time.AfterFunc(wait, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.tryOne()
	})
}

// tryOne lets one ask in, if it is time and none is being tried. The caller holds mu.
func (b *breaker) tryOne() {
	if b.open && !b.trying && b.waiting.len() > 0 && !time.Now().Before(b.next) {
		b.trying, b.offered = true, true
		b.waiting.next()
	}
}

func (b *breaker) wait() (w Wait, waiting bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.open {
		return w, false
	}
	return Wait{Down: true, Since: b.streak.since, Until: b.next, Why: b.streak.last.Error()}, true
}

// gateway reports whether err is from a proxy in front of the server, reporting that the server is down.
func gateway(err error) bool {
	status := said(err).Status
	return status >= 502 && status <= 504 || status >= 520 && status <= 527
}

func clock(t time.Time) string { return t.Local().Format("15:04:05") }

// limiter keeps the asks in flight within what an endpoint can take: the limit doubles each round trip until the
// endpoint is first overloaded, is halved on each overload, and then grows by one a round trip (Chiu and Jain 1989).
type limiter struct {
	requests *rate.Limiter // nil: no limit

	mu       sync.Mutex
	limit    float64
	max      float64
	inFlight int
	cut      time.Time // time of the last decrease
	probing  bool      // true before the first decrease
	resume   time.Time // nothing is sent earlier: the server's Retry-After
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
		// An ask that was sent before the last decrease adds no information.
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

func merge(ctx, stop context.Context) (context.Context, func()) {
	either, cancel := context.WithCancelCause(ctx)
	unhook := context.AfterFunc(stop, func() { cancel(context.Cause(stop)) })
	if stop.Err() != nil { // so it has ended by now
		cancel(context.Cause(stop))
	}
	return either, func() { unhook(); cancel(nil) }
}

// line is a queue of waiting asks, first come first served. Its owner's mutex guards it.
type line struct{ list list.List } // of chan struct{}

// join adds a place at the end. The caller holds the mutex.
func (l *line) join() *list.Element { return l.list.PushBack(make(chan struct{})) }

// wait returns when next has let in this place's ask, or with an error when ctx ends first. The caller holds mu; it is
// released on return. If the ask was let in but has to leave, back is called with mu held.
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

// next lets the first ask in. The line is not empty; the caller holds the mutex.
func (l *line) next() { close(l.list.Remove(l.list.Front()).(chan struct{})) }
