package web

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"crosstalk"
	"crosstalk/ask/journal"
	"crosstalk/internal/visible"
)

// tally counts the answers in a run's journal, continuing from the last count.
// It opens the journal only briefly, so that it does not delay the run.
type tally struct {
	path string // of the run

	mu     sync.Mutex
	when   time.Time
	last   int64   // arrival counted
	failed []int64 // arrivals, which may become answers
	recent map[int64]int
	counts
}

// counts are the counts of a tally.
type counts struct {
	ByStatus map[crosstalk.Status]int
	Tokens   int
	First    time.Time // arrival
	Last     time.Time
	Rate     float64 // recent answers per second
	Latest   []latestAnswer
	Partial  bool // there is more to count
	Err      error
}

// latestAnswer is a recent answer, shortened.
type latestAnswer struct{ Prompt, Answer, Status string }

// Done is the number of completed requests.
func (c counts) Done() (n int) {
	for _, k := range c.ByStatus {
		n += k
	}
	return n
}

// A tally is updated if it is older than tallyAge. An update stops after
// tallyTime.
const (
	tallyAge  = 900 * time.Millisecond
	tallyTime = 40 * time.Millisecond
	rateOver  = 30 // seconds
)

// now returns the current counts.
func (t *tally) now() counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now := time.Now(); now.Sub(t.when) > tallyAge {
		if t.Err = t.count(now); errors.Is(t.Err, fs.ErrNotExist) {
			t.Err = nil
		}
		t.when = time.Now()
	}
	c := t.counts
	c.ByStatus = map[crosstalk.Status]int{}
	for s, n := range t.ByStatus {
		c.ByStatus[s] = n
	}
	return c
}

func (t *tally) count(now time.Time) error {
	j, err := journal.OpenReader(filepath.Join(t.path, journal.Name))
	if err != nil {
		return err
	}
	defer j.Close()
	if t.ByStatus == nil {
		t.ByStatus, t.recent = map[crosstalk.Status]int{}, map[int64]int{}
	}
	t.Partial = false
	err = j.Arrivals(t.last, func(a journal.Arrival) bool {
		t.last = a.Number
		t.ByStatus[a.Status]++
		if a.Status == crosstalk.Failed {
			t.failed = append(t.failed, a.Number)
		}
		t.arrived(a, now)
		t.Partial = time.Since(now) > tallyTime
		return !t.Partial
	})
	if err != nil {
		return err
	}
	if err := t.recheck(j, now); err != nil {
		return err
	}
	t.rate(now)
	records, err := j.Latest(3)
	if err != nil {
		return err
	}
	t.Latest = nil
	for _, r := range records {
		t.Latest = append(t.Latest, latestAnswer{brief(r.Request.Text()), brief(r.Answer.Text), string(r.Answer.Status)})
	}
	return nil
}

func (t *tally) arrived(a journal.Arrival, now time.Time) {
	t.Tokens += a.Usage.Prompt + a.Usage.Completion
	if t.First.IsZero() || a.Time.Before(t.First) {
		t.First = a.Time
	}
	if a.Time.After(t.Last) {
		t.Last = a.Time
	}
	if now.Sub(a.Time) < 2*rateOver*time.Second {
		t.recent[a.Time.Unix()]++
	}
}

// recheck checks whether failed requests were answered when the run resumed.
func (t *tally) recheck(j *journal.Journal, now time.Time) error {
	var failed error
	t.failed = slices.DeleteFunc(t.failed, func(number int64) bool {
		if failed != nil || time.Since(now) > tallyTime {
			return false
		}
		a, found, err := j.Arrival(number)
		if err != nil || !found || a.Status == crosstalk.Failed {
			failed = err
			return false
		}
		t.ByStatus[crosstalk.Failed]--
		t.ByStatus[a.Status]++
		t.arrived(a, now)
		return true
	})
	return failed
}

func (t *tally) rate(now time.Time) {
	n, from := 0, now.Unix()-rateOver
	for second, k := range t.recent {
		if second <= from {
			delete(t.recent, second)
		} else {
			n += k
		}
	}
	over := min(rateOver, max(1, now.Sub(t.First).Seconds()))
	t.Rate = float64(n) / over
}

// brief is the beginning of a text on one line, at most 240 characters.
func brief(text string) string {
	const most = 240
	runes := []rune(text[:min(len(text), 4*most)])
	if len(runes) > most {
		runes = append(runes[:most], '…')
	}
	return visible.Line(string(runes))
}
