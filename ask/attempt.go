package ask

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"crosstalk"
)

// attempt asks until there is an answer, the retries are used up (an Answer
// with Status Failed), or going on is pointless (an error). failedBefore says
// that an earlier run has asked it.
func (a *asker) attempt(ctx context.Context, req crosstalk.Request, failedBefore bool) (crosstalk.Answer, error) {
	for n := 1; ; n++ {
		if err := a.limit.acquire(ctx, a.stop, estimateTokens(req)); err != nil {
			return crosstalk.Answer{}, err
		}
		started := time.Now()
		answer, err := a.once(ctx, req)
		fault := faultOf(err)
		a.limit.release(started, err, fault)
		if err == nil {
			answer.Latency, answer.Attempts, answer.Time = time.Since(started), n, time.Now().UTC()
			a.answered.Store(true)
			return answer, nil
		}
		if ctx.Err() != nil {
			return crosstalk.Answer{}, context.Cause(ctx)
		}
		// A request that is refused before anything was ever answered means
		// that the settings are wrong, not this one prompt; a run that is
		// resumed may have nothing left to ask but such prompts.
		if fault == crosstalk.Denied || fault == crosstalk.Rejected && !failedBefore && !a.answered.Load() {
			return crosstalk.Answer{}, a.fatal(err)
		}
		if fault == crosstalk.Rejected || n > a.options.Retries {
			return crosstalk.Answer{Status: crosstalk.Failed, Reason: err.Error(), Attempts: n,
				Latency: time.Since(started), Time: time.Now().UTC()}, nil
		}
		a.retried()
		if err := a.pause(ctx, n, err); err != nil {
			return crosstalk.Answer{}, err
		}
	}
}

// once is one attempt within its time.
func (a *asker) once(ctx context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
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
