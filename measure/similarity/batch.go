package similarity

import (
	"context"
	"sync"
	"time"
)

// Batch returns a similarity that combines the pairs of concurrent callers into one call of s, with at most size pairs
// (more if a single caller has more). Encoders and servers are faster with many texts.
func Batch(s Similarity, size int) Similarity { return &batch{Similarity: s, size: size} }

// gather is how long the first caller waits for others: long enough for concurrent measurements, too short to be
// noticed.
const gather = 2 * time.Millisecond

type batch struct {
	Similarity
	size    int
	mu      sync.Mutex
	waiting []*call
	working bool
}

type call struct {
	pairs  []Pair
	scores []float64
	err    error
	done   chan struct{}
}

func (b *batch) Scores(ctx context.Context, pairs []Pair) ([]float64, error) {
	if len(pairs) == 0 {
		return nil, nil
	}
	c := &call{pairs: pairs, done: make(chan struct{})}
	b.mu.Lock()
	b.waiting = append(b.waiting, c)
	lead := !b.working
	b.working = true
	b.mu.Unlock()
	if lead {
		// The work continues if this caller gives up, because others wait for it.
		go b.work(context.WithoutCancel(ctx))
	}
	select {
	case <-c.done:
		return c.scores, c.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// work scores pairs until the queue is empty.
func (b *batch) work(ctx context.Context) {
	time.Sleep(gather)
	for {
		calls := b.take()
		if calls == nil {
			return
		}
		var pairs []Pair
		for _, c := range calls {
			pairs = append(pairs, c.pairs...)
		}
		scores, err := b.Similarity.Scores(ctx, pairs)
		for _, c := range calls {
			if c.err = err; err == nil {
				c.scores, scores = scores[:len(c.pairs):len(c.pairs)], scores[len(c.pairs):]
			}
			close(c.done)
		}
	}
}

func (b *batch) take() []*call {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, pairs := 0, 0
	for n < len(b.waiting) && (n == 0 || pairs+len(b.waiting[n].pairs) <= b.size) {
		pairs += len(b.waiting[n].pairs)
		n++
	}
	if n == 0 {
		b.working = false
		return nil
	}
	calls := b.waiting[:n:n]
	b.waiting = append([]*call(nil), b.waiting[n:]...)
	return calls
}
