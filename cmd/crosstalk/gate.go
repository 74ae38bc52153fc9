package main

import (
	"crosstalk"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"crosstalk/compare"
	"crosstalk/gate"
	"crosstalk/internal/config"
	"crosstalk/report"
	"crosstalk/run"
	"crosstalk/study"

	"github.com/spf13/cobra"
)

type gateFlags struct {
	outputFlags
	compareFlags
	require     []string
	interval    bool
	noWorseThan string
	margin      string
	unchecked   string
	junit       string
	annotations bool
	summary     string

	judging gate.Options
}

func gateCommand() *cobra.Command {
	g := &gateFlags{}
	c := &cobra.Command{
		Use:   "gate RUN",
		Short: "Fail if a run is not good enough",
		Long: `Exit with code 1 if a run's figures do not meet stated requirements or are worse
than another run's. A requirement is

  MEASURE >=|<=|>|< VALUE [by COLUMN,...] [where COLUMN=VALUE,...]

98%, 0.98 and 98 are the same value; a plain 1 is refused, since it could mean
1 % or 100 %. Every condition of the run must satisfy it, and with 'by' every
group. The point estimate is tested; with --interval, the whole interval.

--no-worse-than tests the interval of the paired difference: it must not extend
beyond --margin in the worse direction. Figures that are undefined, not measured
or incomplete fail, and so do figures that leave out more than --max-unchecked
of the answers, because those could not be judged.

Exit code 4 means inconclusive: the figure is good enough, but its interval,
which --interval and --no-worse-than look at, is not. The message says about how
many more items may decide it.`,
		Example: `  crosstalk gate runs/new --require 'lpr>=0.98' --require 'wpr>=95% by language'
  crosstalk gate runs/new --require 'lpr >= 95% where language=ko' --interval
  crosstalk gate runs/new --no-worse-than runs/old --margin 1% --junit gate.xml`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return g.run(c, args[0]) },
	}
	f := c.Flags()
	f.StringArrayVar(&g.require, "require", nil, "a requirement that the figures must satisfy; may be repeated")
	f.BoolVar(&g.interval, "interval", false, "require the whole interval to satisfy the requirements")
	f.StringVar(&g.noWorseThan, "no-worse-than", "", "a run that this one must not be worse than")
	f.StringVar(&g.margin, "margin", "", "how much worse the run may be, such as 0.01 or 1%")
	f.StringVar(&g.unchecked, "max-unchecked", "10%", "largest share of the answers that may not have been judged, such as 0.1 or 10%")
	f.StringVar(&g.junit, "junit", "", "write the checks to this file as JUnit XML")
	f.BoolVar(&g.annotations, "annotations", false,
		"print GitHub workflow commands to stderr (default: only if GITHUB_ACTIONS is set)")
	f.StringVar(&g.summary, "summary", "", "append a markdown summary to this file (default: $GITHUB_STEP_SUMMARY)")
	config.Path(f, "no-worse-than", "junit", "summary")
	config.Harmless(f, "require", "margin", "max-unchecked")
	g.compareFlags.add(c)
	g.outputFlags.add(c)
	f.SortFlags = false
	return c
}

func (g *gateFlags) run(c *cobra.Command, path string) error {
	if err := report.CheckFormat(g.format); err != nil {
		return err
	}
	options, err := g.options(c)
	if err != nil {
		return err
	}
	if _, err := study.ReadManifest(path); err != nil {
		return err
	}
	if len(g.require) == 0 && g.noWorseThan == "" {
		return fmt.Errorf("nothing is required: expected --require, such as --require 'lpr>=0.98', or --no-worse-than RUN")
	}
	g.judging.Interval = g.interval
	if g.judging.MaxUnjudged, err = gate.ParseFraction(g.unchecked); err != nil {
		return crosstalk.BadOption("max-unchecked", ": %w", err)
	}
	if g.judging.MaxUnjudged < 0 {
		return crosstalk.BadOption("max-unchecked", " is %s; expected 0 or more", g.unchecked)
	}
	checks, err := g.checkBounds(path)
	if err != nil {
		return err
	}
	if g.noWorseThan != "" {
		found, err := g.checkNoWorse(c, path, options)
		if err != nil {
			return err
		}
		checks = append(checks, found...)
	}
	if len(checks) == 0 {
		return fmt.Errorf("no figure has a better direction; name the figures to compare with --measure")
	}
	verdict := gate.Judge(path, checks)
	if verdict.Names, err = study.Names(path); err != nil {
		return err
	}
	if err := g.tell(c, verdict); err != nil {
		return err
	}
	switch {
	case verdict.Passed:
		return nil
	case verdict.Inconclusive:
		return &exitError{exitInconclusive, errors.New("the gate is " + verdict.Headline())}
	}
	return &exitError{exitGate, errors.New("the gate " + verdict.Headline())}
}

// checkBounds checks the requirements, reading the run once. An unfinished run
// fails them.
func (g *gateFlags) checkBounds(path string) (checks []gate.Check, err error) {
	var requirements []gate.Requirement
	var by [][]string
	for _, text := range g.require {
		r, err := gate.Parse(text)
		if err != nil {
			return nil, crosstalk.BadOption("require", ": %w", err)
		}
		requirements, by = append(requirements, r), append(by, r.Columns())
	}
	if len(requirements) == 0 {
		return nil, nil
	}
	if reason, err := unfinished(path); reason != "" || err != nil {
		for _, r := range requirements {
			checks = append(checks, gate.Unfinished(r.Text, reason))
		}
		return checks, err
	}
	grouped, err := study.Grouped(path, by...)
	if err != nil {
		var unknown *study.ColumnError
		if errors.As(err, &unknown) {
			i := slices.IndexFunc(by, func(columns []string) bool { return slices.Contains(columns, unknown.Column) })
			err = crosstalk.BadOption("require", " %s: %w", requirements[i].Text, unknown)
		}
		return nil, err
	}
	for i, r := range requirements {
		found, err := r.Check(grouped[i], g.judging)
		if err != nil {
			return nil, crosstalk.BadOption("require", ": %w", err)
		}
		checks = append(checks, found...)
	}
	return checks, nil
}

func (g *gateFlags) checkNoWorse(c *cobra.Command, path string, options compare.Options) ([]gate.Check, error) {
	if g.margin == "" {
		return nil, fmt.Errorf("--no-worse-than needs --margin, such as 0.01 or 1%%: no data can show that two runs are equal")
	}
	margin, err := gate.ParseFraction(g.margin)
	if err != nil {
		return nil, fmt.Errorf("--margin: %w", err)
	}
	if margin < 0 {
		return nil, fmt.Errorf("--margin is %s; expected 0 or more", g.margin)
	}
	for _, p := range []string{path, g.noWorseThan} {
		if reason, err := unfinished(p); reason != "" || err != nil {
			return []gate.Check{gate.Unfinished("no worse than "+g.noWorseThan, p+": "+reason)}, err
		}
	}
	options.Unpaired = true
	runs, err := g.open(c, []string{g.noWorseThan, path}, options.Groups)
	if err != nil {
		return nil, err
	}
	result, err := compare.Runs(runs, options)
	if err != nil && len(result.Refused) == 0 {
		return nil, err
	}
	checks := gate.NoWorse(result, g.noWorseThan, margin, g.measures, g.judging)
	return append(checks, gate.Lost(runs[1].Estimates, runs[0].Estimates, g.noWorseThan, g.measures)...), nil
}

// unfinished is the reason why a run has no figures yet; empty if it has them.
func unfinished(path string) (reason string, err error) {
	if _, err := study.ReadManifest(path); err != nil {
		return "", err
	}
	if _, err = run.ReadEstimates(path); errors.Is(err, fs.ErrNotExist) {
		return "incomplete: the run is not finished; run the same command again to resume it", nil
	}
	return "", err
}

// tell prints the verdict and writes it where CI systems look for it.
func (g *gateFlags) tell(c *cobra.Command, v gate.Verdict) error {
	if err := gate.Write(c.OutOrStdout(), g.format, v); err != nil {
		return err
	}
	if g.annotations || !c.Flags().Changed("annotations") && os.Getenv("GITHUB_ACTIONS") == "true" {
		if err := gate.WriteAnnotations(c.ErrOrStderr(), v); err != nil {
			return err
		}
	}
	if g.junit != "" {
		if err := writeFile(g.junit, os.O_TRUNC, func(w io.Writer) error { return gate.WriteJUnit(w, v) }); err != nil {
			return fmt.Errorf("--junit: %w", err)
		}
	}
	summary := g.summary
	if !c.Flags().Changed("summary") {
		summary = os.Getenv("GITHUB_STEP_SUMMARY")
	}
	if summary != "" {
		if err := writeFile(summary, os.O_APPEND, func(w io.Writer) error { return gate.WriteSummary(w, v) }); err != nil {
			return fmt.Errorf("--summary: %w", err)
		}
	}
	return nil
}

func writeFile(name string, mode int, write func(io.Writer) error) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|mode, 0o666)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
