package main

import (
	"fmt"
	"time"

	"crosstalk/ask"
	"crosstalk/internal/config"
	"crosstalk/run/watch"

	"github.com/spf13/cobra"
)

func statusCommand() *cobra.Command {
	var format, prices string
	var all bool
	c := &cobra.Command{
		Use:   "status [DIR]",
		Short: "Show the progress of runs",
		Long: `Print how far the runs in a directory (default: runs) have come, all shards of a
run as one: requests done and failed, their rate and cost, and the shards that are
slow, quiet or failing. Running processes are not disturbed.

A run is quiet if it is not finished and had no answer for a minute: it waits for
its server, or it was stopped.`,
		Example: `  crosstalk status
  crosstalk status runs/sweep --prices prices.yaml
  crosstalk status runs/sweep --all
  crosstalk status runs/sweep --format json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
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
		},
	}
	config.Declare(c, "", []config.Flag{
		{Name: "prices", To: &prices, Reach: config.Path, Help: "a YAML file of prices per million tokens, for the cost"},
		{Name: "all", To: &all, Help: "list every shard (default: those that are not finished, at most 20)"},
		formatFlag(&format, []string{"table", "json"}),
	})
	return c
}
