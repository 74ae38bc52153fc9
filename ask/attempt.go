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

// stopper ends all asking in one scope: a session, an endpoint, a model or some settings of it.
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
	settings map[string]*settings

	batchers map[crosstalk.API]crosstalk.Batcher // for APIs that it accepts in batches; the session's mutex guards it
}

// attempt asks until there is an answer, the retries are used up (Status Failed), or there is no point in going on (an
// error). Without an error the ask keeps its slot until leave is called. waits is ctx, ended when s is stopped.
func (a *asker) attempt(ctx, waits context.Context, t *trial, s *settings,
	req crosstalk.Request) (answer crosstalk.Answer, leave func(), err error) {
	e := a.about.endpoint
	leave = func() { e.leave(t) }
	for n := 1; ; n++ {
		if err := e.enter(waits, t); err != nil {
			return answer, nil, err
		}
		if s.stop.Err() != nil { // which waits may not have noticed yet
			leave()
			return answer, nil, context.Cause(s.stop)
		}
		if n > 1 {
			a.again()
		}
		answer, err := a.try(ctx, s, req)
		if err == nil {
			e.answered(t)
			answer.Latency, answer.Attempts, answer.Time = time.Since(t.began), n, time.Now().UTC()
			return answer, leave, nil
		}
		if ctx.Err() != nil || errors.Is(err, errGivenUp) {
			leave()
			return answer, nil, cmp.Or(context.Cause(ctx), context.Cause(s.stop))
		}
		pause := a.pause(n, err)
		failed, end := a.failed(s, t, err, n, pause)
		switch {
		case end != nil:
			leave()
			return answer, nil, end
		case failed:
			answer = crosstalk.Answer{Status: crosstalk.Failed, Reason: err.Error(), Latency: time.Since(t.began), Attempts: n,
				Time: time.Now().UTC()}
			return answer, leave, nil
		}
		leave()
		a.trouble(err)
		if w, waiting := e.wait(); waiting && w.Down {
			continue // it takes its turn
		}
		if err := sleep(waits, pause); err != nil {
			return answer, nil, err
		}
	}
}

// failed decides what follows from an ask's n-th attempt, which failed: the ask fails, asking ends (an error), or the
// ask is repeated after a pause.
func (a *asker) failed(s *settings, t *trial, err error, n int, pause time.Duration) (failed bool, end error) {
	e := a.about.endpoint
	if refusing(err) {
		e.responded()
		if end := s.rejected(t, err); end != nil {
			return false, a.gaveUp(end)
		}
		return true, nil
	}
	if wait := said(err).RetryAfter; wait > a.options.Patience {
		return false, a.endEndpoint(limited("stopped: the server asks to wait for %v, longer than --patience %s; it said: %v",
			spoken(wait), duration.Text(a.options.Patience), err))
	}
	e.slow(t, err)
	spent := t.failures >= a.options.Retries
	answers := a.about.answered.Load() && (s.isSettled() || !serverError(err))
	if unreachable(err) {
		answers = e.everAnswered()
	}
	if !answers {
		t.failures++
		end := s.failed(t, err, n, spent, pause)
		if end != nil {
			return false, a.gaveUp(end)
		}
		return spent && !unreachable(err), nil // no ask fails because the server is unreachable
	}
	counts, end := e.failed(t, err)
	if end != nil && a.stillAnswers(s, t) {
		counts, end = true, nil
	}
	if end != nil {
		return false, a.endEndpoint(end)
	}
	return counts && spent, nil
}

// stillAnswers reports whether the server still answers a request that it answered before. If so, asks that keep
// failing are to blame themselves: otherwise an outage would look the same as a remainder of bad requests.
func (a *asker) stillAnswers(s *settings, t *trial) bool {
	m := a.about
	m.checking.Lock()
	defer m.checking.Unlock()
	if m.endpoint.answeredSince(t) { // another ask has just found out
		return true
	}
	known := m.known.Load()
	if known == nil {
		return false
	}
	if _, err := a.try(s.stop, s, *known); err != nil {
		return false
	}
	m.endpoint.found()
	return true
}

// serverError reports whether the server itself reports an internal failure, perhaps because of the request.
func serverError(err error) bool { return said(err).Status >= 500 && !gateway(err) }

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

// unreachable reports whether err means that no connection could be made.
func unreachable(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect") ||
		errors.As(err, new(*tls.CertificateVerificationError)) || errors.As(err, new(tls.RecordHeaderError))
}

var errTimeout = errors.New("timeout")

var errGivenUp = errors.New("the model was given up")

// try makes one attempt within its timeout.
func (a *asker) try(ctx context.Context, s *settings, req crosstalk.Request) (crosstalk.Answer, error) {
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
