package ask

import (
	"container/list"
	"context"
	"sync"
)

// line is a queue of waiting asks, first come first served. Its owner's mutex guards it.
type line struct{ list list.List } // of chan struct{}

// join takes a place at the end. The caller holds the mutex.
func (l *line) join() *list.Element { return l.list.PushBack(make(chan struct{})) }

// wait returns when next has let in the ask that has this place, or with an error when ctx or stop ends first. The
// caller holds mu; it is released on return. If the ask was let in but has to leave, back is called, with mu held.
func (l *line) wait(ctx, stop context.Context, place *list.Element, mu *sync.Mutex, back func()) error {
	ready := place.Value.(chan struct{})
	mu.Unlock()
	var err error
	select {
	case <-ready:
		return nil
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-stop.Done():
		err = context.Cause(stop)
	}
	mu.Lock()
	defer mu.Unlock()
	select {
	case <-ready:
		back()
	default:
		l.list.Remove(place)
	}
	return err
}

func (l *line) len() int { return l.list.Len() }

// next lets the first in. The line is not empty; the caller holds the mutex.
func (l *line) next() { close(l.list.Remove(l.list.Front()).(chan struct{})) }
