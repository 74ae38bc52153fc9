package study

import (
	"context"
	"sync"

	"crosstalk"
	"crosstalk/ask"
)

// Count is the number of requests, tokens and the cost of a measurement.
type Count struct {
	Asks  int
	Worst crosstalk.Usage // tokens, if every answer has the maximum length
	Cost  float64         // of these tokens
	// Priced reports whether all prices are known.
	Priced bool
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

// count runs the instruments over the items without sending requests. It keeps
// what each item needs if needs is set.
func (s *Study) count(ctx context.Context, prices ask.Prices, needs bool) (f Forecast, err error) {
	n := &counter{prices: prices, forecast: &f, last: map[uint64]int32{}}
	for k, p := range s.Protocols {
		for _, c := range s.named(p) {
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

// counter is an Asker that only counts requests: each once in all, and once for each
// condition. Its answers are different texts, so that requests that depend on answers are
// counted too.
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
