package ask

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"crosstalk"
	"crosstalk/ask/journal"
	"crosstalk/internal/duration"
	"crosstalk/internal/visible"

	"golang.org/x/sync/errgroup"
)

// batchJournal is a Journal that also keeps batches, such as *journal.Journal; see its methods.
type batchJournal interface {
	Journal
	AddBatch(*journal.Batch) error
	UpdateBatch(*journal.Batch) error
	EndBatch(*journal.Batch) error
	DropBatch(*journal.Batch) error
	OpenBatches() ([]*journal.Batch, error)
	BatchIDs() ([]string, error)
	Unanswered() ([]crosstalk.Key, error)
}

// Batching asks in batches. A Round gathers what the items need next, submits it and collects the answers.
//
// A batch is in the journal, with its requests, from before it is submitted until all its results are saved. So after a
// kill, the next session knows which batches may be at the provider, looks for them, and submits nothing twice.
type Batching struct {
	*Session
	store batchJournal

	// The session's mutex guards both.
	direct map[crosstalk.Key]struct{} // asked one by one: batches did not answer them, or they are few
	most   map[group]int              // most asks that the provider accepts at once, if known
}

type group struct {
	model *model
	api   crosstalk.API
}

// waiting is a batch to submit or wait for. The session's mutex guards its time and progress.
type waiting struct {
	*journal.Batch
	batcher crosstalk.Batcher
	group   group
	fresh   bool // never submitted
	done    int  // asks done
}

// fewest is the smallest batch. Fewer asks are sent one by one: a last round of a few asks is not worth a day.
const fewest = 10

// Batching starts asking in batches; nil if the journal keeps none. For must have been called for each model.
func (s *Session) Batching() (*Batching, error) {
	store, ok := s.journal.(batchJournal)
	if !ok {
		return nil, nil
	}
	b := &Batching{Session: s, store: store, direct: map[crosstalk.Key]struct{}{}, most: map[group]int{}}
	keys, err := store.Unanswered()
	if err != nil {
		return nil, s.end(err)
	}
	for _, key := range keys {
		b.direct[key] = struct{}{}
	}
	return b, nil
}

// Collect waits for the batches that an earlier session left open and saves their results.
func (b *Batching) Collect(ctx context.Context) error {
	open, err := b.store.OpenBatches()
	if err != nil {
		return b.end(err)
	}
	var all []*waiting
	for _, batch := range open {
		if len(batch.Asks) == 0 { // never submitted
			if err := b.end(b.store.DropBatch(batch)); err != nil {
				return err
			}
			continue
		}
		w := &waiting{Batch: batch}
		b.mu.Lock()
		if m, api := b.modelOf(batch.Identity), batch.Asks[0].Request.API; m != nil {
			w.batcher, w.group = m.batchers[api], group{m, api}
		}
		b.mu.Unlock()
		if w.batcher == nil { // not a model of this session that can be asked in batches
			return b.end(fmt.Errorf("%s: a batch of %d requests is open, and this run has no such model any more: use another "+
				"--out", batch.Identity, len(batch.Asks)))
		}
		all = append(all, w)
	}
	return b.run(ctx, all)
}

func (b *Batching) run(ctx context.Context, all []*waiting) error {
	b.mu.Lock()
	b.waiting = all
	b.mu.Unlock()
	waits, done := merge(ctx, b.stop)
	defer done()
	var each errgroup.Group
	for _, w := range all {
		each.Go(func() error {
			err := b.see(ctx, waits, w)
			if err == nil {
				b.forget(w)
			}
			return err
		})
	}
	err := each.Wait()
	if errors.As(err, new(*LimitError)) { // only after the others are collected
		b.end(err)
	}
	return err
}

func (b *Batching) forget(w *waiting) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting = slices.DeleteFunc(slices.Clone(b.waiting), func(other *waiting) bool { return other == w })
}

// see follows one batch to its end. waits is ctx until the session stops.
func (b *Batching) see(ctx, waits context.Context, w *waiting) error {
	if w.fresh {
		if err := b.submit(ctx, waits, w); err != nil {
			return err
		}
	} else if w.ID == "" {
		switch found, err := b.find(waits, w); {
		case err != nil:
			return err
		case !found:
			return b.drop(w) // the next round asks again
		}
	}
	var c *collection
	var ended time.Time // since when answers cannot be read; zero: not known
	for n := 1; ; n++ {
		var state crosstalk.BatchState
		err := b.insist(waits, func(ctx context.Context) (err error) {
			state, err = w.batcher.Poll(ctx, w.ID)
			return err
		})
		if missing(err) {
			status := said(err).Status
			err = &crosstalk.AskError{Fault: crosstalk.Denied, Status: status, Err: err,
				Message: fmt.Sprintf("%s: the batch %s is not there (HTTP %d)", w.Identity, w.ID, status)}
		}
		var wait time.Duration
		switch {
		case err == nil && state.Problem != "":
			if !state.Full || len(w.Asks) <= fewest {
				return b.noBatches(w, errors.New(state.Problem))
			}
			b.mu.Lock()
			b.most[w.group] = max(len(w.Asks)/2, fewest)
			b.mu.Unlock()
			b.remark("%s: a batch of %d requests was too large for the account (%s); smaller ones follow", w.Identity,
				len(w.Asks), state.Problem)
			return cmp.Or(b.drop(w), sleep(waits, 6*b.options.Poll))
		case err == nil && !state.Ended:
			n, ended, wait = 0, time.Time{}, b.interval(w.At)
			b.mu.Lock()
			w.done = state.Done
			b.mu.Unlock()
		default:
			if c == nil {
				c = &collection{asker: &asker{b.Session, w.batcher, w.group.model}, w: w,
					requests: map[crosstalk.Key]crosstalk.Request{}, answered: map[crosstalk.Key]bool{},
					failed: map[crosstalk.Key]error{}}
				for _, a := range w.Asks {
					c.requests[a.Key] = a.Request
				}
			}
			if err == nil {
				err = c.collect(waits, state.Failed)
			}
			if ended.IsZero() { // after the first download, which may take longer than --patience
				ended = time.Now()
			}
			if done, err := b.unread(c, ended, err); done {
				return err
			}
			wait = b.wait(n, err)
		}
		if err := sleep(waits, wait); err != nil {
			return err
		}
	}
}

func missing(err error) bool { return said(err).Status == 404 || said(err).Status == 410 }

// unread handles err, the reason why paid answers cannot be read since a time, or nil. It reports whether the batch is
// done with, and the error for the session. It retries until --patience is over; only on demand are they asked for
// again.
func (b *Batching) unread(c *collection, since time.Time, err error) (done bool, _ error) {
	const longestKept = 31 * 24 * time.Hour // longer than providers keep results: OpenAI 30 days, Anthropic 29
	w, patience, e := c.w, b.options.Patience, said(err)
	switch {
	case err == nil:
		return true, b.finish(c, nil)
	case !errors.As(err, new(*crosstalk.AskError)):
		return true, err
	case e.Fault == crosstalk.Denied && !missing(err) && e.Status/100 != 3:
		return true, b.end(&ModelError{w.Identity, fmt.Errorf("%w; %d requests are in a batch there (%s), which keeps "+
			"running: run the same command again to collect it", err, len(w.Asks), w.ID)})
	case missing(err) && time.Since(w.At) > longestKept:
		b.remark("%s: the batch %s of %s is not there any more, and its requests are sent again",
			w.Identity, w.ID, w.At.Format(time.DateOnly))
		return true, b.drop(w)
	case time.Since(since) < patience:
		b.trouble(err)
		b.again()
		return false, nil
	case b.options.BatchGiveUp:
		return true, b.finish(c, err)
	}
	return true, limited("stopped: %v; tried since %s (--patience %s). The requests are paid for, "+
		"and are sent again only with --batch-give-up", err, clock(since), duration.Text(patience))
}

func (b *Batching) interval(began time.Time) time.Duration {
	return max(b.options.Poll, min(time.Since(began)/10, time.Minute))
}

// submit submits a fresh batch, once.
func (b *Batching) submit(ctx, waits context.Context, w *waiting) error {
	began := time.Now()
	for n := 1; ; n++ {
		if err := context.Cause(waits); err != nil {
			return errors.Join(err, b.drop(w))
		}
		b.mu.Lock()
		w.At = time.Now().UTC()
		b.mu.Unlock()
		if err := b.store.UpdateBatch(w.Batch); err != nil {
			return b.end(err)
		}
		// The first interrupt does not cancel this: it is better to know the id.
		within, cancel := context.WithTimeout(ctx, max(b.options.Timeout, longTransfer))
		id, err := w.batcher.Submit(within, w.Tag, w.Asks)
		cancel()
		if err == nil {
			return b.submitted(w, id)
		}
		switch {
		case errors.As(err, new(*crosstalk.UnclearError)):
			if found, err := b.find(waits, w); found || err != nil {
				return err
			}
		case ctx.Err() != nil:
			return errors.Join(context.Cause(ctx), b.drop(w))
		case refusing(err):
			return b.noBatches(w, err)
		}
		if time.Since(began) > b.options.Patience {
			return errors.Join(b.end(limited("stopped: no batch could be submitted since %s (--patience %s); "+
				"the last attempt: %v", clock(began), duration.Text(b.options.Patience), err)), b.drop(w))
		}
		b.trouble(err)
		b.again()
		if err := sleep(waits, b.wait(n, err)); err != nil {
			return errors.Join(err, b.drop(w))
		}
	}
}

const longTransfer = 15 * time.Minute

func (b *Batching) submitted(w *waiting, id string) error {
	w.ID = id
	return b.end(b.store.UpdateBatch(w.Batch))
}

func (b *Batching) drop(w *waiting) error {
	b.forget(w)
	return b.end(b.store.DropBatch(w.Batch))
}

func (b *Batching) noBatches(w *waiting, err error) error {
	return errors.Join(b.end(&ModelError{w.Identity, fmt.Errorf("the batch was not accepted: %w; ask without --batch",
		err)}), b.drop(w))
}

// find looks for a batch that may have been submitted, until the provider's list must show it.
func (b *Batching) find(ctx context.Context, w *waiting) (found bool, err error) {
	began := time.Now() // not w.At: the upload may have taken long, and the clock may have been set
	list, err := b.store.BatchIDs()
	if err != nil {
		return false, b.end(err)
	}
	for {
		late := time.Since(began) >= b.options.Settle // checked before the list is fetched
		var id string
		var sure bool
		err := b.insist(ctx, func(ctx context.Context) (err error) {
			id, sure, err = w.batcher.Find(ctx, w.Tag, w.At, w.Asks, func(id string) bool { return slices.Contains(list, id) })
			return err
		})
		switch {
		case err != nil && errors.As(err, new(*crosstalk.AskError)):
			return false, b.end(&ModelError{w.Identity, fmt.Errorf("%w; whether a batch of %d requests was submitted at %s "+
				"cannot be found out: "+
				"run the same command again, or use another --out", err, len(w.Asks), w.At.Local().Format("2006-01-02 15:04"))})
		case err != nil:
			return false, err
		case id != "":
			return true, b.submitted(w, id)
		case sure && late:
			return false, nil
		}
		if err := sleep(ctx, b.interval(began)); err != nil {
			return false, err
		}
	}
}

// insist calls f, which changes nothing, until it succeeds. An error explains why trying again does not help.
func (b *Batching) insist(ctx context.Context, f func(context.Context) error) error {
	began := time.Now()
	for n := 1; ; n++ {
		within, done := context.WithTimeout(ctx, b.options.Timeout)
		err := f(within)
		done()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case refusing(err):
			return err
		case time.Since(began) > 24*time.Hour:
			return b.end(limited("stopped: nothing heard of a batch since %s; the last attempt: %v", clock(began), err))
		}
		b.trouble(err)
		b.again()
		if err := sleep(ctx, b.wait(n, err)); err != nil {
			return err
		}
	}
}

// wait returns the pause before attempt n+1.
func (b *Batching) wait(n int, err error) time.Duration {
	return min(max((&asker{Session: b.Session}).pause(n, err), b.options.Poll), 10*time.Minute)
}

func (b *Batching) remark(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.remarks = append(b.remarks, visible.Line(fmt.Sprintf(format, args...)))
}
