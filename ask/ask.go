// Package ask makes asking a model durable and polite: it journals answers before they are used, never asks twice,
// finds and keeps endpoints' limits, retries passing faults, waits out outages, and keeps budgets.
package ask

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"crosstalk"
	"crosstalk/ask/journal"
	"crosstalk/internal/duration"
	"crosstalk/internal/inflight"

	"golang.org/x/sync/singleflight"
)

// Journal keeps answers. *journal.Journal is the durable one.
type Journal interface {
	Get(crosstalk.Key) (answer crosstalk.Answer, found bool, err error)
	Put(journal.Record) error
}

// Options are a session's limits; the zero value of each means its default.
type Options struct {
	Concurrency int           // most asks in flight per endpoint; fewer if it cannot take them. Default 64
	RPM         int           // asks per minute and endpoint, evenly spread. Default: no limit
	Retries     int           // further attempts after a passing fault of the ask itself; negative: none. Default 8
	Timeout     time.Duration // of one attempt. Default 2 minutes
	Patience    time.Duration // to wait for an endpoint that stopped answering, or asks to wait. Default 10 minutes
	StopEmpty   int           // stop asking a model whose first N answers are all empty; negative: never. Default 8
	Budget      Budget
	Backoff     time.Duration // first wait before a retry, doubled each time. Default 500 ms

	Batch  bool          // ask in batches where that is possible; see Batching
	Poll   time.Duration // first interval of looking at a batch; it grows to a minute. Default 5 seconds
	Settle time.Duration // how long to look for a batch that may have been submitted. Default 1 minute

	BatchGiveUp bool // ask again, one by one, for batch answers that could not be read within Patience

	// SameModel reports whether the name that a server reports means the model that was asked for. nil: always.
	SameModel func(asked crosstalk.Identity, served string) bool
}

// Check returns a crosstalk.OptionError if a limit is below 0.
func (o Options) Check() error {
	for _, l := range []struct {
		option string
		good   bool
		is     any
		kind   string
	}{
		{"concurrency", o.Concurrency >= 0, o.Concurrency, "number above 0"},
		{"rpm", o.RPM >= 0, o.RPM, "number above 0"},
		{"budget-asks", o.Budget.Asks >= 0, o.Budget.Asks, "number above 0"},
		{"budget-cost", o.Budget.Cost >= 0, o.Budget.Cost, "number above 0"},
		{"timeout", o.Timeout >= 0, duration.Text(o.Timeout), "duration above 0, such as 2m"},
		{"patience", o.Patience >= 0, duration.Text(o.Patience), "duration above 0, such as 2m"},
	} {
		if !l.good {
			return crosstalk.BadOption(l.option, " is %v; expected a %s", l.is, l.kind)
		}
	}
	return nil
}

func (o Options) withDefaults() Options {
	o.Concurrency = cmp.Or(o.Concurrency, 64)
	o.Retries = cmp.Or(o.Retries, 8)
	o.StopEmpty = cmp.Or(o.StopEmpty, 8)
	o.Timeout = cmp.Or(o.Timeout, 2*time.Minute)
	o.Patience = cmp.Or(o.Patience, 10*time.Minute)
	o.Backoff = cmp.Or(o.Backoff, 500*time.Millisecond)
	o.Poll = cmp.Or(o.Poll, 5*time.Second)
	o.Settle = cmp.Or(o.Settle, time.Minute)
	return o
}

// longestWait is the longest wait before a retry and longest pause while a server is down: at most half a minute.
func (o Options) longestWait() time.Duration { return min(60*o.Backoff, 30*time.Second) }

// Session asks any number of models on behalf of one run. It is safe for concurrent use.
type Session struct {
	journal Journal
	options Options
	flights singleflight.Group
	budget  *account

	stopper // ends all asking

	mu        sync.Mutex
	reason    error
	endpoints []*endpoint
	models    []*model
	hopeless  []*ModelError
	seen      map[uint64]struct{}        // crosstalk.Key.Short of each counted ask
	fresh     map[crosstalk.Key]struct{} // asked by this session and not counted yet
	waiting   []*waiting                 // open batches
	remarks   []string                   // about batches, for Warnings
	damaged   []*journal.DamageError     // saved answers that are asked for again
	stats     Stats
}

// NewSession returns a session that keeps its answers in j.
func NewSession(j Journal, o Options) *Session {
	o = o.withDefaults()
	return &Session{journal: j, options: o, budget: newAccount(o.Budget), stopper: newStopper(context.Background()),
		seen: map[uint64]struct{}{}, fresh: map[crosstalk.Key]struct{}{}}
}

// Stop makes the session accept no new asks. Those in flight finish; the others are asked when the run resumes.
func (s *Session) Stop() { s.end(ErrStopped) }

// end makes the session send nothing more, and returns err; nil ends nothing. If two calls coincide, the one recorded
// as the reason also stops the asks.
func (s *Session) end(err error) error {
	if err == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noteLocked(err)
	s.halt(err)
	return err
}

// Reason is why the session accepts no more asks: an error that no further ask could survive, or else ErrStopped or a
// *LimitError, whichever came first; nil if it still accepts them. A model that cannot be asked is the reason if there
// is no other model, or if Stop was called after it was found.
func (s *Session) Reason() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.hopeless) > 0 && (s.reason == nil && len(s.models) == 1 || errors.Is(s.reason, ErrStopped)) {
		return s.hopeless[0]
	}
	return s.reason
}

// Hopeless lists the models that cannot be asked, at all or with some settings, in the order of discovery.
func (s *Session) Hopeless() []*ModelError {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.hopeless)
}

func (s *Session) note(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noteLocked(err)
}

func (s *Session) noteLocked(err error) {
	if s.reason == nil || wanted(s.reason) && !wanted(err) {
		s.reason = err
	}
}

func wanted(err error) bool { return errors.Is(err, ErrStopped) || errors.As(err, new(*LimitError)) }

func (s *Session) gaveUp(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var hopeless *ModelError
	if !errors.As(err, &hopeless) {
		return err // the caller may try another way
	}
	known := func(h *ModelError) bool { return h.Model == hopeless.Model && h.Error() == hopeless.Error() }
	if !slices.ContainsFunc(s.hopeless, known) {
		s.hopeless = append(s.hopeless, hopeless)
	}
	return err
}

// For returns an asker for this model.
func (s *Session) For(m crosstalk.Model) crosstalk.Asker {
	id := m.Identity()
	s.mu.Lock()
	defer s.mu.Unlock()
	about := s.modelOf(id)
	if about == nil {
		e := s.endpoint(id.Endpoint)
		about = &model{id: id, endpoint: e, stopper: newStopper(e.stop), seen: newObserved(),
			settings: map[string]*settings{}, batchers: map[crosstalk.API]crosstalk.Batcher{}}
		s.models = append(s.models, about)
	}
	if b, ok := m.(crosstalk.Batcher); ok {
		about.batchers[m.API()] = b
	}
	return &asker{s, m, about}
}

// modelOf returns the model with this identity, nil if it is new. The caller holds mu.
func (s *Session) modelOf(id crosstalk.Identity) *model {
	if i := slices.IndexFunc(s.models, func(m *model) bool { return m.id == id }); i >= 0 {
		return s.models[i]
	}
	return nil
}

// endpoint returns the endpoint with this name. The caller holds mu.
func (s *Session) endpoint(name string) *endpoint {
	if i := slices.IndexFunc(s.endpoints, func(e *endpoint) bool { return e.name == name }); i >= 0 {
		return s.endpoints[i]
	}
	e := newEndpoint(name, s.stop, s.options)
	s.endpoints = append(s.endpoints, e)
	return e
}

type asker struct {
	*Session
	model crosstalk.Model
	about *model
}

func (a *asker) settings(req crosstalk.Request) *settings {
	alike := crosstalk.Request{API: req.API, Decoding: req.Decoding, Logprobs: req.Logprobs}
	for _, m := range req.Messages {
		if m.Role == "system" {
			alike.Prompt = m.Role // some models accept none
		}
	}
	name := string(crosstalk.Canonical(alike))
	m := a.about
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.settings[name]
	if s == nil {
		s = &settings{model: m, stopper: newStopper(m.stop), stopEmpty: a.options.StopEmpty}
		m.settings[name] = s
	}
	return s
}

func (a *asker) endEndpoint(err error) error {
	a.note(err)
	a.about.endpoint.halt(err)
	return err
}

// Ask implements crosstalk.Asker. Equal concurrent asks are sent once. If ctx ends, an ask that was sent is lost.
//
// Besides errors of the journal and the context it returns ErrStopped, *LimitError, *ModelError or *RefusedError.
func (a *asker) Ask(ctx context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
	key, s := crosstalk.KeyOf(a.about.id, req), a.settings(req)
	answer, found, err := a.journalled(key, s, req)
	if found || err != nil {
		return answer, err
	}
	waits, done := merge(ctx, s.stop)
	defer done()
	// Reserve before the flight: its leader must not wait for budget that a caller waiting for the flight holds.
	settle, err := a.budget.reserve(waits, a.about.id.Name, req)
	if err != nil {
		if !errors.As(err, new(*LimitError)) {
			return answer, err
		}
		if answer, found, err := a.journalled(key, s, req); found || err != nil { // answered meanwhile
			return answer, err
		}
		a.note(err)
		return answer, err
	}
	var paid crosstalk.Answer // what this caller paid for, not another
	defer func() { settle(paid) }()
	for {
		answer, err, _ := a.flights.Do(string(key[:]), func() (any, error) {
			answer, sent, err := a.ask(ctx, waits, key, s, req)
			if sent {
				paid = answer
			}
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
		// Another caller asked first, and was cancelled; this one was not.
	}
}

type abandoned struct{ error }

func (a *asker) journalled(key crosstalk.Key, s *settings,
	req crosstalk.Request) (answer crosstalk.Answer, found bool, err error) {
	answer, found, err = a.saved(key)
	switch {
	case err != nil:
		return answer, false, a.end(err)
	case !found || answer.Status == crosstalk.Failed:
		return answer, false, nil
	}
	s.works(answer, true)
	a.about.known.CompareAndSwap(nil, &req)
	a.count(key, req, answer, fromJournal)
	return withoutBody(req, answer), true, nil
}

// saved returns the answer that the journal has. One that is damaged counts as none, and is noted for Warnings.
func (s *Session) saved(key crosstalk.Key) (answer crosstalk.Answer, found bool, err error) {
	answer, found, err = s.journal.Get(key)
	damage := (*journal.DamageError)(nil)
	if !errors.As(err, &damage) {
		return answer, found, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	known := func(d *journal.DamageError) bool { return d.Key == key }
	if !slices.ContainsFunc(s.damaged, known) {
		s.damaged = append(s.damaged, damage)
	}
	return crosstalk.Answer{}, false, nil
}

// withoutBody drops the body of a saved answer, unless it contains vectors: items keep their answers in memory.
func withoutBody(req crosstalk.Request, answer crosstalk.Answer) crosstalk.Answer {
	if req.API != crosstalk.Embeddings {
		answer.Raw = nil
	}
	return answer
}

// ask sends one ask and saves its answer. sent reports whether it has a cost. waits is ctx, ended when s is stopped.
func (a *asker) ask(ctx, waits context.Context, key crosstalk.Key, s *settings,
	req crosstalk.Request) (answer crosstalk.Answer, sent bool, err error) {
	answer, failedBefore, err := a.saved(key)
	if err != nil {
		return answer, false, a.end(err)
	}
	if failedBefore && answer.Status != crosstalk.Failed { // answered since the caller looked
		return withoutBody(req, answer), false, nil
	}
	t := &trial{suspect: failedBefore}
	back, err := s.enter(waits, t)
	if err != nil {
		return answer, false, err
	}
	defer back()
	inFlight, share := inflight.With(ctx)
	defer share.Release() // once it is saved
	answer, leave, err := a.attempt(inFlight, waits, t, s, req)
	if err != nil {
		return crosstalk.Answer{}, false, err
	}
	defer leave() // once it is saved: a kill then loses at most the asks in flight
	answer.Key = key
	a.mu.Lock()
	a.fresh[key] = struct{}{} // before another caller can find it in the journal
	a.mu.Unlock()
	if err := a.journal.Put(journal.Record{Identity: a.about.id, Request: req, Answer: answer}); err != nil {
		return answer, true, a.end(err)
	}
	answer = withoutBody(req, answer)
	a.count(key, req, answer, fromModel)
	if answer.Status != crosstalk.Failed {
		a.about.known.CompareAndSwap(nil, &req)
		if err := s.works(answer, false); err != nil {
			s.halt(err)
			return answer, true, a.gaveUp(err)
		}
	}
	return answer, true, nil
}

// Memory is a journal that lives as long as the process, for measurements that cost nothing to repeat.
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
