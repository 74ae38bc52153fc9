package ask_test

import (
	"context"
	"testing"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/ask/journal"
	"crosstalk/internal/inflight"
)

// putter is a journal that records which asks are in flight when an answer is saved.
type putter struct {
	ask.Memory
	used int64
}

func (p *putter) Put(r journal.Record) error {
	p.used = inflight.Used()
	return p.Memory.Put(r)
}

// An answer keeps its share of the memory until it is saved; afterwards it keeps
// no body, unless it is of vectors.
func TestShareUntilSaved(t *testing.T) {
	for _, api := range []crosstalk.API{crosstalk.Chat, crosstalk.Embeddings} {
		j := &putter{}
		m := &model{answer: func(ctx context.Context, _ crosstalk.Request) (crosstalk.Answer, error) {
			share, returned := inflight.Of(ctx)
			defer returned()
			if err := share.Take(ctx, 1000); err != nil {
				return crosstalk.Answer{}, err
			}
			a := text("yes")
			a.Raw = []byte("{}")
			return a, nil
		}}
		asker := ask.NewSession(j, ask.Options{}).For(m)
		for _, which := range []string{"new", "from the journal"} {
			a, err := asker.Ask(t.Context(), crosstalk.Request{API: api, Input: []string{"a"}})
			if err != nil || (a.Raw == nil) != (api == crosstalk.Chat) {
				t.Errorf("%s, %s: body %q, %v", api, which, a.Raw, err)
			}
		}
		if j.used != 1000 || inflight.Used() != 0 {
			t.Errorf("%s: %d bytes in flight when saved, %d afterwards", api, j.used, inflight.Used())
		}
	}
}
