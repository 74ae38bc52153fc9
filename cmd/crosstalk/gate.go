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
	nightly           bool
	reports           gate.Reports
}

func gateCommand() *cobra.Command {
	g := &gateFlags{}
	c := command("gate", cobra.MinimumNArgs(1), g.run)
	g.unchecked = "10%"
	config.Declare(c, "", []config.Flag{
		{Name: "require", To: &g.Require, Whole: true, Reach: config.Nothing,
			Help: "a requirement that the figures must satisfy; may be repeated"},
		{Name: "point", To: &g.Point, Help: "judge figures and differences alone, without their intervals"},
		{Name: "no-worse-than", To: &g.NoWorseThan, Values: "runs", Reach: config.Path,
			Help: "a run that this one must not be worse than"},
		{Name: "margin", To: &g.margin, Reach: config.Nothing,
			Help: "how much worse the run may be, such as 0.01 or 1%"},
		{Name: "either-way", To: &g.EitherWay,
			Help: "with --no-worse-than: the run may not be better by more than the margin either (equivalence)"},
		{Name: "nightly", To: &g.nightly,
			Help: "judge the last of several runs, one a night, by the evidence of all"},
		{Name: "max-unchecked", To: &g.unchecked, Reach: config.Nothing,
			Help: "largest share of the answers that may not have been judged, such as 0.1 or 10%"},
		{Name: "junit", To: &g.reports.JUnit, Reach: config.Path, Help: "write the checks to this file as JUnit XML"},
	})
	g.compareFlags.add(c)
	g.outputFlags.add(c)
	return c
}

func (g *gateFlags) run(c *cobra.Command, args []string) error {
	err := g.apply(&g.Compare)
	if err != nil {
		return err
	}
	g.By, g.Level = g.by, g.level
	if g.MaxUnjudged, err = fraction("max-unchecked", g.unchecked); err != nil {
		return err
	}
	if g.NoWorseThan != "" {
		collectLarge(30, args) // as for compare
		if g.margin == "" {
			return fmt.Errorf("--no-worse-than needs --margin, such as 0.01 or 1%%: no data can show that two runs are equal")
		}
		if g.Margin, err = fraction("margin", g.margin); err != nil {
			return err
		}
	}
	last := len(args) - 1
	switch {
	case g.nightly && (g.NoWorseThan == "" || g.Point || g.EitherWay):
		return fmt.Errorf("--nightly needs --no-worse-than, and not --point or --either-way")
	case g.EitherWay && g.NoWorseThan == "":
		return fmt.Errorf("--either-way needs --no-worse-than RUN, which the run is to be like")
	case g.nightly:
		g.Nights, g.Night = args[:last], last+1
	case last > 0:
		return fmt.Errorf("expected one run, found %d: with --nightly they are those of several nights", last+1)
	}
	verdict, err := g.Check(args[last])
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
