package ask

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync/atomic"
	"time"

	"crosstalk"
	"crosstalk/internal/duration"
)

// attempt asks until there is an answer, the retries are used up (an Answer with Status Failed), or going on is
// pointless (an error). Without an error the ask keeps its place among those in flight until leave is called.
// failedBefore says that an earlier run has asked it. waits is ctx as long as s is asked.
func (a *asker) attempt(ctx, waits context.Context, s *shape, req crosstalk.Request,
	failedBefore bool) (answer crosstalk.Answer, leave func(), err error) {
	e := a.about.endpoint
	t := &trial{suspect: failedBefore}
	defer e.breaker.drop(t)
	for n := 1; ; n++ {
		if err := e.admit(waits, t); err != nil {
			return answer, nil, err
		}
		if s.stop.Err() != nil { // which waits may be about to learn
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
		if !t.probe { // which comes alone
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
			continue // to the line of those who wait for it
		}
		if err := sleep(waits, f.pause); err != nil {
			return answer, nil, err
		}
	}
}

// admit waits until an attempt may begin: for a closed circuit, a place among those in flight, and its time.
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

// learn decides what a failed attempt means: the ask has failed, asking has to end (an error), or it is repeated.
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
		return f.spent && !unreachable(f.err), nil // no ask fails for want of a server
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

// spoken is a wait in words: to the second, or in days or years if it is long.
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

// stillAnswers reports whether the server answers a request that it answered before. Then it is there, and asks that
// it fails at are to blame themselves: without this, an outage and a rest of bad requests look the same.
func (a *asker) stillAnswers(s *shape, t *trial) bool {
	a.about.checking.Lock()
	defer a.about.checking.Unlock()
	b, known := &a.about.endpoint.breaker, a.about.known.Load()
	if b.blame(t, false) { // another has just found out
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

// unreachable reports whether err says that there was no connection to send anything over.
func unreachable(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect") ||
		errors.As(err, new(*tls.CertificateVerificationError)) || errors.As(err, new(tls.RecordHeaderError))
}

var errTimeout = errors.New("timeout")

// errGivenUp is an attempt that was called off because others have shown that it is pointless.
var errGivenUp = errors.New("the model was given up")

// try is one attempt within its time.
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

// pause is the wait before attempt n+1: as long as the server asked for, or an exponentially growing time, half of it
// random, so that the asks that failed together do not come back together.
func (a *asker) pause(n int, err error) time.Duration {
	if asked := said(err).RetryAfter; asked > 0 {
		return asked + rand.N(a.options.Backoff/4+1)
	}
	wait := min(a.options.Backoff<<min(n-1, 16), a.options.longestWait())
	return wait/2 + rand.N(wait/2+1)
}

// sleep waits for a time, until waits for something: unless ctx ends, whose cause is the error.
func sleep(ctx context.Context, wait time.Duration) error { return until(ctx, time.After(wait)) }

func until[T any](ctx context.Context, ready <-chan T) error {
	select {
	case <-ready:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// said is what a model's error says; one that says nothing is taken to pass.
func said(err error) *crosstalk.AskError {
	if e := (*crosstalk.AskError)(nil); errors.As(err, &e) {
		return e
	}
	return &crosstalk.AskError{Fault: crosstalk.Transient}
}

// refusing reports whether err is not one that passes.
func refusing(err error) bool {
	fault := said(err).Fault
	return fault == crosstalk.Rejected || fault == crosstalk.Denied
}
