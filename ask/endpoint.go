package ask

import (
	"cmp"
	"container/list"
	"context"
	"net/http"
	"sync"
	"time"

	"crosstalk"
	"crosstalk/internal/duration"

	"golang.org/x/time/rate"
)

// endpoint lets in the attempts at an address in the order in which they come: as many at once as its limiter allows,
// none before the time that the server asked for, and one at a time while it is down.
//
// A server is down when it cannot be reached, or when several asks in a row have failed. The attempts that it then
// gets, with growing pauses, are of the asks in turn, so that an outage costs each of them few of its retries. An
// answer ends the outage; one that outlasts the patience ends the asking.
type endpoint struct {
	name string
	stopper
	silence  silence
	patience time.Duration
	longest  time.Duration // the longest pause while it is down; the first is a 30th of it
	requests *rate.Limiter // nil: no limit

	mu       sync.Mutex
	limit    limiter
	inFlight int
	begun    int       // attempts so far
	newest   int       // the number of the latest attempt that was answered
	heard    time.Time // when an answer came last
	outage   streak
	down     bool
	trying   bool          // the one attempt while it is down is under way
	pause    time.Duration // before the next attempt while it is down
	next     time.Time     // when that is
	resume   time.Time     // nothing is sent earlier: the server's Retry-After
	why      string        // the server's words
	wakes    time.Time     // when admit is called next
	waiting  line
}

func newEndpoint(name string, in context.Context, o Options) *endpoint {
	e := &endpoint{name: name, stopper: newStopper(in), patience: o.Patience, longest: o.longestWait(),
		limit: newLimiter(name, o)}
	if o.RPM > 0 {
		e.requests = rate.NewLimiter(rate.Limit(o.RPM)/60, 1)
	}
	return e
}

// openAfter is how many failures in a row, of two asks or more, show that a server is down.
const openAfter = 4

// streak is the failures since the last answer.
type streak struct {
	since   time.Time // when the first one's attempt began; zero: nothing has failed
	n       int
	by      *trial
	several bool // the failures are of several asks
	last    error
}

func (s *streak) add(t *trial, err error) {
	if s.since.IsZero() {
		s.since = t.began
	}
	s.n++
	s.several = s.several || s.by != nil && s.by != t
	s.by, s.last = t, err
}

// trial is an ask's attempts.
type trial struct {
	failures int  // failures that count against the ask
	suspect  bool // it failed in an earlier run, or while later attempts were answered: it says nothing about the server

	first int // the number of its first attempt

	// of the attempt under way
	number int
	began  time.Time
	full   bool // as many were in flight as the limit allows
	probe  bool // it is the one while the server is down
}

// enter waits until t's attempt may begin, and begins it. It fails when ctx ends first.
func (e *endpoint) enter(ctx context.Context, t *trial) error {
	for {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		e.mu.Lock()
		place := e.waiting.join(t)
		e.admit()
		if err := e.waiting.wait(ctx, place, &e.mu, func() { e.release(t) }); err != nil {
			return err
		}
		if e.requests != nil {
			if err := e.requests.Wait(ctx); err != nil {
				e.leave(t)
				return cmp.Or(context.Cause(ctx), err)
			}
		}
		if e.begin(t) {
			return nil
		}
		e.leave(t)
	}
}

// admit lets attempts in while there is room. The caller holds mu.
func (e *endpoint) admit() {
	for e.waiting.len() > 0 {
		room, from := e.inFlight < e.limit.limit, e.resume
		if e.down {
			room, from = !e.trying, e.next
		}
		if !room {
			return
		}
		if wait := time.Until(from); wait > 0 {
			if !e.wakes.Equal(from) {
				e.wakes = from
				time.AfterFunc(wait, func() {
					e.mu.Lock()
					defer e.mu.Unlock()
					e.admit()
				})
			}
			return
		}
		t := e.waiting.next()
		e.inFlight++
		t.probe = e.down
		e.trying = e.down
	}
}

// begin records that t's attempt begins. It reports false if nothing may begin any more.
func (e *endpoint) begin(t *trial) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := time.Now()
	if !t.probe && (e.down || now.Before(e.resume)) {
		return false
	}
	e.begun++
	t.number, t.began, t.full = e.begun, now, e.inFlight >= e.limit.limit
	t.first = cmp.Or(t.first, t.number)
	return true
}

// leave releases t's slot.
func (e *endpoint) leave(t *trial) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.release(t)
}

// release is leave. The caller holds mu.
func (e *endpoint) release(t *trial) {
	e.inFlight--
	if t.probe {
		t.probe, e.trying = false, false
		if now := time.Now(); e.down && !now.Before(e.next) { // it showed nothing
			e.schedule(now, 0)
		}
	}
	e.admit()
}

// answered records that t's attempt was answered.
func (e *endpoint) answered(t *trial) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.newest, e.heard = max(e.newest, t.number), time.Now()
	e.limit.answered(t.began, time.Since(t.began), t.full)
	e.up()
}

// found records that a request outside any trial was answered, so that the asks that failed before are suspect.
func (e *endpoint) found() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.begun++
	e.newest, e.heard = e.begun, time.Now()
	e.up()
}

// answeredSince reports whether an attempt that began after t's was answered.
func (e *endpoint) answeredSince(t *trial) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.newest > t.number
}

// responded records a final error, which shows that the server works.
func (e *endpoint) responded() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.up()
}

// up ends the outage, if there is one. The caller holds mu.
func (e *endpoint) up() {
	e.outage, e.down = streak{}, false
	e.admit()
}

// everAnswered reports whether any request was answered.
func (e *endpoint) everAnswered() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.newest > 0
}

// slow records what a passing failure shows about how much the server can take.
func (e *endpoint) slow(t *trial, err error) {
	fault := said(err)
	e.mu.Lock()
	defer e.mu.Unlock()
	if fault.Fault != crosstalk.Overloaded {
		return
	}
	if until := time.Now().Add(fault.RetryAfter); fault.RetryAfter > 0 && until.After(e.resume) {
		e.resume, e.why = until, err.Error()
	}
	if !t.probe { // which is alone
		e.limit.overload(t.began)
	}
}

// failed records a passing failure. It counts against the ask unless the ask cannot be its cause. ends is set if the
// patience is over.
func (e *endpoint) failed(t *trial, err error) (counts bool, ends error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	asked, now := said(err).RetryAfter, time.Now()
	busy, dead := said(err).Status == http.StatusTooManyRequests, unreachable(err)
	t.suspect = t.suspect || e.newest > t.first
	counts = !dead && (t.suspect || !busy && !gateway(err))
	if counts {
		t.failures++
	}
	// While others are answered, a timeout shows that the server has too much to do, not that it is down.
	alive := e.heard.After(t.began.Add(now.Sub(t.began) / 2))
	if dead || !t.suspect && !alive {
		e.outage.add(t, err)
		if busy { // it responds, but limits the rate of requests
			e.outage.n--
		}
	}
	s := &e.outage
	if !s.since.IsZero() && (e.down || !counts) && now.Add(asked).Sub(s.since) >= e.patience {
		if asked > 0 {
			return counts, limited("stopped: no answer since %s, and the server asks to wait for another %s (--patience %s); "+
				"it said: %v", clock(s.since), duration.Text(asked), duration.Text(e.patience), err)
		}
		return counts, limited("stopped: no answer since %s (--patience %s); the last attempt: %v", clock(s.since),
			duration.Text(e.patience), err)
	}
	switch {
	case e.down && t.probe:
		e.pause = min(2*e.pause, e.longest)
		e.schedule(now, asked)
	case !e.down && (dead || !busy && s.several && s.n >= openAfter):
		e.down, e.pause = true, e.longest/30
		e.schedule(now, asked)
	}
	return counts, nil
}

// schedule sets when the next attempt is made: after the pause or the wait that the server asked for, and a last one
// when the patience ends. The caller holds mu.
func (e *endpoint) schedule(now time.Time, asked time.Duration) {
	left := e.outage.since.Add(e.patience).Sub(now)
	e.next = now.Add(max(min(e.pause, left), asked))
}

// wait describes what keeps the endpoint from being asked.
func (e *endpoint) wait() (w Wait, waiting bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.down {
		return Wait{Down: true, Since: e.outage.since, Until: e.next, Why: e.outage.last.Error()}, true
	}
	return Wait{Until: e.resume, Why: e.why}, time.Now().Before(e.resume)
}

// gateway reports whether err is from a proxy in front of the server, reporting that the server is down.
func gateway(err error) bool {
	status := said(err).Status
	return status >= 502 && status <= 504 || status >= 520 && status <= 527
}

func clock(t time.Time) string { return t.Local().Format("15:04:05") }

func merge(ctx, stop context.Context) (context.Context, func()) {
	either, cancel := context.WithCancelCause(ctx)
	unhook := context.AfterFunc(stop, func() { cancel(context.Cause(stop)) })
	if stop.Err() != nil { // so it has ended by now
		cancel(context.Cause(stop))
	}
	return either, func() { unhook(); cancel(nil) }
}

// line is a queue of waiting asks, first come first served. Its owner's mutex guards it.
type line struct{ list list.List } // of place

type place struct {
	ready chan struct{}
	trial *trial
}

// join adds a place at the end. The caller holds the mutex.
func (l *line) join(t *trial) *list.Element { return l.list.PushBack(place{make(chan struct{}), t}) }

// wait returns when next has let in this place's ask, or with an error when ctx ends first. The caller holds mu; it is
// released on return. If the ask was let in but has to leave, back is called with mu held.
func (l *line) wait(ctx context.Context, at *list.Element, mu *sync.Mutex, back func()) error {
	ready := at.Value.(place).ready
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
		l.list.Remove(at)
	}
	return err
}

func (l *line) len() int { return l.list.Len() }

// next lets the first ask in. The line is not empty; the caller holds the mutex.
func (l *line) next() *trial {
	first := l.list.Remove(l.list.Front()).(place)
	close(first.ready)
	return first.trial
}
