package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/cluster"
	"crosstalk/internal/config"
	"crosstalk/internal/interrupt"
	"crosstalk/internal/shell"
	"crosstalk/internal/statusline"
	"crosstalk/labels"
	"crosstalk/model/reference"
	"crosstalk/recorded"
	"crosstalk/report"
	"crosstalk/report/overview"
	"crosstalk/report/results"
	"crosstalk/run"
	"crosstalk/run/merge"
	"crosstalk/run/watch"
	"crosstalk/study"

	"github.com/spf13/cobra"
)

// runCommand is the command that asks models for an instrument, with what its flags set.
type runCommand struct {
	*cobra.Command
	of    instrument
	flags *runFlags
	own   instrumentFlags
}

func (in instrument) run() runCommand {
	r := runCommand{of: in, flags: &runFlags{}, own: in.flags()}
	r.Command = command("run "+in.name, cobra.NoArgs, func(c *cobra.Command, _ []string) error {
		return r.ask(c, r.flags.measure)
	})
	r.flags.add(r.Command, reference.Provider+":"+in.standIn, in.suite)
	r.own.addRun(r.Command)
	r.own.add(r.Command)
	return r
}

// ask asks as the flags say, for c.
func (r runCommand) ask(c *cobra.Command, measure measuring) error {
	err := r.flags.run(c, func() (*study.Study, error) { return r.own.study(r.flags) }, measure)
	if err == nil && !r.flags.dry {
		r.own.note(notes(c))
	}
	return err
}

// measuring asks for a measurement that has begun, and prints the result. warned is how many of the study's changes
// have been printed.
type measuring func(c *cobra.Command, s *study.Study, m *study.Measurement, warned int) error

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
		{Name: "suite", To: &r.suite, Values: "suites",
			Help: "an embedded suite (crosstalk suites) or a file: YAML, or a table of prompts"},
		{Name: "out", To: &r.out, Help: "the run directory (default: runs/SUITE-MODEL-HASH)"},
		{Name: "dry-run", To: &r.dry, Help: "print the conditions, requests, tokens and cost; send nothing"},
	})
	r.shard.add(c)
	r.answerFlags.add(c)
}

// fill takes over what a study asks, and of which suite ("": the default), but not how its models were reached.
func (r *runFlags) fill(s study.Sweep, suite string) {
	s.BaseURLs, s.KeyVar, s.Headers = r.sweep.BaseURLs, r.sweep.KeyVar, r.sweep.Headers
	r.sweep, r.suite = s, cmp.Or(suite, r.suite)
	r.systems, r.zip = nil, nil
}

func (r *runFlags) run(c *cobra.Command, open func() (*study.Study, error), measure measuring) error {
	if err := cmp.Or(r.answerFlags.check(), r.modelFlags.check()); err != nil {
		return err
	}
	collect(50) // a sixth less memory, a tenth more CPU time if answers arrive at once
	r.sweep.CountOnly = r.dry
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
		return overview.WriteForecast(c.OutOrStdout(), f, r.names, s.Shard().Dir(r.out))
	}
	warn(c, divided)
	known := s.Changes()
	warn(c, known)
	m, err := s.Begin(c.Context(), r.out, r.options)
	if err != nil {
		return err
	}
	err = measure(c, s, m, len(known))
	if stats := m.Session.Stats(); err != nil && stats.Answered+stats.Batches.N == 0 && !errors.As(err, new(*exitError)) {
		return errors.Join(err, m.Discard()) // for instance, after a rejected key
	}
	return errors.Join(err, m.Close())
}

// grace is how long a run waits after SIGTERM for the requests in flight: less than schedulers wait before they kill. A
// variable for tests.
var grace = 20 * time.Second

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

func withCode(err error) error {
	switch {
	case errors.As(err, new(*study.InterruptedError)):
		return &exitError{exitInterrupted, err}
	case errors.As(err, new(*study.IncompleteError)), errors.As(err, new(*study.ReviewError)):
		return &exitError{exitIncomplete, err}
	}
	return err
}

func warn(c *cobra.Command, warnings []string) {
	for _, w := range warnings {
		fmt.Fprintln(notes(c), "note: "+w)
	}
}

// watched asks, shows the progress, and prints the warnings after the first ones. An interrupt stops it gently.
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

func (in instrument) score() *cobra.Command {
	s, f := &scoreFlags{}, in.flags()
	c := command("score "+in.name, cobra.MinimumNArgs(1), func(c *cobra.Command, files []string) error {
		err := s.score(c, func() (*study.Study, error) { return f.recorded(s, files) })
		if err == nil {
			f.note(notes(c))
		}
		return err
	})
	s.add(c)
	f.addScore(c)
	f.add(c)
	return c
}

type scoreFlags struct {
	answerFlags
	model   string
	out     string
	shard   shardFlag
	pairs   []string
	columns map[string]string // from pairs
	pattern string
	name    *recorded.FileName // from pattern
}

func (s *scoreFlags) add(c *cobra.Command) {
	config.Declare(c, often, []config.Flag{
		{Name: "model,m", To: &s.model,
			Help: "name of the model in rows without one (default: the file's name)"},
		{Name: "column", To: &s.pairs,
			Help: "columns that have other names in the file, as in completion=reply,language=locale; " +
				"choices.0.text is a place in nested JSON"},
		{Name: "file-name", To: &s.pattern, Rare: true,
			Help: "columns in the names of files, such as {dataset}_prompts_{model}, for rows without them"},
		{Name: "out", To: &s.out, Help: "a run directory to write observations and figures to"},
	})
	s.shard.add(c)
	s.answerFlags.add(c)
}

func (s *scoreFlags) score(c *cobra.Command, open func() (*study.Study, error)) error {
	err := s.check()
	if err != nil {
		return err
	}
	if s.columns, err = recorded.ParseColumns(s.pairs); err != nil {
		return err
	}
	if s.name, err = recorded.ParseFileName(s.pattern); err != nil {
		return fmt.Errorf("--file-name: %w", err)
	}
	of, err := open()
	if err != nil {
		return err
	}
	if s.shard.text != "" && s.out == "" {
		return crosstalk.BadOption("shard", " needs --out: what the shards find is merged there")
	}
	if _, err := s.shard.take(c, of, &ask.Options{}); err != nil {
		return err
	}
	s.follow(of)
	stop := func() {}
	if statusline.IsTerminal(notes(c)) {
		of.Observe, stop = watch.ShowScored(notes(c), of.Observe)
	}
	var result study.Result
	if s.out == "" {
		result, err = of.Score(c.Context())
	} else {
		result, err = of.Run(c.Context(), s.out, ask.Options{})
	}
	stop()
	if err != nil {
		return err
	}
	if err := s.print(c, of, result); err != nil {
		return err
	}
	for _, note := range of.Remarks() {
		fmt.Fprintln(notes(c), note)
	}
	switch {
	case s.out != "":
		sayNext(notes(c), s.out)
	case s.format == report.Formats[0]:
		fmt.Fprintln(notes(c), "To read every answer, add --out DIRECTORY; crosstalk serve and crosstalk report show it.")
	}
	if !of.Shard().IsZero() {
		return nil
	}
	return withCode(study.Unchecked(of.Instrument, result.Estimates))
}

func addJob(c *cobra.Command, j *cluster.Job, submit *bool) {
	config.Declare(c, "", []config.Flag{
		{Name: "shards", To: &j.Shards, Help: "number of shards (required)"},
		{Name: "parallel", To: &j.Parallel, Rare: true, Help: "maximum number of shards at a time (default: no limit)"},
		{Name: "submit", To: submit, Help: "submit the jobs too"},
	})
	c.Flags().SetInterspersed(false) // what follows is the command's own, even without --
}

// readCommand parses the command after --, which must know its flags.
func readCommand(c *cobra.Command, args []string, j *cluster.Job) error {
	if len(args) == 0 {
		return usagef("expected the command to run, as in -- run leakage --model openai:gpt-4o-mini --out runs/sweep")
	}
	of, rest, err := rootCommand().Find(args)
	if err != nil {
		return &usageError{err}
	}
	if parent := of.Parent(); parent == nil || !slices.Contains([]string{"run", "score"}, parent.Name()) {
		return usagef("'%s' cannot be divided into shards; expected run or score and an instrument after --",
			of.CommandPath())
	}
	if err := of.ParseFlags(rest); err != nil {
		return usagef("%s: %w", of.CommandPath(), err)
	}
	if err := of.ValidateArgs(of.Flags().Args()); err != nil {
		return usagef("%s: %w", of.CommandPath(), err)
	}
	if of.Flags().Changed("shard") {
		return usagef("--shard after --: the scheduler says which shard a task is; remove it")
	}
	if of.Flags().Changed("dry-run") {
		return usagef("--dry-run after --: shards would measure nothing; " +
			"run the command by itself to see what it would send")
	}
	headers, _ := of.Flags().GetStringArray("header") // nil if the command has no such flag
	params, _ := of.Flags().GetStringArray("param")
	keyVar, _ := of.Flags().GetString("key-var")
	if err := cluster.CheckSecrets(args, headers, params, keyVar); err != nil {
		return &usageError{err}
	}
	if j.Out, _ = of.Flags().GetString("out"); j.Out == "" {
		return usagef("--out is missing after --: expected a directory for the shards, as in --out runs/sweep")
	}
	j.Command = args
	return nil
}

func submitSlurmCommand() *cobra.Command {
	var s cluster.Slurm
	var submit bool
	c := command("submit slurm", nil, func(c *cobra.Command, args []string) error {
		if err := readCommand(c, args, &s.Job); err != nil {
			return err
		}
		w := c.OutOrStdout()
		if submit {
			array, merge, err := s.Submit()
			if err == nil {
				fmt.Fprintf(w, "Submitted job %s, %d shards, and job %s, which merges them into %s.\n"+
					"Watch them with squeue; logs are in %s.\n", array, s.Shards, merge, s.Merged(), s.Logs())
			}
			return err
		}
		array, merge, err := s.Write()
		if err == nil {
			fmt.Fprintf(w, "Wrote %s and %s. To submit them:\n  job=$(sbatch --parsable %s)\n"+
				"  sbatch --dependency=afterany:$job %s\n", array, merge, shell.Quote(array), shell.Quote(merge))
		}
		return err
	})
	addJob(c, &s.Job, &submit)
	config.Declare(c, "", []config.Flag{
		{Name: "sbatch", To: &s.Options, Rare: true, Whole: true,
			Help: "an option of sbatch for both jobs, such as --partition=long; may be repeated"},
	})
	return c
}

func submitKubernetesCommand() *cobra.Command {
	var k cluster.Kubernetes
	var submit bool
	var limits, secrets []string
	c := command("submit kubernetes", nil, func(c *cobra.Command, args []string) error {
		if err := readCommand(c, args, &k.Job); err != nil {
			return err
		}
		if err := k.Set(limits, secrets); err != nil {
			return err
		}
		if submit {
			said, err := k.Apply()
			fmt.Fprint(c.OutOrStdout(), said)
			return err
		}
		manifests, err := k.Manifests()
		c.OutOrStdout().Write(manifests)
		return err
	})
	addJob(c, &k.Job, &submit)
	config.Declare(c, "", []config.Flag{
		{Name: "image", To: &k.Image, Rare: true, Help: "container image with crosstalk (required)"},
		{Name: "claim", To: &k.Claim, Rare: true,
			Help: "a PersistentVolumeClaim that all pods can mount at the same time (ReadWriteMany)"},
		{Name: "store", To: &k.Store, Rare: true,
			Help: "a folder of object storage, as rclone names it, such as s3:bucket/sweep"},
		{Name: "secret", To: &secrets, Rare: true,
			Help: "a Secret whose entries become environment variables of the containers that ask; rclone=NAME: of rclone"},
		{Name: "limits", To: &limits, Rare: true,
			Help: "what a shard and the merge request, and their limits (default cpu=" + cluster.DefaultCPU + ",memory=" +
				cluster.DefaultMemory + ")"},
		{Name: "pod", To: &k.Pod, Rare: true, Whole: true,
			Help: "a field of all pods, such as 'tolerations=[{operator: Exists}]'; may be repeated"},
	})
	return c
}

func mergeCommand() *cobra.Command {
	var o figureFlags
	var out string
	var wait time.Duration
	c := command("merge", cobra.MinimumNArgs(1), func(c *cobra.Command, paths []string) error {
		if out == "" {
			return usagef("--out is missing: expected the directory of the merged run")
		}
		if err := merge.Wait(c.Context(), paths, wait); err != nil {
			return err
		}
		collect(200) // a fifth less memory than with 300, a tenth more time
		result, err := merge.Merge(paths, out, labels.Merge)
		if short := noteCutShort(c, result.Paths...); short != nil {
			return errors.Join(err, short)
		}
		if errors.As(err, new(*merge.IncompleteError)) || errors.As(err, new(*merge.AheadError)) {
			return &exitError{exitIncomplete, err}
		}
		if err != nil {
			return err
		}
		manifest, err := run.ReadManifest(out)
		if err != nil {
			return err
		}
		if err := o.write(c, manifest.Plan.Instrument, result.Estimates, manifest.Names, nil); err != nil {
			return err
		}
		fmt.Fprintf(notes(c), "\n%s. Run directory: %s\n", result.Text(), out)
		sayNext(notes(c), out)
		if result.Twice > 0 {
			fmt.Fprintf(notes(c), "note: %d requests have another answer in an earlier shard, or had one in %s before; "+
				"the earlier answer is kept, and the figures use the shards' answers\n", result.Twice, out)
		}
		if result.Failed > 0 {
			return &exitError{exitIncomplete, fmt.Errorf("%d requests failed; run the command that made the shards again, "+
				"without --shard and with --out %s, to retry them", result.Failed, out)}
		}
		return withCode(study.Unchecked(manifest.Plan.Instrument, result.Estimates))
	})
	config.Declare(c, "", []config.Flag{
		{Name: "out", To: &out, Help: "the directory of the merged run (required)"},
		{Name: "wait", To: &wait, Help: "maximum time to wait until all shards are finished (default: do not wait)"},
	})
	o.add(c)
	return c
}

func statusCommand() *cobra.Command {
	var format, prices string
	var all bool
	c := command("status", cobra.MaximumNArgs(1), func(c *cobra.Command, args []string) error {
		dir := "runs"
		if len(args) > 0 {
			dir = args[0]
		}
		of, err := ask.ReadPrices(prices)
		if err != nil {
			return err
		}
		runs, err := watch.Read(dir, of, time.Now())
		if err != nil {
			return err
		}
		if format == "json" {
			return watch.WriteJSON(c.OutOrStdout(), runs)
		}
		if len(runs) == 0 {
			return fmt.Errorf("%s has no runs: expected a run, a directory of shards, or a directory with such", dir)
		}
		return results.WriteStatus(c.OutOrStdout(), runs, all)
	})
	config.Declare(c, "", []config.Flag{
		{Name: "prices", To: &prices, Help: "a YAML file of prices per million tokens, for the cost"},
		{Name: "all", To: &all, Help: "list every shard (default: those that are not finished, at most 20)"},
		formatFlag(&format, []string{"table", "json"}),
	})
	return c
}
