package ask

import (
	"sync"
	"time"
)

// silentAfter is how long an endpoint may leave all requests in flight unanswered
// before Stats says so: longer than most answers take.
const silentAfter = 15 * time.Second

// silence tracks whether an endpoint has answered lately, if only with an error. The zero value is ready to use.
type silence struct {
	mu       sync.Mutex
	inFlight int
	since    time.Time // of the last answer or, without one, the first request
	timedOut bool      // the last request that ended has had no answer
}

// begin notes that a request is sent.
func (s *silence) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inFlight == 0 && !s.timedOut {
		s.since = time.Now()
	}
	s.inFlight++
}

// end notes that a request has ended: with an answer, or because its time was over.
func (s *silence) end(answered bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inFlight--
	if s.timedOut = !answered; answered {
		s.since = time.Now()
	}
}

// wait is that of the requests in flight, if none has been answered for a long time.
func (s *silence) wait(timeout time.Duration) (Wait, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Wait{InFlight: s.inFlight, Timeout: timeout, Since: s.since}, s.inFlight > 0 &&
		time.Since(s.since) >= silentAfter
}
