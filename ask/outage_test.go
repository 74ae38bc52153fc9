package ask_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"crosstalk"
	"crosstalk/ask"
)

var unreachable = &net.OpError{Op: "dial", Err: errors.New("refused")}

// outages are the ways in which a server can be gone.
var outages = map[string]func(context.Context) error{
	"nobody listens": func(context.Context) error {
		return &crosstalk.AskError{Message: "nothing listens", Err: unreachable}
	},
	"500": func(context.Context) error { return &crosstalk.AskError{Status: 500, Message: "failed"} },
	"502": func(context.Context) error { return &crosstalk.AskError{Status: 502, Message: "bad gateway"} },
	"503": func(context.Context) error {
		return &crosstalk.AskError{Fault: crosstalk.Overloaded, Status: 503, Message: "busy"}
	},
	"retry after": func(context.Context) error {
		return &crosstalk.AskError{Fault: crosstalk.Overloaded, Status: 503, RetryAfter: 20 * time.Second, Message: "busy"}
	},
	"reset": func(context.Context) error { return errors.New("connection reset by peer") },
	"some hang": func(ctx context.Context) error {
		if time.Now().UnixNano()/1000%3 == 0 {
			<-ctx.Done()
			return ctx.Err()
		}
		return &crosstalk.AskError{Status: 500, Message: "failed"}
	},
	"hangs": func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
	"slow 500": func(ctx context.Context) error {
		if err := wait(ctx, 20*time.Second); err != nil {
			return err
		}
		return &crosstalk.AskError{Status: 500, Message: "failed"}
	},
}

// down is a model that answers in a second, except between from and to.
func down(l *log, from, to time.Duration, how func(context.Context) error) *model {
	return &model{answer: func(ctx context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
		l.enter(req)
		defer l.leave()
		if at := time.Since(l.start); at >= from && at < to {
			return crosstalk.Answer{}, how(ctx)
		}
		err := wait(ctx, time.Second+time.Duration(req.Sample)*time.Microsecond)
		if at := time.Since(l.start); err == nil && at >= from && at < to {
			return crosstalk.Answer{}, how(ctx) // it goes away in the middle
		}
		return text("yes"), err
	}}
}

// An outage of five minutes fails no ask of 2,000, whatever it looks like, and
// while it lasts the server is left alone.
func TestOutage(t *testing.T) {
	for name, how := range outages {
		for _, concurrency := range []int{1, 4, 64} {
			t.Run(fmt.Sprintf("%s, %d", name, concurrency), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					const from, to = 10 * time.Second, 310 * time.Second
					l := newLog()
					s := ask.NewSession(&ask.Memory{}, ask.Options{Concurrency: concurrency, Timeout: 30 * time.Second, Retries: 1})
					waits := make(chan []ask.Wait, 1)
					time.AfterFunc(200*time.Second, func() { waits <- s.Stats().Waits })
					for i, r := range askAll(t.Context(), s.For(down(l, from, to, how)), 1000) {
						if r.err != nil || r.answer.Status != crosstalk.Text {
							t.Fatalf("%d: %+v", i, r)
						}
					}
					during, last := 0, time.Duration(0)
					for _, at := range l.sorted() {
						if at >= from+30*time.Second && at < to {
							during++
						}
						last = max(last, at)
					}
					// Thirty seconds between probes, and what an attempt takes; the limit grows again after 503s.
					if best := 1000/time.Duration(concurrency)*time.Second + (to - from); during > 30+concurrency ||
						last > best+5*time.Minute {
						t.Errorf("%d attempts during the outage; done after %v, at best %v", during, last, best)
					}
					got := <-waits
					if len(got) != 1 || !got[0].Down || got[0].Since.Sub(l.start) > 45*time.Second ||
						!strings.HasPrefix(got[0].Text(time.Now()), "server down since ") {
						t.Errorf("%+v", got)
					}
					if stats := s.Stats(); stats.Failed != 0 || len(stats.Waits) != 0 {
						t.Errorf("%+v", stats)
					}
					t.Logf("%d attempts during the outage, done after %v", during, last)
				})
			})
		}
	}
}

// An outage that outlasts the patience ends the asking; nothing has failed, and
// a resumed run asks for the rest.
func TestPatience(t *testing.T) {
	for name, how := range outages {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLog()
				memory := &ask.Memory{}
				s := ask.NewSession(memory, ask.Options{Patience: 5 * time.Minute, Timeout: 30 * time.Second})
				answered := 0
				m := down(l, 10*time.Second, time.Hour, how)
				for i, r := range askAll(t.Context(), s.For(m), 1000) {
					var limit *ask.LimitError
					switch {
					case r.err == nil && r.answer.Status == crosstalk.Text:
						answered++
					case !errors.As(r.err, &limit) || !strings.Contains(limit.Reason, "--patience 5m"):
						t.Fatalf("%d: %+v", i, r)
					case r.at > 10*time.Second+5*time.Minute+90*time.Second: // the attempts under way, and a last one
						t.Fatalf("%d: told after %v", i, r.at)
					}
				}
				if answered == 0 || s.Stats().Answered != answered || s.Stats().Failed != 0 ||
					!errors.As(s.Reason(), new(*ask.LimitError)) {
					t.Errorf("%d answered, %+v, %v", answered, s.Stats(), s.Reason())
				}
				t.Log(s.Reason())
				// The server is still down: that is said soon, for nothing shows that it works.
				s = ask.NewSession(memory, ask.Options{Timeout: 10 * time.Second, Patience: time.Minute})
				start := time.Now()
				askAll(t.Context(), s.For(m), 1000)
				if took := time.Since(start); took > time.Minute || !errors.As(s.Reason(), new(*ask.ModelError)) ||
					s.Stats().Failed > 0 {
					t.Errorf("resumed: %v after %v, %+v", s.Reason(), took, s.Stats())
				}
				time.Sleep(time.Hour)
				s = ask.NewSession(memory, ask.Options{})
				results := askAll(t.Context(), s.For(m), 1000)
				if got := s.Stats(); got.Answered != 1000 || got.Cached != answered {
					t.Errorf("resumed again: %+v, %+v", got, results[999])
				}
			})
		})
	}
}

// Requests that the server always fails at fail alone, be they first, in the
// middle, last, the only ones left, or many.
func TestBadRequests(t *testing.T) {
	some := func(bad ...int) func(int) bool {
		return func(i int) bool {
			for _, b := range bad {
				if b == i {
					return true
				}
			}
			return false
		}
	}
	for name, bad := range map[string]func(int) bool{
		"first": some(0), "middle": some(100), "last": some(199), "last two": some(198, 199), "scouts": some(0, 1, 2), "every tenth": func(i int) bool { return i%10 == 3 },
	} {
		for _, concurrency := range []int{1, 8, 64} {
			for _, how := range []string{"500", "reset", "hangs"} {
				t.Run(fmt.Sprintf("%s, %d, %s", name, concurrency, how), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						l := newLog()
						var attempts atomic.Int64 // of bad requests
						m := &model{answer: func(ctx context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
							l.enter(req)
							if bad(req.Sample) {
								attempts.Add(1)
								return crosstalk.Answer{}, outages[how](ctx)
							}
							return text("yes"), wait(ctx, time.Second)
						}}
						memory := &ask.Memory{}
						s := ask.NewSession(memory, ask.Options{Concurrency: concurrency, Timeout: 10 * time.Second})
						check := func(results []result) {
							t.Helper()
							for i, r := range results {
								want := crosstalk.Text
								if bad(i) {
									want = crosstalk.Failed
								}
								if r.err != nil || r.answer.Status != want {
									t.Fatalf("%d: %v %v at %v", i, r.err, r.answer.Status, r.at)
								}
							}
						}
						check(askAll(t.Context(), s.For(m), 200))
						t.Logf("%v", time.Since(l.start))
						// Resumed, only they are asked, and they fail again.
						before := attempts.Load()
						s = ask.NewSession(memory, ask.Options{Concurrency: concurrency, Timeout: 10 * time.Second})
						check(askAll(t.Context(), s.For(m), 200))
						if again, want := int(attempts.Load()-before), 9*s.Stats().Failed; again != want {
							t.Errorf("%d attempts in the resumed run; want %d", again, want)
						}
					})
				})
			}
		}
	}
}

// A server that answers nothing from the first ask on ends the run within a
// minute, with its own words.
func TestBrokenFromTheStart(t *testing.T) {
	broken := map[string]func(context.Context) error{"slower 500": func(ctx context.Context) error {
		if err := wait(ctx, 45*time.Second); err != nil {
			return err
		}
		return &crosstalk.AskError{Status: 500, Message: "failed"}
	}, "cold 500": func(ctx context.Context) error {
		if err := wait(ctx, 59*time.Second); err != nil {
			return err
		}
		return &crosstalk.AskError{Status: 500, Message: "failed"}
	}}
	for name, how := range outages {
		broken[name] = how
	}
	for name, how := range broken {
		for _, retries := range []int{0, 3, -1} {
			t.Run(fmt.Sprintf("%s, %d", name, retries), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					l := newLog()
					options := ask.Options{Retries: retries, Patience: time.Minute}
					if strings.HasSuffix(name, "hang") || name == "hangs" {
						options.Timeout = 20 * time.Second
					}
					s := ask.NewSession(&ask.Memory{}, options)
					results := askAll(t.Context(), s.For(down(l, 0, time.Hour, how)), 200)
					failed := 0
					for i, r := range results {
						switch {
						case r.err != nil && r.at > time.Minute && retries >= 0:
							t.Fatalf("%d: told after %v", i, r.at)
						case r.err == nil && r.answer.Status == crosstalk.Failed:
							failed++
						case !errors.As(r.err, new(*ask.ModelError)):
							t.Fatalf("%d: %+v", i, r)
						}
					}
					if failed > 3 || l.total() > 40 || retries >= 0 && failed > 0 {
						t.Errorf("%d failed, %d attempts", failed, l.total())
					}
					t.Logf("after %v, %d attempts: %v", results[199].at, l.total(), s.Reason())
				})
			})
		}
	}
}

// A scout that hangs does not keep the others from ending the run.
func TestHangingScout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{answer: func(ctx context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
			if req.Sample == 0 {
				return crosstalk.Answer{}, outages["hangs"](ctx)
			}
			return crosstalk.Answer{}, outages["500"](ctx)
		}}
		s := ask.NewSession(&ask.Memory{}, ask.Options{Timeout: time.Hour})
		asker := s.For(m)
		var first result
		start := time.Now()
		done := make(chan struct{})
		go func() {
			first.answer, first.err = asker.Ask(t.Context(), request(0))
			close(done)
		}()
		synctest.Wait()
		askAll(t.Context(), asker, 50)
		<-done
		if took := time.Since(start); took > time.Minute || !errors.As(first.err, new(*ask.ModelError)) {
			t.Errorf("%v after %v", first.err, took)
		}
	})
}

// A long wait is said in words.
func TestYearsOfRetryAfter(t *testing.T) {
	for wait, want := range map[time.Duration]string{
		25 * time.Hour: "25h", 49 * time.Hour: "2 days", 10 * 365 * 24 * time.Hour: "10 years", 100 * 365 * 24 * time.Hour: "100 years",
	} {
		m := &model{answer: func(context.Context, crosstalk.Request) (crosstalk.Answer, error) {
			return crosstalk.Answer{}, &crosstalk.AskError{Fault: crosstalk.Overloaded, Status: 429, RetryAfter: wait, Message: "quota"}
		}}
		s := ask.NewSession(&ask.Memory{}, ask.Options{Concurrency: 1})
		askAll(t.Context(), s.For(m), 1)
		if want := "stopped: the server asks to wait for " + want + ", longer than --patience 10m; it said: quota"; s.Reason() == nil || s.Reason().Error() != want {
			t.Errorf("%v, want %s", s.Reason(), want)
		}
	}
}

// What a server asks for is shown while it lasts; what is longer than the
// patience is not waited for.
func TestLongRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLog()
		m := &model{answer: func(_ context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
			if l.enter(req); l.total() == 5 {
				return crosstalk.Answer{}, &crosstalk.AskError{Fault: crosstalk.Overloaded, Status: 429, RetryAfter: time.Hour,
					Message: "quota"}
			}
			return text("yes"), nil
		}}
		memory := &ask.Memory{}
		s := ask.NewSession(memory, ask.Options{Concurrency: 1})
		limited := 0
		for _, r := range askAll(t.Context(), s.For(m), 50) {
			if errors.As(r.err, new(*ask.LimitError)) {
				limited++
			}
		}
		want := "stopped: the server asks to wait for 1h, longer than --patience 10m; it said: quota"
		if limited != 46 || l.total() != 5 || s.Reason() == nil || s.Reason().Error() != want ||
			time.Since(l.start) > time.Second {
			t.Errorf("%d limited, %d attempts, %v after %v", limited, l.total(), s.Reason(), time.Since(l.start))
		}

		*l = *newLog()
		s = ask.NewSession(&ask.Memory{}, ask.Options{Concurrency: 1, Patience: 2 * time.Hour})
		time.AfterFunc(time.Minute, func() {
			w := s.Stats().Waits
			if len(w) != 1 || w[0].Down || w[0].Why != "quota" || !strings.HasSuffix(w[0].Text(time.Now()), " (59 min), as the server asked") {
				t.Errorf("%+v", w)
			}
		})
		askAll(t.Context(), s.For(m), 50)
		if got := s.Stats(); got.Answered != 50 || len(got.Waits) > 0 || time.Since(l.start) < time.Hour {
			t.Errorf("%+v after %v", got, time.Since(l.start))
		}
	})
}

// Asks that fail while later ones are answered are to blame themselves: when only they are left, each uses up its own
// retries, and the server is not down.
func TestBadRequestsAreNoOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{answer: func(ctx context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
			if req.Sample >= 1000 {
				return crosstalk.Answer{}, outages["500"](ctx)
			}
			return text("yes"), wait(ctx, time.Second)
		}}
		s := ask.NewSession(&ask.Memory{}, ask.Options{})
		asker := s.For(m)
		askAll(t.Context(), asker, 1) // it works
		start := time.Now()
		var bad sync.WaitGroup
		for i := range 6 {
			bad.Go(func() {
				a, err := asker.Ask(t.Context(), request(1000+i))
				if err != nil || a.Status != crosstalk.Failed || a.Attempts != 9 {
					t.Errorf("%d: %+v, %v", i, a, err)
				}
			})
		}
		synctest.Wait()
		askAll(t.Context(), asker, 50)
		time.Sleep(20 * time.Second)
		for _, w := range s.Stats().Waits {
			t.Errorf("waits: %+v", w)
		}
		bad.Wait()
		if took := time.Since(start); took > 2*time.Minute {
			t.Errorf("%v", took)
		}
	})
}

// An ask fails for nothing that it cannot have caused: a gateway without its server, a limit of the rate, nobody there.
func TestInnocentAsk(t *testing.T) {
	for name, how := range map[string]error{
		"502": &crosstalk.AskError{Status: 502}, "429": &crosstalk.AskError{Fault: crosstalk.Overloaded, Status: 429},
		"nobody": &crosstalk.AskError{Err: unreachable}, "500": &crosstalk.AskError{Status: 500},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := newLog()
			m := &model{answer: func(_ context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
				if l.enter(req); req.Sample > 0 && time.Since(l.start) < 5*time.Minute {
					return crosstalk.Answer{}, how
				}
				return text("yes"), nil
			}}
			asker := ask.NewSession(&ask.Memory{}, ask.Options{Retries: 2}).For(m)
			asker.Ask(t.Context(), request(0))
			a, err := asker.Ask(t.Context(), request(1))
			want := crosstalk.Text
			if name == "500" {
				want = crosstalk.Failed
			}
			if err != nil || a.Status != want {
				t.Errorf("%s: %+v, %v", name, a, err)
			}
		})
	}
}
