package study

import (
	"context"
	"errors"
	"fmt"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/model"
	"crosstalk/run"
)

// Measurement is a study that is running in a run directory. It must be closed.
type Measurement struct {
	Dir     *run.Dir
	Session *ask.Session // for showing progress and stopping
	Planned int          // requests

	study    *Study
	cache    *run.SimilarityCache
	askers   *askers
	batch    bool
	budget   ask.Budget
	result   Result // so far, without estimates
	prepared bool   // for Round: instructions are rewritten and reviewed
}

// Result is the result of a measurement.
type Result struct {
	Estimates   []crosstalk.Estimate
	NotMeasured int             // items that Limit kept from being measured, or a model that cannot be asked
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

// Begin creates the run directory, or opens one with the same plan to resume or score again. path is the whole
// measurement's: the run of a shard is in it (shard.Shard.Dir). o's concurrency defaults to the models' presets.
func (s *Study) Begin(ctx context.Context, path string, o ask.Options) (*Measurement, error) {
	f, err := s.Forecast(ctx, o)
	if err != nil {
		return nil, err
	}
	s.counted = f.Each
	o.SameModel = func(asked crosstalk.Identity, served string) bool { return model.SameModel(asked.Name, served) }
	if o.Concurrency == 0 {
		o.Concurrency = s.concurrency()
	}
	if err := s.admitShard(path); err != nil {
		return nil, err
	}
	m := &Measurement{study: s, Planned: f.Total.Asks, batch: o.Batch, budget: o.Budget}
	if m.Dir, err = run.Create(s.shard.Dir(path), s.Plan()); err != nil {
		return nil, err
	}
	if !s.IsRecorded() {
		err = m.Dir.SetAsks(m.Planned)
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
func (m *Measurement) Close() error { return m.close(m.Dir.Close) }

// Discard is Close for a measurement that has no answer: the run directory is removed if it is new.
func (m *Measurement) Discard() error { return m.close(m.Dir.Discard) }

func (m *Measurement) close(dir func() error) error {
	var err error
	if m.cache != nil {
		err = m.cache.Close()
	}
	return errors.Join(err, dir())
}

// Run opens a study, of Leakage, Confusion or Consistency, and runs it in a directory, or resumes it there.
func Run(ctx context.Context, of interface{ Open() (*Study, error) }, path string) (Result, error) {
	s, err := of.Open()
	if err != nil {
		return Result{}, err
	}
	return s.Run(ctx, path, ask.Options{})
}

// Run runs the whole measurement in a directory. Recorded answers that cannot be scored leave no new directory.
func (s *Study) Run(ctx context.Context, path string, o ask.Options) (result Result, err error) {
	m, err := s.Begin(ctx, path, o)
	if err != nil {
		return result, err
	}
	result, err = m.Run(ctx)
	if err != nil && s.IsRecorded() {
		return result, errors.Join(err, m.Discard())
	}
	return result, errors.Join(err, m.Close())
}

// Score scores recorded answers without a run directory.
func (s *Study) Score(ctx context.Context) (Result, error) {
	if err := s.source.check(false); err != nil {
		return Result{}, err
	}
	result, _, err := s.sumUp(ctx, nil, func(crosstalk.Observation, run.Place) error { return nil })
	return result, err
}

// Run sends the requests that are not answered yet, scores all answers, and writes observations and estimates into
// the run. Reaching a limit is not an error; the session's Reason is why it stopped.
func (m *Measurement) Run(ctx context.Context) (Result, error) {
	s := m.study
	if s.reviews != nil {
		if err := s.reviews.prepare(ctx, m); err != nil {
			return Result{}, err
		}
	}
	if err := m.askInBatches(ctx); err != nil {
		return Result{}, err
	}
	recorder, err := m.Dir.Record()
	if err != nil {
		return Result{}, err
	}
	defer recorder.Discard() // unless committed
	result, suites, err := s.sumUp(ctx, m, recorder.AddAt)
	if err == nil {
		err = recorder.Commit()
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
	// Not before the observations are of this scoring.
	if err := m.Dir.SetScoring(scorings, suites, result.NotMeasured, s.Changes()); err != nil {
		return Result{}, err
	}
	if result.NotMeasured > 0 {
		why := fmt.Sprintf("of %d items were not measured: %v", s.Items(), result.Why())
		markNotMeasured(result.Estimates, result.NotMeasured, why)
	}
	return result, m.Dir.WriteEstimates(result.Estimates)
}

// sumUp turns observations into estimates: it records each observation and adds it to its protocol's estimator.
func (s *Study) sumUp(ctx context.Context, m *Measurement,
	record func(crosstalk.Observation, run.Place) error) (result Result, suites crosstalk.SuiteIDs, err error) {
	estimators := make([]crosstalk.Estimator, len(s.Protocols))
	parts := 0 // of places, before this protocol
	for i, p := range s.Protocols {
		estimators[i] = p.Rules.Estimator(s.By)
		for of, err := range s.source.observations(ctx, m, i) {
			if err != nil {
				return result, suites, err
			}
			of.place.Part += parts
			for _, o := range of.observations {
				if err := record(o, of.place); err != nil {
					return result, suites, err
				}
				estimators[i].Add(o)
				if s.Observe != nil {
					s.Observe(o)
				}
			}
		}
		parts += max(1, len(p.Conditions))
	}
	if suites, err = s.source.suites(); err != nil {
		return result, suites, err
	}
	if m != nil {
		result = m.result
		result.Hopeless = m.Session.Hopeless()
		if len(result.Hopeless) > 0 && result.NotMeasured == s.Items() && !s.IsRecorded() {
			return result, suites, result.Hopeless[0] // there is nothing to report
		}
	}
	for _, e := range estimators {
		result.Estimates = append(result.Estimates, e.Estimates(s.Plan().SuiteIDs(suites))...)
	}
	markUnjudged(s.Instrument, result.Estimates)
	return result, suites, nil
}
