package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"crosstalk"
	"crosstalk/compare"
	"crosstalk/gate"
	"crosstalk/internal/config"

	"github.com/spf13/cobra"
)

type powerFlags struct {
	outputFlags
	compareFlags
	pilot       []string
	rate        string
	assume      []string
	differences []string
	margins     []string
	goal        compare.Goal
}

func powerCommand() *cobra.Command {
	p := &powerFlags{}
	c := command("power", cobra.NoArgs, func(c *cobra.Command, _ []string) error { return p.run(c) })
	p.goal = compare.Goal{Samples: []int{1}}
	config.Declare(c, "", []config.Flag{
		{Name: "difference", To: &p.differences, Reach: config.Nothing,
			Help: "differences to detect, such as 0.05 or 5%"},
		{Name: "margin", To: &p.margins, Reach: config.Nothing,
			Help: "margins of 'crosstalk gate --no-worse-than', such as 3%: " +
				"print the items with which it passes if nothing has changed"},
		{Name: "items", To: &p.goal.Items, Help: "item counts: print the smallest difference each can detect"},
		{Name: "samples", To: &p.goal.Samples, Help: "answers per prompt"},
		{Name: "pilot", To: &p.pilot, Values: "runs", Reach: config.Path,
			Help: "a run to estimate the variance from, or runs to compare"},
		{Name: "rate", To: &p.rate, Reach: config.Nothing, Help: "without --pilot: the rate under one condition"},
		{Name: "assume", To: &p.assume, Reach: config.Nothing,
			Help: "without --pilot: discordant=SHARE (items on which the conditions disagree), within=SHARE (variance that " +
				"lies between answers to the same prompt), cluster-size=N (items per cluster), icc=R (correlation between two " +
				"items of a cluster)"},
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
	return compare.WritePower(c.OutOrStdout(), p.format, plan)
}

// studies returns the pilot's studies, or the one that the flags describe.
func (p *powerFlags) studies(c *cobra.Command, options compare.Options) ([]compare.Study, []compare.Refusal, error) {
	stated := anyGiven(c, "rate", "assume")
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
	assumed := map[string]float64{"discordant": math.NaN(), "within": 0, "cluster-size": 1, "icc": 0}
	for _, pair := range p.assume {
		name, text, _ := strings.Cut(pair, "=")
		if _, known := assumed[name]; !known {
			return nil, nil, crosstalk.BadOption("assume", " has %q; expected discordant, within, cluster-size or icc "+
				"with a value, as in within=0.3", pair)
		}
		if name == "cluster-size" {
			assumed[name], err = strconv.ParseFloat(text, 64)
		} else {
			assumed[name], err = gate.ParseFraction(text)
		}
		if err != nil {
			return nil, nil, crosstalk.BadOption("assume", ": %s: %w", name, err)
		}
	}
	study, err := compare.Stated(rate, assumed["discordant"], assumed["within"], assumed["icc"], assumed["cluster-size"])
	return []compare.Study{study}, nil, err
}

// fraction reads a share, such as 0.05 or 5%, as the value of a flag.
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
