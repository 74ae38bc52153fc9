package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"crosstalk/internal/config"
	"crosstalk/internal/interrupt"
	"crosstalk/internal/shell"
	"crosstalk/model/reference"
	"crosstalk/run/watch"
	"crosstalk/study"

	"github.com/spf13/cobra"
)

// run is the command that asks and scores.
func (in instrument) run() *cobra.Command {
	r, f := &runFlags{}, in.flags()
	c := command("run "+in.name, cobra.NoArgs, func(c *cobra.Command, _ []string) error {
		err := r.run(c, func() (*study.Study, error) { return f.study(r) })
		if err == nil && !r.dry {
			f.note(notes(c))
		}
		return err
	})
	r.add(c, reference.Provider+":"+in.standIn, in.suite)
	f.addRun(c)
	f.add(c)
	return c
}

// runFlags are the flags of every run.
type runFlags struct {
	answerFlags
	modelFlags
	suite string
	out   string
	shard shardFlag
	dry   bool
}

func (r *runFlags) add(c *cobra.Command, standIn, suite string) {
	r.modelFlags.add(c, standIn)
	r.suite = suite
	config.Declare(c, often, []config.Flag{
		{Name: "suite", To: &r.suite, Values: "suites", Reach: config.Path,
			Help: "an embedded suite (crosstalk suites) or a file: YAML, or a table of prompts"},
		{Name: "out", To: &r.out, Reach: config.Path, Help: "the run directory (default: runs/SUITE-MODEL-HASH)"},
		{Name: "dry-run", To: &r.dry, Help: "print the conditions, requests, tokens and cost; send nothing"},
	})
	r.shard.add(c)
	r.answerFlags.add(c)
}

// run opens a study, measures it, and reports.
func (r *runFlags) run(c *cobra.Command, open func() (*study.Study, error)) error {
	if err := cmp.Or(r.answerFlags.check(), r.modelFlags.check()); err != nil {
		return err
	}
	collect(50) // a sixth less memory, for a tenth more CPU time where answers come at once
	s, err := open()
	if err != nil {
		return err
	}
	if r.out == "" {
		r.out = s.Directory()
	}
	r.follow(s)
	divided, err := r.shard.take(c, s, &r.options)
	if err != nil {
		return err
	}
	if r.dry {
		f, err := s.Forecast(c.Context(), r.options)
		if err != nil {
			return err
		}
		return f.Write(c.OutOrStdout(), r.names, s.Shard().Dir(r.out))
	}
	warn(c, divided)
	known := s.Changes()
	warn(c, known)
	m, err := s.Begin(c.Context(), r.out, r.options)
	if err != nil {
		return err
	}
	measure := r.measure
	if of, ok := c.Context().Value(accepting{}).(*acceptFlags); ok {
		measure = of.measure
	}
	err = measure(c, s, m, len(known))
	if stats := m.Session.Stats(); err != nil && stats.Answered+stats.Batches.N == 0 && !errors.As(err, new(*exitError)) {
		return errors.Join(err, m.Discard()) // such as a key that is refused
	}
	return errors.Join(err, m.Close())
}

// grace is how long a run waits after SIGTERM for the requests in flight: less than the
// time after which schedulers kill. A variable for tests.
var grace = 20 * time.Second

// measure sends the requests, scores the answers, and writes and prints the figures.
func (r *runFlags) measure(c *cobra.Command, s *study.Study, m *study.Measurement, warned int) error {
	var result study.Result
	err := watched(c, s, m, warned, func(ctx context.Context) (err error) {
		result, err = m.Run(ctx)
		return err
	})
	if err != nil {
		return err
	}
	if err := r.print(c, s, result); err != nil {
		return err
	}
	w, conditions, path := notes(c), s.Plan().Conditions, m.Dir.Path
	fmt.Fprintf(w, "\n%s. Run directory: %s\n", m.Session.Stats().Text(), path)
	sayNext(w, path)
	if len(conditions) > 1 {
		fmt.Fprintf(w, "Compare the conditions: crosstalk compare %s\n", shell.Quote(path))
	}
	if conditions[0].Model.Provider == reference.Provider {
		fmt.Fprintln(w, "A reference model of known truth answered; for a language model, add --model openai:gpt-4o-mini")
	}
	return withCode(m.Missing(result))
}

// withCode gives the error of a measurement its exit code.
func withCode(err error) error {
	switch {
	case errors.As(err, new(*study.InterruptedError)):
		return &exitError{exitInterrupted, err}
	case errors.As(err, new(*study.IncompleteError)), errors.As(err, new(*study.ReviewError)):
		return &exitError{exitIncomplete, err}
	}
	return err
}

// warn prints what the user should know.
func warn(c *cobra.Command, warnings []string) {
	for _, w := range warnings {
		fmt.Fprintln(notes(c), "note: "+w)
	}
}

// watched asks while it shows how far that is and an interrupt stops it gently. It prints the warnings that the caller
// has not printed yet.
func watched(
	c *cobra.Command, s *study.Study, m *study.Measurement, warned int, ask func(context.Context) error,
) error {
	ctx, cancel := context.WithCancel(c.Context())
	defer cancel()
	defer interrupt.Gently(c.ErrOrStderr(), grace, m.Session.Stop, cancel)()
	shown := watch.Show(notes(c), m.Session, m.Planned)
	err := ask(ctx)
	shown()
	warn(c, s.Changes()[warned:])
	warn(c, m.Session.Warnings())
	if err != nil {
		return withCode(m.Explain(err))
	}
	return nil
}
