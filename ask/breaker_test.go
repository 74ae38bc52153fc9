package ask

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"crosstalk"
	"crosstalk/internal/golden"
)

var (
	errDial     = fmt.Errorf("nothing listens: %w", &net.OpError{Op: "dial", Err: errors.New("refused")})
	errServer   = &crosstalk.AskError{Status: 500, Message: "failed"}
	errGateway  = &crosstalk.AskError{Status: 502, Message: "bad gateway"}
	errBusy     = &crosstalk.AskError{Fault: crosstalk.Overloaded, Status: 429, Message: "busy"}
	errLater    = &crosstalk.AskError{Fault: crosstalk.Overloaded, Status: 503, RetryAfter: 7 * time.Second, Message: "later"}
	errMuch     = &crosstalk.AskError{Fault: crosstalk.Overloaded, Status: 503, RetryAfter: 50 * time.Second, Message: "much later"}
	errRejected = &crosstalk.AskError{Fault: crosstalk.Rejected, Status: 400, Message: "no"}
)

// TestTracesOfBreakers compares the outcomes of asks to a failing server, and how the breaker judges each attempt, with
// testdata/breaker.txt.
func TestTracesOfBreakers(t *testing.T) {
	utc(t)
	between := func(from, to time.Duration, err error) func(int, time.Duration) error {
		return func(_ int, at time.Duration) error {
			if at >= from && at < to {
				return err
			}
			return nil
		}
	}
	bad := func(err error, asks ...int) func(int, time.Duration) error {
		return func(i int, _ time.Duration) error {
			if slices.Contains(asks, i) {
				return err
			}
			return nil
		}
	}
	const ever = time.Hour
	var b strings.Builder
	for _, c := range []struct {
		name    string
		asks    int
		server  func(i int, at time.Duration) error // at the end of an attempt
		latency func(i int) time.Duration           // nil: 100 ms, and 1 for each ask
		away    map[int]time.Duration               // callers that cancel
		rest    func(b *breaker)                    // other events
	}{
		{name: "well", asks: 3, server: between(0, 0, nil)},
		{name: "one bad ask of six", asks: 6, server: bad(errServer, 2)},
		{name: "one bad ask alone", asks: 1, server: bad(errServer, 0)},
		{name: "two bad asks of six", asks: 6, server: bad(errServer, 2, 4)},
		{name: "two bad asks alone", asks: 2, server: bad(errServer, 0, 1)},
		{name: "a bad ask behind a gateway", asks: 2, server: bad(errGateway, 0)},
		{name: "an outage of 500", asks: 5, server: between(0, 8*time.Second, errServer)},
		{name: "an outage of 502", asks: 5, server: between(0, 8*time.Second, errGateway)},
		{name: "nobody listens for a while", asks: 4, server: between(0, 8*time.Second, errDial)},
		{name: "nobody listens to one", asks: 1, server: between(0, 5*time.Second, errDial)},
		{name: "busy", asks: 4, server: between(0, 5*time.Second, errBusy)},
		{name: "to come later", asks: 4, server: between(0, 5*time.Second, errLater)},
		{name: "down for ever", asks: 3, server: between(0, ever, errServer)},
		{name: "nobody listens ever", asks: 2, server: between(0, ever, errDial)},
		{name: "busy for ever", asks: 2, server: between(0, ever, errBusy)},
		{name: "much later than the patience", asks: 4, server: between(0, ever, errMuch)},
		{name: "rejected in an outage", asks: 5, server: func(i int, at time.Duration) error {
			if i == 0 && at > time.Second {
				return errRejected
			}
			return between(0, 6*time.Second, errServer)(i, at)
		}},
		{name: "two are slow when the others fail", asks: 6, server: between(0, 6*time.Second, errServer),
			latency: func(i int) time.Duration {
				if i < 2 {
					return 4 * time.Second
				}
				return 100*time.Millisecond + time.Duration(i)*time.Millisecond
			}},
		{name: "two are very slow when the others fail", asks: 6, server: between(0, 20*time.Second, errServer),
			latency: func(i int) time.Duration {
				if i < 2 {
					return 15 * time.Second
				}
				return 100*time.Millisecond + time.Duration(i)*time.Millisecond
			}},
		{name: "callers go away", asks: 5, server: between(0, 8*time.Second, errServer),
			away: map[int]time.Duration{0: time.Second, 1: 1200 * time.Millisecond, 4: 3 * time.Second}},
		{name: "the one that is tried goes away", asks: 4, server: between(0, 8*time.Second, errServer),
			latency: func(i int) time.Duration { return time.Second + time.Duration(i)*time.Millisecond },
			away:    map[int]time.Duration{0: 5500 * time.Millisecond, 1: 5500 * time.Millisecond, 2: 5500 * time.Millisecond}},
		{name: "another request is answered", asks: 3, server: between(0, 8*time.Second, errServer),
			rest: func(b *breaker) { time.AfterFunc(2500*time.Millisecond, func() { b.blame(&trial{}, true) }) }},
	} {
		synctest.Test(t, func(t *testing.T) {
			fmt.Fprintf(&b, "== %s ==\n", c.name)
			br := &breaker{patience: 30 * time.Second, longest: 15 * time.Second}
			began := time.Now()
			var mu sync.Mutex
			say := func(i int, format string, args ...any) {
				mu.Lock()
				defer mu.Unlock()
				fmt.Fprintf(&b, "%v: %d %s; %s\n", time.Since(began), i, fmt.Sprintf(format, args...), stateOf(br, began))
			}
			all, stop := context.WithCancelCause(t.Context())
			defer stop(nil)
			if c.rest != nil {
				c.rest(br)
			}
			var group sync.WaitGroup
			for i := range c.asks {
				group.Go(func() {
					time.Sleep(time.Duration(i) * time.Millisecond)
					ctx, cancel := context.WithCancelCause(all)
					defer cancel(nil)
					if after := c.away[i]; after > 0 {
						time.AfterFunc(after+time.Duration(i)*time.Microsecond, func() { cancel(errors.New("gone")) })
					}
					tr := &trial{}
					defer br.drop(tr)
					for n := 1; ; n++ {
						err := br.enter(ctx, tr)
						time.Sleep(time.Duration(i+1) * time.Microsecond) // in order
						if err != nil {
							say(i, "leaves: %v", err)
							return
						}
						if ctx.Err() != nil {
							br.leave(tr)
							say(i, "leaves before its attempt")
							return
						}
						if !br.begin(tr) {
							continue
						}
						latency := time.Duration(100+i) * time.Millisecond
						if c.latency != nil {
							latency = c.latency(i)
						}
						if err := sleep(ctx, latency); err != nil {
							time.Sleep(time.Duration(i+1) * time.Microsecond)
							br.passed(tr, false)
							say(i, "leaves in its attempt")
							return
						}
						err = c.server(i, time.Since(began))
						if err == nil {
							br.answered(tr)
							say(i, "is answered")
							return
						}
						if refusing(err) {
							br.passed(tr, true)
							say(i, "is rejected")
							return
						}
						counts, ends := br.failed(tr, err)
						say(i, "fails %d (%v)", tr.failures, counts)
						if ends != nil {
							say(i, "ends it: %v", ends)
							stop(errors.New("ended"))
							return
						}
						if tr.failures > 4 {
							say(i, "has failed")
							return
						}
						if w, down := br.wait(); down {
							if w.Why != err.Error() || !w.Down {
								t.Errorf("%+v", w)
							}
							continue
						}
						if sleep(ctx, time.Duration(n)*500*time.Millisecond) != nil {
							return
						}
					}
				})
			}
			group.Wait()
			fmt.Fprintf(&b, "in the end: %s\n\n", stateOf(br, began))
		})
	}
	golden.Check(t, "testdata/breaker.txt", b.String())
}

// stateOf describes the whole state of a breaker.
func stateOf(b *breaker, began time.Time) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := []string{fmt.Sprintf("%d of %d begun, newest %d", b.inFlight, b.begun, b.newest)}
	for what, is := range map[string]bool{"reached": b.reached, "trying": b.trying, "offered": b.offered} {
		if is {
			list = append(list, what)
		}
	}
	slices.Sort(list[1:])
	if b.open {
		list = append(list, fmt.Sprintf("open until %v, pause %v, %d waiting", b.next.Sub(began), b.pause, b.waiting.len()))
	}
	if s := b.streak; !s.since.IsZero() {
		list = append(list, fmt.Sprintf("streak since %v: %d failures, %d unreachable, %d asks, %d of %d older", s.since.Sub(began),
			s.failures, s.unreachable, len(s.asks), s.older, s.begun))
	}
	return strings.Join(list, ", ")
}

// utc makes local time the same everywhere.
func utc(t *testing.T) {
	was := time.Local
	time.Local = time.UTC
	t.Cleanup(func() { time.Local = was })
}

// TestJudgements compares what failures mean of a model that has not answered, in each state of it and of its server,
// with testdata/judged.txt: three failures of one ask and then one of
// another; of asks with retries, without, and of both after they failed in an earlier run.
func TestJudgements(t *testing.T) {
	utc(t)
	said := func(status int, fault crosstalk.Fault, param string) *crosstalk.AskError {
		return &crosstalk.AskError{Fault: fault, Status: status, Param: param, Message: "said"}
	}
	type kind struct {
		name string
		err  error
		says *crosstalk.AskError
	}
	kinds := []kind{{"dial", errDial, said(0, crosstalk.Transient, "")}}
	for name, e := range map[string]*crosstalk.AskError{"400": said(400, crosstalk.Rejected, ""),
		"400 seed": said(400, crosstalk.Rejected, "seed"), "401": said(401, crosstalk.Denied, ""),
		"429": said(429, crosstalk.Overloaded, ""), "500": said(500, crosstalk.Transient, ""),
		"502": said(502, crosstalk.Transient, ""), "reset": said(0, crosstalk.Transient, "")} {
		kinds = append(kinds, kind{name, e, e})
	}
	timeout := said(0, crosstalk.Overloaded, "")
	timeout.Err = errTimeout
	kinds = append(kinds, kind{"timeout", timeout, timeout})
	slices.SortFunc(kinds, func(a, b kind) int { return strings.Compare(a.name, b.name) })
	outcome := func(s *shape, mine bool, verdict error) string {
		switch {
		case verdict == nil && mine:
			return "mine"
		case verdict == nil:
			return "breaker's"
		case !mine:
			return "not mine, and a verdict"
		case errors.As(verdict, new(*RefusedError)) && s.stop.Err() != nil && s.model.stop.Err() == nil:
			return "refused"
		case s.model.stop.Err() != nil:
			return "no model"
		case s.stop.Err() != nil:
			return "no settings"
		}
		return "a verdict without an end"
	}
	var b strings.Builder
	for _, k := range kinds {
		states := map[string][]string{} // by outcome
		for state := range 16 {
			var name, comes []string
			for i, what := range []string{"settled", "answered", "reached", "alive"} {
				if state>>i&1 == 1 {
					name = append(name, what)
				}
			}
			for more := range 4 {
				synctest.Test(t, func(t *testing.T) {
					s := shapeIn(state&1 == 1, state&2 != 0, state&4 != 0, state&8 != 0)
					s.attempted(time.Now())
					one, two := &trial{}, &trial{}
					var list []string
					for n, tr := range []*trial{one, one, one, two} {
						time.Sleep(10 * time.Second)
						f := failure{AskError: k.says, err: k.err, trial: tr, attempts: n%3 + 1, spent: more&1 == 1 && n > 0,
							failedBefore: more&2 != 0, took: 8 * time.Second, pause: time.Second}
						mine, verdict := s.judge(f)
						list = append(list, outcome(s, mine, verdict))
						if verdict != nil {
							list[n] += ": " + verdict.Error()
							break
						}
					}
					comes = append(comes, "  "+strings.Join(list, "; ")+"\n")
				})
			}
			key := strings.Join(comes, "")
			states[key] = append(states[key], cmp.Or(strings.Join(name, " and "), "new"))
		}
		for _, key := range slices.Sorted(maps.Keys(states)) {
			fmt.Fprintf(&b, "%s, %s:\n%s", k.name, strings.Join(states[key], ", or "), key)
		}
	}
	// How long a model may keep failing: a minute, for as long as it may be loading, or as long as the server asks.
	for _, c := range []struct {
		name              string
		says              *crosstalk.AskError
		first, took, wait time.Duration
	}{
		{"a minute", said(500, 0, ""), 56 * time.Second, 3 * time.Second, time.Second},
		{"more than a minute", said(500, 0, ""), 56 * time.Second, 3 * time.Second, time.Second + 1},
		{"it may be loading", timeout, time.Minute, 40*time.Second + 1, time.Second},
		{"it was loading", timeout, time.Minute, 40 * time.Second, time.Second},
		{"polite", said(429, 0, ""), 5 * time.Minute, time.Second, 5 * time.Minute},
		{"polite beyond the patience", said(429, 0, ""), 5 * time.Minute, time.Second, 5*time.Minute + 1},
		{"to come back", &crosstalk.AskError{Status: 503, RetryAfter: time.Second, Message: "said"}, 2 * time.Minute, time.Second, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			var list []string
			for n := 1; n < 3; n++ {
				s := shapeIn(false, false, true, false)
				s.attempted(time.Now())
				s.failures = n - 1
				time.Sleep(c.first)
				mine, verdict := s.judge(failure{AskError: c.says, err: c.says, trial: &trial{}, attempts: n, took: c.took,
					pause: c.wait})
				list = append(list, fmt.Sprint(outcome(s, mine, verdict), " ", verdict))
			}
			fmt.Fprintf(&b, "%s: %s\n", c.name, strings.Join(list, "; "))
		})
	}
	golden.Check(t, "testdata/judged.txt", b.String())
}

// shapeIn is a way of asking, with the states of the ask, its model and their server.
func shapeIn(settled, answered, reached, alive bool) *shape {
	e := &endpoint{stopper: newStopper(context.Background()), breaker: breaker{patience: 10 * time.Minute,
		reached: reached}}
	if alive {
		e.breaker.newest = 1
	}
	m := &model{endpoint: e, stopper: newStopper(e.stop)}
	m.answered.Store(answered)
	return &shape{model: m, stopper: newStopper(m.stop), settled: settled}
}
