package study

import (
	"context"
	"errors"
	"strings"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/internal/parallel"
	"crosstalk/model"
)

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

// askInBatches collects the batches that an earlier run left. With --batch it then asks everything in batches,
// round by round: what depends on answers of one round is asked in the next. All answers are in the journal
// afterwards, but for those that a limit or a model stood in the way of.
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
