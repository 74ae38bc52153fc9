package study

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/ask/journal"
	"crosstalk/instrument"
	"crosstalk/model"
	"crosstalk/run"
	"crosstalk/run/figures"
)

// Measurement is a study running in a run directory. It must be closed.
type Measurement struct {
	Dir     *run.Dir
	Session *ask.Session // to show progress and to stop
	Planned int          // number of requests

	study    *Study
	cache    *run.SimilarityCache
	askers   *askers
	batch    bool
	budget   ask.Budget
	result   Result // so far, without estimates
	missing  missing
	prepared bool // for Round: instructions have been rewritten and reviewed
}

// Result is the result of a measurement.
type Result struct {
	Estimates   []crosstalk.Estimate
	NotMeasured int             // items that were not measured because of Limit or a model that cannot be asked
	Missing     []run.Missing   // these items, by group
	Limit       *ask.LimitError // nil: none was reached
	Hopeless    []*ask.ModelError
}

// Figure returns the first figure of a measure, which is over all its items: of the first model, if there are several.
func (r Result) Figure(measure string) (crosstalk.Estimate, bool) {
	i := slices.IndexFunc(r.Estimates, func(e crosstalk.Estimate) bool { return e.Measure == measure })
	if i < 0 {
		return crosstalk.Estimate{}, false
	}
	return r.Estimates[i], true
}

// Why returns the reason why items were not measured.
func (r Result) Why() error {
	if r.Limit != nil {
		return r.Limit
	}
	if len(r.Hopeless) > 0 {
		return r.Hopeless[0]
	}
	return nil
}

// Begin creates the run directory, or opens one with the same plan to resume or score again. path is the directory of
// the whole measurement; the run of a shard is inside it (shard.Shard.Dir). o's concurrency defaults to the models'
// presets.
func (s *Study) Begin(ctx context.Context, path string, o ask.Options) (*Measurement, error) {
	if s.countOnly {
		return nil, errors.New("the study can count, not run: open it without CountOnly")
	}
	f, err := s.forecast(ctx, o)
	if err != nil {
		return nil, err
	}
	s.counted = f.each
	o.SameModel = func(asked crosstalk.Identity, served string) bool { return model.SameModel(asked.Name, served) }
	if err := s.admitShard(path); err != nil {
		return nil, err
	}
	m := &Measurement{study: s, Planned: f.total.Asks, batch: o.Batch, budget: o.Budget}
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

// Discard is like Close, for a measurement without answers: it removes the run directory if that is new.
func (m *Measurement) Discard() error { return m.close(m.Dir.Discard) }

func (m *Measurement) close(dir func() error) error {
	var err error
	if m.cache != nil {
		err = m.cache.Close()
	}
	return errors.Join(err, dir())
}

// Run opens a study, of Leakage, Confusion or Consistency, and runs it in a directory, or resumes it.
func Run(ctx context.Context, of interface{ Open() (*Study, error) }, path string) (Result, error) {
	s, err := of.Open()
	if err != nil {
		return Result{}, err
	}
	return s.Run(ctx, path, ask.Options{})
}

// Run runs the whole measurement in a directory. If recorded answers cannot be scored, it leaves no new directory.
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
// the run. Reaching a limit is not an error; the session's Reason tells why it stopped.
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
	defer recorder.Discard() // after Commit, this does nothing
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
	m.Dir.Manifest.Settings = s.settings
	m.Dir.Manifest.Missing = result.Missing
	// Not before the observations are those of this scoring.
	if err := m.Dir.SetScoring(scorings, suites, result.NotMeasured, s.Changes()); err != nil {
		return Result{}, err
	}
	if result.NotMeasured > 0 {
		figures.Set{}.MarkMissing(result.Estimates, result.Missing, fmt.Sprintf(": %v", result.Why()))
	}
	return result, m.Dir.WriteEstimates(result.Estimates)
}

// sumUp turns observations into estimates: it records each observation and adds it to its protocol's estimator.
func (s *Study) sumUp(ctx context.Context, m *Measurement,
	record func(crosstalk.Observation, run.Place) error) (result Result, suites crosstalk.SuiteIDs, err error) {
	estimators := make([]crosstalk.Estimator, len(s.Protocols))
	parts := 0 // number of parts before this protocol
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
		result.Missing = m.missing.list(s.By)
		result.Hopeless = m.Session.Hopeless()
		if len(result.Hopeless) > 0 && result.NotMeasured == s.Items() && !s.IsRecorded() {
			return result, suites, result.Hopeless[0] // there is nothing to report
		}
	}
	for _, e := range estimators {
		result.Estimates = append(result.Estimates, e.Estimates(s.Plan().SuiteIDs(suites))...)
	}
	figures.MarkUnjudged(s.Instrument, result.Estimates)
	return result, suites, nil
}

// IncompleteError reports that a measurement lacks answers or items. Running the study again resumes it.
type IncompleteError struct{ err error }

func (e *IncompleteError) Error() string { return e.err.Error() }

func (e *IncompleteError) Unwrap() error { return e.err }

// InterruptedError reports that a measurement was interrupted, and what is saved.
type InterruptedError struct{ saved string }

func (e *InterruptedError) Error() string { return "interrupted: " + e.saved }

// Missing returns an *IncompleteError if the result is incomplete: a limit was reached, items were not measured,
// requests failed or, in a whole run, most answers were not checked. Otherwise it returns nil.
func (m *Measurement) Missing(result Result) error {
	stats := m.Session.Stats()
	switch {
	case result.Limit != nil:
		return &IncompleteError{fmt.Errorf("%w; run the same command again to resume", result.Limit)}
	case result.NotMeasured > 0:
		return &IncompleteError{fmt.Errorf("%d of %d items were not measured: %w; run the same command again to resume",
			result.NotMeasured, m.study.Items(), result.Why())}
	case stats.Failed > 0:
		return &IncompleteError{fmt.Errorf("%d of %d requests failed (the last: %s); "+
			"run the same command again to retry them", stats.Failed, stats.Done, stats.Trouble)}
	case !m.study.shard.IsZero():
		return nil // a shard has too few answers to tell, and trying again does not help
	}
	return Unchecked(m.study.Instrument, result.Estimates)
}

// Unchecked returns an *IncompleteError if a total of an instrument's first headline measure is based on a minority
// of the answers (crosstalk.MostlyUnchecked). Groups do not count: small ones often have no figure.
func Unchecked(instrumentName string, estimates []crosstalk.Estimate) error {
	kind := instrument.Named(instrumentName)
	headline := slices.ContainsFunc(estimates, func(e crosstalk.Estimate) bool { return kind.Measure(e.Measure).Headline })
	grouped := map[string]bool{} // columns for whose values there are separate figures
	for _, e := range estimates {
		for column, value := range e.By {
			grouped[column] = grouped[column] || value == crosstalk.All
		}
	}
	decided := map[string]bool{}
	for _, m := range kind.Measures {
		for _, e := range estimates {
			total := string(crosstalk.Canonical(e.By))
			for column, value := range e.By {
				if grouped[column] && value != crosstalk.All {
					total = ""
				}
			}
			if e.Measure != m.Key || m.Headline != headline || total == "" || decided[total] {
				continue
			}
			decided[total] = true
			if unjudged, of := kind.UnjudgedOf(e); 2*unjudged > of {
				return &IncompleteError{fmt.Errorf("most answers were not checked: %d of %d", unjudged, of)}
			}
		}
	}
	return nil
}

// Explain adds to the error of Run what is saved and how to resume; it is an *InterruptedError if the run was
// stopped.
func (m *Measurement) Explain(err error) error {
	if errors.As(err, new(*ReviewError)) {
		return err
	}
	stopped := errors.Is(err, ask.ErrStopped) || errors.Is(err, context.Canceled)
	reason := m.Session.Reason()
	if stopped && reason != nil && !errors.Is(reason, ask.ErrStopped) && !errors.As(reason, new(*ask.LimitError)) {
		stopped, err = false, reason // an error while the session was stopping
	}
	stats := m.Session.Stats()
	saved := fmt.Sprintf("%d of %d requests are answered and saved in %s; run the same command again to resume",
		stats.Answered, max(stats.Done, m.Planned), m.Dir.Path)
	if b := stats.Batches; b.N > 0 {
		saved += fmt.Sprintf(" and collect the batches that the provider is still working on: %s", b.Text())
	}
	switch {
	case errors.Is(err, journal.ErrGone):
		return err // the saved answers are lost
	case stopped:
		return &InterruptedError{saved}
	case stats.Answered > 0:
		return fmt.Errorf("%w\n%s", err, saved)
	}
	return err
}

// Round measures some items of the suite, by number, under all conditions of a study with one protocol, in batches if
// the options want that. It returns when all are answered, with the observations of each item under each condition.
// If a limit kept an item from being measured, the error is an *IncompleteError. It writes only answers, and asking
// the same items again sends nothing.
func (m *Measurement) Round(ctx context.Context, numbers []int) (map[int][][]crosstalk.Observation, error) {
	s := m.study
	if len(s.Protocols) != 1 || s.IsRecorded() {
		return nil, fmt.Errorf("rounds are of a study of one protocol that asks models")
	}
	if s.reviews != nil && !m.prepared {
		if err := s.reviews.prepare(ctx, m); err != nil {
			return nil, err
		}
	}
	m.prepared = true
	whole, places := s.part, s.places
	defer func() { s.part, s.places = whole, places }()
	s.places = slices.Sorted(slices.Values(numbers))
	s.part = s.Suite.Items.Numbered(s.places)
	f, err := s.count(ctx, m.budget.Prices, m.budget.Limits())
	if err != nil {
		return nil, err
	}
	s.counted = f.each
	if err := m.askInBatches(ctx); err != nil {
		return nil, err
	}
	round := map[int][][]crosstalk.Observation{}
	for _, number := range numbers {
		round[number] = make([][]crosstalk.Observation, len(s.Protocols[0].Conditions))
	}
	for of, err := range s.source.observations(ctx, m, 0) {
		if err != nil {
			return nil, err
		}
		round[of.place.Item][of.place.Part] = of.observations
	}
	if m.result.Hopeless = m.Session.Hopeless(); m.result.NotMeasured > 0 {
		err = &IncompleteError{fmt.Errorf("%w; run the same command again to resume", m.result.Why())}
	}
	return round, err
}

// Batched reports whether requests are sent in batches.
func (m *Measurement) Batched() bool { return m.batch }

// Shuffled returns the numbers of the items, shuffled by the seed; if clusters, those of a cluster are together.
func (s *Study) Shuffled(seed uint64, clusters bool) [][]int {
	var units [][]int
	of := map[string]int{}
	for i, item := range s.Suite.Items.All() {
		at, known := of[item.Cluster]
		if !clusters || item.Cluster == "" || !known {
			at = len(units)
			of[item.Cluster] = at
			units = append(units, nil)
		}
		units[at] = append(units[at], i)
	}
	r := rand.New(rand.NewPCG(seed, 0))
	r.Shuffle(len(units), func(i, j int) { units[i], units[j] = units[j], units[i] })
	return units
}
