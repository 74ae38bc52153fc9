package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/model/reference"
	"crosstalk/report"
	"crosstalk/run"

	"github.com/spf13/cobra"
)

func runCommand() *cobra.Command {
	return group("run", "Ask a model, score its answers, report",
		`Ask a model about a suite, score the answers and report the figures.

The answers stay in a run directory. The same command again goes on where the
last one stopped and asks for nothing twice.`, runLeakageCommand(), runConfusionCommand(), runConsistencyCommand())
}

// running are the flags of every run.
type running struct {
	output
	asking
	suite string
	out   string
	dry   bool
}

func (r *running) flags(c *cobra.Command, standIn, suite string) {
	r.asking.flags(c, standIn)
	c.Flags().StringVar(&r.suite, "suite", suite, "an embedded suite (crosstalk suites list) or a file")
	c.Flags().StringVar(&r.out, "out", "", "the run directory (default: runs/ and a name made of suite, model and settings)")
	c.Flags().BoolVar(&r.dry, "dry-run", false, "print the conditions and count asks, tokens and cost; ask nothing")
	r.output.flags(c)
}

// check refuses flags that no run can begin with.
func (r *running) check(c *cobra.Command) error {
	return cmp.Or(report.CheckFormat(r.format), r.limits(c))
}

// measure asks, scores and reports.
func (r *running) measure(c *cobra.Command, s *study) error {
	if err := s.check(c); err != nil {
		return err
	}
	if r.out == "" {
		r.out = s.directory()
	}
	rows, total, err := s.count(c.Context(), r.options.Budget.Prices)
	if err != nil {
		return err
	}
	if r.dry {
		return printDryRun(c.OutOrStdout(), rows, total, r.out)
	}
	dir, err := run.Create(r.out, s.plan())
	if err != nil {
		return err
	}
	if err := dir.SetAsks(total.asks); err != nil {
		return errors.Join(err, dir.Close())
	}
	kept, err := dir.OpenSimilarityCache()
	if err != nil {
		return errors.Join(err, dir.Close())
	}
	session := ask.NewSession(dir.Journal, r.options)
	m := &measurement{output: r.output, command: c, study: s, dir: dir, session: session, planned: total.asks}
	if s.begin != nil {
		s.begin(surroundings{session.For, kept})
	}
	return errors.Join(m.run(), kept.Close(), dir.Close())
}

// measurement is a run under way.
type measurement struct {
	output
	*study
	command *cobra.Command
	dir     *run.Dir
	session *ask.Session
	planned int // asks

	unmeasured int
	limit      *ask.LimitError // that kept these items from being measured
}

// run asks, scores, writes and prints.
func (m *measurement) run() error {
	stderr := m.command.ErrOrStderr()
	ctx, release := onInterrupt(m.command.Context(), stderr, m.session)
	defer release()
	progress := startProgress(stderr, m.session, m.planned, m.quiet)
	defer progress.stop()

	if m.prepare != nil {
		if err := m.prepare(ctx, m.dir, m.session); err != nil {
			progress.stop()
			return m.explain(err)
		}
	}
	var estimates []crosstalk.Estimate
	err := m.dir.RecordObservations(func(record func(crosstalk.Observation) error) error {
		for _, p := range m.protocols {
			of, err := m.estimate(ctx, p, record)
			if err != nil {
				return err
			}
			estimates = append(estimates, of...)
		}
		return nil
	})
	progress.stop()
	if err != nil {
		return m.explain(err)
	}
	scorings := make([]run.Scoring, len(m.protocols))
	for i, p := range m.protocols {
		scorings[i] = p.scoring
	}
	if err := m.dir.SetScoring(scorings...); err != nil { // not before the observations are of it
		return err
	}
	return m.finish(estimates)
}

// estimate measures all conditions under one protocol.
func (m *measurement) estimate(ctx context.Context, p protocol, record func(crosstalk.Observation) error) (estimates []crosstalk.Estimate, failed error) {
	var arms []run.Arm
	for _, c := range m.named(p) {
		arms = append(arms, run.Arm{Instrument: p.set(c), Ask: m.session.For(c.model)})
	}
	estimates = arms[0].Instrument.Estimate(func(yield func(crosstalk.Observation) bool) {
		for item := range run.Measure(ctx, arms, m.suite.Items, parallelItems) {
			if failed == nil {
				failed = m.take(item, record, yield)
			}
			if failed != nil { // what is in flight is saved, and what was saved is counted
				m.session.Stop()
			}
		}
	}, m.by)
	return estimates, failed
}

// take hands on what came of one item. That a limit kept it from being measured
// is no error: the others may be worth a report.
func (m *measurement) take(item run.Measured, record func(crosstalk.Observation) error, yield func(crosstalk.Observation) bool) error {
	if errors.As(item.Err, &m.limit) {
		m.unmeasured++
		return nil
	}
	for _, o := range item.Observations {
		if err := record(o); err != nil {
			return err
		}
		yield(o)
	}
	return item.Err
}

// parallelItems is how many items are measured at a time: enough to keep the
// largest number of asks in flight, whose own limits decide.
const parallelItems = 512

// explain turns what ended a run early into what the user should know.
func (m *measurement) explain(err error) error {
	if errors.As(err, new(*exitError)) {
		return err // it says all
	}
	stopped := errors.Is(err, ask.ErrStopped) || errors.Is(err, context.Canceled)
	reason := m.session.Reason()
	if stopped && reason != nil && !errors.Is(reason, ask.ErrStopped) && !errors.As(reason, new(*ask.LimitError)) {
		stopped, err = false, reason // which came while the rest was stopping
	}
	stats := m.session.Stats()
	saved := fmt.Sprintf("%d of %d asks are answered and saved in %s; the same command goes on from there",
		stats.Done-stats.Failed, max(stats.Done, m.planned), m.dir.Path)
	switch {
	case stopped:
		return &exitError{exitInterrupted, fmt.Errorf("interrupted: %s", saved)}
	case stats.Done > stats.Failed:
		return fmt.Errorf("%w\n%s", err, saved)
	}
	return err
}

func (m *measurement) finish(estimates []crosstalk.Estimate) error {
	items := 0
	for _, p := range m.protocols {
		items += len(p.conditions) * len(m.suite.Items)
	}
	if m.unmeasured > 0 {
		markUnmeasured(estimates, m.unmeasured, fmt.Sprintf("of %d items were not measured: %v", items, m.limit))
	}
	if err := m.dir.WriteEstimates(report.NewDocument(estimates)); err != nil {
		return err
	}
	if err := report.Write(m.command.OutOrStdout(), m.format, estimates); err != nil {
		return err
	}
	if !m.quiet {
		m.say()
	}
	stats := m.session.Stats()
	switch {
	case m.unmeasured > 0:
		return &exitError{exitIncomplete, fmt.Errorf("%w; the same command goes on from there, with the limit counted anew", m.limit)}
	case stats.Failed > 0:
		return &exitError{exitIncomplete, fmt.Errorf("%d of %d asks failed (the last: %s); the same command asks for them again", stats.Failed, stats.Done, stats.Trouble)}
	}
	return nil
}

// say tells what the figures rest on and where they are.
func (m *measurement) say() {
	stderr, stats := m.command.ErrOrStderr(), m.session.Stats()
	fmt.Fprintf(stderr, "\n%d answers", stats.Done)
	if stats.Cached > 0 {
		fmt.Fprintf(stderr, ", %d of them asked for before", stats.Cached)
	}
	if stats.Cost > 0 {
		fmt.Fprintf(stderr, ", cost %.4f", stats.Cost)
	}
	fmt.Fprintf(stderr, ". Run directory: %s\n", m.dir.Path)
	if len(m.plan().Conditions) > 1 {
		fmt.Fprintf(stderr, "Their differences: crosstalk compare %s\n", m.dir.Path)
	}
	if m.protocols[0].conditions[0].Model.Provider == reference.Provider {
		fmt.Fprintf(stderr, `A reference model of known truth answered, no language model. To measure one:
  OPENAI_API_KEY=... crosstalk run %[1]s --model openai:gpt-4o-mini
  crosstalk run %[1]s --model ollama:llama3.2
`, m.instrument)
	}
}

// fileName makes a name that every file system takes.
func fileName(s string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '.', r == '_':
			return r
		}
		return '-'
	}, s), "-.")
}
