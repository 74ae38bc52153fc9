package testserver

import (
	"maps"
	"net/http"
	"sync"
	"time"
)

// Stats is what the server was asked and what it sent, as of now.
type Stats struct {
	Attempts    int              `json:"attempts"` // requests that arrived, whatever became of them
	Answered    int              `json:"answered"` // full answers sent, outcomes such as a refusal included
	Limited     int              `json:"limited"`  // turned away by MaxConcurrency or RPM
	InFlight    int              `json:"in_flight"`
	MaxInFlight int              `json:"max_in_flight"`
	Status      map[int]int      `json:"status"`   // answers by HTTP status; those cut short are in Faults only
	Faults      map[Fault]int    `json:"faults"`   // faults dealt
	Requests    map[string]Count `json:"requests"` // by [Hash]
}

// Count is what became of one distinct request.
type Count struct {
	Method   string `json:"method"`
	Path     string `json:"path"`
	Attempts int    `json:"attempts"`
	Answered int    `json:"answered"`
	Limited  int    `json:"limited"`
}

// Record is a request as it arrived.
type Record struct {
	Method, Path, Query string
	Header              http.Header
	Body                []byte
}

// Stats gives a copy of the counts. An answer is counted before its last byte
// leaves, so whoever has read an answer finds it here.
func (s *Server) Stats() Stats {
	l := &s.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	st := l.stats
	st.Status, st.Faults = maps.Clone(st.Status), maps.Clone(st.Faults)
	st.Requests = make(map[string]Count, len(l.counts))
	for hash, c := range l.counts {
		st.Requests[hash] = c.Count
	}
	return st
}

// Records gives the requests seen so far in order of arrival, if
// [Options.Record] is set.
func (s *Server) Records() []Record {
	l := &s.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Record(nil), l.records...)
}

type tally struct {
	Count
	admitted int
}

// ledger keeps the counts and enforces the two limits.
type ledger struct {
	mu       sync.Mutex
	stats    Stats // Requests unused
	counts   map[string]*tally
	records  []Record
	maxConc  int
	rpm      int
	window   time.Duration
	admitted []time.Time // within the last window, oldest first
}

func (l *ledger) init(o Options) {
	l.stats.Status, l.stats.Faults = map[int]int{}, map[Fault]int{}
	l.counts = map[string]*tally{}
	l.maxConc, l.rpm, l.window = o.MaxConcurrency, o.RPM, o.Window
}

// arrive notes a request, and how many are in flight with it; leave must follow once.
func (l *ledger) arrive(hash, method, path string) (c *tally, inFlight int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c = l.counts[hash]
	if c == nil {
		c = &tally{Count: Count{Method: method, Path: path}}
		l.counts[hash] = c
	}
	c.Attempts++
	l.stats.Attempts++
	l.stats.InFlight++
	l.stats.MaxInFlight = max(l.stats.MaxInFlight, l.stats.InFlight)
	return c, l.stats.InFlight
}

func (l *ledger) leave() {
	l.mu.Lock()
	l.stats.InFlight--
	l.mu.Unlock()
}

// answered adds by to the full answers sent for c; -1 takes one back that did
// not get through.
func (l *ledger) answered(c *tally, by int) {
	l.mu.Lock()
	c.Answered += by
	l.stats.Answered += by
	l.mu.Unlock()
}

func (l *ledger) status(code int) {
	l.mu.Lock()
	l.stats.Status[code]++
	l.mu.Unlock()
}

func (l *ledger) fault(f Fault) {
	l.mu.Lock()
	l.stats.Faults[f]++
	l.mu.Unlock()
}

func (l *ledger) record(r Record) {
	l.mu.Lock()
	l.records = append(l.records, r)
	l.mu.Unlock()
}

// admission is the ledger's ruling on one attempt.
type admission struct {
	attempt   int // 1 for the first attempt of the request that was let in; 0: turned away
	answered  int // full answers sent for the request before
	crowded   bool
	wait      time.Duration // until the RPM window has room again
	remaining int           // requests left in the window
}

// admit rules on an attempt by what was in flight when it arrived: one that
// arrives later never takes its place.
func (l *ledger) admit(c *tally, inFlight int) admission {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := admission{answered: c.Answered}
	now := time.Now()
	for len(l.admitted) > 0 && now.Sub(l.admitted[0]) >= l.window {
		l.admitted = l.admitted[1:]
	}
	if len(l.admitted) > 0 {
		a.wait = l.window - now.Sub(l.admitted[0])
	}
	a.crowded = l.maxConc > 0 && inFlight > l.maxConc
	if a.crowded || l.rpm > 0 && len(l.admitted) >= l.rpm {
		c.Limited++
		l.stats.Limited++
		return a
	}
	if l.rpm > 0 {
		l.admitted = append(l.admitted, now)
		a.remaining = l.rpm - len(l.admitted)
	}
	c.admitted++
	a.attempt = c.admitted
	return a
}
