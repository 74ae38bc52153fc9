package study

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/run"
	"crosstalk/run/shard"
	"crosstalk/suite"
)

// Forecast counts the requests of a study, their tokens and their cost. It sends nothing. It refuses the same as
// Begin: negative limits, unknown columns for grouping, missing prices, and batches for a model without them.
func (s *Study) Forecast(ctx context.Context, o ask.Options) (f run.Forecast, err error) {
	of, err := s.forecast(ctx, o)
	for _, c := range of.each {
		f.Each = append(f.Each, run.Counted{Condition: c.Condition.Condition, Count: c.Count})
	}
	f.Total = of.total
	return f, err
}

func (s *Study) forecast(ctx context.Context, o ask.Options) (f forecast, err error) {
	if err := o.Check(); err != nil {
		return f, err
	}
	for _, p := range s.Protocols {
		for _, c := range p.Conditions {
			name := c.Model.Name
			if _, priced := o.Budget.Prices[name]; !priced && (o.Budget.Cost > 0 || o.Budget.Prices != nil) {
				return f, fmt.Errorf(
					"no price for %s: add one to the file of --prices, as in %s: {input: 0.15, output: 0.60}", name, name)
			}
		}
	}
	if err := s.source.check(true); err != nil {
		return f, err
	}
	prices := o.Budget.Prices
	if o.Batch {
		if err := s.checkBatch(); err != nil {
			return f, err
		}
		prices = prices.Batched()
	}
	return s.count(ctx, prices, o.Budget.Limits())
}

// admit returns a function that admits items to a budget, in order; nil if there is no budget.
func (c counted) admit(
	in func(context.Context, ask.Need) (context.Context, func()),
) func(context.Context, int) (context.Context, func()) {
	if c.needs == nil {
		return nil
	}
	return func(ctx context.Context, item int) (context.Context, func()) { return in(ctx, c.needs[item]) }
}

// add counts a request.
func add(c *run.Count, worst crosstalk.Usage, prices ask.Prices, model string) {
	_, priced := prices[model]
	c.Priced = priced && (c.Priced || c.Asks == 0)
	c.Asks++
	c.Worst.Prompt += worst.Prompt
	c.Worst.Completion += worst.Completion
	c.Cost += prices.Cost(model, worst)
}

// forecast is a run.Forecast with what a measurement needs to know of each item.
type forecast struct {
	each  []counted
	total run.Count
}

// counted is a condition of a protocol with its requests.
type counted struct {
	Condition
	run.Count
	asks  int        // of the item with the most requests
	needs []ask.Need // of each item, if there is a budget
}

// count runs the instruments over the items without sending requests. If needs is set, it keeps the needs of each
// item.
func (s *Study) count(ctx context.Context, prices ask.Prices, needs bool) (f forecast, err error) {
	n := &counter{prices: prices, forecast: &f, last: map[uint64]int32{}}
	for k, p := range s.Protocols {
		for _, c := range p.Conditions {
			c = s.observed(p, c)
			f.each = append(f.each, counted{Condition: c})
			of := &f.each[len(f.each)-1]
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

// counter is an Asker that only counts requests: each once in total, and once per condition. Its answers all differ,
// so that requests that depend on answers are counted too.
type counter struct {
	mu        sync.Mutex
	prices    ask.Prices
	forecast  *forecast        // its last condition is the one being asked
	elsewhere bool             // note requests without counting them
	last      map[uint64]int32 // the last condition with a request, by crosstalk.Key.Short
	need      ask.Need         // of the current item
}

func (n *counter) Ask(_ context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	condition := int32(len(n.forecast.each) - 1)
	of := &n.forecast.each[condition]
	name := of.Model.Name
	key := crosstalk.KeyOf(of.Model, req)
	n.need.Add(n.prices, name, req)
	before, again := n.last[key.Short()]
	n.last[key.Short()] = condition
	if !n.elsewhere && !(again && before == condition) {
		add(&of.Count, ask.Worst(req), n.prices, name)
		if !again {
			add(&n.forecast.total, ask.Worst(req), n.prices, name)
		}
	}
	return crosstalk.Answer{Status: crosstalk.Text, Text: key.String()}, nil
}

// CheckSuite reads a suite, given by name or file, and lists likely mistakes in it, and why a run would refuse it. It
// sends nothing.
func CheckSuite(ctx context.Context, name string) (s *suite.Suite, mistakes []string, err error) {
	if s, err = suite.Load(name); err != nil {
		return nil, nil, err
	}
	sweep := Sweep{Models: []string{"ollama:any"}, CountOnly: true} // a reference model cannot answer all suites
	whateverLanguage := []string{"bertscore"}
	of := map[string]interface{ Open() (*Study, error) }{
		"leakage":     Leakage{Sweep: sweep, Suite: name, Similarities: whateverLanguage},
		"confusion":   Confusion{Sweep: sweep, Suite: name},
		"consistency": Consistency{Sweep: sweep, Suite: name},
	}[s.Instrument]
	mistakes = suite.Check(s)
	study, err := of.Open()
	if err == nil {
		_, err = study.count(ctx, nil, false)
	}
	if err != nil {
		mistakes = append(mistakes, fmt.Sprintf("run %s refuses the suite as it is: %v", s.Instrument, err))
	}
	return s, mistakes, nil
}

// Take restricts the study to a shard: it then counts, asks and scores only the shard's part of the items. Items that
// share a prompt, by their clusters or their requests, are in the same shard, so that no two shards send the same
// request and each shard's figures have valid intervals. There are two exceptions: requests that precede all items,
// such as those to rewrite an instruction, are sent by the first shard that comes; and requests made of answers, such
// as whether two of them mean the same, may be sent by several shards.
func (s *Study) Take(ctx context.Context, of shard.Shard) error {
	s.shard = of
	if of.IsZero() || s.IsRecorded() {
		return nil
	}
	clusters, err := s.clusters(ctx)
	if err != nil {
		return err
	}
	s.places = of.Of(clusters)
	s.part = s.Suite.Items.Numbered(s.places)
	return nil
}

// Shard returns the shard that the study measures; the zero shard is the whole.
func (s *Study) Shard() shard.Shard { return s.shard }

func (s *Study) items() suite.Items {
	if s.places == nil {
		return s.Suite.Items
	}
	return s.part
}

// place returns the number in the suite of the i-th of items.
func (s *Study) place(i int) int {
	if s.places == nil {
		return i
	}
	return s.places[i]
}

// clusters groups the items that must share a shard. It looks at one condition of each protocol: all conditions share
// alike.
func (s *Study) clusters(ctx context.Context) (*shard.Clusters, error) {
	clusters := &shard.Clusters{}
	var instruments []crosstalk.Instrument
	var askers []*sharing
	for k, p := range s.Protocols {
		n := &sharing{clusters: clusters, item: shard.Everybody}
		if s.reviews != nil {
			if err := s.reviews.ask(ctx, k, p.Conditions[0], n); err != nil {
				return nil, err
			}
		}
		instruments, askers = append(instruments, p.instrument(p.Conditions[0], false)), append(askers, n)
	}
	for i, item := range s.Suite.Items.All() {
		clusters.Add(item.ID, item.Cluster)
		for k, in := range instruments {
			askers[k].item = i
			if _, err := in.Measure(ctx, askers[k], item); err != nil {
				return nil, err
			}
		}
	}
	return clusters, nil
}

// admitShard returns an error if a directory is for shards of another run.
func (s *Study) admitShard(dir string) error {
	if s.shard.IsZero() {
		return nil
	}
	if _, err := run.ReadManifest(dir); err == nil {
		return fmt.Errorf("%s has a run of all items: use another --out", dir)
	}
	others, err := shard.Runs(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, path := range others {
		other, err := run.ReadManifest(path)
		if err != nil {
			continue // it has not begun, or its own process will report the error
		}
		field := ""
		if other.Plan.Shard.Count != s.shard.Count {
			field = fmt.Sprintf("number of shards is %d, not %d", other.Plan.Shard.Count, s.shard.Count)
		} else {
			field = other.Plan.Whole().Difference(s.Plan().Whole())
		}
		if field != "" {
			return fmt.Errorf("%s has shards of a run with other settings (%s): its %s: use another --out, or the settings of "+
				"that run", dir, path, field)
		}
		return nil // that shard's process has checked the others
	}
	return nil
}

// Divide turns limits that all shards share into the limits of one shard, and returns a sentence for each limit it
// divided. A limit per minute must be at least the number of shards.
func Divide(o *ask.Options, of shard.Shard) (said []string, err error) {
	if of.IsZero() {
		return nil, nil
	}
	divide := func(flag string, n *int, least string) {
		if *n == 0 || err != nil {
			return
		}
		if *n < of.Count {
			err = crosstalk.BadOption(flag, " is %d for %d shards together; expected at least one %s for each",
				*n, of.Count, least)
			return
		}
		part := of.Part(*n)
		said = append(said, fmt.Sprintf("--%s %d is divided among %d shards: %d for this one", flag, *n, of.Count, part))
		*n = part
	}
	divide("rpm", &o.RPM, "request a minute")
	divide("budget-asks", &o.Budget.Asks, "request")
	if cost := o.Budget.Cost; cost > 0 {
		o.Budget.Cost = cost / float64(of.Count)
		said = append(said, fmt.Sprintf("--budget-cost %g is divided among %d shards: %g for this one",
			cost, of.Count, o.Budget.Cost))
	}
	return said, err
}

// sharing is an Asker that notes which items share requests. Its answers all differ, like those of counter.
type sharing struct {
	clusters *shard.Clusters
	item     int // the current item; shard.Everybody: requests that precede all items

	mu   sync.Mutex // guards clusters
	text []byte     // reused for the text of a request
}

func (n *sharing) Ask(_ context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.text = appendSaid(n.text[:0], req)
	sum := sha256.Sum256(n.text)
	n.clusters.Share(binary.BigEndian.Uint64(sum[:]), n.item)
	return crosstalk.Answer{Status: crosstalk.Text, Text: hex.EncodeToString(sum[:])}, nil
}

// appendSaid appends the texts of a request, and the sample. It takes a tenth of the time of the whole request's key,
// and distinguishes the requests of a condition equally well.
func appendSaid(to []byte, req crosstalk.Request) []byte {
	add := func(text string) {
		to = append(binary.AppendUvarint(to, uint64(len(text))), text...)
	}
	to = binary.AppendUvarint(to, uint64(req.Sample))
	add(req.Prompt)
	for _, m := range req.Messages {
		add(m.Role)
		add(m.Content)
	}
	for _, text := range req.Input {
		add(text)
	}
	return to
}
