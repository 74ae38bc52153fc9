package ask

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"sync"

	"crosstalk"
	"crosstalk/internal/strictyaml"
	"crosstalk/internal/visible"

	"github.com/goccy/go-yaml/ast"
)

// Budget bounds what a session may spend; a zero field is no bound. Asks that the journal answers cost nothing.
type Budget struct {
	Asks   int
	Cost   float64 // in the currency of Prices
	Prices Prices
}

// Limits reports whether the budget has a bound.
func (b Budget) Limits() bool { return b.Asks > 0 || b.Cost > 0 }

// Prices are per million tokens, by model name.
type Prices map[string]Price

// Price is per million tokens. Reasoning is billed as output; cached prompts are billed in full, a little too high.
type Price struct {
	Input  float64 `yaml:"input" json:"input"`
	Output float64 `yaml:"output" json:"output"`
	// the part of these prices that a request in a batch costs, from 0 to 1; nil: defaultBatch
	Batch *float64 `yaml:"batch" json:"batch,omitempty"`
}

// defaultBatch is the part of the price that most providers charge for requests in batches.
const defaultBatch = 0.5

// Batched returns the prices of requests in batches.
func (p Prices) Batched() Prices {
	batched := make(Prices, len(p))
	for model, price := range p {
		part := defaultBatch
		if price.Batch != nil {
			part = *price.Batch
		}
		batched[model] = Price{Input: price.Input * part, Output: price.Output * part}
	}
	return batched
}

// Cost returns the cost of a model's tokens; 0 for a model without a price.
func (p Prices) Cost(model string, u crosstalk.Usage) float64 {
	price := p[model]
	return (float64(u.Prompt)*price.Input + float64(u.Completion)*price.Output) / 1e6
}

// Worst is an upper estimate of what an ask uses: its prompt, by a rule of thumb of a token for three bytes of ASCII or
// one byte of anything else, and its token limit, or no answer tokens if it has no limit.
func Worst(req crosstalk.Request) crosstalk.Usage {
	prompt := textTokens(req.Prompt)
	for _, text := range req.Input {
		prompt += textTokens(text)
	}
	for _, m := range req.Messages {
		prompt += textTokens(m.Content) + 4 // the turn's own tokens
	}
	worst := crosstalk.Usage{Prompt: prompt, Completion: req.Decoding.Limit()}
	for _, name := range []string{"max_tokens", "max_completion_tokens"} { // --param overrides flags
		if n, ok := req.Decoding.Extra[name].(float64); ok {
			worst.Completion = int(n)
		}
	}
	worst.Completion *= req.Decoding.Choices()
	return worst
}

func textTokens(s string) int {
	ascii := 0
	for i := range len(s) {
		if s[i] < 0x80 {
			ascii++
		}
	}
	return len(s) - ascii + ascii/3 + 1
}

// priceLimits are far above the needs of a list of every model on the market: 500 models, 30 KiB.
var priceLimits = strictyaml.Limits{Bytes: 1 << 20, Depth: 4, Keys: 10_000, One: "price list"}

// ReadPrices reads a YAML file of prices per million tokens:
//
//	gpt-4o-mini: {input: 0.15, output: 0.60, batch: 0.5}
//
// Prices are finite and not negative; a missing one is 0, but a model needs at least one. batch is the part of them
// that a request in a batch costs, 0 to 1; see defaultBatch. Errors name file and line. An empty name returns no
// prices.
func ReadPrices(file string) (Prices, error) {
	if file == "" {
		return nil, nil
	}
	text, err := strictyaml.ReadFile(file, priceLimits.Bytes)
	if err != nil {
		return nil, err
	}
	return parsePrices(file, text)
}

func parsePrices(file string, text []byte) (Prices, error) {
	root, err := strictyaml.Parse(file, text, priceLimits)
	if err != nil {
		return nil, err
	}
	prices := Prices{}
	err = eachEntry(file, root, "models", func(model string, line int, node ast.Node) error {
		var price Price
		fields := map[string]*float64{"input": &price.Input, "output": &price.Output, "batch": new(float64)}
		given := 0
		err := eachEntry(file, node, "input and output", func(field string, line int, node ast.Node) error {
			most, expected := math.MaxFloat64, "a number from 0"
			if field == "batch" {
				price.Batch, most = fields[field], 1
				expected = "the part of the price that requests in batches cost, from 0 to 1, as in 0.5"
			} else {
				given++
			}
			text := textOf(node)
			value, err := strconv.ParseFloat(text, 64) // YAML reads 1e-3 as text
			switch {
			case fields[field] == nil:
				return fmt.Errorf("%s:%d: %s: unknown field %s; choose one of: input, output, batch", file, line, shown(model),
					shown(field))
			case err != nil || !(value >= 0 && value <= most):
				return fmt.Errorf("%s:%d: %s: %s is %s; expected %s", file, line, shown(model), field, shown(text), expected)
			}
			*fields[field] = value
			return nil
		})
		if err == nil && given == 0 {
			err = fmt.Errorf("%s:%d: %s has no prices; expected a line like gpt-4o-mini: {input: 0.15, output: 0.60}", file,
				line, shown(model))
		}
		prices[model] = price
		return err
	})
	if err != nil {
		return nil, err
	}
	return prices, nil
}

// eachEntry calls f for the entries of a map, in order; a missing node is an empty map.
func eachEntry(file string, node ast.Node, of string, f func(key string, line int, value ast.Node) error) error {
	if _, empty := node.(*ast.NullNode); empty || node == nil {
		return nil
	}
	entries, ok := node.(ast.MapNode)
	if !ok {
		line := 1
		if t := node.GetToken(); t != nil {
			line = t.Position.Line
		}
		return fmt.Errorf("%s:%d: expected a map of %s, as in gpt-4o-mini: {input: 0.15, output: 0.60}", file, line, of)
	}
	for i := entries.MapRange(); i.Next(); {
		if err := f(i.Key().GetToken().Value, i.Key().GetToken().Position.Line, i.Value()); err != nil {
			return err
		}
	}
	return nil
}

func textOf(node ast.Node) string {
	switch node.(type) {
	case *ast.NullNode, nil:
		return "empty"
	case ast.ScalarNode:
		return node.GetToken().Value
	}
	return "not a number"
}

// shown returns text of the file in printable form.
func shown(text string) string {
	if r := []rune(text); len(r) > 40 {
		text = string(r[:40]) + "..."
	}
	return visible.Line(text)
}

// Need is the most that an item of a suite can use; a budget reserves it for the item. The zero value needs nothing.
type Need struct {
	Asks int
	Cost float64
}

// Add adds the most that a request to a model may use.
func (n *Need) Add(prices Prices, model string, req crosstalk.Request) {
	n.plus(Need{1, prices.Cost(model, Worst(req))}, 1)
}

func (n *Need) plus(o Need, sign int) {
	n.Asks += sign * o.Asks
	n.Cost += float64(sign) * o.Cost
}

func (n Need) within(o Need) bool { return n.Asks <= o.Asks && n.Cost <= o.Cost }

// account tracks what was spent and reserved, so that the budget holds even if every ask uses its maximum.
//
// Items are admitted whole and in order: an item enters when the budget covers its need on top of all that earlier
// items may use. It waits while those may still return something; if it does not fit then, it and all later items are
// refused. So which items are measured depends only on the usage of the items before them.
type account struct {
	Budget
	batched  Prices // for asks in batches
	mu       sync.Mutex
	changed  chan struct{} // closed at the next change
	spent    Need
	reserved Need
	working  int     // items that may return something without waiting for the budget
	queue    []*item // not yet let in, in order
	closed   error   // why an item, and every later one, was turned away
}

type item struct {
	account *account
	need    Need
	left    Need          // what its asks have not used of need
	asks    bool          // the journal lacks the answer to one of its asks
	flying  int           // its asks in flight that use a part of need
	waiting int           // its asks that wait for unreserved budget
	decided chan struct{} // closed once it is let in or turned away
	in      bool          // let in, with a reservation
	denied  error
	ended   bool
}

func newAccount(b Budget) *account {
	return &account{Budget: b, batched: b.Prices.Batched(), changed: make(chan struct{})}
}

type itemKey struct{}

// Item takes a place in the budget's queue for one item of the suite. Call it in the order of the suite, before the
// item's goroutine starts. It returns at once; asks with the returned context wait for the item's turn. The item is let
// in whole, if need fits, or its asks end with a *LimitError. Journalled answers need no budget.
//
// need is the most that the item may use; asks beyond it wait for budget. end must be called: it returns the rest.
func (s *Session) Item(ctx context.Context, need Need) (_ context.Context, end func()) {
	it := s.budget.enqueue(need)
	return context.WithValue(ctx, itemKey{}, it), it.end
}

func (a *account) enqueue(need Need) *item {
	a.mu.Lock()
	defer a.mu.Unlock()
	it := &item{account: a, need: need, decided: make(chan struct{})}
	a.queue = append(a.queue, it)
	a.admit()
	return it
}

// admit lets the next items in, or turns them away. The caller holds mu.
func (a *account) admit() {
	for len(a.queue) > 0 {
		it := a.queue[0]
		over := a.over(it.need, "the next item")
		switch {
		case it.ended || it.need == Need{}:
		case a.closed != nil:
			it.denied = a.closed
		case over == "":
			it.in, it.left = true, it.need
			a.reserved.plus(it.need, 1)
			a.working++
		case a.working == 0 && it.asks: // otherwise, the journal may answer all its asks
			a.closed = &LimitError{over}
			it.denied = a.closed
		default:
			return
		}
		close(it.decided)
		a.queue = a.queue[1:]
	}
}

func (it *item) end() {
	a := it.account
	a.mu.Lock()
	defer a.mu.Unlock()
	if it.ended {
		return
	}
	if it.in {
		a.reserved.plus(it.left, -1)
		it.left = Need{}
	}
	it.now(func() { it.ended = true })
	a.change()
}

// now changes the item's state, and updates whether it counts as working. The caller holds mu.
func (it *item) now(change func()) {
	if it.works() {
		it.account.working--
	}
	change()
	if it.works() {
		it.account.working++
	}
}

// works reports whether the item may return something: it does more than wait for the budget. The caller holds mu.
func (it *item) works() bool {
	return it.in && !it.ended && (it.waiting == 0 || it.flying > 0)
}

// change wakes all who wait. The caller holds mu.
func (a *account) change() {
	a.admit()
	close(a.changed)
	a.changed = make(chan struct{})
}

// reserve reserves what req may use and returns the function that settles it with the paid answer. An answer that does
// not report its usage counts as the maximum, the zero Answer as nothing. reserve waits for the turn of ctx's item. An
// ask without an item, or beyond its item's need, waits while others may still return something.
func (a *account) reserve(ctx context.Context, model string,
	req crosstalk.Request) (settle func(crosstalk.Answer), err error) {
	var want Need
	want.Add(a.Prices, model, req)
	it, _ := ctx.Value(itemKey{}).(*item)
	if it != nil && it.account == a {
		a.mu.Lock()
		if !it.asks {
			it.asks = true
			a.admit()
		}
		a.mu.Unlock()
		if err := until(ctx, it.decided); err != nil {
			return nil, err
		}
		if it.denied != nil {
			return nil, it.denied
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	own := it != nil && want.within(it.left)
	if own {
		it.left.plus(want, -1)
		it.now(func() { it.flying++ })
	} else if err := a.single(ctx, it, want); err != nil {
		return nil, err
	}
	if !own {
		it = nil
	}
	return func(answer crosstalk.Answer) { a.settle(model, req, want, it, answer) }, nil
}

// single reserves budget for an ask that is outside its item's reservation. The caller holds mu.
func (a *account) single(ctx context.Context, it *item, want Need) error {
	waits := false // an item returns nothing while all its asks wait
	defer func() {
		if waits {
			it.now(func() { it.waiting-- })
		}
	}()
	for {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		over := a.over(want, "one more ask")
		if over == "" {
			break
		}
		if !waits && it != nil && it.account == a {
			waits = true
			it.now(func() { it.waiting++ })
			a.change() // notify those who wait for this item
		}
		if a.working == 0 {
			return &LimitError{over}
		}
		changed := a.changed
		a.mu.Unlock()
		until(ctx, changed) // an error is found above
		a.mu.Lock()
	}
	a.working++
	a.reserved.plus(want, 1)
	return nil
}

// settle replaces an ask's reservation by its usage. it is the item that reserved it, or nil. An item may reuse what an
// ask did not use: a model that refuses a parameter is asked again without it.
func (a *account) settle(model string, req crosstalk.Request, want Need, it *item, answer crosstalk.Answer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case it == nil:
		a.working--
		a.reserved.plus(want, -1)
	case answer.Status == "" && !it.ended:
		it.left.plus(want, 1)
	default:
		a.reserved.plus(want, -1)
	}
	if it != nil {
		it.now(func() { it.flying-- })
	}
	if answer.Status != "" {
		a.spend(a.Prices, model, req, answer)
	}
	a.change()
}

// spend adds the cost of an answer. The caller holds mu.
func (a *account) spend(prices Prices, model string, req crosstalk.Request, answer crosstalk.Answer) {
	used := answer.Usage
	if used == (crosstalk.Usage{}) && answer.Status != crosstalk.Failed {
		used = Worst(req)
	}
	a.spent.plus(Need{1, prices.Cost(model, used)}, 1)
}

func (a *account) fits(want Need) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.over(want, "") == ""
}

// over returns the limit that a request could exceed, or "".
func (a *account) over(want Need, who string) string {
	asks, cost := a.spent.Asks+a.reserved.Asks, a.spent.Cost+a.reserved.Cost
	switch most := a.Asks > 0 && asks+want.Asks > a.Asks; {
	case most && want.Asks > 1:
		return fmt.Sprintf("stopped after %d asks: %s needs up to %d more (--budget-asks %d)", asks, who, want.Asks, a.Asks)
	case most:
		return fmt.Sprintf("stopped after %d asks (--budget-asks %d)", asks, a.Asks)
	case a.Budget.Cost > 0 && cost+want.Cost > a.Budget.Cost:
		return fmt.Sprintf("stopped at a cost of %.4f: %s could cost up to %.4f more (--budget-cost %g)", a.spent.Cost, who,
			want.Cost, a.Budget.Cost)
	}
	return ""
}
