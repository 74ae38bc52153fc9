package ask

import (
	"context"
	"fmt"
	"sync"

	"crosstalk"
)

// Budget bounds what a session may spend; the zero value of each field means
// no bound. Asks that the journal answers cost nothing.
type Budget struct {
	Asks   int
	Tokens int
	Cost   float64 // in the currency of Prices
	Prices Prices
}

// Prices are per million tokens, by model name.
type Prices map[string]Price

// Price is what one model costs per million tokens.
type Price struct {
	Input  float64 `yaml:"input" json:"input"`
	Output float64 `yaml:"output" json:"output"`
}

// Cost of so many tokens of a model; 0 for a model without a price.
func (p Prices) Cost(model string, u crosstalk.Usage) float64 {
	price := p[model]
	return (float64(u.Prompt)*price.Input + float64(u.Completion)*price.Output) / 1e6
}

// Worst is the most that an ask should use: its prompt, by a rule of thumb of
// a token for three bytes of ASCII or one byte of anything else, and all the
// tokens it may answer with, none if it states no bound.
func Worst(req crosstalk.Request) crosstalk.Usage {
	prompt := textTokens(req.Prompt)
	for _, text := range req.Input {
		prompt += textTokens(text)
	}
	for _, m := range req.Messages {
		prompt += textTokens(m.Content) + 4 // a turn's own tokens
	}
	worst := crosstalk.Usage{Prompt: prompt, Completion: req.Decoding.MaxTokens}
	for _, name := range []string{"max_tokens", "max_completion_tokens"} { // a --param goes before a flag
		if n, ok := req.Decoding.Extra[name].(float64); ok {
			worst.Completion = int(n)
		}
	}
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

func estimateTokens(req crosstalk.Request) int {
	u := Worst(req)
	return u.Prompt + u.Completion
}

// account keeps what was spent and what the asks in flight may still spend, so
// that the bound holds even if each of them uses all it may.
type account struct {
	Budget
	mu       sync.Mutex
	changed  *sync.Cond
	inFlight int
	spent    spending
	reserved spending
}

type spending struct {
	asks, tokens int
	cost         float64
}

func (s *spending) add(o spending, sign int) {
	s.asks += sign * o.asks
	s.tokens += sign * o.tokens
	s.cost += float64(sign) * o.cost
}

func newAccount(b Budget) *account {
	a := &account{Budget: b}
	a.changed = sync.NewCond(&a.mu)
	return a
}

func (a *account) wake() {
	a.mu.Lock()
	a.changed.Broadcast()
	a.mu.Unlock()
}

// reserve sets aside what req may use and returns the function that settles
// it with the answer; one that does not say what it used is taken to have used
// all. While asks in flight may still give something back it waits.
func (a *account) reserve(ctx, stop context.Context, model string, req crosstalk.Request) (settle func(crosstalk.Answer), err error) {
	worst := Worst(req)
	want := spending{1, worst.Prompt + worst.Completion, a.Prices.Cost(model, worst)}
	defer context.AfterFunc(ctx, a.wake)()
	a.mu.Lock()
	defer a.mu.Unlock()
	for {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if stop.Err() != nil {
			return nil, context.Cause(stop)
		}
		over := a.over(want)
		if over == "" {
			break
		}
		if a.inFlight == 0 || a.Asks > 0 && a.spent.asks+a.reserved.asks >= a.Asks {
			return nil, &LimitError{over}
		}
		a.changed.Wait()
	}
	a.inFlight++
	a.reserved.add(want, 1)
	return func(answer crosstalk.Answer) {
		used := answer.Usage
		if used == (crosstalk.Usage{}) && answer.Status != "" && answer.Status != crosstalk.Failed {
			used = worst
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		a.inFlight--
		a.reserved.add(want, -1)
		a.spent.add(spending{1, used.Prompt + used.Completion, a.Prices.Cost(model, used)}, 1)
		a.changed.Broadcast()
	}, nil
}

// over says which bound the next ask could break.
func (a *account) over(want spending) string {
	next := a.spent
	next.add(a.reserved, 1)
	next.add(want, 1)
	switch {
	case a.Asks > 0 && next.asks > a.Asks:
		return fmt.Sprintf("stopped after %d asks (--budget-asks %d)", a.spent.asks+a.reserved.asks, a.Asks)
	case a.Tokens > 0 && next.tokens > a.Tokens:
		return fmt.Sprintf("stopped after %d tokens: one more ask could pass --budget-tokens %d", a.spent.tokens, a.Tokens)
	case a.Budget.Cost > 0 && next.cost > a.Budget.Cost:
		return fmt.Sprintf("stopped at a cost of %.4f: one more ask could pass --budget-cost %g", a.spent.cost, a.Budget.Cost)
	}
	return ""
}
