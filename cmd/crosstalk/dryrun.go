package main

import (
	"fmt"
	"text/tabwriter"

	"crosstalk"
	"crosstalk/report"
	"crosstalk/study"

	"github.com/spf13/cobra"
)

// dryRun prints the conditions of a study with their requests, tokens and cost.
func (r *runFlags) dryRun(c *cobra.Command, s *study.Study) error {
	if err := s.CheckBy(); err != nil {
		return err
	}
	if err := s.CheckPrices(r.options.Budget); err != nil {
		return err
	}
	prices := r.options.Budget.Prices
	if r.options.Batch {
		if err := s.CheckBatch(); err != nil {
			return err
		}
		prices = prices.Batched()
	}
	each, total, err := s.Count(c.Context(), prices)
	if err != nil {
		return err
	}
	w := c.OutOrStdout()
	const unknown = "unknown (needs --prices FILE)"
	if len(each) == 1 {
		cost := price(total, unknown)
		if total.Priced {
			cost = "at most " + cost
		}
		sent := each[0].Name[crosstalk.SentColumn]
		if sent != "" {
			sent = "\nsent       " + sent
		}
		_, err := fmt.Fprintf(w, `model      %s%s
requests   %d
tokens     about %d in, at most %d out
cost       %s
directory  %s
`, each[0].Model, sent, total.Asks, total.Worst.Prompt, total.Worst.Completion, cost, s.Shard().Dir(r.out))
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "condition\trequests\ttokens in\tmax tokens out\tmax cost")
	names := make([]map[string]string, len(each))
	for i, of := range each {
		names[i] = r.names.By(of.Name)
	}
	names = report.Shorten(names, 0)
	for i, of := range each {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%s\n", study.Describe(names[i]),
			of.Asks, of.Worst.Prompt, of.Worst.Completion, price(of.Count, "unknown"))
	}
	fmt.Fprintf(t, "all, each request once\t%d\t%d\t%d\t%s\n",
		total.Asks, total.Worst.Prompt, total.Worst.Completion, price(total, unknown))
	if err := t.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "\ndirectory  %s\n", s.Shard().Dir(r.out))
	return err
}

func price(c study.Count, unknown string) string {
	if c.Priced {
		return fmt.Sprintf("%.4f", c.Cost)
	}
	return unknown
}
