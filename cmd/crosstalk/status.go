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
