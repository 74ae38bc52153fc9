package study

import (
	"context"
	"errors"
	"iter"
	"maps"
	"sync"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/internal/parallel"
	"crosstalk/run"
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
