package ask

import (
	"fmt"
	"math"
	"strconv"

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

// Price is the price of one model per million tokens. Reasoning is billed as output; prompts that the provider has
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

// Cost returns the cost of a model's tokens; 0 for a model without a price.
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

// priceLimits are far above what a list of every model on the market needs: 500 models, 30 KiB.
var priceLimits = strictyaml.Limits{Bytes: 1 << 20, Depth: 4, Keys: 10_000, One: "price list"}

// ReadPrices reads a YAML file of prices per million tokens:
//
//	gpt-4o-mini: {input: 0.15, output: 0.60, batch: 0.5}
//
// Prices are finite numbers from 0; one that is left out is 0, but a model needs at least one. batch is the part of
// them that a request in a batch costs, 0 to 1; see defaultBatch. Errors name file and line. No name is no prices.
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
			value, err := strconv.ParseFloat(text, 64) // 1e-3 is text to YAML
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

// eachEntry calls f for the entries of a map, in order; nothing is an empty map.
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

// textOf returns a node's text, or its kind if it is not a scalar.
func textOf(node ast.Node) string {
	switch node.(type) {
	case *ast.NullNode, nil:
		return "empty"
	case ast.ScalarNode:
		return node.GetToken().Value
	}
	return "not a number"
}

// shown is text of the file as it can be printed.
func shown(text string) string {
	if r := []rune(text); len(r) > 40 {
		text = string(r[:40]) + "..."
	}
	return visible.Line(text)
}
