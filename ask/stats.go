package ask

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"crosstalk"
	"crosstalk/internal/duration"
)

// Stats are a session's counts of distinct asks so far.
type Stats struct {
	Done     int // Answered and Failed
	Answered int // with text, empty or refused
	Cached   int // of Answered: from the journal
	Empty    int // of Answered
	Refused  int // of Answered
	Cut      int // of Answered: ended by their token limit
	Thought  int // of Answered: the model thought, if the answer shows it
	Failed   int
	Retries  int    // attempts beyond the first of each ask
	Trouble  string // why the last attempt without an answer had none

	CachedCost float64 // what the cached ones would cost now

	// Of the answers that were not cached:
	Usage crosstalk.Usage
	Cost  float64

	Waits   []Wait  // what keeps endpoints from being asked now
	Batches Batches // being waited for
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

// Batches describes the batches that a session waits for.
type Batches struct {
	N     int       // batches
	Asks  int       // asks in the batches
	Done  int       // of these asks, according to the providers
	Since time.Time // when the first batch was submitted
}

// Text describes the wait in a few words, for one line: "1941 requests in 2 batches since 14:02, 812 done".
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

// Wait explains why an endpoint is not asked at the moment, or has not answered for a long time.
type Wait struct {
	Endpoint string
	InFlight int           // its requests without an answer, if it is asked and answers nothing
	Timeout  time.Duration // for each of them
	Down     bool          // it fails: one ask at a time is tried, the others wait
	Since    time.Time     // the first failure, if it is down; otherwise the last answer or the first request in flight
	Until    time.Time     // when it is asked next; if in the past, an attempt is under way
	Why      string        // the server's last message
}

// Text describes the wait as of now, without the endpoint: "server down since 14:02, next try in 8 s".
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
		wait, waiting := e.wait()
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
		from = fromModel // another caller found it in the journal after this session asked
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

// trouble records why an attempt had no answer.
func (s *Session) trouble(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Trouble = err.Error()
}

// again counts an attempt beyond the first.
func (s *Session) again() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Retries++
}

// silence tracks whether an endpoint has responded lately, if only with an error. The zero value is ready to use.
type silence struct {
	mu       sync.Mutex
	inFlight int
	since    time.Time // of the last response or, without one, the first request
	timedOut bool      // the last request that ended got no answer
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

// ErrStopped reports that the session accepts no more asks because Stop was called.
var ErrStopped = errors.New("stopped")

// LimitError reports that a limit set by the user was reached. The answers are valid; the same command asks for the
// rest.
type LimitError struct{ Reason string }

func (e *LimitError) Error() string { return e.Reason }

func limited(format string, args ...any) *LimitError {
	return &LimitError{fmt.Sprintf(format, args...)}
}

// ModelError reports that a model cannot be asked, at all or with these settings. Other models are still asked.
type ModelError struct {
	Model crosstalk.Identity
	Err   error // the server's error
}

func (e *ModelError) Error() string { return e.Err.Error() }
func (e *ModelError) Unwrap() error { return e.Err }

// RefusedError reports that a model refused a parameter before it answered any request with these settings. Nothing was
// journalled; asks without the parameter may be answered. Others with these settings fail with the same error, unsent.
type RefusedError struct {
	Model crosstalk.Identity
	Param string // the server's name for it: "temperature"
	Err   error  // the server's error
}

func (e *RefusedError) Error() string { return e.Err.Error() }
func (e *RefusedError) Unwrap() error { return e.Err }

// EmptyError reports that the first answers with some settings are all empty. Other settings may get answers.
type EmptyError struct {
	N         int // answers
	Thought   int // of N: the model thought, if the answer shows it
	Reasoning int // tokens spent on thinking, if the server counts them
	text      string
}

func (e *EmptyError) Error() string { return e.text }
