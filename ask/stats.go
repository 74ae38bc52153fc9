package ask

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"crosstalk"
	"crosstalk/internal/duration"
)

// Stats are a session's counts up to a moment, of distinct asks.
type Stats struct {
	Done     int // Answered and Failed
	Answered int // with a text, empty or refused
	Cached   int // of Answered: by the journal
	Empty    int // of Answered
	Refused  int // of Answered
	Cut      int // of Answered: ended by the limit on their tokens
	Thought  int // of Answered: the model thought, as far as the answer shows
	Failed   int
	Retries  int    // attempts beyond the first of each ask
	Trouble  string // why the last attempt that gave no answer gave none

	CachedCost float64 // of the cached ones, as if they were asked now

	// Of the answers that were not cached:
	Usage crosstalk.Usage
	Cost  float64

	Waits   []Wait  // what keeps endpoints from being asked now
	Batches Batches // that are waited for
}

// Text counts the answers in a few words: "120 answers, 3 of them from an earlier run, cost 0.0100".
func (s Stats) Text() string {
	text := fmt.Sprintf("%d answers", s.Answered)
	if s.Cached > 0 {
		text += fmt.Sprintf(", %d of them from an earlier run", s.Cached)
	}
	if s.Cut > 0 {
		text += fmt.Sprintf(", %d cut at the token limit", s.Cut)
	}
	if s.Thought > 0 {
		text += fmt.Sprintf(", %d after thinking", s.Thought)
	}
	if n := s.Usage.Reasoning; n > 0 {
		text += fmt.Sprintf(" (%d tokens)", n)
	}
	if s.Cost > 0 {
		text += fmt.Sprintf(", cost %.4f", s.Cost)
	}
	return text
}

// Batches are the batches at providers that are waited for.
type Batches struct {
	N     int       // batches
	Asks  int       // in them
	Done  int       // of these, as the providers say
	Since time.Time // when the first of them was submitted
}

// Text is the wait in a few words, for one line: "1941 requests in 2 batches since 14:02, 812 done".
func (b Batches) Text() string {
	return fmt.Sprintf("%s in %s since %s, %d done", many(b.Asks, "request", "s"), many(b.N, "batch", "es"),
		b.Since.Local().Format("15:04"), b.Done)
}

func many(n int, what, plural string) string {
	if n != 1 {
		what += plural
	}
	return fmt.Sprintf("%d %s", n, what)
}

// Wait is why an endpoint is not asked at the moment, or that it has not answered for a long time.
type Wait struct {
	Endpoint string
	InFlight int           // requests that it has not answered, if it is asked and answers nothing
	Timeout  time.Duration // of each of them
	Down     bool          // it fails: one ask at a time is tried, the others wait
	Since    time.Time     // of the first failure, if it is down; of the last answer or the first request in flight
	Until    time.Time     // when it is asked next; in the past: an attempt is under way
	Why      string        // what the server said last
}

// Text is the wait at the time now, without the endpoint: "server down since 14:02, next try in 8 s".
func (w Wait) Text(now time.Time) string {
	left := w.Until.Sub(now)
	switch {
	case w.InFlight > 0:
		return fmt.Sprintf("no answer since %s to %s (--timeout %s)", clock(w.Since), many(w.InFlight, "request", "s"),
			duration.Text(w.Timeout))
	case w.Down && left <= 0:
		return fmt.Sprintf("server down since %s, trying again", w.Since.Local().Format("15:04"))
	case w.Down:
		return fmt.Sprintf("server down since %s, next try in %s", w.Since.Local().Format("15:04"), short(left))
	}
	return fmt.Sprintf("waiting until %s (%s), as the server asked", w.Until.Local().Format("15:04:05"), short(left))
}

func short(d time.Duration) string {
	if d < 2*time.Minute {
		return fmt.Sprintf("%d s", (d+time.Second-1)/time.Second)
	}
	return fmt.Sprintf("%d min", (d+time.Minute/2)/time.Minute)
}

// Stats returns the counts so far.
func (s *Session) Stats() Stats {
	s.mu.Lock()
	stats, endpoints := s.stats, s.endpoints
	for _, b := range s.waiting {
		all := &stats.Batches
		all.N, all.Asks, all.Done = all.N+1, all.Asks+len(b.Asks), all.Done+b.done
		if all.Since.IsZero() || b.At.Before(all.Since) {
			all.Since = b.At
		}
	}
	s.mu.Unlock()
	for _, e := range endpoints {
		wait, waiting := e.breaker.wait()
		if !waiting {
			wait, waiting = e.limit.wait()
		}
		if !waiting {
			wait, waiting = e.silence.wait(s.options.Timeout)
		}
		if waiting && e.stop.Err() == nil {
			wait.Endpoint = e.name
			stats.Waits = append(stats.Waits, wait)
		}
	}
	return stats
}

type source int

const (
	fromJournal source = iota
	fromModel
	fromBatch
)

// count adds an answer, once per key.
func (a *asker) count(key crosstalk.Key, req crosstalk.Request, answer crosstalk.Answer, from source) {
	s := a.Session
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, again := s.seen[key.Short()]; again {
		delete(s.fresh, key)
		return
	}
	s.seen[key.Short()] = struct{}{}
	if _, fresh := s.fresh[key]; fresh {
		from = fromModel // another caller found in the journal what this session asked
		delete(s.fresh, key)
	}
	s.stats.Done++
	if answer.Status == crosstalk.Failed {
		s.stats.Failed++
		s.stats.Trouble = answer.Reason
		return
	}
	a.about.seen.note(req, answer, a.options.SameModel, a.about.id)
	s.stats.Answered++
	switch answer.Status {
	case crosstalk.Empty:
		s.stats.Empty++
	case crosstalk.Refused:
		s.stats.Refused++
	}
	if answer.Finish == crosstalk.FinishLength {
		s.stats.Cut++
	}
	if answer.Thought() {
		s.stats.Thought++
	}
	u, prices := answer.Usage, a.options.Budget.Prices
	if from == fromBatch || from == fromJournal && a.options.Batch {
		prices = s.budget.batched
	}
	cost := prices.Cost(a.about.id.Name, u)
	if from == fromJournal {
		s.stats.Cached++
		s.stats.CachedCost += cost
		return
	}
	s.stats.Usage.Prompt += u.Prompt
	s.stats.Usage.Completion += u.Completion
	s.stats.Usage.Reasoning += u.Reasoning
	s.stats.Cost += cost
}

func (s *Session) retried(err error) {
	s.mu.Lock()
	s.stats.Retries++
	s.stats.Trouble = err.Error()
	s.mu.Unlock()
}

// silence tracks whether an endpoint has answered lately, if only with an error. The zero value is ready to use.
type silence struct {
	mu       sync.Mutex
	inFlight int
	since    time.Time // of the last answer or, without one, the first request
	timedOut bool      // the last request that ended has had no answer
}

func (s *silence) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inFlight == 0 && !s.timedOut {
		s.since = time.Now()
	}
	s.inFlight++
}

func (s *silence) end(answered bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inFlight--
	if s.timedOut = !answered; answered {
		s.since = time.Now()
	}
}

func (s *silence) wait(timeout time.Duration) (Wait, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Wait{InFlight: s.inFlight, Timeout: timeout, Since: s.since}, s.inFlight > 0 &&
		time.Since(s.since) >= 15*time.Second // longer than most answers take
}

// ErrStopped says that the session takes no more asks because Stop was called.
var ErrStopped = errors.New("stopped")

// LimitError says that a limit of the user's was reached. Answers are good; the same command asks for the rest.
type LimitError struct{ Reason string }

func (e *LimitError) Error() string { return e.Reason }

func limited(format string, args ...any) *LimitError {
	return &LimitError{fmt.Sprintf(format, args...)}
}

// ModelError says that a model cannot be asked, or not with these settings. Other models are asked all the same.
type ModelError struct {
	Model crosstalk.Identity
	Err   error // what the server says
}

func (e *ModelError) Error() string { return e.Err.Error() }
func (e *ModelError) Unwrap() error { return e.Err }

// RefusedError says that a model refuses a parameter before it answered any request with these settings. Nothing
// was journalled; asks without it may be answered. Others with these settings end with the same error, unsent.
type RefusedError struct {
	Model crosstalk.Identity
	Param string // as the server names it: "temperature"
	Err   error  // what the server says
}

func (e *RefusedError) Error() string { return e.Err.Error() }
func (e *RefusedError) Unwrap() error { return e.Err }

// EmptyError says that the first answers with some settings are all empty. Others may be answered.
type EmptyError struct {
	N         int // answers
	Thought   int // of N: the model thought, as far as the answer shows
	Reasoning int // tokens that they spent on it, where the server counts them
	text      string
}

func (e *EmptyError) Error() string { return e.text }
