package study

import (
	"context"
	"fmt"
	"sync"

	"crosstalk"

	"golang.org/x/sync/semaphore"
)

// room is what the items that are being measured share.
type room struct {
	asks    *semaphore.Weighted // under way
	answers *semaphore.Weighted // bytes of those that wait
	scoring *semaphore.Weighted // bytes
}

// place is an item on its way through an arm. It is the asker of the arm's instruments:
// what was asked for one is there for the other, in memory or where it is saved.
type place struct {
	Measured
	arm    *Arm
	ctx    context.Context
	end    func()
	room   *room
	weight int64 // bytes, about, that scoring takes

	mu      sync.Mutex
	asks    int                                // not answered yet
	taken   int                                // of the room for asks
	answers map[crosstalk.Key]crosstalk.Answer // by request; without a status: it is only saved
	bytes   int64                              // of all answers
	kept    int64                              // of these, in memory
}

// enter waits for room for the item's asks, and takes as much of it as most.
func (p *place) enter(ctx context.Context, most int) error {
	p.asks = max(1, p.arm.Asks)
	p.taken = min(p.asks, most)
	if err := p.room.asks.Acquire(ctx, int64(p.taken)); err != nil {
		return err
	}
	p.end = func() {}
	if p.arm.Admit != nil {
		p.ctx, p.end = p.arm.Admit(p.ctx, p.Number)
	}
	return nil
}

// leave gives back the room that asks to come do not need.
func (p *place) leave(asks int) {
	if p.asks = asks; p.taken > asks {
		p.room.asks.Release(int64(p.taken - asks))
		p.taken = asks
	}
}

// ask asks what the item needs. An arm without a scorer measures it.
func (p *place) ask() {
	defer p.leave(0)
	defer p.end()
	if p.Err = context.Cause(p.ctx); p.Err != nil {
		return
	}
	if p.arm.Scorer == nil {
		p.Observations, p.Err = p.arm.Instrument.Measure(p.ctx, p.arm.Ask, p.Item)
		return
	}
	p.answers = make(map[crosstalk.Key]crosstalk.Answer, p.asks)
	_, p.Err = p.arm.Instrument.Measure(p.ctx, p, p.Item)
}

// weigh waits for room to score the item. It is called in the order of items: none
// waits for one after it.
func (p *place) weigh(ctx context.Context) error {
	const overhead, times = 4 << 10, 128 // of an observation; to judge words takes a hundred bytes for each of the text
	p.weight = min(scoringBytes, overhead*int64(len(p.answers))+times*p.bytes)
	return p.room.scoring.Acquire(ctx, p.weight)
}

// score scores what was asked.
func (p *place) score() {
	if p.arm.Scorer != nil && p.Err == nil {
		p.Observations, p.Err = p.arm.Scorer().Measure(p.ctx, p, p.Item)
	}
	p.answers = nil
	p.room.answers.Release(p.kept)
}

func (p *place) Ask(ctx context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
	key := crosstalk.KeyOf(crosstalk.Identity{}, req)
	p.mu.Lock()
	answer, asked := p.answers[key]
	p.mu.Unlock()
	if !asked {
		return p.first(ctx, key, req)
	}
	if answer.Status != "" {
		return answer, nil
	}
	answer, found, err := p.arm.Saved(answer.Key)
	if answer.Raw = nil; err == nil && !found {
		err = fmt.Errorf("item %s: its answer %s is no longer saved", p.Item.ID, answer.Key)
	}
	return answer, err
}

// first asks what was not asked for the item before.
func (p *place) first(ctx context.Context, key crosstalk.Key, req crosstalk.Request) (crosstalk.Answer, error) {
	answer, err := p.arm.Ask.Ask(ctx, req)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.leave(max(0, p.asks-1)); err != nil {
		return answer, err
	}
	keep, bytes := answer, sizeOf(answer)
	if p.room.answers.TryAcquire(bytes) {
		p.kept += bytes
	} else {
		keep = crosstalk.Answer{Key: answer.Key}
	}
	p.answers[key] = keep
	p.bytes += bytes
	return answer, nil
}

// sizeOf is about how many bytes an answer takes in memory.
func sizeOf(a crosstalk.Answer) int64 {
	const answer, candidate = 512, 64
	n := answer + len(a.Text) + len(a.Reasoning)
	for _, p := range a.Logprobs {
		n += candidate * (1 + len(p.Top))
	}
	return int64(n)
}
