package server

import (
	"container/list"
	"hash/maphash"
	"slices"
	"sync"
	"time"
)

// calls keeps the language of a call's user and the verdict on its answer so far, by the id of the call, for a while: a
// gateway sends a streamed answer again and again, each time with more text, and it counts once.
type calls struct {
	count func(event) // an answer

	mu  sync.Mutex
	ids map[string]*list.Element
	all list.List // of *call, that which was used last at the end
}

type call struct {
	id, tag string
	used    time.Time
	answers []growing // by choice
}

// growing is an answer that may still grow. Its text is not kept.
type growing struct {
	size    int
	hash    uint64
	event   event
	counted bool
	seen    time.Time
}

const (
	mostCalls   = 10_000
	mostCallID  = 200 // bytes
	mostChoices = 4   // of a call that are told apart
	longestCall = 15 * time.Minute
	quiet       = 15 * time.Second // after which an answer does not grow any more
)

var seed = maphash.MakeSeed()

// get returns the call with this id and creates it if needed; nil if the id is empty or too long.
func (c *calls) get(id string) *call {
	if id == "" || len(id) > mostCallID {
		return nil
	}
	if c.ids == nil {
		c.ids = map[string]*list.Element{}
	}
	e := c.ids[id]
	if e == nil {
		e = c.all.PushBack(&call{id: id})
		c.ids[id] = e
	}
	c.all.MoveToBack(e)
	of := e.Value.(*call)
	of.used = time.Now()
	c.forget()
	return of
}

// forget forgets what is old or too much.
func (c *calls) forget() {
	for e := c.all.Front(); e != nil; e = c.all.Front() {
		of := e.Value.(*call)
		if c.all.Len() <= mostCalls && time.Since(of.used) <= longestCall {
			return
		}
		c.all.Remove(e)
		delete(c.ids, of.id)
		for i := range of.answers {
			of.answers[i].settle(c.count)
		}
	}
}

// keep keeps the language of a call's user.
func (c *calls) keep(id, tag string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if of := c.get(id); of != nil {
		of.tag = tag
	}
}

// language returns the language of a call's user, "" if it is not known.
func (c *calls) language(id string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.ids[id]; e != nil && time.Since(e.Value.(*call).used) <= longestCall {
		return e.Value.(*call).tag
	}
	return ""
}

// found notes what was found of an answer so far, and reports whether it was seen before, and whether it has grown
// since. It is counted once it does not grow any more.
func (c *calls) found(id string, choice int, text string, e event) (seen, grown bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e.Time, e.Spans = time.Now(), slices.Clone(e.Spans[:min(len(e.Spans), 4)])
	now := growing{len(text), maphash.String(seed, text), e, false, time.Now()}
	of := c.get(id)
	if of == nil || choice >= mostChoices {
		now.settle(c.count)
		return false, false
	}
	if choice >= len(of.answers) {
		of.answers = append(of.answers, now)
		return false, false
	}
	before := &of.answers[choice]
	if before.size <= len(text) && maphash.String(seed, text[:before.size]) == before.hash {
		now.counted, seen, grown = before.counted, true, before.size < len(text)
	} else {
		before.settle(c.count)
	}
	*before = now
	return seen, grown
}

// settle counts an answer, once.
func (g *growing) settle(count func(event)) {
	if !g.counted {
		g.counted = true
		count(g.event)
	}
}

// settle counts the answers that have not grown for a while, and returns the number of the others.
func (c *calls) settle(quiet time.Duration) (left int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget()
	for e := c.all.Front(); e != nil; e = e.Next() {
		answers := e.Value.(*call).answers
		for i := range answers {
			if g := &answers[i]; time.Since(g.seen) > quiet {
				g.settle(c.count)
			} else if !g.counted {
				left++
			}
		}
	}
	return left
}
