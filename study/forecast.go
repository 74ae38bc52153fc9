package study

import (
	"context"
	"fmt"
	"io"
	"sync"
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

// Forecast counts the requests of a study, their tokens and their cost. Nothing is sent. It refuses what Begin
// would: limits below 0, unknown columns for grouping, prices that are missing, batches that a model does not take.
func (s *Study) Forecast(ctx context.Context, o ask.Options) (Forecast, error) {
	if err := o.Check(); err != nil {
		return Forecast{}, err
	}
	for _, p := range s.Protocols {
		for _, c := range p.Conditions {
			name := c.Model.Name
			if _, priced := o.Budget.Prices[name]; !priced && (o.Budget.Cost > 0 || o.Budget.Prices != nil) {
				return Forecast{}, fmt.Errorf(
					"no price for %s: add one to the file of --prices, as in %s: {input: 0.15, output: 0.60}", name, name)
			}
		}
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

// Write writes a forecast for people, with the run directory: a list for one condition, else a table, under names.
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

// Count is the number of requests, tokens and the cost of a measurement.
type Count struct {
	Asks   int
	Worst  crosstalk.Usage // tokens, if every answer has the maximum length
	Cost   float64         // of these tokens
	Priced bool            // all prices are known
}

// admit lets items into a budget, in their order; nil where there is none.
func (c Counted) admit(
	in func(context.Context, ask.Need) (context.Context, func()),
) func(context.Context, int) (context.Context, func()) {
	if c.needs == nil {
		return nil
	}
	return func(ctx context.Context, item int) (context.Context, func()) { return in(ctx, c.needs[item]) }
}

func (c *Count) add(worst crosstalk.Usage, prices ask.Prices, model string) {
	_, priced := prices[model]
	c.Priced = priced && (c.Priced || c.Asks == 0)
	c.Asks++
	c.Worst.Prompt += worst.Prompt
	c.Worst.Completion += worst.Completion
	c.Cost += prices.Cost(model, worst)
}

// Counted is a condition of a protocol with its requests.
type Counted struct {
	Condition
	Count
	asks  int        // of the item with the most
	needs []ask.Need // of each item, where there is a budget
}

// count runs the instruments over the items without sending requests. If needs is set it keeps those of each item.
func (s *Study) count(ctx context.Context, prices ask.Prices, needs bool) (f Forecast, err error) {
	n := &counter{prices: prices, forecast: &f, last: map[uint64]int32{}}
	for k, p := range s.Protocols {
		for _, c := range p.Conditions {
			c = s.observed(p, c)
			f.Each = append(f.Each, Counted{Condition: c})
			of := &f.Each[len(f.Each)-1]
			if s.reviews != nil && !s.shard.IsZero() {
				n.elsewhere = true // another shard may send them
				if err := s.reviews.ask(ctx, k, c, n); err != nil {
					return f, err
				}
			}
			n.elsewhere = false
			in := p.instrument(c, false)
			for _, item := range s.items().All() {
				n.need = ask.Need{}
				if _, err := in.Measure(ctx, n, item); err != nil {
					return f, err
				}
				of.asks = max(of.asks, n.need.Asks)
				if needs {
					of.needs = append(of.needs, n.need)
				}
			}
		}
	}
	return f, nil
}

// counter is an Asker that only counts requests: each once in all, and once for each condition. Its answers are
// different texts, so that requests that depend on answers are counted too.
type counter struct {
	mu        sync.Mutex
	prices    ask.Prices
	forecast  *Forecast        // of which the last condition is asked
	elsewhere bool             // requests are known, but not counted
	last      map[uint64]int32 // the last condition with a request, by crosstalk.Key.Short
	need      ask.Need         // of the item that is counted now
}

func (n *counter) Ask(_ context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	condition := int32(len(n.forecast.Each) - 1)
	of := &n.forecast.Each[condition]
	name := of.Model.Name
	key := crosstalk.KeyOf(of.Model, req)
	n.need.Add(n.prices, name, req)
	before, again := n.last[key.Short()]
	n.last[key.Short()] = condition
	if !n.elsewhere && !(again && before == condition) {
		of.add(ask.Worst(req), n.prices, name)
		if !again {
			n.forecast.Total.add(ask.Worst(req), n.prices, name)
		}
	}
	return crosstalk.Answer{Status: crosstalk.Text, Text: key.String()}, nil
}
