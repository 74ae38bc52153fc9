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
	needs []ask.Need // of each item, where there is a budget
}

// count runs the instruments over the items without sending requests. It keeps
// what each item needs if needs is set.
func (s *Study) count(ctx context.Context, prices ask.Prices, needs bool) (f Forecast, err error) {
	counted := map[uint64]int32{}
	for k, p := range s.Protocols {
		for _, c := range s.named(p) {
			of := Counted{Condition: c}
			n := &counter{id: c.Model, prices: prices, count: &Count{}, counted: counted, total: &Count{}, condition: int32(len(f.Each))}
			if s.common != nil && !s.shard.IsZero() { // another shard may send them
				if err := s.common(ctx, k, c, n); err != nil {
					return f, err
				}
			}
			n.count, n.total = &of.Count, &f.Total
			in := p.instrument(c, false)
			for _, item := range s.items().All() {
				n.need = ask.Need{}
				if _, err := in.Measure(ctx, n, item); err != nil {
					return f, err
				}
				if needs {
					of.needs = append(of.needs, n.need)
				}
			}
			f.Each = append(f.Each, of)
		}
	}
	return f, nil
}

// counter is an Asker that only counts. Its answers are different texts, so that
// requests that depend on answers are counted too.
type counter struct {
	mu        sync.Mutex
	id        crosstalk.Identity
	prices    ask.Prices
	count     *Count
	condition int32            // its number
	counted   map[uint64]int32 // by crosstalk.Key.Short: the last condition with a request
	total     *Count
	need      ask.Need // of the item that is counted now
}

// Ask implements crosstalk.Asker.
func (n *counter) Ask(_ context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
	key := crosstalk.KeyOf(n.id, req)
	n.mu.Lock()
	defer n.mu.Unlock()
	worst := ask.Worst(req)
	n.need.Add(n.prices, n.id.Name, req)
	last, again := n.counted[key.Short()]
	if !again {
		n.total.add(worst, n.prices, n.id.Name)
	}
	if !again || last != n.condition {
		n.count.add(worst, n.prices, n.id.Name)
		n.counted[key.Short()] = n.condition
	}
	return crosstalk.Answer{Status: crosstalk.Text, Text: key.String()}, nil
}
