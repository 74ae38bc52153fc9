package study

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/internal/spill"
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
func (c Counted) admit(in func(context.Context, ask.Need) (context.Context, func())) func(context.Context, int) (context.Context, func()) {
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
	requests := spill.New(requestSize, requestsRoom)
	defer func() { err = errors.Join(err, requests.Close()) }()
	for k, p := range s.Protocols {
		for _, c := range s.named(p) {
			of := Counted{Condition: c}
			n := &counter{id: c.Model, prices: prices, requests: requests, condition: int32(len(f.Each))}
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
			f.Each = append(f.Each, of)
		}
	}
	return f, f.sum(requests, prices)
}

// sum counts each request once, and once for each condition.
func (f *Forecast) sum(requests *spill.Records, prices ask.Prices) error {
	for part := range requests.Parts() {
		last := map[uint64]int32{} // condition with a request
		for text, err := range requests.Part(part) {
			if err != nil {
				return err
			}
			r := requestOf(text)
			before, again := last[r.key]
			last[r.key] = r.condition
			if r.elsewhere || again && before == r.condition {
				continue
			}
			of := &f.Each[r.condition]
			of.add(r.worst, prices, of.Model.Name)
			if !again {
				f.Total.add(r.worst, prices, of.Model.Name)
			}
		}
	}
	return nil
}

// request is what is counted of a request.
type request struct {
	key       uint64 // crosstalk.Key.Short
	condition int32  // its number
	elsewhere bool   // it is not counted
	worst     crosstalk.Usage
}

const (
	requestSize  = 8 + 4 + 1 + 2*8
	requestsRoom = 2 << 20 // bytes of requests in memory
)

func (r request) append(to []byte) []byte {
	to = binary.BigEndian.AppendUint64(to, r.key)
	to = binary.BigEndian.AppendUint32(to, uint32(r.condition))
	to = append(to, 0)
	if r.elsewhere {
		to[len(to)-1] = 1
	}
	to = binary.BigEndian.AppendUint64(to, uint64(r.worst.Prompt))
	return binary.BigEndian.AppendUint64(to, uint64(r.worst.Completion))
}

func requestOf(text []byte) request {
	big := binary.BigEndian
	return request{big.Uint64(text), int32(big.Uint32(text[8:])), text[12] == 1,
		crosstalk.Usage{Prompt: int(big.Uint64(text[13:])), Completion: int(big.Uint64(text[21:]))}}
}

// counter is an Asker that only notes requests. Its answers are different texts, so
// that requests that depend on answers are noted too.
type counter struct {
	mu        sync.Mutex
	id        crosstalk.Identity
	prices    ask.Prices
	condition int32 // its number
	elsewhere bool
	requests  *spill.Records
	need      ask.Need // of the item that is counted now
	record    []byte
}

// Ask implements crosstalk.Asker.
func (n *counter) Ask(_ context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
	key := crosstalk.KeyOf(n.id, req)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.need.Add(n.prices, n.id.Name, req)
	n.record = request{key.Short(), n.condition, n.elsewhere, ask.Worst(req)}.append(n.record[:0])
	return crosstalk.Answer{Status: crosstalk.Text, Text: key.String()}, n.requests.Add(n.record)
}
