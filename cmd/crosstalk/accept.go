package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/gate"
	"crosstalk/gate/accept"
	kinds "crosstalk/instrument"
	"crosstalk/internal/config"
	"crosstalk/internal/lazyregexp"
	"crosstalk/measure/stats"
	"crosstalk/report/results"
	"crosstalk/run"
	"crosstalk/study"

	"github.com/spf13/cobra"
)

type acceptFlags struct {
	accept.Acceptance
	margin, model, out, format string
	runs                       []runCommand
}

// acceptCommand asks by one of the run commands.
func acceptCommand(runs []runCommand) *cobra.Command {
	a := &acceptFlags{runs: runs}
	c := command("accept", cobra.ArbitraryArgs, a.run)
	a.Target, a.Level, a.Seed, a.Measure = accept.Suite, .95, 1, "lpr"
	config.Declare(c, "", []config.Flag{
		{Name: "model,m", To: &a.model, Values: "models",
			Help: "the model to judge: provider:name (required)"},
		{Name: "baseline", To: &a.Baseline, Values: "runs",
			Help: "what it must not be worse than: a run of one model, or a model that is asked, too"},
		{Name: "margin", To: &a.margin, Help: "how much worse it may be, such as 0.01 or 1%"},
		{Name: "measure", To: &a.Measure, Values: "measures",
			Help: "a measure that each answer has: lpr, leak_rate, consistency, ..., or faults for any fault"},
		{Name: "require", To: &a.Require, Help: "in place of --baseline: a bound, such as 'lpr>=98%'"},
		{Name: "target", To: &a.Target, Choices: accept.Targets,
			Help: "what the verdict is about: this suite, or all prompts such as these: " + strings.Join(accept.Targets, ", ")},
		{Name: "level", To: &a.Level, Help: "confidence: either error has a probability of at most 1 - level"},
		{Name: "seed", To: &a.Seed, Help: "seed of the order"},
		{Name: "out", To: &a.out, Help: "the run directory (default: runs/SUITE-MODEL-HASH)"},
		formatFlag(&a.format, results.AcceptanceFormats),
	})
	addQuiet(c, "print only the result and errors")
	return c
}

// run asks with the settings of the baseline's run, and those after --.
func (a *acceptFlags) run(c *cobra.Command, after []string) error {
	if err := a.check(c); err != nil {
		return err
	}
	kind, models := kinds.Of(a.Measure), []string{a.model}
	var settings study.Settings
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
		if settings, err = study.FromRun(a.Baseline); err != nil {
			return err
		}
		if err := study.AskAlike(settings, manifest, a.model); err != nil {
			return fmt.Errorf("%s: %w", a.Baseline, err)
		}
	case strings.Contains(a.Baseline, ":"):
		models = []string{a.Baseline, a.model}
	default:
		return err
	}
	r := a.runs[slices.IndexFunc(a.runs, func(r runCommand) bool { return r.of.name == kind.Name })]
	if err := a.fill(c, r, settings, models, after); err != nil {
		return err
	}
	return r.ask(c, a.measure)
}

// fill sets the flags of a run command: the settings of a baseline's run, nil if there is none, and over those what is
// after --, which may name a file with --config.
func (a *acceptFlags) fill(c *cobra.Command, r runCommand, settings study.Settings, models, after []string) error {
	if settings != nil {
		r.own.fill(settings, r.flags)
	}
	r.flags.sweep.Models, r.flags.out = models, a.out
	file := r.InheritedFlags().Lookup(config.FileFlag) // the one before -- was for the acceptance
	if err := file.Value.Set(""); err != nil {
		return err
	}
	if err := r.ParseFlags(after); err != nil {
		return usagef("after --: %w", explainFlag(r.Command, err))
	}
	if words := r.Flags().Args(); len(words) > 0 {
		return usagef("after --: %w", wrongArguments(r.Command, words))
	}
	given := r.Flags().Changed
	if err := cmp.Or(config.Load(r.Command, insteadOf), config.Check(r.Flags()), trusted(settings, given)); err != nil {
		return err
	}
	switch {
	case given("shard"), given("samples"):
		return usagef("--shard and --samples after --: an acceptance asks each prompt once, in one process")
	case given("model"):
		return usagef("--model after --: name the model to judge before it")
	case quiet(r.Command):
		return c.Flags().Set("quiet", "true")
	}
	return nil
}

// elsewhere matches a similarity that is a program, or that a server computes.
var elsewhere = lazyregexp.New(`(?i)^\s*exec:|@\s*https?:`)

// trusted refuses to run a program, or to send texts to an address, because a baseline's run says so: it may come from
// somebody else. given reports whether the user gave a flag.
func trusted(of study.Settings, given func(flag string) bool) error {
	named := map[string][]string{}
	switch of := of.(type) {
	case *study.Leakage:
		named["similarity"] = of.Similarities
	case *study.Consistency:
		named["quality"], named["free"] = []string{of.Quality}, []string{of.Free}
	}
	for flag, values := range named {
		for _, value := range values {
			if elsewhere().MatchString(value) && !given(flag) {
				return usagef("the baseline's run was scored by %s, which a run directory must not start by itself: if you "+
					"trust it, add it after --, as in -- --%s %[1]q", value, flag)
			}
		}
	}
	return nil
}

// check validates what the study does not check.
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

// measure asks in rounds and prints the verdict.
func (a *acceptFlags) measure(c *cobra.Command, s *study.Study, m *study.Measurement, warned int) error {
	var result accept.Result
	err := watched(c, s, m, warned, func(ctx context.Context) (err error) {
		result, err = a.Run(ctx, s, m)
		return err
	})
	if err != nil {
		return err
	}
	if err := results.WriteAcceptance(c.OutOrStdout(), a.format, result); err != nil {
		return err
	}
	fmt.Fprintf(notes(c), "\n%s. Run directory: %s\n", m.Session.Stats().Text(), m.Dir.Path)
	code := map[stats.Outcome]int{stats.Rejected: exitGate, accept.CannotTell: exitInconclusive}[result.Outcome]
	if code == 0 {
		return nil
	}
	return &exitError{code, errors.New(string(result.Outcome))}
}
