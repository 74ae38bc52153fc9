package study

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/instrument/confusion"
	"crosstalk/instrument/consistency"
	"crosstalk/internal/parallel"
	"crosstalk/model"
	"crosstalk/run"
	"crosstalk/suite"

	"golang.org/x/sync/semaphore"
)

// asked is the source of a study that asks models for the items of its suite.
type asked struct {
	*Study
	id func() string // of the suite; slow to compute for a large one
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

func (s *Study) countedOf(protocol, condition int) counted {
	for _, before := range s.Protocols[:protocol] {
		condition += len(before.Conditions)
	}
	return s.counted[condition]
}

func (a asked) suites() (crosstalk.SuiteIDs, error) { return crosstalk.SuiteIDs{All: a.id()}, nil }

// observations measures all conditions of a protocol. After an error, it stops the session and saves the answers
// under way.
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
				m.result.NotMeasured++ // report the others anyway
				c := p.Conditions[item.Arm]
				m.missing.add(a.observed(p, c.without(m.askers.of(p, c).refused(false))).Name, item.Item)
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

// missing counts items that were not measured, by the columns of their figures.
type missing struct {
	groups     map[string]*run.Missing
	conditions map[string]bool // their columns
}

func (m *missing) add(condition map[string]string, item crosstalk.Item) {
	labels := map[string]string{}
	switch {
	case item.Prompt != nil:
		labels[confusion.LanguageColumn] = item.Prompt.Language
	case item.Input != nil:
		labels[consistency.TaskColumn] = item.Input.Task
	}
	maps.Copy(labels, item.Labels)
	maps.Copy(labels, condition)
	if m.groups == nil {
		m.groups, m.conditions = map[string]*run.Missing{}, map[string]bool{}
	}
	for column := range condition {
		m.conditions[column] = true
	}
	m.count(labels, 1)
}

func (m *missing) count(labels map[string]string, items int) {
	key := string(crosstalk.Canonical(labels))
	if m.groups[key] == nil {
		m.groups[key] = &run.Missing{Labels: labels}
	}
	m.groups[key].Items += items
}

// maxGroups is how many groups of items a manifest has at most.
const maxGroups = 10_000

// list returns the groups, sorted. If they are too many, because nearly every item has its own value of a column, it
// keeps only the columns of conditions and of by.
func (m *missing) list(by []string) (list []run.Missing) {
	if len(m.groups) > maxGroups {
		coarse := missing{groups: map[string]*run.Missing{}}
		for _, of := range m.groups {
			maps.DeleteFunc(of.Labels, func(column, _ string) bool {
				return !m.conditions[column] && !slices.Contains(by, column)
			})
			coarse.count(of.Labels, of.Items)
		}
		m.groups = coarse.groups
	}
	for _, key := range slices.Sorted(maps.Keys(m.groups)) {
		list = append(list, *m.groups[key])
	}
	return list
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

// inRound is an adapting asker that asks through a round.
type inRound struct {
	*adapting
	round crosstalk.Asker
}

func (a inRound) Ask(ctx context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
	return a.through(ctx, a.round, req)
}

// askInBatches collects batches that an earlier run left behind. With --batch, it then asks in rounds of batches,
// since requests depend on answers. Afterwards the journal has all answers, except where a limit or a model prevented
// that.
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

// measureRound measures all items with the askers of a round, to collect their requests.
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
				continue // the last measurement counts items that are not measured
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
	Asks       int // about how many per item; 0 means 1
	// Scorer, if set, is called once the first item has been asked. The instrument that it returns scores each item in
	// turn, from the answers to the requests of Instrument, which then only asks. Answers that are no longer in memory
	// come from Saved, where Ask has saved them.
	Scorer func() crosstalk.Instrument
	Saved  func(crosstalk.Key) (answer crosstalk.Answer, found bool, err error)
	// Admit, if set, is called for each item in order, before it is asked with the returned context. end is called once
	// the requests of Instrument are answered.
	Admit func(ctx context.Context, item int) (_ context.Context, end func())
}

// Measured is the result of one item in an arm: its observations, or an error.
type Measured struct {
	Arm, Number  int // numbers of the arm and of the item
	Item         crosstalk.Item
	Observations []crosstalk.Observation
	Err          error
}

// Limits of what is in memory for all items being measured.
const (
	waitingAsks  = 16       // answers waiting to be scored, or their keys, for each request that may be under way
	waitingBytes = 16 << 20 // of these answers; the others are read again
	scoringBytes = 64 << 20 // of items that are being scored or wait for those before them
	scoringItems = 256
	scoringTimes = 128 // per byte of text: judging words takes a hundred
)

// Measure measures items in every arm, with about n requests under way, and yields them in the order of arms and
// items. It continues after an error, so that existing answers still count. When the loop ends early, it starts no
// further items, and waits for those under way, as their requests may be paid for, but drops their results.
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
					// Allow at least two items, so that the next is under way while the last answers of one are missing.
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
				const overhead = 4 << 10 // per observation
				p.weight = min(scoringBytes, overhead*int64(len(p.answers))+scoringTimes*p.bytes)
				// Items wait for memory in order, so that none waits for a later one.
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

// room holds the limits that the items being measured share.
type room struct {
	asks    *semaphore.Weighted // requests under way
	answers *semaphore.Weighted // bytes of answers that wait
	scoring *semaphore.Weighted // bytes used for scoring
}

// place is an item on its way through an arm. It is the asker of both of the arm's instruments: answers to the first
// are available to the second, in memory or where they are saved.
type place struct {
	Measured
	arm    *Arm
	ctx    context.Context
	end    func()
	room   *room
	weight int64 // approximate bytes needed for scoring

	mu      sync.Mutex
	asks    int                                // not answered yet
	taken   int                                // its share of room.asks
	answers map[crosstalk.Key]crosstalk.Answer // by request; without a status: only saved
	bytes   int64                              // of all answers
	kept    int64                              // bytes of those in memory
}

// leave returns the share of room.asks that further requests do not need.
func (p *place) leave(asks int) {
	if p.asks = asks; p.taken > asks {
		p.room.asks.Release(int64(p.taken - asks))
		p.taken = asks
	}
}

// ask sends the item's requests. Without a scorer, it measures the item.
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

// first sends a request that was not sent for the item before.
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
