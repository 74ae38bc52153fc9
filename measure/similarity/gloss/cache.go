package gloss

import (
	"strings"
	"sync"
)

// cache keeps prepared texts, because concepts and answers to control prompts recur. It has two generations: when the
// young one is full it becomes the old one, and texts still in use are carried over.
type cache struct {
	mutex      sync.Mutex
	young, old map[string]*text
}

const (
	generation = 2048 // maximum number of texts
	maxCached  = 1024 // maximum bytes per text
)

func (c *cache) get(s string) *text {
	if len(s) > maxCached {
		return nil
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if t := c.young[s]; t != nil {
		return t
	}
	t := c.old[s]
	if t != nil {
		c.add(s, t)
	}
	return t
}

func (c *cache) put(s string, t *text) {
	if len(s) > maxCached {
		return
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.add(strings.Clone(s), t) // s may be a part of something large
}

func (c *cache) add(s string, t *text) {
	if len(c.young) >= generation || c.young == nil {
		c.old, c.young = c.young, make(map[string]*text, generation)
	}
	c.young[s] = t
}
