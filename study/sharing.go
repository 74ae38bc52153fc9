package study

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"sync"

	"crosstalk"
	"crosstalk/run/shard"
)

// sharing is an Asker that notes which items share requests. Its answers are different texts, as a counter's.
type sharing struct {
	clusters *shard.Clusters
	item     int // that is measured now; shard.Everybody: the requests that precede all items

	mu   sync.Mutex // of clusters
	text []byte     // room for what a request says
}

func (n *sharing) Ask(_ context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.text = appendSaid(n.text[:0], req)
	sum := sha256.Sum256(n.text)
	n.clusters.Share(binary.BigEndian.Uint64(sum[:]), n.item)
	return crosstalk.Answer{Status: crosstalk.Text, Text: hex.EncodeToString(sum[:])}, nil
}

// appendSaid appends what a request says to the model, and the sample. It takes a tenth of the time of the whole
// request's key, in which requests of one condition differ no more.
func appendSaid(to []byte, req crosstalk.Request) []byte {
	add := func(text string) {
		to = append(binary.AppendUvarint(to, uint64(len(text))), text...)
	}
	to = binary.AppendUvarint(to, uint64(req.Sample))
	add(req.Prompt)
	for _, m := range req.Messages {
		add(m.Role)
		add(m.Content)
	}
	for _, text := range req.Input {
		add(text)
	}
	return to
}
