package main

import (
	"errors"
	"fmt"
	"time"

	"crosstalk/ask"
	"crosstalk/internal/config"
	"crosstalk/run"
	"crosstalk/run/merge"
	"crosstalk/run/watch"
	"crosstalk/study"

	"github.com/spf13/cobra"
)

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
		collect(200) // a fifth less memory than 300, for a tenth more time
		result, err := merge.Merge(paths, out)
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
		{Name: "out", To: &out, Reach: config.Path, Help: "the directory of the merged run (required)"},
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
		return watch.Write(c.OutOrStdout(), runs, all)
	})
	config.Declare(c, "", []config.Flag{
		{Name: "prices", To: &prices, Reach: config.Path, Help: "a YAML file of prices per million tokens, for the cost"},
		{Name: "all", To: &all, Help: "list every shard (default: those that are not finished, at most 20)"},
		formatFlag(&format, []string{"table", "json"}),
	})
	return c
}
