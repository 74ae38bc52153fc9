package ask

import "crosstalk"

// Stats are a session's counts up to a moment.
type Stats struct {
	Done    int // distinct asks that have an answer, failed ones included
	Cached  int // of these: answered by the journal
	Failed  int
	Empty   int
	Refused int
	Retries int    // attempts beyond the first
	Trouble string // why the last attempt that gave no answer gave none
	Usage   crosstalk.Usage
	Cost    float64 // of the answers that were not cached
}

// Stats returns the counts so far.
func (s *Session) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	stats := s.stats
	return stats
}

// count adds an answer, once per key, and returns how many asks have failed.
func (a *asker) count(key crosstalk.Key, answer crosstalk.Answer, cached bool) (failed int) {
	s := a.Session
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, again := s.seen[key]; again {
		return s.stats.Failed
	}
	s.seen[key] = struct{}{}
	s.stats.Done++
	switch answer.Status {
	case crosstalk.Failed:
		s.stats.Failed++
		s.stats.Trouble = answer.Reason
	case crosstalk.Empty:
		s.stats.Empty++
	case crosstalk.Refused:
		s.stats.Refused++
	}
	if cached {
		s.stats.Cached++
		return s.stats.Failed
	}
	u := answer.Usage
	s.stats.Usage.Prompt += u.Prompt
	s.stats.Usage.Completion += u.Completion
	s.stats.Usage.Reasoning += u.Reasoning
	s.stats.Cost += a.options.Budget.Prices.Cost(a.id.Name, u)
	return s.stats.Failed
}

func (s *Session) retried(err error) {
	s.mu.Lock()
	s.stats.Retries++
	s.stats.Trouble = err.Error()
	s.mu.Unlock()
}
