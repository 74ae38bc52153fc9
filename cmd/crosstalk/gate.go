package main

import (
	"errors"
	"fmt"
	"os"

	"crosstalk/gate"
	"crosstalk/internal/config"

	"github.com/spf13/cobra"
)

type gateFlags struct {
	outputFlags
	compareFlags
	gate.Rules
	margin, unchecked string
	reports           gate.Reports
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
	g.unchecked = "10%"
	config.Declare(c, "", []config.Flag{
		{Name: "require", To: &g.Require, Whole: true, Reach: config.Nothing,
			Help: "a requirement that the figures must satisfy; may be repeated"},
		{Name: "interval", To: &g.Interval, Help: "require the whole interval to satisfy the requirements"},
		{Name: "no-worse-than", To: &g.NoWorseThan, Values: "runs", Reach: config.Path,
			Help: "a run that this one must not be worse than"},
		{Name: "margin", To: &g.margin, Reach: config.Nothing,
			Help: "how much worse the run may be, such as 0.01 or 1%"},
		{Name: "max-unchecked", To: &g.unchecked, Reach: config.Nothing,
			Help: "largest share of the answers that may not have been judged, such as 0.1 or 10%"},
		{Name: "junit", To: &g.reports.JUnit, Reach: config.Path, Help: "write the checks to this file as JUnit XML"},
	})
	g.compareFlags.add(c)
	g.outputFlags.add(c)
	return c
}

func (g *gateFlags) run(c *cobra.Command, path string) error {
	var err error
	if err = g.apply(c, &g.Compare); err != nil {
		return err
	}
	g.By = g.by
	if g.MaxUnjudged, err = fraction("max-unchecked", g.unchecked); err != nil {
		return err
	}
	if g.NoWorseThan != "" {
		if g.margin == "" {
			return fmt.Errorf("--no-worse-than needs --margin, such as 0.01 or 1%%: no data can show that two runs are equal")
		}
		if g.Margin, err = fraction("margin", g.margin); err != nil {
			return err
		}
	}
	verdict, err := g.Check(path)
	if err != nil {
		return err
	}
	if err := gate.Write(c.OutOrStdout(), g.format, verdict); err != nil {
		return err
	}
	g.reports.Annotations = os.Getenv("GITHUB_ACTIONS") == "true"
	g.reports.Summary = os.Getenv("GITHUB_STEP_SUMMARY")
	if err := g.reports.Write(c.ErrOrStderr(), verdict); err != nil {
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
