package ask

import (
	"testing"
	"testing/synctest"
	"time"

	"crosstalk"
)

// A server nearby gets one request at first, one on the internet 32; none gets more than the user allows.
func TestStart(t *testing.T) {
	for address, near := range map[string]bool{
		"": false, "http://127.0.0.1:8080/v1": true, "http://127.9.9.9/v1": true, "http://[::1]:8080": true,
		"http://localhost:1234/v1": true, "http://LOCALHOST.": true, "http://box.localhost": true, "http://10.1.2.3": true,
		"http://172.16.0.1": true, "http://172.32.0.1": false, "https://192.168.1.9": true, "http://192.169.1.9": false,
		"http://169.254.7.7": true, "http://[fe80::1%25eth0]:80": true, "http://[fd00::5]": true, "http://[2001:db8::1]": false,
		"http://[::ffff:10.0.0.1]": true, "http://0.0.0.0:8000": true, "http://ollama:11434": true, "http://mac.local": true,
		"http://host.docker.internal:11434": true, "https://api.openai.com/v1": false, "https://localhost.example.com": false,
		"http://8.8.8.8": false, "not a url": false, "http://%zz": false,
	} {
		want := 32
		if near {
			want = 1
		}
		if l := newLimiter(address, Options{Concurrency: 64, Timeout: time.Minute}); l.limit != want || l.max != 64 {
			t.Errorf("%q: begins at %d, at most %d; want %d", address, l.limit, l.max, want)
		}
		if l := newLimiter(address, Options{Concurrency: 3}); l.limit != min(want, 3) {
			t.Errorf("%q: begins at %d of 3", address, l.limit)
		}
	}
}

// rounds gives a limiter n rounds of answers, which take a time each, and returns the limit after each.
func (l *limiter) rounds(n int, took time.Duration) (limits []int) {
	for range n {
		began := time.Now()
		time.Sleep(took)
		for range max(l.limit, fewestTimes) {
			l.answered(began, took, true)
		}
		limits = append(limits, l.limit)
	}
	return limits
}

func TestLimiter(t *testing.T) {
	is := func(t *testing.T, what string, got []int, want ...int) {
		t.Helper()
		if len(got) != len(want) {
			t.Fatalf("%s: %v; want %v", what, got, want)
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%s: %v; want %v", what, got, want)
				return
			}
		}
	}
	nearby := func() limiter {
		return newLimiter("http://localhost", Options{Concurrency: 50, Timeout: time.Minute})
	}
	for name, test := range map[string]func(t *testing.T){
		"doubles while answers take as long": func(t *testing.T) {
			l := nearby()
			is(t, "", l.rounds(8, time.Second), 2, 4, 8, 16, 32, 50, 50, 50)
		},
		"goes back from what is not faster, and tries again after ten rounds": func(t *testing.T) {
			l := nearby()
			is(t, "one slot", append(l.rounds(1, time.Second), l.rounds(1, 2*time.Second)...), 2, 1)
			is(t, "it rests", l.rounds(10, time.Second), 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)
			is(t, "and tries again", append(l.rounds(1, time.Second), l.rounds(1, 2*time.Second)...), 2, 1)
		},
		"a doubling has to bring a good part of what it can": func(t *testing.T) {
			l := nearby()
			is(t, "", append(l.rounds(1, time.Second), l.rounds(1, 1410*time.Millisecond)...), 2, 4)
			l = nearby()
			is(t, "", append(l.rounds(1, time.Second), l.rounds(1, 1420*time.Millisecond)...), 2, 1)
			l = nearby()
			l.limit = 32 // 50 are no double
			is(t, "", append(l.rounds(1, time.Second), l.rounds(1, 1260*time.Millisecond)...), 50, 32)
		},
		"what has been judged is not judged again": func(t *testing.T) {
			l := nearby()
			l.rounds(7, time.Second)
			is(t, "later answers are longer", l.rounds(2, 3*time.Second), 50, 50)
		},
		"comes nowhere near the timeout": func(t *testing.T) {
			l := nearby()
			is(t, "", l.rounds(2, 15100*time.Millisecond), 1, 1)
			is(t, "", l.rounds(1, 15*time.Second), 2)
		},
		"counts only answers of its own round": func(t *testing.T) {
			l := nearby()
			began := time.Now()
			time.Sleep(time.Second)
			for range 20 {
				l.answered(began, time.Second, false) // few were in flight
			}
			is(t, "", []int{l.limit}, 1)
			l.rounds(1, time.Second)
			for range 20 {
				l.answered(began, time.Second, true) // they began before the last change
			}
			is(t, "", []int{l.limit}, 2)
			for range 3 {
				l.answered(time.Now(), time.Second, true)
			}
			is(t, "three", []int{l.limit}, 2)
			l.answered(time.Now(), time.Second, true)
			is(t, "four", []int{l.limit}, 4)
		},
		"an overload halves it once a round trip, and then it grows by one": func(t *testing.T) {
			l := nearby()
			l.rounds(6, time.Second)
			before := time.Now()
			time.Sleep(time.Second)
			l.overload(time.Now())
			is(t, "", []int{l.limit}, 25)
			l.overload(before)
			is(t, "sent before the last one", []int{l.limit}, 25)
			is(t, "", l.rounds(3, time.Second), 26, 27, 28)
			for range 9 {
				time.Sleep(time.Second)
				l.overload(time.Now())
			}
			is(t, "not below one", []int{l.limit}, 1)
			is(t, "", l.rounds(2, time.Second), 2, 3)
		},
		"an overload forgets the doubling before it": func(t *testing.T) {
			l := nearby()
			l.rounds(3, time.Second) // 8
			time.Sleep(time.Second)
			l.overload(time.Now())
			is(t, "", l.rounds(1, 10*time.Second), 5)
		},
	} {
		t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
	}
}

// The attempt while a server is down is alone: its failure says nothing about how much the server can take.
func TestProbesKeepTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEndpoint("", t.Context(), Options{Concurrency: 16, Patience: time.Hour, Backoff: time.Second})
		over := &crosstalk.AskError{Fault: crosstalk.Overloaded, Status: 503}
		for _, probe := range []bool{true, false} {
			time.Sleep(time.Second)
			e.slow(&trial{began: time.Now(), probe: probe}, over)
			if want := map[bool]int{true: 16, false: 8}[probe]; e.limit.limit != want {
				t.Errorf("probe %v: %d; want %d", probe, e.limit.limit, want)
			}
		}
	})
}

// Nothing begins at a server that is down, or asks to wait, but the one probe; a probe that shows nothing is followed
// by a pause. A server that limits the rate of requests is not down.
func TestDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fresh := func() *endpoint {
			return newEndpoint("", t.Context(), Options{Concurrency: 16, Patience: time.Hour, Backoff: time.Second})
		}
		for name, set := range map[string]func(*endpoint){
			"down":  func(e *endpoint) { e.down = true },
			"waits": func(e *endpoint) { e.resume = time.Now().Add(time.Minute) },
		} {
			e := fresh()
			if set(e); e.begin(&trial{}) || !e.begin(&trial{probe: true}) {
				t.Errorf("%s: an attempt begins, or the probe does not", name)
			}
		}
		for status, down := range map[int]bool{429: false, 500: true} {
			e := fresh()
			for range 2 {
				for _, ask := range []*trial{{began: time.Now()}, {began: time.Now()}} {
					e.failed(ask, &crosstalk.AskError{Status: status})
				}
			}
			if e.down != down {
				t.Errorf("%d: down %v", status, e.down)
			}
			if !down {
				if e.failed(&trial{began: time.Now()}, &crosstalk.AskError{Status: 500}); e.down {
					t.Error("down after one failure")
				}
				continue
			}
			time.Sleep(time.Minute)
			probe := &trial{probe: true}
			e.inFlight, e.trying = 1, true
			if e.release(probe); probe.probe || e.trying || time.Until(e.next) != time.Second {
				t.Errorf("%+v, trying %v, the next in %v", probe, e.trying, time.Until(e.next))
			}
		}
	})
}
