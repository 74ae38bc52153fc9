package study

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/ask/journal"
	"crosstalk/instrument"
)

// IncompleteError is the error for a measurement that lacks answers or items. Running the study again resumes it.
type IncompleteError struct{ err error }

func (e *IncompleteError) Error() string { return e.err.Error() }

func (e *IncompleteError) Unwrap() error { return e.err }

// InterruptedError is the error for a measurement that somebody stopped. It says what is saved.
type InterruptedError struct{ saved string }

func (e *InterruptedError) Error() string { return "interrupted: " + e.saved }

// Missing is an *IncompleteError if the result lacks something: a limit was reached, items were not measured,
// requests failed, or, of a whole run, most answers were not checked. Otherwise it is nil.
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
			"run the same command again to retry them",
			stats.Failed, stats.Done, stats.Trouble)}
	case !m.study.shard.IsZero():
		return nil // a shard has too few answers to say, and trying again does not help
	}
	return Unchecked(m.study.Instrument, result.Estimates)
}

// Unchecked is an *IncompleteError if a total among the figures of an instrument rests on
// a minority of the answers (crosstalk.MostlyUnchecked); its first headline measure
// decides. Groups do not count: small ones are often without a figure.
func Unchecked(instrumentName string, estimates []crosstalk.Estimate) error {
	kind := instrument.Named(instrumentName)
	headline := slices.ContainsFunc(estimates, func(e crosstalk.Estimate) bool { return kind.Measure(e.Measure).Headline })
	grouped := map[string]bool{} // columns whose values have figures of their own
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

// Explain turns the error that ended Run early into one that says what is saved and how
// to resume: an *InterruptedError if the session was stopped, or the context.
func (m *Measurement) Explain(err error) error {
	if errors.As(err, new(*ReviewError)) {
		return err
	}
	stopped := errors.Is(err, ask.ErrStopped) || errors.Is(err, context.Canceled)
	reason := m.Session.Reason()
	if stopped && reason != nil && !errors.Is(reason, ask.ErrStopped) && !errors.As(reason, new(*ask.LimitError)) {
		stopped, err = false, reason // an error that came while the session was stopping
	}
	stats := m.Session.Stats()
	saved := fmt.Sprintf("%d of %d requests are answered and saved in %s; run the same command again to resume",
		stats.Answered, max(stats.Done, m.Planned), m.Dir.Path)
	if b := stats.Batches; b.N > 0 {
		saved += fmt.Sprintf(" and collect the batches that the provider is still working on: %s", b.Text())
	}
	switch {
	case errors.Is(err, journal.ErrGone):
		return err // what was saved is gone
	case stopped:
		return &InterruptedError{saved}
	case stats.Answered > 0:
		return fmt.Errorf("%w\n%s", err, saved)
	}
	return err
}
