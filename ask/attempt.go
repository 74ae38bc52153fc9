package ask

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"crosstalk"
	"crosstalk/internal/duration"
)

type endpoint struct {
	name    string
	limit   *limiter
	breaker breaker
	silence silence
	stopper
}

// stopper ends all asking in one scope: a session, an endpoint, a model or a shape.
type stopper struct {
	stop context.Context // done when nothing more is asked in the scope
	halt context.CancelCauseFunc
}

func newStopper(in context.Context) (s stopper) {
	s.stop, s.halt = context.WithCancelCause(in)
	return s
}

func (s stopper) giveUp(id crosstalk.Identity, err error) error {
	hopeless := &ModelError{id, err}
	s.halt(hopeless)
	errors.As(context.Cause(s.stop), &hopeless)
	return hopeless
}

type model struct {
	id       crosstalk.Identity
	endpoint *endpoint
	seen     observed
	stopper

	known    atomic.Pointer[crosstalk.Request] // a request that it answered, in this session or before
	checking sync.Mutex                        // whether it still answers that request

	answered atomic.Bool // in this session
	mu       sync.Mutex
	shapes   map[string]*shape

	batchers map[crosstalk.API]crosstalk.Batcher // for APIs that it accepts in batches; the session's mutex guards it
}

// shape is one way of asking a model: the settings of requests. A few asks, the scouts, find out whether they work.
type shape struct {
	model     *model
	stopEmpty int
	stopper
	alone      sync.Mutex // held by the one ask of a batched run that goes ahead
	mu         sync.Mutex
	settled    bool // an answer shows that the settings work
	scouting   int  // scouts in flight
	waiting    line
	began      time.Time // the first attempt
	failures   int       // attempts before the model answered anything
	asks       map[*trial]struct{}
	rejections int
	empty      int // answers without text, while there are none with text
	cut        int // of these: cut at the token limit
	thought    int // of these: the model thought
	reasoning  int // tokens spent on thinking, if the server counts them
}

// scouts is how many asks go ahead until one is answered: few, since a key may be wrong; several, since one may hang.
const scouts = 4

// tries is how many failures, with no success yet, prove that the settings are wrong.
const tries = 3

// scout waits until the model has answered with these settings, or until a scout's slot is free; back releases it.
func (s *shape) scout(ctx context.Context) (back func(), err error) {
	back = func() {
		s.mu.Lock()
		s.leave()
		s.mu.Unlock()
	}
	s.mu.Lock()
	if s.room() {
		s.scouting++
		s.mu.Unlock()
	} else if err := s.waiting.wait(ctx, s.waiting.join(), &s.mu, s.leave); err != nil {
		return nil, err
	}
	if s.stop.Err() != nil { // which ctx may not have noticed yet
		back()
		return nil, context.Cause(s.stop)
	}
	return back, nil
}

// leave releases a slot. The caller holds mu.
func (s *shape) leave() {
	s.scouting--
	s.admit()
}

// room reports whether another ask may be sent. The caller holds mu.
func (s *shape) room() bool {
	return s.settled || s.scouting < scouts && (s.stopEmpty < 0 || s.empty+s.scouting < s.stopEmpty)
}

// admit admits waiting asks while slots are free. The caller holds mu.
func (s *shape) admit() {
	for s.waiting.len() > 0 && s.room() {
		s.scouting++
		s.waiting.next()
	}
}

// works records an answer. It returns an error if there are many by now and all are empty.
func (s *shape) works(answer crosstalk.Answer, cached bool) error {
	if !cached {
		s.model.answered.Store(true)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.settled:
	case answer.Status != crosstalk.Empty || s.stopEmpty < 0:
		s.settled = true
		s.admit()
	case !cached: // earlier empty answers do not predict later ones
		s.empty++
		s.reasoning += answer.Usage.Reasoning
		if answer.Thought() {
			s.thought++
		}
		if answer.Finish == crosstalk.FinishLength {
			s.cut++
		}
		if s.empty >= s.stopEmpty {
			return &ModelError{s.model.id, &EmptyError{N: s.empty, Thought: s.thought, Reasoning: s.reasoning,
				text: s.explainEmpty()}}
		}
	}
	return nil
}

func (s *shape) isSettled() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settled
}

// explainEmpty advises what to do when all answers are empty. The caller holds mu.
func (s *shape) explainEmpty() string {
	what := fmt.Sprintf("%s: the first %d answers are all empty", s.model.id, s.empty)
	switch spent := "its"; {
	case s.reasoning > 0 || s.thought > 0:
		if s.reasoning > 0 {
			spent = fmt.Sprint(s.reasoning)
		}
		return fmt.Sprintf("%s: the model spent %s tokens on reasoning and said nothing: give it more with "+
			"--reasoning-tokens, turn reasoning off with --reasoning off, or raise --max-tokens", what, spent)
	case s.cut > 0:
		return fmt.Sprintf("%s, and %d were cut off at their limit: raise --max-tokens; if the model reasons before it "+
			"answers, give it --reasoning-tokens or turn reasoning off with --reasoning off", what, s.cut)
	}
	return what + ": check --system, --prefix and --param; if the model reasons before it answers, " +
		"give it --reasoning-tokens, turn reasoning off with --reasoning off, or raise --max-tokens"
}

type failure struct {
	*crosstalk.AskError // parsed from err
	err                 error
	trial               *trial
	attempts            int // of the ask so far, including this one
	spent               bool
	took                time.Duration
	pause               time.Duration // before the next attempt
	failedBefore        bool          // also in an earlier run
}

// judge decides what a failure means before the model has answered. verdict is set if there is no hope, for these
// settings or for the model. Without one, mine reports that the failure is judged here and not by the breaker.
func (s *shape) judge(f failure) (mine bool, verdict error) {
	answered, b := s.model.answered.Load(), &s.model.endpoint.breaker
	b.mu.Lock()
	reached, alive, patience := b.reached, b.newest > 0, b.patience
	b.mu.Unlock()

	s.mu.Lock()
	defer s.mu.Unlock()
	switch f.Fault {
	case crosstalk.Denied:
		return true, s.model.giveUp(s.model.id, f.err)
	case crosstalk.Rejected:
		switch {
		case s.settled: // the settings are fine
		case f.Param != "":
			refused := &RefusedError{s.model.id, f.Param, f.err}
			s.halt(refused)
			return true, refused
		case f.failedBefore: // a resumed run may have only such requests left
		default:
			if s.rejections++; s.rejections >= tries {
				return true, s.giveUp(s.model.id, f.err)
			}
		}
		return true, nil
	}
	dead := unreachable(f.err)
	switch {
	case dead && alive, !dead && answered && (s.settled || !serverError(f.err)):
		return false, nil
	case dead && !reached && f.attempts >= tries:
		return true, s.model.giveUp(s.model.id, f.err)
	}
	s.failures++
	if s.asks == nil {
		s.asks = map[*trial]struct{}{}
	}
	s.asks[f.trial] = struct{}{}
	if s.settled && (f.failedBefore || len(s.asks) < 2) {
		return true, nil // an earlier run got answers: this ask itself may be to blame
	}
	polite := f.Status == 429 || f.RetryAfter > 0                            // the server stated when to come back
	slow := errors.Is(f.err, errTimeout) && time.Since(s.began) < f.took*3/2 // it may be loading the model
	late := time.Since(s.began)+f.pause+f.took > time.Minute
	if polite {
		late = time.Since(s.began)+f.pause > patience
	}
	if f.spent && s.failures >= tries || late && !slow && (polite || s.failures > 1) {
		err := fmt.Errorf("%w; %d attempts in %s and no answer", f.err, s.failures,
			duration.Text(time.Since(s.began).Round(time.Second)))
		if answered {
			return true, s.giveUp(s.model.id, err)
		}
		return true, s.model.giveUp(s.model.id, err)
	}
	return true, nil
}

// serverError reports whether the server itself reports an internal failure, perhaps because of the request.
func serverError(err error) bool { return said(err).Status >= 500 && !gateway(err) }

// attempt asks until there is an answer, the retries are used up (Status Failed), or there is no point in going on (an
// error). Without an error the ask keeps its slot until leave is called. waits is ctx, ended when s is stopped.
func (a *asker) attempt(ctx, waits context.Context, s *shape, req crosstalk.Request,
	failedBefore bool) (answer crosstalk.Answer, leave func(), err error) {
	e := a.about.endpoint
	t := &trial{suspect: failedBefore}
	defer e.breaker.drop(t)
	for n := 1; ; n++ {
		if err := e.admit(waits, t); err != nil {
			return answer, nil, err
		}
		if s.stop.Err() != nil { // which waits may not have noticed yet
			e.limit.leave()
			return answer, nil, context.Cause(s.stop)
		}
		started := time.Now()
		s.attempted(started)
		answer, err := a.try(ctx, s, req)
		if err == nil {
			e.limit.learn(started, nil)
			e.breaker.answered(t)
			answer.Latency, answer.Attempts, answer.Time = time.Since(started), n, time.Now().UTC()
			return answer, e.limit.leave, nil
		}
		if ctx.Err() != nil || errors.Is(err, errGivenUp) {
			e.breaker.passed(t, false)
			e.limit.leave()
			return answer, nil, cmp.Or(context.Cause(ctx), context.Cause(s.stop))
		}
		f := failure{err: err, AskError: said(err), trial: t, attempts: n, took: time.Since(started), pause: a.pause(n, err),
			spent: t.failures >= a.options.Retries, failedBefore: failedBefore}
		if !t.probe { // a probe is alone
			e.limit.learn(started, err)
		}
		failed, err := a.learn(s, f)
		if err != nil {
			e.limit.leave()
			return answer, nil, err
		}
		if failed {
			answer = crosstalk.Answer{Status: crosstalk.Failed, Reason: f.err.Error(), Latency: f.took, Attempts: n,
				Time: time.Now().UTC()}
			return answer, e.limit.leave, nil
		}
		e.limit.leave()
		a.retried(f.err)
		if _, down := e.breaker.wait(); down {
			continue // it joins those that wait for the endpoint
		}
		if err := sleep(waits, f.pause); err != nil {
			return answer, nil, err
		}
	}
}

// admit waits until an attempt may begin: for a closed circuit, a slot among those in flight, and its rate.
func (e *endpoint) admit(ctx context.Context, t *trial) error {
	for {
		if err := e.breaker.enter(ctx, t); err != nil {
			return err
		}
		if err := e.limit.acquire(ctx); err != nil {
			e.breaker.leave(t)
			return err
		}
		if e.breaker.begin(t) {
			return nil
		}
		e.limit.leave()
	}
}

// learn decides what follows from a failed attempt: the ask fails, asking ends (an error), or the ask is repeated.
func (a *asker) learn(s *shape, f failure) (failed bool, err error) {
	e := a.about.endpoint
	final := refusing(f.err)
	if f.RetryAfter > a.options.Patience && !final {
		e.breaker.passed(f.trial, true)
		return false, a.endEndpoint(limited("stopped: the server asks to wait for %v, longer than --patience %s; it said: %v",
			spoken(f.RetryAfter), duration.Text(a.options.Patience), f.err))
	}
	mine, verdict := s.judge(f)
	switch {
	case final:
		e.breaker.passed(f.trial, true)
	case mine:
		e.breaker.ignored(f.trial, !unreachable(f.err))
	}
	switch {
	case verdict != nil:
		return false, a.gaveUp(verdict)
	case f.Fault == crosstalk.Rejected:
		return true, nil
	case mine:
		f.trial.failures++
		return f.spent && !unreachable(f.err), nil // no ask fails because the server is unreachable
	}
	counts, err := e.breaker.failed(f.trial, f.err)
	if err != nil && a.stillAnswers(s, f.trial) {
		counts, err = true, nil
	}
	if err != nil {
		return false, a.endEndpoint(err)
	}
	return counts && f.spent, nil
}

// spoken formats a wait in words: to the second, or in days or years if it is long.
func spoken(wait time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case wait >= 2*365*day:
		return fmt.Sprintf("%d years", wait/(365*day))
	case wait >= 2*day:
		return fmt.Sprintf("%d days", wait/day)
	}
	return duration.Text(wait.Round(time.Second))
}

// stillAnswers reports whether the server still answers a request that it answered before. If so, asks that keep
// failing are to blame themselves: otherwise an outage would look the same as a remainder of bad requests.
func (a *asker) stillAnswers(s *shape, t *trial) bool {
	a.about.checking.Lock()
	defer a.about.checking.Unlock()
	b, known := &a.about.endpoint.breaker, a.about.known.Load()
	if b.blame(t, false) { // another ask has just found out
		return true
	}
	if known == nil {
		return false
	}
	_, err := a.try(s.stop, s, *known)
	return err == nil && b.blame(t, true)
}

func (s *shape) attempted(at time.Time) {
	s.mu.Lock()
	if s.began.IsZero() {
		s.began = at
	}
	s.mu.Unlock()
}

// unreachable reports whether err means that no connection could be made.
func unreachable(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect") ||
		errors.As(err, new(*tls.CertificateVerificationError)) || errors.As(err, new(tls.RecordHeaderError))
}

var errTimeout = errors.New("timeout")

var errGivenUp = errors.New("the model was given up")

// try makes one attempt within its timeout.
func (a *asker) try(ctx context.Context, s *shape, req crosstalk.Request) (crosstalk.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, a.options.Timeout)
	defer cancel()
	var off atomic.Bool
	defer context.AfterFunc(s.stop, func() {
		if errors.As(context.Cause(s.stop), new(*ModelError)) && !s.isSettled() {
			off.Store(true)
			cancel()
		}
	})()
	silence := &a.about.endpoint.silence
	silence.begin()
	answer, err := a.model.Answer(ctx, req)
	silence.end(err == nil || !errors.Is(ctx.Err(), context.DeadlineExceeded))
	if err != nil && off.Load() {
		return answer, errGivenUp
	}
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return answer, &crosstalk.AskError{Fault: crosstalk.Overloaded, Err: errors.Join(errTimeout, err),
			Message: fmt.Sprintf("%s: no answer within %s (--timeout)", a.about.id, duration.Text(a.options.Timeout))}
	}
	return answer, err
}

// pause returns the wait before attempt n+1: as the server asked, or growing and half random, so that asks spread out.
func (a *asker) pause(n int, err error) time.Duration {
	if asked := said(err).RetryAfter; asked > 0 {
		return asked + rand.N(a.options.Backoff/4+1)
	}
	wait := min(a.options.Backoff<<min(n-1, 16), a.options.longestWait())
	return wait/2 + rand.N(wait/2+1)
}

// sleep waits for a time, until for an event. If ctx ends first, they return its cause.
func sleep(ctx context.Context, wait time.Duration) error { return until(ctx, time.After(wait)) }

func until[T any](ctx context.Context, ready <-chan T) error {
	select {
	case <-ready:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// said returns what err reports about a request; an unclassified error counts as passing.
func said(err error) *crosstalk.AskError {
	if e := (*crosstalk.AskError)(nil); errors.As(err, &e) {
		return e
	}
	return &crosstalk.AskError{Fault: crosstalk.Transient}
}

// refusing reports whether err is permanent.
func refusing(err error) bool {
	fault := said(err).Fault
	return fault == crosstalk.Rejected || fault == crosstalk.Denied
}
