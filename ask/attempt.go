package ask

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"time"

	"crosstalk"
)

// attempt asks until there is an answer, the retries are used up (an Answer
// with Status Failed), or going on is pointless (an error). Without an error
// the ask keeps its place among those in flight until leave is called.
// failedBefore says that an earlier run has asked it.
func (a *asker) attempt(ctx context.Context, req crosstalk.Request, failedBefore bool) (answer crosstalk.Answer, leave func(), err error) {
	for n := 1; ; n++ {
		if err := a.limit.acquire(ctx, a.stop, estimateTokens(req)); err != nil {
			return answer, nil, err
		}
		started := time.Now()
		answer, err := a.try(ctx, req)
		fault := faultOf(err)
		a.limit.learn(started, err, fault)
		switch failed := fault == crosstalk.Rejected || n > a.options.Retries; {
		case err == nil:
			a.works()
		case ctx.Err() != nil:
			a.limit.leave()
			return answer, nil, context.Cause(ctx)
		case a.hopeless(n, fault, err, failedBefore):
			a.limit.leave()
			return answer, nil, a.end(err)
		case failed:
			answer = crosstalk.Answer{Status: crosstalk.Failed, Reason: err.Error()}
		default:
			a.limit.leave()
			a.retried(err)
			if err := a.pause(ctx, n, err); err != nil {
				return answer, nil, err
			}
			continue
		}
		answer.Latency, answer.Attempts, answer.Time = time.Since(started), n, time.Now().UTC()
		return answer, a.limit.leave, nil
	}
}

// scouts is how many asks go ahead until one is answered: few, so that a wrong
// key or URL does not go wrong many times over, but more than one, since one
// may hang.
const scouts = 4

// scout waits until the model has answered an ask, or for a place among those
// that go ahead; back gives the place back.
func (a *asker) scout(ctx context.Context) (back func(), err error) {
	select {
	case <-a.answered:
		return func() {}, nil
	case a.scouts <- struct{}{}:
		return func() { <-a.scouts }, nil
	case <-a.stop.Done():
		return nil, context.Cause(a.stop)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// works notes that the model answers.
func (a *asker) works() { a.once.Do(func() { close(a.answered) }) }

func (a *asker) isWorking() bool {
	select {
	case <-a.answered:
		return true
	default:
		return false
	}
}

// tries is how often something has to go wrong, when nothing has gone right
// yet, for the settings to be wrong rather than one ask.
const tries = 3

// hopeless reports whether no ask of this model has a chance: attempt n of one
// ended with err. A request that an earlier run found refused says nothing:
// a run that is resumed may have only such requests left.
func (a *asker) hopeless(n int, fault crosstalk.Fault, err error, failedBefore bool) bool {
	if !unreachable(err) {
		a.reached.Store(true)
	}
	switch {
	case fault == crosstalk.Denied:
		return true
	case a.isWorking():
		return false
	case fault == crosstalk.Rejected:
		return !failedBefore && a.rejected.Add(1) >= tries
	}
	return !a.reached.Load() && n >= tries
}

// unreachable reports whether err says that there was no connection to send
// anything over.
func unreachable(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect") ||
		errors.As(err, new(*tls.CertificateVerificationError)) || errors.As(err, new(tls.RecordHeaderError))
}

// try is one attempt within its time.
func (a *asker) try(ctx context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, a.options.Timeout)
	defer cancel()
	answer, err := a.model.Answer(ctx, req)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return answer, &crosstalk.AskError{Fault: crosstalk.Overloaded, Err: err,
			Message: fmt.Sprintf("%s: no answer within %v (--timeout)", a.id, a.options.Timeout)}
	}
	return answer, err
}

// pause waits before attempt n+1: as long as the server asked for, or an
// exponentially growing time, of which a random half so that the asks that
// failed together do not come back together.
func (a *asker) pause(ctx context.Context, n int, err error) error {
	wait := min(a.options.Backoff<<min(n-1, 16), 30*time.Second)
	wait = wait/2 + rand.N(wait/2+1)
	var e *crosstalk.AskError
	if errors.As(err, &e) && e.RetryAfter > 0 {
		wait = e.RetryAfter + rand.N(a.options.Backoff/4+1)
	}
	select {
	case <-time.After(wait):
		return nil
	case <-a.stop.Done():
		return context.Cause(a.stop)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// faultOf reads a model's error; one that says nothing more is taken to pass.
func faultOf(err error) crosstalk.Fault {
	var e *crosstalk.AskError
	if errors.As(err, &e) {
		return e.Fault
	}
	return crosstalk.Transient
}
