package study

import (
	"context"
	"errors"
	"fmt"

	"crosstalk/ask"
	"crosstalk/ask/journal"
)

// IncompleteError is the error for a measurement with figures that lack answers or
// items. Running the same study again resumes it.
type IncompleteError struct{ err error }

func (e *IncompleteError) Error() string { return e.err.Error() }

// Unwrap returns why it is incomplete.
func (e *IncompleteError) Unwrap() error { return e.err }

// InterruptedError is the error for a measurement that somebody stopped. It says what
// is saved.
type InterruptedError struct{ saved string }

func (e *InterruptedError) Error() string { return "interrupted: " + e.saved }

// Missing is an *IncompleteError if the result lacks something: a limit was reached,
// items were not measured, or requests failed. Otherwise it is nil.
func (m *Measurement) Missing(result Result) error {
	stats := m.Session.Stats()
	switch {
	case result.Limit != nil:
		return &IncompleteError{fmt.Errorf("%w; run the same command again to resume with a new limit", result.Limit)}
	case result.NotMeasured > 0:
		return &IncompleteError{fmt.Errorf("%d of %d items were not measured: %w; run the same command again to resume",
			result.NotMeasured, m.study.Items(), result.Why())}
	case stats.Failed > 0:
		return &IncompleteError{fmt.Errorf("%d of %d requests failed (the last: %s); run the same command again to retry them",
			stats.Failed, stats.Done, stats.Trouble)}
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
