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

// Counted is a condition of a protocol with its requests. Total counts requests
// shared by several conditions once.
type Counted struct {
	Condition
	Count
	needs []ask.Need // of each item
}

// Count runs the instruments over the items without sending requests.
func (s *Study) Count(ctx context.Context, prices ask.Prices) (each []Counted, total Count, err error) {
	all := map[crosstalk.Key]struct{}{}
	for k, p := range s.Protocols {
		for _, c := range s.named(p) {
			if s.common != nil && !s.shard.IsZero() { // another shard may send them
				err := s.common(ctx, k, c, &counter{id: c.Model, prices: prices, count: &Count{}, own: map[crosstalk.Key]struct{}{}, all: all, total: &Count{}})
				if err != nil {
					return nil, total, err
				}
			}
			of := Counted{Condition: c}
			n := &counter{id: c.Model, prices: prices, count: &of.Count, own: map[crosstalk.Key]struct{}{}, all: all, total: &total}
			in := p.instrument(c, false)
			for _, item := range s.items() {
				n.need = ask.Need{}
				if _, err := in.Measure(ctx, n, item); err != nil {
					return nil, total, err
				}
				of.needs = append(of.needs, n.need)
			}
			each = append(each, of)
		}
	}
	return each, total, nil
}

// counter is an Asker that only counts. Its answers are different texts, so that
// requests that depend on answers are counted too.
type counter struct {
	mu     sync.Mutex
	id     crosstalk.Identity
	prices ask.Prices
	count  *Count
	own    map[crosstalk.Key]struct{}
	all    map[crosstalk.Key]struct{}
	total  *Count
	need   ask.Need // of the item that is counted now
}

// Ask implements crosstalk.Asker.
func (n *counter) Ask(_ context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
	key := crosstalk.KeyOf(n.id, req)
	n.mu.Lock()
	defer n.mu.Unlock()
	worst := ask.Worst(req)
	n.need.Add(n.prices, n.id.Name, req)
	if _, again := n.own[key]; !again {
		n.own[key] = struct{}{}
		n.count.add(worst, n.prices, n.id.Name)
	}
	if _, again := n.all[key]; !again {
		n.all[key] = struct{}{}
		n.total.add(worst, n.prices, n.id.Name)
	}
	return crosstalk.Answer{Status: crosstalk.Text, Text: key.String()}, nil
}
