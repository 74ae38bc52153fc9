package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/gate"
	"crosstalk/gate/accept"
	kinds "crosstalk/instrument"
	"crosstalk/internal/config"
	"crosstalk/internal/lazyregexp"
	"crosstalk/measure/stats"
	"crosstalk/run"
	"crosstalk/study"

	"github.com/spf13/cobra"
)

type acceptFlags struct {
	accept.Acceptance
	margin, model, out, format string
}

// accepting is the key of acceptFlags in the context of the run command that asks.
type accepting struct{}

func acceptCommand() *cobra.Command {
	a := &acceptFlags{}
	c := command("accept", cobra.ArbitraryArgs, a.run)
	a.Target, a.Level, a.Seed, a.Measure = accept.Suite, .95, 1, "lpr"
	config.Declare(c, "", []config.Flag{
		{Name: "model,m", To: &a.model, Values: "models", Reach: modelReach(),
			Help: "the model to judge: provider:name (required)"},
		{Name: "baseline", To: &a.Baseline, Values: "runs", Reach: append(modelReach(), config.Path...),
			Help: "what it must not be worse than: a run of one model, or a model that is asked, too"},
		{Name: "margin", To: &a.margin, Reach: config.Nothing, Help: "how much worse it may be, such as 0.01 or 1%"},
		{Name: "measure", To: &a.Measure, Values: "measures", Reach: config.Nothing,
			Help: "a measure that each answer has: lpr, leak_rate, consistency, ..., or faults for any fault"},
		{Name: "require", To: &a.Require, Reach: config.Nothing, Help: "in place of --baseline: a bound, such as 'lpr>=98%'"},
		{Name: "target", To: &a.Target, Choices: accept.Targets,
			Help: "what the verdict is about: this suite, or all prompts such as these: " + strings.Join(accept.Targets, ", ")},
		{Name: "level", To: &a.Level, Help: "confidence: either error has a probability of at most 1 - level"},
		{Name: "seed", To: &a.Seed, Help: "seed of the order"},
		{Name: "out", To: &a.out, Reach: config.Path, Help: "the run directory (default: runs/SUITE-MODEL-HASH)"},
		formatFlag(&a.format, accept.Formats),
	})
	addQuiet(c, "print only the result and errors")
	return c
}

// run asks through the command that runs the instrument of the measure, with the settings of the baseline.
func (a *acceptFlags) run(c *cobra.Command, after []string) error {
	if err := a.check(c); err != nil {
		return err
	}
	kind := kinds.Of(a.Measure)
	args := []string{"--model", a.model}
	if a.out != "" {
		args = append(args, "--out", a.out)
	}
	manifest, err := run.ReadManifest(a.Baseline)
	switch {
	case a.Baseline == "":
	case err == nil:
		if a.Measure == crosstalk.AnyFault {
			kind = kinds.Named(manifest.Plan.Instrument)
			a.Measure = kind.Faults.Measure
		}
		if kind.Name != manifest.Plan.Instrument {
			return crosstalk.BadOption("measure", " is %s; %s is a run of %s", a.Measure, a.Baseline, manifest.Plan.Instrument)
		}
		if len(manifest.Plan.Conditions) == 1 { // else the acceptance refuses it
			args = append(args, settingsOf(manifest)...)
		}
	case strings.Contains(a.Baseline, ":"):
		args[1] = a.Baseline + "," + a.model
	default:
		return err
	}
	if quiet(c) {
		args = append(args, "--quiet")
	}
	for _, arg := range after {
		if name, _, _ := strings.Cut(arg, "="); name == "--shard" || name == "--samples" {
			return usagef("--shard and --samples after --: an acceptance asks each prompt once, in one process")
		}
	}
	root := rootCommand()
	root.SetOut(c.OutOrStdout())
	root.SetErr(c.ErrOrStderr())
	root.SetArgs(slices.Concat([]string{"run", kind.Name}, args, after))
	err = root.ExecuteContext(context.WithValue(c.Context(), accepting{}, a))
	if errors.As(err, new(*usageError)) {
		return usagef("after --: %w", err)
	}
	return err
}

// check validates what no study sees.
func (a *acceptFlags) check(c *cobra.Command) (err error) {
	switch {
	case a.model == "":
		return usagef("--model is missing: expected the model to judge, such as openai:gpt-4o-mini")
	case strings.Contains(a.model, ","):
		return usagef("--model has several models: each needs an acceptance of its own, with --level 1 - 0.05 / their number")
	case (a.Baseline == "") == (a.Require == ""):
		return usagef("expected --baseline RUN, or --require, such as 'lpr>=98%%'")
	case a.Require != "" && (a.margin != "" || c.Flags().Changed("measure")):
		return usagef("--require has its measure and bound: remove --margin and --measure")
	case a.Baseline != "" && a.margin == "":
		return usagef("--baseline needs --margin, such as 1%%: no data can show that two models are equal")
	case a.Require != "":
		r, err := gate.Parse(a.Require)
		a.Measure = r.Measure
		if err != nil {
			return crosstalk.BadOption("require", ": %w", err)
		}
	default:
		if a.Margin, err = fraction("margin", a.margin); err != nil {
			return err
		}
	}
	if !slices.Contains(measures(), a.Measure) {
		return crosstalk.BadOption("measure", " is %q; expected one such as lpr, leak_rate or consistency", a.Measure)
	}
	return nil
}

// suiteName matches the name of a suite in a plan, with how many items were drawn from it.
var suiteName = lazyregexp.New(`^(.*?)(?:\[(\d+) of \d+\])?@`)

// settingsOf returns the flags with which a run asked, from its one condition.
func settingsOf(m run.Manifest) (args []string) {
	add := func(flag, value string) { args = append(args, "--"+flag+"="+value) }
	if suite := suiteName().FindStringSubmatch(m.Plan.Suite); suite != nil {
		if add("suite", suite[1]); suite[2] != "" {
			add("items", suite[2])
		}
	}
	for _, s := range m.Scoring[:min(1, len(m.Scoring))] {
		add("protocol", s.Protocol)
		for _, similarity := range s.Similarities {
			add("similarity", similarity)
		}
	}
	flags := strings.Fields("temperature top-p reasoning max-tokens seed system prefix position template shots")
	sent := study.Settings(m)(m.Plan.Conditions[0].Name)
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		flag, value := strings.ReplaceAll(name, "_", "-"), sent[name]
		switch {
		case slices.Contains([]string{"api", "stop", "demonstrations"}, name): // the model's, and the suite's
		case !slices.Contains(flags, flag):
			add("param", name+"="+value)
		case name == "system" || name == "prefix":
			add(flag, strings.Replace(strings.TrimPrefix(value, "none"), "@", "@@", 1))
		case value != "none":
			add(flag, value)
		}
	}
	return args
}

// measure asks in rounds and prints the verdict, in place of runFlags.measure.
func (a *acceptFlags) measure(c *cobra.Command, s *study.Study, m *study.Measurement, warned int) error {
	var result accept.Result
	err := watched(c, s, m, warned, func(ctx context.Context) (err error) {
		result, err = a.Run(ctx, s, m)
		return err
	})
	if err != nil {
		return err
	}
	if err := result.Write(c.OutOrStdout(), a.format); err != nil {
		return err
	}
	fmt.Fprintf(notes(c), "\n%s. Run directory: %s\n", m.Session.Stats().Text(), m.Dir.Path)
	code := map[stats.Outcome]int{stats.Rejected: exitGate, accept.CannotTell: exitInconclusive}[result.Outcome]
	if code == 0 {
		return nil
	}
	return &exitError{code, errors.New(string(result.Outcome))}
}
