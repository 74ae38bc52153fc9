package study

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/internal/parallel"
	"crosstalk/model"
	"crosstalk/run"
)

// Measurement is a study that is running in a run directory. It must be closed.
type Measurement struct {
	Dir     *run.Dir
	Session *ask.Session // for showing progress and stopping
	Planned int          // requests

	study  *Study
	cache  *run.SimilarityCache
	askers *askers
	batch  bool
}

// Result is the result of a measurement.
type Result struct {
	Estimates []crosstalk.Estimate

	// NotMeasured counts the items that Limit kept from being measured, or a
	// model that cannot be asked.
	NotMeasured int
	Limit       *ask.LimitError // nil: none was reached
	Hopeless    []*ask.ModelError
}

// Why is why items were not measured.
func (r Result) Why() error {
	if r.Limit != nil {
		return r.Limit
	}
	if len(r.Hopeless) > 0 {
		return r.Hopeless[0]
	}
	return nil
}

// Begin creates the run directory, or opens one with the same plan to resume or
// score again. path is that of the whole measurement: the run of a shard is in it
// (shard.Shard.Dir). The default of o's concurrency is that of the models' presets.
func (s *Study) Begin(ctx context.Context, path string, o ask.Options) (*Measurement, error) {
	if s.IsRecorded() {
		return s.begin(path, o, 0)
	}
	f, err := s.Forecast(ctx, o)
	if err != nil {
		return nil, err
	}
	s.counted = f.Each
	if o.SameModel == nil {
		o.SameModel = func(asked crosstalk.Identity, served string) bool { return model.SameModel(asked.Name, served) }
	}
	if o.Concurrency == 0 {
		var all []Condition
		for _, p := range s.Protocols {
			all = append(all, p.Conditions...)
		}
		o.Concurrency = concurrency(all)
	}
	return s.begin(path, o, f.Total.Asks)
}

func (s *Study) begin(path string, o ask.Options, asks int) (m *Measurement, err error) {
	for _, check := range []func() error{s.check, s.rescan} {
		if check == nil {
			continue
		}
		if err := check(); err != nil {
			return nil, err
		}
	}
	if err := s.admitShard(path); err != nil {
		return nil, err
	}
	path = s.shard.Dir(path)
	m = &Measurement{study: s, Planned: asks, batch: o.Batch}
	if m.Dir, err = run.Create(path, s.Plan()); err != nil {
		return nil, err
	}
	if !s.IsRecorded() {
		err = m.Dir.SetAsks(asks)
	}
	if err == nil && s.env != nil {
		m.cache, err = m.Dir.OpenSimilarityCache()
	}
	if err != nil {
		return nil, errors.Join(err, m.Close())
	}
	m.Session = ask.NewSession(m.Dir.Journal, o)
	m.askers = newAskers(m)
	if s.env != nil {
		s.env.Use(m.cache, m.Session.For)
	}
	return m, nil
}

// Close releases the run directory.
func (m *Measurement) Close() error {
	var err error
	if m.cache != nil {
		err = m.cache.Close()
	}
	return errors.Join(err, m.Dir.Close())
}

// Discard is Close for a measurement that has no answer: the run directory is removed
// if it is new.
func (m *Measurement) Discard() error {
	var err error
	if m.cache != nil {
		err = m.cache.Close()
	}
	return errors.Join(err, m.Dir.Discard())
}

// Run runs the whole measurement in a directory.
func (s *Study) Run(ctx context.Context, path string, o ask.Options) (result Result, err error) {
	m, err := s.Begin(ctx, path, o)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	return m.Run(ctx)
}

// Score scores recorded answers without a run directory.
func (s *Study) Score(ctx context.Context) (Result, error) {
	if s.check != nil {
		if err := s.check(); err != nil {
			return Result{}, err
		}
	}
	return s.sumUp(ctx, nil, func(crosstalk.Observation, run.Place) error { return nil })
}

// Run sends the requests that are not answered yet, scores all answers, and writes
// observations and estimates into the run. Reaching a limit is not an error; the
// session's Reason is why it stopped.
func (m *Measurement) Run(ctx context.Context) (Result, error) {
	s := m.study
	if s.prepare != nil {
		if err := s.prepare(ctx, m.Dir, func(p Protocol, c Condition) crosstalk.Asker { return m.askers.of(p, c) }); err != nil {
			return Result{}, err
		}
	}
	if !s.IsRecorded() {
		if err := m.askInBatches(ctx); err != nil {
			return Result{}, err
		}
	}
	result, err := m.record(ctx)
	for errors.Is(err, errAdapted) { // at most once for each parameter of each condition; no answer is asked for again
		result, err = m.record(ctx)
	}
	if err = errors.Join(err, m.askers.failed()); err != nil {
		return Result{}, err
	}
	scorings := make([]run.Scoring, len(s.Protocols))
	for i, p := range s.Protocols {
		scorings[i] = p.Scoring
	}
	if s.Names != nil {
		m.Dir.Manifest.Names = s.Names
	}
	if err := m.Dir.SetScoring(scorings, s.suites(), result.NotMeasured, s.Changes()); err != nil { // not before the observations are of it
		return Result{}, err
	}
	if result.NotMeasured > 0 {
		why := fmt.Sprintf("of %d items were not measured: %v", s.Items(), result.Why())
		markNotMeasured(result.Estimates, result.NotMeasured, why)
	}
	return result, m.Dir.WriteEstimates(result.Estimates)
}

// record measures, and replaces the run's observations.
func (m *Measurement) record(ctx context.Context) (Result, error) {
	recorder, err := m.Dir.Record()
	if err != nil {
		return Result{}, err
	}
	defer recorder.Discard()
	result, err := m.study.sumUp(ctx, m, recorder.AddAt)
	if err != nil {
		return Result{}, err
	}
	return result, recorder.Commit()
}

// sumUp turns observations into estimates: it records each observation and adds it
// to its protocol's estimator.
func (s *Study) sumUp(ctx context.Context, m *Measurement, record func(crosstalk.Observation, run.Place) error) (result Result, err error) {
	estimators := make([]crosstalk.Estimator, len(s.Protocols))
	counted := s.counted
	observe := func(crosstalk.Observation) {}
	if s.Observe != nil {
		observe = s.Observe()
	}
	parts := 0 // of places, before this protocol
	for i, p := range s.Protocols {
		estimators[i] = p.Rules.Estimator(s.By)
		add := func(observations []crosstalk.Observation, part, item int) error {
			for _, o := range observations {
				if err := record(o, run.Place{Part: parts + part, Item: item}); err != nil {
					return err
				}
				estimators[i].Add(o)
				observe(o)
			}
			return nil
		}
		if p.recorded != nil {
			err = addRecorded(p.recorded(ctx), add)
		} else {
			err = m.addMeasured(ctx, p, counted[:len(p.Conditions)], &result, add)
			counted = counted[len(p.Conditions):]
		}
		if err != nil {
			return result, err
		}
		parts += max(1, len(p.Conditions))
	}
	if s.IsRecorded() { // all columns are known only now
		if err := s.checkBy(s.columns); err != nil {
			return result, err
		}
	}
	if m != nil {
		result.Hopeless = m.Session.Hopeless()
	}
	if len(result.Hopeless) > 0 && !s.IsRecorded() && result.NotMeasured == s.Items() {
		return result, result.Hopeless[0] // there is nothing to report
	}
	suites := s.Plan().SuiteIDs(s.suites())
	for _, e := range estimators {
		result.Estimates = append(result.Estimates, e.Estimates(suites)...)
	}
	markUnjudged(s.Instrument, result.Estimates)
	return result, nil
}

func addRecorded(observed iter.Seq2[scored, error], add func(observations []crosstalk.Observation, part, item int) error) error {
	for of, err := range observed {
		if err == nil {
			err = add(of.observations, 0, of.item)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addMeasured measures all conditions of a protocol. After an error it stops the
// session: answers in flight are saved, and saved answers are counted.
func (m *Measurement) addMeasured(ctx context.Context, p Protocol, counted []Counted, result *Result,
	add func(observations []crosstalk.Observation, part, item int) error) (failed error) {
	s := m.study
	var arms []Arm
	var known [][]string // what each condition's model had refused before
	for i, c := range p.Conditions {
		asker := m.askers.of(p, c)
		known = append(known, asker.refused())
		as := s.observed(p, c.without(known[i]))
		arms = append(arms, Arm{Instrument: p.instrument(as, true), Ask: asker, AskOnly: p.instrument(as, false),
			Asks: counted[i].asks, Saved: m.Dir.Journal.Get, Admit: counted[i].admit(m.Session.Item)})
	}
	for item := range Measure(ctx, arms, s.items(), parallel.AtOnce) {
		if errors.As(item.Err, &result.Limit) || errors.As(item.Err, new(*ask.ModelError)) { // the others may be worth a report
			result.NotMeasured++
			continue
		}
		if failed == nil {
			if failed = item.Err; failed == nil {
				failed = add(item.Observations, item.Arm, s.place(item.Number))
			}
		}
		if failed != nil {
			m.Session.Stop()
		}
	}
	for i, arm := range arms {
		if failed == nil && !slices.Equal(known[i], arm.Ask.(*adapting).refused()) {
			failed = errAdapted
		}
	}
	return failed
}
