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
	item     int // that is measured now; shard.Everybody: the requests that precede all items

	mu sync.Mutex // of clusters
}

// Ask implements crosstalk.Asker.
func (n *sharing) Ask(_ context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
	key := crosstalk.KeyOf(n.id, req)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.clusters.Share(key.Short(), n.item)
	return crosstalk.Answer{Status: crosstalk.Text, Text: key.String()}, nil
}
