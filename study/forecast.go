package study

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/report"
)

// Forecast is what a measurement will send.
type Forecast struct {
	Each  []Counted
	Total Count // counts requests that conditions share once
}

// Forecast counts the requests of a study, their tokens and their cost. Nothing is
// sent. It refuses what Begin would: limits below 0, unknown columns for grouping,
// prices that are missing, batches that a model does not take.
func (s *Study) Forecast(ctx context.Context, o ask.Options) (Forecast, error) {
	if err := o.Check(); err != nil {
		return Forecast{}, err
	}
	if err := s.checkPrices(o.Budget); err != nil {
		return Forecast{}, err
	}
	if err := s.source.check(true); err != nil {
		return Forecast{}, err
	}
	prices := o.Budget.Prices
	if o.Batch {
		if err := s.checkBatch(); err != nil {
			return Forecast{}, err
		}
		prices = prices.Batched()
	}
	return s.count(ctx, prices, o.Budget.Limits())
}

// checkPrices returns an error if a cost is needed and the price of a model is
// unknown.
func (s *Study) checkPrices(b ask.Budget) error {
	for _, p := range s.Protocols {
		for _, c := range p.Conditions {
			name := c.Model.Name
			if _, priced := b.Prices[name]; !priced && (b.Cost > 0 || b.Prices != nil) {
				return fmt.Errorf("no price for %s: add one to the file of --prices, as in %s: {input: 0.15, output: 0.60}",
					name, name)
			}
		}
	}
	return nil
}

// Write writes a forecast for people, with the run directory: a list for a single
// condition, else a table with a row for each, under these names.
func (f Forecast) Write(w io.Writer, names report.Names, directory string) error {
	const unknown = "unknown (needs --prices FILE)"
	if len(f.Each) == 1 {
		cost := f.Total.price(unknown)
		if f.Total.Priced {
			cost = "at most " + cost
		}
		sent := f.Each[0].Name[crosstalk.SentColumn]
		if sent != "" {
			sent = "\nsent       " + sent
		}
		_, err := fmt.Fprintf(w, `model      %s%s
requests   %d
tokens     about %d in, at most %d out
cost       %s
directory  %s
`, f.Each[0].Model, sent, f.Total.Asks, f.Total.Worst.Prompt, f.Total.Worst.Completion, cost, directory)
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "condition\trequests\ttokens in\tmax tokens out\tmax cost")
	row := func(name string, c Count, unknown string) {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%s\n", name, c.Asks, c.Worst.Prompt, c.Worst.Completion, c.price(unknown))
	}
	conditions := make([]map[string]string, len(f.Each))
	for i, of := range f.Each {
		conditions[i] = names.By(of.Name)
	}
	for i, name := range report.Shorten(conditions, 0) {
		row(describe(name), f.Each[i].Count, "unknown")
	}
	row("all, each request once", f.Total, unknown)
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\ndirectory  %s\n", directory)
	return err
}

func (c Count) price(unknown string) string {
	if c.Priced {
		return fmt.Sprintf("%.4f", c.Cost)
	}
	return unknown
}
