package server

import (
	"context"
	"math/bits"
	"slices"
	"sync"
)

// Limits of concurrent work.
const (
	freeText  = 8 << 10  // bytes of each text that take no room
	roomACore = 32 << 10 // bytes; but at least the longest text fits
)

// turns decides which text is judged next. A text takes one slot, of which there is one a core and at least two, and
// room for its bytes, as the memory for judging grows with them. Texts of like length form a queue, and the queues
// share the work by start-time fair queueing (Goyal, Vin and Cheng 1996): a short text need not wait until the
// longer ones that came before it are judged, and many short ones cannot keep a long one out.
type turns struct {
	mu     sync.Mutex
	slots  int // free
	room   int // free bytes
	now    int // the start of the text that was let in last, in bytes of work
	queues [10]queue
}

// queue holds the texts of at least half and less than a certain length, in the order of their arrival.
type queue struct {
	waiting []*turn
	start   int // of its first text, on the scale of turns.now
}

type turn struct {
	size int
	come chan struct{} // closed when it has come
}

func newTurns(cores int) *turns {
	return &turns{slots: max(2, cores), room: max(mostText, cores*roomACore)}
}

// queueOf returns the queue for texts of n bytes: the first is for those of less than a KiB, the last for the longest.
func (t *turns) queueOf(n int) *queue { return &t.queues[bits.Len(uint(n>>10))] }

// roomOf is the room that a text of n bytes takes.
func roomOf(n int) int { return max(0, n-freeText) }

// take waits for the turn of a text of n bytes. If there is no error, the caller must leave when it is judged.
func (t *turns) take(ctx context.Context, n int) error {
	n = min(n, mostText)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	mine := &turn{n, make(chan struct{})}
	t.mu.Lock()
	in := t.queueOf(n)
	if len(in.waiting) == 0 {
		in.start = max(in.start, t.now)
	}
	in.waiting = append(in.waiting, mine)
	t.next()
	t.mu.Unlock()
	select {
	case <-mine.come:
		return nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := slices.Index(in.waiting, mine); i >= 0 {
		in.waiting = slices.Delete(in.waiting, i, i+1)
	} else { // its turn came at the same moment
		t.slots++
		t.room += roomOf(n)
	}
	t.next()
	return context.Cause(ctx)
}

// leave ends the turn of a text of n bytes.
func (t *turns) leave(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.slots++
	t.room += roomOf(min(n, mostText))
	t.next()
}

// next lets in the texts whose turn it is. If there is not enough room for the next one, others wait with it, as they
// would take its room for ever.
func (t *turns) next() {
	for t.slots > 0 {
		var first *queue
		for i := range t.queues {
			if q := &t.queues[i]; len(q.waiting) > 0 && (first == nil || q.start < first.start) {
				first = q
			}
		}
		if first == nil || roomOf(first.waiting[0].size) > t.room {
			return
		}
		let := first.waiting[0]
		first.waiting = slices.Delete(first.waiting, 0, 1)
		t.slots--
		t.room -= roomOf(let.size)
		t.now = first.start
		first.start += max(let.size, 1<<10) // the least work for a text
		close(let.come)
	}
}
