package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/instrument/leakage"
	"crosstalk/report"
	"crosstalk/run"
	"crosstalk/suite"

	"github.com/spf13/cobra"
)

func runCommand() *cobra.Command {
	return group("run", "Ask a model, score its answers, report",
		`Ask a model about a suite, score the answers and report the figures.

The answers stay in a run directory. The same command again goes on where the
last one stopped and asks for nothing twice.`, runLeakageCommand())
}

type leakageRun struct {
	output
	leakageScoring
	asking
	suite string
	out   string
	dry   bool
}

func runLeakageCommand() *cobra.Command {
	r := &leakageRun{}
	c := &cobra.Command{
		Use:   "leakage",
		Short: "Measure semantic leakage",
		Long: `Measure semantic leakage: how often the answer to a prompt that mentions a
concept is nearer in meaning to the concept than the answer to the same prompt
without it. 50 % is no leakage.

Without --model a reference model answers, whose leakage is known.`,
		Example: `  crosstalk run leakage
  crosstalk run leakage --model openai:gpt-4o-mini --samples 5 --temperature 0.5
  crosstalk run leakage --model ollama:llama3.2 --suite my-suite.yaml --by category
  crosstalk run leakage --model openai:my-model --base-url http://localhost:8000/v1
  crosstalk run leakage --model anthropic:claude-sonnet-4-5 --dry-run --prices prices.yaml`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return r.run(c) },
	}
	r.asking.flags(c)
	c.Flags().StringVar(&r.suite, "suite", "leakage-en", "an embedded suite (crosstalk suites list) or a file")
	r.leakageScoring.flags(c)
	c.Flags().StringVar(&r.out, "out", "", "the run directory (default: runs/ and a name made of suite, model and settings)")
	c.Flags().BoolVar(&r.dry, "dry-run", false, "count asks, tokens and cost; ask nothing")
	r.output.flags(c)
	c.Flags().SortFlags = false
	return c
}

func (r *leakageRun) run(c *cobra.Command) error {
	if err := report.CheckFormat(r.format); err != nil {
		return err
	}
	rules, err := r.rules(c)
	if err != nil {
		return err
	}
	s, err := suite.Load(r.suite)
	if err != nil {
		return err
	}
	if slices.Contains(r.similarities, "gloss") && s.Language != "" && !strings.HasPrefix(s.Language, "en") {
		return fmt.Errorf("gloss knows English only, and the suite %s is in %q: choose another --similarity, such as bertscore or openai:text-embedding-3-large", s.Name, s.Language)
	}
	known := columns{"model": true, "similarity": true}
	for _, item := range s.Items {
		known.add(item.Labels)
	}
	if err := known.check(c, r.by); err != nil {
		return err
	}
	model, options, err := r.open(c, s)
	if err != nil {
		return err
	}
	prompting, err := r.prompting(c, s, model, rules)
	if err != nil {
		return err
	}
	id, suiteID := model.Identity(), s.ID()
	if r.samples == 0 {
		r.samples = rules.Samples
	}
	plan := run.Plan{Instrument: "leakage", Suite: suiteID, Model: id, API: prompting.API,
		Prefix: prompting.Prefix, System: prompting.System, Decoding: prompting.Decoding}
	in := &leakage.Instrument{Protocol: rules, Prompting: prompting, Samples: r.samples, Condition: map[string]string{"model": id.String()},
		SuiteOf: func(map[string]string) string { return suiteID }}
	if r.out == "" {
		r.out = filepath.Join("runs", fileName(s.Name+"-"+id.Name)+"-"+plan.Hash())
	}
	asks, err := countAsks(c.Context(), in, id, s.Items, options.Budget.Prices)
	if err != nil {
		return err
	}
	if r.dry {
		return printDryRun(c.OutOrStdout(), asks, id, r.out)
	}
	similarities, err := openSimilarities(r.similarities, suiteLanguage(s))
	if err != nil {
		return err
	}
	dir, err := run.Create(r.out, plan)
	if err != nil {
		return err
	}
	kept, err := dir.OpenKept()
	if err != nil {
		return errors.Join(err, dir.Close())
	}
	session := ask.NewSession(dir.Journal, options)
	in.Similarities = place(similarities, surroundings{session.For, kept})
	m := &measurement{output: r.output, command: c, dir: dir, session: session, model: model, asks: asks}
	err = m.run(in, s.Items, r.by, run.Scoring{Protocol: rules.Name, Rules: rules, Similarities: r.similarities, Samples: r.samples, By: r.by})
	return errors.Join(err, kept.Close(), dir.Close())
}

// measurement is a run under way.
type measurement struct {
	output
	command *cobra.Command
	dir     *run.Dir
	session *ask.Session
	model   crosstalk.Model
	asks    asksPlanned

	unmeasured int
	limit      *ask.LimitError // that kept these items from being measured
}

// run asks, scores, writes and prints.
func (m *measurement) run(in crosstalk.Instrument, items []crosstalk.Item, by []string, scoring run.Scoring) error {
	stderr := m.command.ErrOrStderr()
	ctx, release := onInterrupt(m.command.Context(), stderr, m.session)
	defer release()
	progress := startProgress(stderr, m.session, m.asks.distinct, m.quiet)
	defer progress.stop()

	var estimates []crosstalk.Estimate
	err := m.dir.RecordObservations(func(record func(crosstalk.Observation) error) (failed error) {
		measured := run.Measure(ctx, in, m.session.For(m.model), items, parallelItems)
		estimates = in.Estimate(func(yield func(crosstalk.Observation) bool) {
			for item := range measured {
				if failed == nil {
					failed = m.take(item, record, yield)
				}
				if failed != nil { // what is in flight is saved, and what was saved is counted
					m.session.Stop()
				}
			}
		}, by)
		return failed
	})
	progress.stop()
	if err != nil {
		return m.explain(err)
	}
	if err := m.dir.SetScoring(scoring); err != nil { // not before the observations are of it
		return err
	}
	return m.finish(estimates, len(items))
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
	stopped := errors.Is(err, ask.ErrStopped) || errors.Is(err, context.Canceled)
	reason := m.session.Reason()
	if stopped && reason != nil && !errors.Is(reason, ask.ErrStopped) && !errors.As(reason, new(*ask.LimitError)) {
		stopped, err = false, reason // which came while the rest was stopping
	}
	stats := m.session.Stats()
	saved := fmt.Sprintf("%d of %d asks are answered and saved in %s; the same command goes on from there",
		stats.Done-stats.Failed, max(stats.Done, m.asks.distinct), m.dir.Path)
	switch {
	case stopped:
		return &exitError{exitInterrupted, fmt.Errorf("interrupted: %s", saved)}
	case stats.Done > stats.Failed:
		return fmt.Errorf("%w\n%s", err, saved)
	}
	return err
}

func (m *measurement) finish(estimates []crosstalk.Estimate, items int) error {
	if m.unmeasured > 0 {
		warning := fmt.Sprintf("%d of %d items were not measured: %v", m.unmeasured, items, m.limit)
		for i := range estimates {
			estimates[i].Warnings = append(estimates[i].Warnings, warning)
		}
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
	if m.model.Identity().Provider == "reference" {
		fmt.Fprint(stderr, `A reference model of known leakage answered, no language model. To measure one:
  OPENAI_API_KEY=... crosstalk run leakage --model openai:gpt-4o-mini
  crosstalk run leakage --model ollama:llama3.2
`)
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
