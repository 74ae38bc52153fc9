package testserver

import (
	"maps"
	"net/http"
	"slices"
	"sync"
)

// Stats is what the server was asked and what it sent, as of now.
type Stats struct {
	Attempts    int // requests that arrived, whatever became of them
	Answered    int // full answers sent, outcomes such as a refusal included
	InFlight    int
	MaxInFlight int
	Status      map[int]int      // answers by HTTP status; those cut short are in Faults only
	Faults      map[Fault]int    // faults dealt
	Requests    map[string]Count // by [Hash]
}

// Count is what became of one distinct request.
type Count struct {
	Path               string
	Attempts, Answered int
}

// Record is a request as it arrived.
type Record struct {
	Method, Path, Query string
	Header              http.Header
	Body                []byte
}

// Stats returns a copy of the counts. An answer is counted before its last byte
// leaves, so whoever has read an answer finds it here.
func (s *Server) Stats() (st Stats) {
	s.ledger.do(func(l *ledger) {
		st = l.stats
		st.Status, st.Faults, st.Requests = maps.Clone(st.Status), maps.Clone(st.Faults), maps.Clone(st.Requests)
	})
	return st
}

// Records returns the requests seen so far in order of arrival, if [Options.Record] is set.
func (s *Server) Records() (records []Record) {
	s.ledger.do(func(l *ledger) { records = slices.Clone(l.records) })
	return records
}

// ledger keeps the counts.
type ledger struct {
	mu       sync.Mutex
	stats    Stats
	admitted map[string]int // attempts of a request that were well-formed
	records  []Record
}

func (l *ledger) do(f func(*ledger)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f(l)
}

// arrive notes a request; leave must follow once.
func (l *ledger) arrive(hash, path string) {
	l.do(func(l *ledger) {
		c := l.stats.Requests[hash]
		l.stats.Requests[hash] = Count{path, c.Attempts + 1, c.Answered}
		l.stats.Attempts++
		l.stats.InFlight++
		l.stats.MaxInFlight = max(l.stats.MaxInFlight, l.stats.InFlight)
	})
}

// admit is the number of this attempt among the well-formed ones of the request, from 1.
func (l *ledger) admit(hash string) (attempt int) {
	l.do(func(l *ledger) {
		l.admitted[hash]++
		attempt = l.admitted[hash]
	})
	return attempt
}

func (l *ledger) leave() { l.do(func(l *ledger) { l.stats.InFlight-- }) }

// answered adds by to the full answers sent; -1 takes one back that did not get through.
func (l *ledger) answered(hash string, by int) {
	l.do(func(l *ledger) {
		c := l.stats.Requests[hash]
		c.Answered += by
		l.stats.Requests[hash] = c
		l.stats.Answered += by
	})
}

func (l *ledger) fault(f Fault) { l.do(func(l *ledger) { l.stats.Faults[f]++ }) }
