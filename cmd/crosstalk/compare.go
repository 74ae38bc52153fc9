package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"

	"crosstalk"
	"crosstalk/compare"
	"crosstalk/gate"
	"crosstalk/internal/atomicfile"
	"crosstalk/internal/config"
	"crosstalk/report/results"
	"crosstalk/run/figures"
	"crosstalk/web"

	"github.com/spf13/cobra"
)

type compareFlags struct {
	by        []string
	measures  []string
	reference string
	across    []string
	level     float64
	seed      uint64
}

func (o *compareFlags) add(c *cobra.Command) {
	o.level, o.seed = compare.Default.Level, compare.Default.Seed
	config.Declare(c, "", []config.Flag{
		{Name: "by", To: &o.by,
			Help: "also compare groups, by columns of the suite or the recorded data (default: totals only)"},
		{Name: "measure", To: &o.measures, Values: "measures",
			Help: "compare only these measures (default: all)"},
		{Name: "reference", To: &o.reference,
			Help: "the condition to compare with, as COLUMN=VALUE,...; compare: all for every two conditions " +
				"(default: the first run or the first condition)"},
		{Name: "across", To: &o.across,
			Help: "compare even if these signature fields differ (all: any field)"},
		{Name: "level", To: &o.level, Help: "confidence level of intervals; tests use 1 - level"},
		{Name: "seed", To: &o.seed, Help: "seed of the permutation tests"},
	})
}

func (o *compareFlags) apply(to *compare.Options) (err error) {
	to.Groups, to.Measures, to.Across, to.Level, to.Seed = o.by != nil, o.measures, o.across, o.level, o.seed
	if to.Reference, err = compare.ParseReference(o.reference); err != nil {
		return err
	}
	o.by, err = figures.ParseBy(o.by)
	return cmp.Or(to.Check(), err)
}

func compareCommand() *cobra.Command {
	var out outputFlags
	var o compareFlags
	var options compare.Options
	var html string
	c := command("compare", cobra.MinimumNArgs(1), func(c *cobra.Command, paths []string) error {
		collect(30, paths...) // for a million answers: a quarter less memory, a tenth more CPU time
		last := len(paths) - 1
		if html != "" && last > 1 {
			return usagef("--html is a page of two runs, found %d", last+1)
		}
		if options.AllPairs = o.reference == "all"; options.AllPairs {
			o.reference = ""
		}
		if err := o.apply(&options); err != nil {
			return err
		}
		runs, err := compare.Open(paths, o.by)
		if err != nil {
			return err
		}
		result := results.Comparison{}
		if result.Result, err = compare.Runs(runs, options); err != nil {
			return err
		}
		if result.Names, err = figures.Names(paths...); err != nil {
			return err
		}
		if html != "" {
			err := atomicfile.Write(html, func(w io.Writer) error {
				return web.WriteComparison(c.Context(), w, paths[0], paths[last], result)
			})
			if err != nil {
				return err
			}
			fmt.Fprintf(notes(c), "Page: %s\n", html)
		}
		return result.Write(c.OutOrStdout(), out.format)
	})
	o.add(c)
	config.Declare(c, "", []config.Flag{
		{Name: "html", To: &html,
			Help: "a file for the page that shows two runs side by side, with the answers that changed"},
		{Name: "adjust", To: &options.Adjust, Rare: true,
			Help: "how p-values are adjusted: holm (no false difference), or bh (few of those found are false)"},
		{Name: "unpaired", To: &options.Unpaired, Help: "compare figures with few items in common as independent samples"},
	})
	out.add(c)
	return c
}

type powerFlags struct {
	outputFlags
	compareFlags
	pilot       []string
	rate        string
	differences []string
	margins     []string
	goal        compare.Goal
}

func powerCommand() *cobra.Command {
	p := &powerFlags{}
	c := command("power", cobra.NoArgs, func(c *cobra.Command, _ []string) error { return p.run(c) })
	p.goal = compare.Goal{Samples: []int{1}}
	config.Declare(c, "", []config.Flag{
		{Name: "difference", To: &p.differences,
			Help: "differences to detect, such as 0.05 or 5%"},
		{Name: "margin", To: &p.margins,
			Help: "margins of 'crosstalk gate --no-worse-than', such as 3%: " +
				"print the items with which it passes if nothing has changed"},
		{Name: "items", To: &p.goal.Items, Help: "item counts: print the smallest difference each can detect"},
		{Name: "samples", To: &p.goal.Samples, Help: "answers per prompt"},
		{Name: "pilot", To: &p.pilot, Values: "runs",
			Help: "a run to estimate the variance from, or runs to compare"},
		{Name: "rate", To: &p.rate, Help: "without --pilot: the rate under one condition"},
	})
	p.compareFlags.add(c)
	p.outputFlags.add(c)
	return c
}

func (p *powerFlags) run(c *cobra.Command) error {
	var options compare.Options
	if err := p.apply(&options); err != nil {
		return err
	}
	var err error
	if p.goal.Differences, err = fractions("difference", p.differences); err != nil {
		return err
	}
	if p.goal.Margins, err = fractions("margin", p.margins); err != nil {
		return err
	}
	if len(p.differences) == 0 && len(p.margins) == 0 && len(p.goal.Items) == 0 {
		return fmt.Errorf("expected --difference, such as 0.05, --margin, such as 3%%, or --items, such as 500")
	}
	studies, refused, err := p.studies(c, options)
	if err != nil {
		return err
	}
	p.goal.Level = p.level
	plan, err := p.goal.Plan(studies)
	if err != nil {
		return err
	}
	plan.Refused = append(plan.Refused, refused...)
	return results.WritePower(c.OutOrStdout(), p.format, plan)
}

func (p *powerFlags) studies(c *cobra.Command, options compare.Options) ([]compare.Study, []compare.Refusal, error) {
	stated := anyGiven(c, "rate")
	switch {
	case len(p.pilot) > 0 && stated != "":
		return nil, nil, fmt.Errorf("--pilot and --%s cannot be combined: the pilot replaces it", stated)
	case len(p.pilot) > 0:
		runs, err := compare.Open(p.pilot, p.by)
		if err != nil {
			return nil, nil, err
		}
		return compare.Pilots(runs, options)
	case p.rate == "":
		return nil, nil, fmt.Errorf("expected --pilot RUN, or --rate, such as 0.6")
	}
	rate, err := fraction("rate", p.rate)
	if err != nil {
		return nil, nil, err
	}
	study, err := compare.Stated(rate)
	return []compare.Study{study}, nil, err
}

// fraction parses a flag's value as a share, such as 0.05 or 5%.
func fraction(flag, text string) (float64, error) {
	value, err := gate.ParseFraction(text)
	if err != nil {
		err = crosstalk.BadOption(flag, ": %w", err)
	}
	return value, err
}

func fractions(flag string, texts []string) ([]float64, error) {
	values := make([]float64, len(texts))
	for i, text := range texts {
		var err error
		if values[i], err = fraction(flag, text); err != nil {
			return nil, err
		}
	}
	return values, nil
}

type gateFlags struct {
	outputFlags
	compareFlags
	gate.Rules
	margin, unchecked string
	nightly           bool
	reports           results.Reports
}

func gateCommand() *cobra.Command {
	g := &gateFlags{}
	c := command("gate", cobra.MinimumNArgs(1), g.run)
	g.unchecked = "10%"
	config.Declare(c, "", []config.Flag{
		{Name: "require", To: &g.Require, Whole: true,
			Help: "a requirement that the figures must satisfy; may be repeated"},
		{Name: "point", To: &g.Point, Help: "judge figures and differences alone, without their intervals"},
		{Name: "no-worse-than", To: &g.NoWorseThan, Values: "runs",
			Help: "a run that this one must not be worse than"},
		{Name: "margin", To: &g.margin,
			Help: "how much worse the run may be, such as 0.01 or 1%"},
		{Name: "nightly", To: &g.nightly,
			Help: "judge the last of several runs, one a night, by the evidence of all"},
		{Name: "max-unchecked", To: &g.unchecked, Rare: true,
			Help: "largest share of the answers that may not have been judged, such as 0.1 or 10%"},
		{Name: "junit", To: &g.reports.JUnit, Help: "write the checks to this file as JUnit XML"},
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
		collect(30, args...) // as in compare
		if g.margin == "" {
			return fmt.Errorf("--no-worse-than needs --margin, such as 0.01 or 1%%: no data can show that two runs are equal")
		}
		if g.Margin, err = fraction("margin", g.margin); err != nil {
			return err
		}
	}
	last := len(args) - 1
	switch {
	case g.nightly && (g.NoWorseThan == "" || g.Point):
		return fmt.Errorf("--nightly needs --no-worse-than, and not --point")
	case g.nightly:
		g.Nights, g.Night = args[:last], last+1
	case last > 0:
		return fmt.Errorf("expected one run, found %d; to judge the runs of several nights, add --nightly", last+1)
	}
	verdict, err := g.Check(args[last])
	if err != nil {
		return err
	}
	if err := results.WriteVerdict(c.OutOrStdout(), g.format, verdict); err != nil {
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
