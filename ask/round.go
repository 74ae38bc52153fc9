package ask

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"crosstalk"
	"crosstalk/ask/journal"

	"golang.org/x/sync/errgroup"
)

// ErrDeferred reports that an ask will be answered in a batch. Its caller measures again, in the next round.
var ErrDeferred = errors.New("deferred to a batch")

// Round gathers asks for batches. Its askers answer from the journal, and end all other asks with ErrDeferred.
type Round struct {
	b     *Batching
	mu    sync.Mutex
	items []*wanting
	other wanting // asks outside any item
}

type wanting struct {
	need  Need // upper bound
	have  Need // the part of need that is answered
	wants []want
}

type want struct {
	group group
	ask   crosstalk.BatchAsk
}

// Round starts a round.
func (b *Batching) Round() *Round { return &Round{b: b} }

type wantingKey struct{}

// Item is like Session.Item, for a round. A budget is spent on the first items, each whole. need is at batch prices.
func (r *Round) Item(ctx context.Context, need Need) (_ context.Context, end func()) {
	it := &wanting{need: need}
	r.mu.Lock()
	r.items = append(r.items, it)
	r.mu.Unlock()
	return context.WithValue(ctx, wantingKey{}, it), func() {}
}

// For returns an asker for this model.
func (r *Round) For(m crosstalk.Model) crosstalk.Asker {
	return &roundAsker{r.b.Session.For(m).(*asker), r}
}

type roundAsker struct {
	*asker
	round *Round
}

// Ask implements crosstalk.Asker. For each set of settings, it sends the first ask at once, to learn of a refusal
// early.
func (a *roundAsker) Ask(ctx context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
	b := a.round.b
	key, s := crosstalk.KeyOf(a.about.id, req), a.settings(req)
	a.mu.Lock()
	_, seen := a.seen[key.Short()]
	a.mu.Unlock()
	answer, found, err := a.journalled(key, s, req)
	if err != nil {
		return answer, err
	}
	if found || seen && answer.Status == crosstalk.Failed { // which this session does not ask again
		a.round.note(ctx, func(it *wanting) { it.have.Add(b.budget.batched, a.about.id.Name, req) })
		return answer, nil
	}
	if err := cmp.Or(context.Cause(ctx), context.Cause(s.stop)); err != nil {
		return answer, err
	}
	b.mu.Lock()
	_, batches := a.about.batchers[req.API]
	_, direct := b.direct[key]
	b.mu.Unlock()
	if direct || !batches {
		return a.asker.Ask(ctx, req)
	}
	if !s.proven() {
		s.alone.Lock()
		defer s.alone.Unlock()
		if !s.proven() {
			return a.asker.Ask(ctx, req)
		}
	}
	a.round.note(ctx, func(it *wanting) {
		it.wants = append(it.wants, want{group{a.about, req.API}, crosstalk.BatchAsk{Key: key, Request: req}})
	})
	return answer, ErrDeferred
}

// proven reports whether the model has answered with these settings, once in this session: it may have had to find out
// how to spell parameters.
func (s *settings) proven() bool { return s.model.answered.Load() && s.isSettled() }

func (r *Round) note(ctx context.Context, what func(*wanting)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	it, inItem := ctx.Value(wantingKey{}).(*wanting)
	if !inItem {
		it = &r.other
	}
	what(it)
}

// Send submits what the items want, waits for it, and saves the answers. another reports that they may want more.
func (r *Round) Send(ctx context.Context) (another bool, err error) {
	if ctx.Err() != nil || r.b.stop.Err() != nil {
		return false, nil // the next measurement finds the reason
	}
	order, asks, stale, err := r.admitted()
	if err != nil {
		return false, r.b.end(err)
	}
	var all []*waiting
	for _, in := range order {
		batches, err := r.b.divide(in, asks[in])
		if err != nil {
			return false, err
		}
		all = append(all, batches...)
	}
	return len(order) > 0 || stale, r.b.run(ctx, all)
}

// admitted returns the asks within the budget, each once, in the order of the items. stale: some are answered by now.
func (r *Round) admitted() (order []group, asks map[group][]crosstalk.BatchAsk, stale bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	asks = map[group][]crosstalk.BatchAsk{}
	seen := map[crosstalk.Key]struct{}{}
	var set Need // what to set aside
	for _, it := range append(r.items, &r.other) {
		if len(it.wants) == 0 {
			continue
		}
		set.plus(it.need.without(it.have), 1)
		if !r.b.budget.fits(set) {
			break
		}
		for _, w := range it.wants {
			if _, again := seen[w.ask.Key]; again {
				continue
			}
			seen[w.ask.Key] = struct{}{}
			switch answer, found, err := r.b.saved(w.ask.Key); {
			case err != nil:
				return nil, nil, false, err
			case found && answer.Status != crosstalk.Failed:
				stale = true
				continue
			}
			if asks[w.group] == nil {
				order = append(order, w.group)
			}
			asks[w.group] = append(asks[w.group], w.ask)
		}
	}
	return order, asks, stale, nil
}

func (n Need) without(o Need) Need {
	return Need{max(0, n.Asks-o.Asks), max(0, n.Cost-o.Cost)}
}

// divide makes batches of asks and records them in the journal. If there are too few, the next round sends them one by
// one.
func (b *Batching) divide(in group, asks []crosstalk.BatchAsk) (all []*waiting, err error) {
	b.mu.Lock()
	batcher := in.model.batchers[in.api]
	most, limited := b.most[in]
	if len(asks) < fewest {
		for _, a := range asks {
			b.direct[a.Key] = struct{}{}
		}
		asks = nil
	}
	b.mu.Unlock()
	for len(asks) > 0 {
		n := batcher.Fits(asks)
		if limited {
			n = min(n, most)
		}
		w := &waiting{Batch: &journal.Batch{Identity: in.model.id, Tag: rand.Text(), At: time.Now().UTC(), Asks: asks[:n]},
			batcher: batcher, group: in, fresh: true}
		if err := b.store.AddBatch(w.Batch); err != nil {
			return nil, b.end(err)
		}
		all, asks = append(all, w), asks[n:]
		if limited {
			break // the next round gets the others
		}
	}
	return all, nil
}

type collection struct {
	*asker
	w        *waiting
	requests map[crosstalk.Key]crosstalk.Request
	strange  int   // results that cannot be read, or belong to no request
	trouble  error // why some cannot be read, if known

	mu       sync.Mutex
	answered map[crosstalk.Key]bool  // saved
	failed   map[crosstalk.Key]error // why the provider did not answer
	full     error                   // the journal's error
}

// collect reads the results of a batch that has ended and saves the answers. failed is the provider's count of requests
// that it did not answer. If fewer than the rest can be read, collect returns an *crosstalk.AskError.
func (c *collection) collect(ctx context.Context, failed int) error {
	// A download may take longer than an answer.
	longer, cancel := context.WithTimeout(ctx, max(c.options.Timeout, longTransfer))
	defer cancel()
	c.read(longer)
	if c.full != nil {
		return c.end(c.full)
	}
	all := len(c.w.Asks)
	if failed > all { // impossible
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
	var saving errgroup.Group // in parallel: the journal commits them together
	saving.SetLimit(256)
	left := 100 + 10*len(c.w.Asks) // limit on results: a download may have no end
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
			again := c.answered[r.Key] || c.full != nil // the first of several answers counts
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
	old, found, err := c.Session.saved(r.Key)
	if err == nil && found && old.Status != crosstalk.Failed {
		return // an earlier session saved it, and was killed before EndBatch
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
	c.settings(req).works(answer, true)
}

// finish ends a batch. Its unanswered requests are asked one by one.
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
