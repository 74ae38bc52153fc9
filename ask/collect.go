package ask

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"crosstalk"
	"crosstalk/ask/journal"

	"golang.org/x/sync/errgroup"
)

type collection struct {
	*asker
	w        *waiting
	requests map[crosstalk.Key]crosstalk.Request
	strange  int   // results that cannot be read, or are of no request
	trouble  error // why not all can be read, as far as that shows

	mu       sync.Mutex
	answered map[crosstalk.Key]bool  // saved
	failed   map[crosstalk.Key]error // why the provider did not answer
	full     error                   // the journal's error
}

// collect reads the results of a batch that has ended and saves the answers. failed is how many requests the provider
// says it did not answer; if it answered more than can be read, that is an *crosstalk.AskError.
func (c *collection) collect(ctx context.Context, failed int) error {
	// A download may take longer than an answer.
	longer, cancel := context.WithTimeout(ctx, max(c.options.Timeout, longTransfer))
	defer cancel()
	c.read(longer)
	if c.full != nil {
		return c.end(c.full)
	}
	all := len(c.w.Asks)
	if failed > all { // that cannot be
		failed = 0
	}
	paid := all - max(failed, len(c.failed))
	if len(c.answered) >= paid {
		return nil
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	why := crosstalk.AskError{Status: http.StatusNotFound, Err: errors.New("the provider does not show them")}
	if c.trouble != nil {
		why = crosstalk.AskError{Fault: said(c.trouble).Fault, Status: said(c.trouble).Status, Err: c.trouble}
	}
	why.Message = fmt.Sprintf("%d of the %d answers in the batch %s of %s cannot be read: %v",
		paid-len(c.answered), paid, c.w.ID, c.w.Identity, why.Err)
	return &why
}

func (c *collection) read(ctx context.Context) {
	c.strange, c.trouble = 0, nil
	var saving errgroup.Group // many at a time: the journal commits them together
	saving.SetLimit(256)
	left := 100 + 10*len(c.w.Asks) // results: a download may have no end
	for r, broken := range c.w.batcher.Results(ctx, c.w.ID, c.requests) {
		if left--; left < 0 {
			c.trouble = errors.New("the provider sends more results than there are requests")
			break
		}
		switch {
		case broken != nil:
			c.trouble = broken
		case r.Key == (crosstalk.Key{}):
			c.strange++
			c.trouble = cmp.Or(c.trouble, r.Err)
		default:
			c.mu.Lock()
			again := c.answered[r.Key] || c.full != nil // of several answers the first counts
			if r.Err == nil {
				c.answered[r.Key] = true
				delete(c.failed, r.Key)
			} else if !c.answered[r.Key] {
				c.failed[r.Key] = r.Err
			}
			c.mu.Unlock()
			if r.Err == nil && !again {
				saving.Go(func() error { c.save(r); return nil })
			}
		}
	}
	saving.Wait()
}

func (c *collection) save(r crosstalk.BatchResult) {
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
	c.budget.mu.Lock()
	c.budget.spend(c.budget.batched, c.about.id.Name, req, answer)
	c.budget.change()
	c.budget.mu.Unlock()
	c.count(r.Key, req, answer, fromBatch)
	c.about.known.CompareAndSwap(nil, &req)
	c.shape(req).works(answer, true)
}

// finish ends a batch. What it has no answer to is asked one by one.
func (b *Batching) finish(c *collection, why error) error {
	w := c.w
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
	for _, failed := range c.failed {
		why = cmp.Or(why, failed)
	}
	if missing := len(w.Asks) - len(c.answered); missing > 0 {
		b.remark("%s: %d of %d requests of the batch %s were sent again one by one: %v",
			w.Identity, missing, len(w.Asks), w.ID, cmp.Or(why, errors.New("the provider did not answer them")))
	}
	if c.strange > 0 {
		b.remark("%s: the results of the batch %s have %d lines that cannot be read, or are of no request of it; they are "+
			"left out",
			w.Identity, w.ID, c.strange)
	}
	return nil
}
