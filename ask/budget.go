package ask

import "crosstalk"

// Budget bounds what a session may spend; the zero value of each field means
// no bound. Asks that the journal answers cost nothing.
type Budget struct {
	Asks   int
	Cost   float64 // in the currency of Prices
	Prices Prices
}

// Limits reports whether the budget has a bound.
func (b Budget) Limits() bool { return b.Asks > 0 || b.Cost > 0 }

// Prices are per million tokens, by model name.
type Prices map[string]Price

// Price is what one model costs per million tokens. Reasoning is billed as output; prompts that the provider has
// cached are billed as any other, so the cost is at most a little too high.
type Price struct {
	Input  float64 `yaml:"input" json:"input"`
	Output float64 `yaml:"output" json:"output"`
	// what part of this a request in a batch costs, from 0 to 1; nil: defaultBatch
	Batch *float64 `yaml:"batch" json:"batch,omitempty"`
}

// defaultBatch is the part of the price that requests in batches cost with most providers.
const defaultBatch = 0.5

// Batched are the prices of requests in batches.
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

// Cost is what these tokens of a model cost; 0 for a model without a price.
func (p Prices) Cost(model string, u crosstalk.Usage) float64 {
	price := p[model]
	return (float64(u.Prompt)*price.Input + float64(u.Completion)*price.Output) / 1e6
}

// Worst is the most that an ask should use: its prompt, by a rule of thumb of a token for three bytes of ASCII or one
// byte of anything else, and all the tokens it may answer with, none if it states no bound.
func Worst(req crosstalk.Request) crosstalk.Usage {
	prompt := textTokens(req.Prompt)
	for _, text := range req.Input {
		prompt += textTokens(text)
	}
	for _, m := range req.Messages {
		prompt += textTokens(m.Content) + 4 // a turn's own tokens
	}
	worst := crosstalk.Usage{Prompt: prompt, Completion: req.Decoding.Limit()}
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
