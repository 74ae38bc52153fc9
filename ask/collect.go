package ask

import (
	"context"
	"errors"
	"sync"
	"time"

	"crosstalk"
	"crosstalk/ask/journal"

	"golang.org/x/sync/errgroup"
)

// downloads is how often results with damaged lines are read before what they
// lack is asked for one by one.
const downloads = 3

// collect saves what came of a batch that has ended.
func (b *Batching) collect(ctx context.Context, w *waiting) error {
	c := &collection{asker: &asker{b.Session, w.batcher, w.group.model}, requests: map[crosstalk.Key]crosstalk.Request{},
		answered: map[crosstalk.Key]bool{}, why: map[crosstalk.Key]error{}}
	for _, a := range w.Asks {
		c.requests[a.Key] = a.Request
	}
	for n := 1; ; n++ {
		err := b.insist(ctx, func(inner context.Context) error {
			// A download may take longer than an answer.
			longer, cancel := context.WithTimeout(ctx, max(b.options.Timeout, longTransfer))
			defer cancel()
			either, done := merge(longer, b.stop)
			defer done()
			return c.read(either, w)
		})
		if c.full != nil {
			return b.end(c.full)
		}
		if err != nil {
			return b.lost(w, err)
		}
		if len(c.answered)+len(c.why) == len(w.Asks) || c.strange == 0 || n == downloads {
			break
		}
		if err := sleep(ctx, b.stop, b.options.Poll); err != nil {
			return err
		}
	}
	if err := b.store.EndBatch(w.Batch); err != nil {
		return b.end(err)
	}
	b.mu.Lock()
	for _, a := range w.Asks {
		if !c.answered[a.Key] {
			b.direct[a.Key] = struct{}{}
		}
	}
	b.mu.Unlock()
	if missing := len(w.Asks) - len(c.answered); missing > 0 {
		b.remark("%s: %d of %d requests of the batch %s were not answered there (%v), and were sent one by one", w.Identity, missing, len(w.Asks), w.ID, c.reason())
	}
	if c.strange > 0 {
		b.remark("%s: the results of the batch %s have %d lines that cannot be read, or are of no request of it; they are left out", w.Identity, w.ID, c.strange)
	}
	return nil
}

// collection is what came of a batch so far.
type collection struct {
	*asker
	requests map[crosstalk.Key]crosstalk.Request
	strange  int // results that cannot be read, or are of no request

	mu       sync.Mutex
	answered map[crosstalk.Key]bool  // saved
	why      map[crosstalk.Key]error // not answered
	full     error                   // the journal's error
}

// reason is why a request was not answered.
func (c *collection) reason() error {
	for _, err := range c.why {
		return err
	}
	return errors.New("its results have nothing on them")
}

// read reads the results once and saves the answers.
func (c *collection) read(ctx context.Context, w *waiting) (err error) {
	c.strange = 0
	var saving errgroup.Group // many at a time: the journal commits them together
	saving.SetLimit(256)
	for r, broken := range w.batcher.Results(ctx, w.ID, c.requests) {
		switch {
		case broken != nil:
			err = broken
		case r.Key == (crosstalk.Key{}):
			c.strange++
		case r.Err != nil:
			c.note(r.Key, r.Err)
		default:
			saving.Go(func() error { c.save(r); return nil })
		}
	}
	saving.Wait()
	return err
}

func (c *collection) note(key crosstalk.Key, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.answered[key] {
		c.why[key] = err
	}
}

// save journals an answer, once.
func (c *collection) save(r crosstalk.BatchResult) {
	c.mu.Lock()
	again := c.answered[r.Key] || c.full != nil
	c.answered[r.Key] = true
	delete(c.why, r.Key)
	c.mu.Unlock()
	if again {
		return
	}
	req, answer := c.requests[r.Key], r.Answer
	answer.Key, answer.Attempts, answer.Time = r.Key, 1, time.Now().UTC()
	old, found, err := c.journal.Get(r.Key)
	if err == nil && found && old.Status != crosstalk.Failed {
		return // an earlier session saved it, and was killed before the end
	}
	if err == nil {
		err = c.journal.Put(journal.Record{Identity: c.about.id, Request: req, Answer: answer})
	}
	if err != nil {
		c.mu.Lock()
		c.full = err
		c.mu.Unlock()
		return
	}
	c.budget.collected(c.about.id.Name, req, answer)
	c.count(r.Key, req, answer, fromBatch)
	c.about.knows(req)
	c.shape(req).works(answer, true)
}
