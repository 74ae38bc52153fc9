package study

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"strings"
	"sync"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/internal/parallel"
	"crosstalk/model"
	"crosstalk/run"
	"crosstalk/suite"

	"golang.org/x/sync/semaphore"
)

// asked is the source of a study that asks models for the items of its suite.
type asked struct {
	*Study
	id func() string // of the suite; it takes a while to compute for a large one
}

// ask makes models the source of a study whose suite is set.
func (s *Study) ask() { s.source = asked{s, sync.OnceValue(s.Suite.ID)} }

// check returns an error if a column for grouping is neither in the suite nor in the grid.
func (a asked) check(bool) error {
	if !a.byUser {
		return nil
	}
	known := maps.Clone(a.columns)
	for _, p := range a.Protocols {
		for _, c := range p.Conditions {
			known.Add(a.observed(p, c).Name)
		}
	}
	for _, item := range a.Suite.Items.All() {
		known.Add(item.Labels)
	}
	return a.checkBy(known)
}

func (a asked) plan() run.Plan {
	plan := run.Plan{Instrument: a.Instrument, Suite: a.id()}
	seen := map[string]bool{}
	for _, p := range a.Protocols {
		for _, c := range p.Conditions {
			if key := string(crosstalk.Canonical(c.Condition)); !seen[key] {
				seen[key] = true
				plan.Conditions = append(plan.Conditions, c.Condition)
			}
		}
	}
	return plan
}

func (s *Study) countedOf(protocol, condition int) Counted {
	for _, before := range s.Protocols[:protocol] {
		condition += len(before.Conditions)
	}
	return s.counted[condition]
}

func (a asked) suites() (crosstalk.SuiteIDs, error) { return crosstalk.SuiteIDs{All: a.id()}, nil }

// observations measures all conditions of a protocol. After an error it stops the session and saves what comes.
func (a asked) observations(ctx context.Context, m *Measurement, protocol int) iter.Seq2[scored, error] {
	p := a.Protocols[protocol]
	var arms []Arm
	for i, c := range p.Conditions {
		asker := m.askers.of(p, c)
		counted := a.countedOf(protocol, i)
		arms = append(arms, Arm{
			Instrument: p.instrument(c.without(asker.refused(false)), false), Ask: asker, Asks: counted.asks,
			Scorer: sync.OnceValue(func() crosstalk.Instrument {
				return p.instrument(a.observed(p, c.without(asker.refused(true))), true)
			}),
			Saved: m.Dir.Journal.Get, Admit: counted.admit(m.Session.Item)})
	}
	return func(yield func(scored, error) bool) {
		stopped := false
		for item := range Measure(ctx, arms, a.items(), parallel.AtOnce) {
			if errors.As(item.Err, &m.result.Limit) || errors.As(item.Err, new(*ask.ModelError)) {
				m.result.NotMeasured++ // the others may be worth a report
				continue
			}
			if stopped {
				continue
			}
			of := scored{run.Place{Part: item.Arm, Item: a.place(item.Number)}, item.Observations}
			if !yield(of, item.Err) || item.Err != nil {
				stopped = true
				m.Session.Stop()
			}
		}
	}
}

func (s *Study) checkBatch() error {
	for _, p := range s.Protocols {
		for _, c := range p.Conditions {
			if _, ok := c.model.(crosstalk.Batcher); !ok {
				return crosstalk.BadOption("batch", ": %s has no batch API that crosstalk knows; models of these have: %s",
					c.name, strings.Join(model.Batchers(), ", "))
			}
		}
	}
	return nil
}

// inRound is an adapting asker whose asks are a round's.
type inRound struct {
	*adapting
	round crosstalk.Asker
}

func (a inRound) Ask(ctx context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
	return a.through(ctx, a.round, req)
}

// askInBatches collects batches that an earlier run left. With --batch it then asks in rounds of batches, since
// what is asked depends on answers. The journal has all then, but what a limit or a model prevented.
func (m *Measurement) askInBatches(ctx context.Context) error {
	for _, p := range m.study.Protocols {
		for _, c := range p.Conditions {
			m.Session.For(c.model)
		}
	}
	batching, err := m.Session.Batching()
	if err != nil || batching == nil {
		return err
	}
	if err := batching.Collect(ctx); err != nil && !limited(err) {
		return err
	}
	for another := m.batch; another; {
		round := batching.Round()
		if err := m.measureRound(ctx, round); err != nil {
			return err
		}
		if another, err = round.Send(ctx); err != nil && !limited(err) {
			return err
		}
	}
	return nil
}

func limited(err error) bool { return errors.As(err, new(*ask.LimitError)) }

// measureRound measures all items with the askers of a round, for their requests.
func (m *Measurement) measureRound(ctx context.Context, round *ask.Round) (failed error) {
	s := m.study
	for k, p := range s.Protocols {
		var arms []Arm
		for i, c := range p.Conditions {
			counted := s.countedOf(k, i)
			arms = append(arms, Arm{Instrument: p.instrument(c, false), Ask: inRound{m.askers.of(p, c), round.For(c.model)},
				Asks: counted.asks, Admit: counted.admit(round.Item)})
		}
		for item := range Measure(ctx, arms, s.items(), parallel.AtOnce) {
			if limited(item.Err) || errors.As(item.Err, new(*ask.ModelError)) || errors.Is(item.Err, ask.ErrDeferred) {
				continue // the last measurement counts those that are not measured
			}
			if failed == nil {
				failed = item.Err
			}
			if failed != nil {
				m.Session.Stop()
			}
		}
	}
	return failed
}

// Arm is one condition of a study: its instrument and its asker.
type Arm struct {
	Instrument crosstalk.Instrument
	Ask        crosstalk.Asker
	Asks       int // of an item, about; 0 is 1
	// Scorer, if it is set, is called when the first item was asked for. What it returns measures each item in
	// turn, with the answers to what Instrument asked, which scores nothing, as far as they are still in memory.
	// Saved returns the others from where Ask has saved them.
	Scorer func() crosstalk.Instrument
	Saved  func(crosstalk.Key) (answer crosstalk.Answer, found bool, err error)
	// Admit, if it is set, is called for each item in order, before it is asked for with the context that it returns;
	// end when what Instrument asks is answered.
	Admit func(ctx context.Context, item int) (_ context.Context, end func())
}

// Measured is the result of one item in an arm: its observations, or an error.
type Measured struct {
	Arm, Number  int // of the arm, and of the item
	Item         crosstalk.Item
	Observations []crosstalk.Observation
	Err          error
}

// What is in memory at most, of all items that are being measured.
const (
	waitingAsks  = 16       // answers that wait to be scored, or their keys, for each ask that may be under way
	waitingBytes = 16 << 20 // of these answers; the others are read again
	scoringBytes = 64 << 20 // of what is being scored, or waits for the items before it
	scoringItems = 256
	scoringTimes = 128 // bytes for each of a text: to judge words takes a hundred
)

// Measure measures items in every arm, with about n asks under way at a time, and yields them in the order of arms
// and items. After an error it continues, so that existing answers still count. When the loop is left, it starts no
// further items, waits for those in progress, whose requests may be paid for, and drops them.
func Measure(ctx context.Context, arms []Arm, items suite.Items, n int) iter.Seq[Measured] {
	n = max(1, n)
	asks := 1
	for _, arm := range arms {
		asks = max(asks, arm.Asks)
	}
	room := &room{asks: semaphore.NewWeighted(int64(n)), answers: semaphore.NewWeighted(waitingBytes),
		scoring: semaphore.NewWeighted(scoringBytes)}
	return func(yield func(Measured) bool) {
		inside, leave := context.WithCancel(context.WithoutCancel(ctx))
		defer leave()
		begun := func(yield func(*place, error) bool) {
			for arm := range arms {
				for number, item := range items.All() {
					p := &place{Measured: Measured{Arm: arm, Number: number, Item: item}, arm: &arms[arm], ctx: ctx, room: room}
					// Two items at least, so that the next is under way when the last answers of one are waited for.
					p.asks = max(1, p.arm.Asks)
					p.taken = min(p.asks, max(1, n/2))
					if room.asks.Acquire(inside, int64(p.taken)) != nil {
						return
					}
					p.end = func() {}
					if p.arm.Admit != nil {
						p.ctx, p.end = p.arm.Admit(p.ctx, number)
					}
					if !yield(p, nil) {
						return
					}
				}
			}
		}
		asked := func(yield func(*place, error) bool) {
			for p := range parallel.Map(inside, begun, max(2, waitingAsks*n/asks), each((*place).ask)) {
				const overhead = 4 << 10 // of an observation
				p.weight = min(scoringBytes, overhead*int64(len(p.answers))+scoringTimes*p.bytes)
				// Items wait for room in their order: none for one after it.
				if room.scoring.Acquire(inside, p.weight) != nil || !yield(p, nil) {
					return
				}
			}
		}
		for p := range parallel.Map(inside, asked, scoringItems, each((*place).score)) {
			if !yield(p.Measured) {
				leave()
				return
			}
			room.scoring.Release(p.weight)
		}
	}
}

func each(do func(*place)) func(context.Context, *place) (*place, error) {
	return func(_ context.Context, p *place) (*place, error) {
		do(p)
		return p, nil
	}
}

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

func sizeOf(a crosstalk.Answer) int64 {
	const answer, candidate = 512, 64
	n := answer + len(a.Text) + len(a.Reasoning)
	for _, p := range a.Logprobs {
		n += candidate * (1 + len(p.Top))
	}
	return int64(n)
}
