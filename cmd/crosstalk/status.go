package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"crosstalk/ask"
	"crosstalk/internal/config"
	"crosstalk/internal/visible"
	"crosstalk/watch"

	"github.com/spf13/cobra"
)

func statusCommand() *cobra.Command {
	var format, prices string
	var all bool
	c := &cobra.Command{
		Use:   "status [DIR]",
		Short: "Print how far runs have come",
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
			var of ask.Prices
			if prices != "" {
				var err error
				if of, err = ask.ReadPrices(prices); err != nil {
					return err
				}
			}
			runs, err := watch.Read(dir, of, time.Now())
			if err != nil {
				return err
			}
			if format == "json" {
				e := json.NewEncoder(c.OutOrStdout())
				e.SetIndent("", "  ")
				return e.Encode(map[string]any{"schema": "crosstalk/status/v1", "runs": slices.Concat([]watch.Run{}, runs)})
			}
			if len(runs) == 0 {
				return fmt.Errorf("%s has no runs: expected a run, a directory of shards, or a directory with such", dir)
			}
			for i, r := range runs {
				if i > 0 {
					fmt.Fprintln(c.OutOrStdout())
				}
				if err := printRun(c.OutOrStdout(), r, all); err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.Flags().StringVar(&prices, "prices", "", "a YAML file of prices per million tokens, for the cost")
	c.Flags().BoolVar(&all, "all", false, "list every shard (default: those that are not finished, at most 20)")
	c.Flags().StringVar(&format, "format", "table", "table or json")
	config.Path(c.Flags(), "prices")
	config.Choices(c.Flags(), "format", "table", "json")
	c.Flags().SortFlags = false
	return c
}

// printRun prints a run, and its shards that the user may want to look at.
func printRun(w io.Writer, r watch.Run, all bool) error {
	fmt.Fprintf(w, "%s: %s\n", visible.Line(r.Path), r.State)
	if len(r.Models) > 0 {
		models := strings.Join(r.Models[:min(3, len(r.Models))], ", ")
		if more := len(r.Models) - 3; more > 0 {
			models += fmt.Sprintf(" and %d more", more)
		}
		fmt.Fprintf(w, "  %s, %s\n", visible.Line(r.Suite), visible.Line(models))
	}
	fmt.Fprintf(w, "  %s\n", strings.Join(amounts(r.Totals), ", "))
	if r.Shards == 0 {
		for _, p := range r.Parts {
			if p.Error != "" {
				fmt.Fprintf(w, "  cannot be read: %s\n", printable(visible.Line(p.Error)))
			}
		}
		return nil
	}
	counts := map[watch.State]int{}
	for _, p := range r.Parts {
		counts[p.State]++
	}
	parts := []string{}
	for _, s := range []watch.State{watch.Finished, watch.Running, watch.Quiet, watch.Cut, watch.Broken} {
		if counts[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[s], s))
		}
	}
	if n := len(r.Missing); n > 0 {
		parts = append(parts, fmt.Sprintf("%d not begun", n))
	}
	fmt.Fprintf(w, "  %d shards: %s\n", r.Shards, strings.Join(parts, ", "))
	return printShards(w, r, all)
}

// mostShards is how many shards are listed unless the user wants all.
const mostShards = 20

func printShards(w io.Writer, r watch.Run, all bool) error {
	list := r.Parts
	if !all {
		list = slices.DeleteFunc(slices.Clone(list), func(p watch.Part) bool { return p.State == watch.Finished && p.Failed == 0 })
		slices.SortStableFunc(list, func(a, b watch.Part) int { return int(b.Left - a.Left) }) // those that take longest first
	}
	more := 0
	if !all && len(list) > mostShards {
		list, more = list[:mostShards], len(list)-mostShards
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, p := range list {
		what := string(p.State)
		switch {
		case p.Slow:
			what = "slow"
		case p.Error != "":
			what = "cannot be read: " + printable(visible.Line(p.Error))
		case p.State == watch.Quiet && !p.Last.IsZero():
			what = "no answer since " + p.Last.Local().Format("2006-01-02 15:04")
		case p.State == watch.Quiet:
			what = "no answer yet"
		}
		fmt.Fprintf(t, "  %v\t%s\t%s\n", p.Shard, strings.Join(amounts(p.Totals), ", "), what)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if more > 0 {
		fmt.Fprintf(w, "  and %d more (--all)\n", more)
	}
	return nil
}

// amounts are the counts in words.
func amounts(t watch.Totals) (parts []string) {
	if t.Requests == 0 {
		return []string{"no requests"}
	}
	parts = append(parts, fmt.Sprintf("%d of %d requests", t.Done, t.Requests))
	if t.Failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", t.Failed))
	}
	if t.Rate > 0 {
		parts = append(parts, fmt.Sprintf("%.1f/s", t.Rate))
	}
	if t.Left > 0 {
		parts = append(parts, fmt.Sprintf("%v left", t.Left))
	}
	if t.Cost != nil {
		parts = append(parts, fmt.Sprintf("cost %.4f", *t.Cost))
	}
	return parts
}
