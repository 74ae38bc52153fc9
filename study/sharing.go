package study

import (
	"context"
	"sync"

	"crosstalk"
	"crosstalk/shard"
)

// sharing is an Asker that notes which items share requests. Its answers are
// different texts, as a counter's.
type sharing struct {
	id       crosstalk.Identity
	clusters *shard.Clusters
	item     int // that is measured now, or everyItem

	mu    sync.Mutex
	first map[uint64]int32 // the first item with a request, by crosstalk.Key.Short
}

// everyItem means the requests that precede all items.
const everyItem = -1

// Ask implements crosstalk.Asker.
func (n *sharing) Ask(_ context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
	key := crosstalk.KeyOf(n.id, req)
	at := key.Short()
	n.mu.Lock()
	defer n.mu.Unlock()
	switch first, again := n.first[at]; {
	case !again:
		n.first[at] = int32(n.item)
	case first != everyItem:
		n.clusters.Join(int(first), n.item)
	}
	return crosstalk.Answer{Status: crosstalk.Text, Text: key.String()}, nil
}
