// Package ask makes asking a model durable and polite: answers are journalled
// before they are used and never asked for twice, the endpoint's limits are
// found and kept, passing faults are retried, and a budget is not exceeded.
package ask

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"crosstalk"
	"crosstalk/ask/journal"

	"golang.org/x/sync/singleflight"
)

// ErrStopped says that the session takes no more asks because Stop was called.
var ErrStopped = errors.New("stopped")

// LimitError says that the session takes no more asks because a limit that the
// user set was reached. What was answered until then is good.
type LimitError struct{ Reason string }

func (e *LimitError) Error() string { return e.Reason }

// Journal keeps answers. *journal.Journal is the durable one.
type Journal interface {
	Get(crosstalk.Key) (answer crosstalk.Answer, found bool, err error)
	Put(journal.Record) error
}

// Options are a session's limits; the zero value of each means its default.
type Options struct {
	Concurrency int           // asks in flight per endpoint, at most; found by trying below that. Default 64
	RPM         int           // asks per minute and endpoint, evenly spread. Default: no limit
	TPM         int           // tokens per minute and endpoint, estimated before asking. Default: no limit
	Retries     int           // further attempts after a passing fault; negative: none. Default 8
	Timeout     time.Duration // of one attempt. Default 2 minutes
	FailAfter   int           // stop when this many asks have failed. Default: never
	Budget      Budget
	Backoff     time.Duration // first wait before a retry, doubled each time. Default 500 ms
}

func (o Options) withDefaults() Options {
	def := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	def(&o.Concurrency, 64)
	def(&o.Retries, 8)
	if o.Timeout == 0 {
		o.Timeout = 2 * time.Minute
	}
	if o.Backoff == 0 {
		o.Backoff = 500 * time.Millisecond
	}
	return o
}

// Session asks any number of models on behalf of one run. It is safe for
// concurrent use.
type Session struct {
	journal Journal
	options Options
	flights singleflight.Group
	budget  *account

	stop context.Context // done when nothing more is sent
	halt context.CancelCauseFunc

	mu     sync.Mutex
	reason error
	limits map[string]*limiter // by endpoint
	seen   map[crosstalk.Key]struct{}
	stats  Stats
}

// NewSession returns a session that keeps its answers in j.
func NewSession(j Journal, o Options) *Session {
	o = o.withDefaults()
	stop, halt := context.WithCancelCause(context.Background())
	return &Session{
		journal: j, options: o, budget: newAccount(o.Budget), stop: stop, halt: halt,
		limits: map[string]*limiter{}, seen: map[crosstalk.Key]struct{}{},
	}
}

// Stop makes the session take no new asks and lets those in flight finish.
// Asks that wait for a retry give up; they are asked when the run resumes.
func (s *Session) Stop() { s.end(ErrStopped) }

// end makes the session send nothing more, and returns err.
func (s *Session) end(err error) error {
	s.note(err)
	s.halt(err)
	s.budget.wake()
	return err
}

// Reason is why the session takes no more asks: an error that no further ask
// could survive, or else ErrStopped or a *LimitError, whichever came first; nil
// if it does take more.
func (s *Session) Reason() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reason
}

func (s *Session) note(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reason == nil || wanted(s.reason) && !wanted(err) {
		s.reason = err
	}
}

// wanted reports whether the user asked for the end that err is.
func wanted(err error) bool { return errors.Is(err, ErrStopped) || errors.As(err, new(*LimitError)) }

// For returns an asker of this model.
func (s *Session) For(m crosstalk.Model) crosstalk.Asker {
	id := m.Identity()
	s.mu.Lock()
	defer s.mu.Unlock()
	lim := s.limits[id.Endpoint]
	if lim == nil {
		lim = newLimiter(s.options)
		s.limits[id.Endpoint] = lim
	}
	return &asker{Session: s, model: m, id: id, limit: lim, scouts: make(chan struct{}, scouts), answered: make(chan struct{})}
}

type asker struct {
	*Session
	model crosstalk.Model
	id    crosstalk.Identity
	limit *limiter

	scouts   chan struct{} // a place for each ask that goes ahead
	answered chan struct{} // closed when one has an answer: the key and the settings are right
	once     sync.Once
	reached  atomic.Bool  // the endpoint was there once
	rejected atomic.Int32 // asks that it rejected before it answered one
}

// Ask implements crosstalk.Asker. Equal asks under way at the same time are
// one ask. When ctx ends, an ask that was sent is lost, though the provider
// may bill it.
func (a *asker) Ask(ctx context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
	key := crosstalk.KeyOf(a.id, req)
	for {
		answer, err, _ := a.flights.Do(string(key[:]), func() (any, error) {
			answer, err := a.ask(ctx, key, req)
			if err != nil && ctx.Err() != nil {
				err = &abandoned{err}
			}
			return answer, err
		})
		if err == nil {
			return answer.(crosstalk.Answer), nil
		}
		var gone *abandoned
		if !errors.As(err, &gone) {
			return crosstalk.Answer{}, err
		}
		if ctx.Err() != nil {
			return crosstalk.Answer{}, gone.error
		}
		// Another caller, who asked first, has gone away; this one has not.
	}
}

// abandoned says that the caller who sent an ask for others too went away.
type abandoned struct{ error }

func (a *asker) ask(ctx context.Context, key crosstalk.Key, req crosstalk.Request) (crosstalk.Answer, error) {
	answer, found, err := a.journal.Get(key)
	if err != nil {
		return answer, a.end(err)
	}
	if found && answer.Status != crosstalk.Failed {
		a.works()
		a.count(key, answer, true)
		return answer, nil
	}
	back, err := a.scout(ctx)
	if err != nil {
		return answer, err
	}
	defer back()
	settle, err := a.budget.reserve(ctx, a.stop, a.id.Name, req)
	if err != nil {
		if errors.As(err, new(*LimitError)) {
			a.note(err) // the asks that have their part of the budget go on
		}
		return answer, err
	}
	answer, leave, err := a.attempt(ctx, req, found)
	settle(answer)
	if err != nil {
		return answer, err
	}
	defer leave() // when it is saved: a kill loses no more than what has a place
	answer.Key = key
	if err := a.journal.Put(journal.Record{Identity: a.id, Request: req, Answer: answer}); err != nil {
		return answer, a.end(err)
	}
	if failed := a.count(key, answer, false); answer.Status == crosstalk.Failed && failed == a.options.FailAfter {
		a.end(&LimitError{fmt.Sprintf("%d asks have failed (--fail-after %d); the last: %s", failed, a.options.FailAfter, answer.Reason)})
	}
	return answer, nil
}

// Memory is a journal that lasts as long as the process, for measurements that
// cost nothing to repeat.
type Memory struct{ answers sync.Map }

// Get returns the answer to the ask with this key.
func (m *Memory) Get(key crosstalk.Key) (crosstalk.Answer, bool, error) {
	if v, found := m.answers.Load(key); found {
		return v.(crosstalk.Answer), true, nil
	}
	return crosstalk.Answer{}, false, nil
}

// Put keeps an answer.
func (m *Memory) Put(r journal.Record) error {
	m.answers.Store(r.Answer.Key, r.Answer)
	return nil
}
