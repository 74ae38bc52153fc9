package ask

import (
	"math"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// limiter finds how many requests an endpoint should get at once. The limit doubles while that brings more answers a
// second, which Little's law tells from their times: twice as many at once that take twice as long bring none. An
// overload halves it, and then it grows by one a round (Chiu and Jain 1989). A round is as many answers as the limit.
// Its owner's mutex guards it.
type limiter struct {
	limit, max int
	timeout    time.Duration // of a request
	changed    time.Time     // when the limit was; requests that began before say nothing about it
	overloaded bool          // once, so it no longer doubles

	answers int           // in this round
	took    time.Duration // by all of them

	from   int           // the limit before the last doubling, 0 once that is judged
	before time.Duration // the mean time of an answer then
	rest   int           // rounds until it doubles again
}

const (
	startAway   = 32 // services on the internet serve many at once, and say so if they are asked too much
	fewestTimes = 4  // answers in a round
	restRounds  = 10 // after a doubling that brought nothing
)

// newLimiter returns the limiter of an endpoint, an address. A server nearby may have one slot, and queue silently what
// it cannot serve until it times out: its limit begins at 1.
func newLimiter(address string, o Options) limiter {
	start := startAway
	if nearby(address) {
		start = 1
	}
	return limiter{limit: min(start, o.Concurrency), max: o.Concurrency, timeout: o.Timeout}
}

// nearby reports whether a URL is of this machine or a private network.
func nearby(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return false
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if ip, err := netip.ParseAddr(host); err == nil {
		ip = ip.Unmap()
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsUnspecified()
	}
	switch top := host[strings.LastIndexByte(host, '.')+1:]; top {
	case host, "localhost", "local", "internal", "lan":
		return true
	}
	return false
}

// answered records an answer. full: when its request began, as many were in flight as the limit allows.
func (l *limiter) answered(began time.Time, took time.Duration, full bool) {
	if !full || began.Before(l.changed) {
		return
	}
	l.answers++
	l.took += took
	round := l.limit
	if !l.overloaded { // a mean is taken
		round = max(round, fewestTimes)
	}
	if l.answers < round {
		return
	}
	mean := l.took / time.Duration(l.answers)
	l.answers, l.took = 0, 0
	if from := l.from; from > 0 {
		l.from = 0
		// Between a server that serves all at once, and one that serves them in turn.
		if slower := float64(mean) / float64(l.before); slower > math.Sqrt(float64(l.limit)/float64(from)) {
			l.set(from)
			l.rest = restRounds
			return
		}
	}
	switch {
	case l.rest > 0:
		l.rest--
	case l.limit == l.max, mean > l.timeout/4: // twice that, and a long answer, would time out
	case l.overloaded:
		l.set(l.limit + 1)
	default:
		l.from, l.before = l.limit, mean
		l.set(min(2*l.limit, l.max))
	}
}

// overload records that the server could not take a request that began at a time.
func (l *limiter) overload(began time.Time) {
	if began.After(l.changed) {
		l.from, l.rest, l.overloaded = 0, 0, true
		l.set(max(1, l.limit/2))
	}
}

func (l *limiter) set(limit int) {
	l.limit, l.changed, l.answers, l.took = limit, time.Now(), 0, 0
}
