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
	RPM         int           // asks per minute and endpoint. Default: no limit
	TPM         int           // tokens per minute and endpoint, estimated before asking. Default: no limit
	Retries     int           // further attempts after a passing fault. Default 8
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

	stop     context.Context // done when no new ask may start
	halt     context.CancelCauseFunc
	answered atomic.Bool // an endpoint has answered once: the key and the model are right

	mu     sync.Mutex
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
func (s *Session) Stop() { s.halt(ErrStopped); s.budget.wake() }

// Reason is what stopped the session: ErrStopped, a *LimitError, the error
// that no further ask could survive, or nil.
func (s *Session) Reason() error { return context.Cause(s.stop) }

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
	return &asker{s, m, id, lim}
}

type asker struct {
	*Session
	model crosstalk.Model
	id    crosstalk.Identity
	limit *limiter
}

// Ask implements crosstalk.Asker. Equal asks under way at the same time are
// one ask.
func (a *asker) Ask(ctx context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
	key := crosstalk.KeyOf(a.id, req)
	answer, err, _ := a.flights.Do(string(key[:]), func() (any, error) { return a.ask(ctx, key, req) })
	if err != nil {
		return crosstalk.Answer{}, err
	}
	return answer.(crosstalk.Answer), nil
}

func (a *asker) ask(ctx context.Context, key crosstalk.Key, req crosstalk.Request) (crosstalk.Answer, error) {
	answer, found, err := a.journal.Get(key)
	if err != nil {
		return answer, a.fatal(err)
	}
	if found && answer.Status != crosstalk.Failed {
		a.count(key, answer, true)
		return answer, nil
	}
	spent, err := a.budget.reserve(ctx, a.stop, a.id.Name, req)
	if err != nil {
		return answer, a.fatal(err)
	}
	answer, err = a.attempt(ctx, req, found)
	spent(answer.Usage)
	if err != nil {
		return answer, err
	}
	answer.Key = key
	if err := a.journal.Put(journal.Record{Identity: a.id, Request: req, Answer: answer}); err != nil {
		return answer, a.fatal(err)
	}
	if failed := a.count(key, answer, false); answer.Status == crosstalk.Failed && failed == a.options.FailAfter {
		a.fatal(&LimitError{fmt.Sprintf("%d asks have failed (--fail-after %d); the last: %s", failed, a.options.FailAfter, answer.Reason)})
	}
	return answer, nil
}

// fatal stops the session for a reason that every ask shares.
func (s *Session) fatal(err error) error {
	s.halt(err)
	s.budget.wake()
	return err
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
