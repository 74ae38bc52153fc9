package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/instrument/leakage"
	"crosstalk/model"
	"crosstalk/model/reference"
	"crosstalk/suite"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"
)

// asking are the flags that say which model is asked, how, and within which
// limits.
type asking struct {
	model, baseURL, api, keyVar string
	temperature                 string
	topP                        float64
	answerTokens                int
	system, prefix              string
	params                      []string
	seed                        int64
	samples                     int

	options ask.Options
	prices  string
}

func (a *asking) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVarP(&a.model, "model", "m", reference.Provider+":"+reference.Default, "provider:name, as in openai:gpt-4o-mini or ollama:llama3.2")
	f.StringVar(&a.baseURL, "base-url", "", "where the provider's API is, instead of its own address")
	f.StringVar(&a.api, "api", "", "chat or completions (default: the provider's)")
	f.StringVar(&a.keyVar, "key-var", "", "the environment variable that holds the API key (default: the provider's)")
	f.IntVar(&a.samples, "samples", 0, "answers to each prompt (default: the protocol's)")
	f.StringVar(&a.temperature, "temperature", "", "sampling temperature, or \"default\" to leave it to the provider (default: the protocol's)")
	f.Float64Var(&a.topP, "top-p", 0, "nucleus sampling (default: the provider's)")
	f.IntVar(&a.answerTokens, "answer-tokens", 0, "the most tokens an answer may have (default: the protocol's)")
	f.Int64Var(&a.seed, "seed", 0, "seed for models that take one; sample k is asked with seed+k")
	f.StringVar(&a.system, "system", "", "system message for chat models (default: the protocol's)")
	f.StringVar(&a.prefix, "prefix", "", "what stands before each prompt (default: the suite's)")
	f.StringArrayVar(&a.params, "param", nil, "a further setting NAME=VALUE, sent as it is: --param reasoning_effort=low")
	f.IntVar(&a.options.Concurrency, "concurrency", 0, "asks in flight at most; the endpoint's own limit is found by trying (default 64, fewer for local servers)")
	f.IntVar(&a.options.RPM, "rpm", 0, "asks per minute at most")
	f.IntVar(&a.options.TPM, "tpm", 0, "tokens per minute at most")
	f.DurationVar(&a.options.Timeout, "timeout", 2*time.Minute, "how long to wait for one answer")
	f.IntVar(&a.options.Retries, "retries", 8, "further attempts after a passing fault")
	f.IntVar(&a.options.FailAfter, "fail-after", 0, "stop when so many asks have failed (default: never)")
	f.IntVar(&a.options.Budget.Asks, "max-asks", 0, "stop before more asks than this")
	f.IntVar(&a.options.Budget.Tokens, "max-tokens", 0, "stop before more tokens than this, in all")
	f.Float64Var(&a.options.Budget.Cost, "max-cost", 0, "stop before a higher cost than this (needs --prices)")
	f.StringVar(&a.prices, "prices", "", "a YAML file of prices per million tokens: {gpt-4o-mini: {input: 0.15, output: 0.60}}")
}

// open opens the model and settles the limits.
func (a *asking) open(c *cobra.Command, s *suite.Suite) (crosstalk.Model, ask.Options, error) {
	for flag, value := range map[string]int{"concurrency": a.options.Concurrency, "rpm": a.options.RPM, "tpm": a.options.TPM, "retries": a.options.Retries,
		"fail-after": a.options.FailAfter, "max-asks": a.options.Budget.Asks, "max-tokens": a.options.Budget.Tokens, "samples": a.samples, "answer-tokens": a.answerTokens} {
		if value < 0 || value == 0 && c.Flags().Changed(flag) && flag != "retries" {
			return nil, a.options, fmt.Errorf("--%s is %d; expected a number above 0", flag, value)
		}
	}
	if t := a.options.Timeout; t <= 0 {
		return nil, a.options, fmt.Errorf("--timeout is %v; expected a duration above 0, such as 2m", t)
	}
	if cost := a.options.Budget.Cost; c.Flags().Changed("max-cost") && !(cost > 0) {
		return nil, a.options, fmt.Errorf("--max-cost is %g; expected a number above 0", cost)
	}
	if a.options.Retries == 0 {
		a.options.Retries = -1
	}
	m, err := model.Open(a.model, model.Options{BaseURL: a.baseURL, API: crosstalk.API(a.api), KeyVar: a.keyVar,
		Others: map[string]func(string) (crosstalk.Model, error){
			reference.Provider: func(spec string) (crosstalk.Model, error) { return reference.Open(spec, s.Items) }}})
	if err != nil {
		return nil, a.options, err
	}
	if a.options.Concurrency == 0 {
		a.options.Concurrency = model.Concurrency(a.model)
	}
	if a.options.Budget.Prices, err = readPrices(a.prices); err != nil {
		return nil, a.options, err
	}
	if _, priced := a.options.Budget.Prices[m.Identity().Name]; !priced && (a.options.Budget.Cost > 0 || a.prices != "") {
		return nil, a.options, fmt.Errorf("no price is known for %s: name a file with one, as in --prices prices.yaml with %s: {input: 0.15, output: 0.60}", m.Identity().Name, m.Identity().Name)
	}
	return m, a.options, nil
}

func readPrices(file string) (ask.Prices, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var p ask.Prices
	if err := yaml.UnmarshalWithOptions(text, &p, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("%s: expected lines like gpt-4o-mini: {input: 0.15, output: 0.60}: %w", file, err)
	}
	return p, nil
}

// prompting settles how items become requests: flags before suite and
// protocol.
func (a *asking) prompting(c *cobra.Command, s *suite.Suite, m crosstalk.Model, rules leakage.Protocol) (crosstalk.Prompting, error) {
	changed := c.Flags().Changed
	p := crosstalk.Prompting{API: m.API(), Prefix: s.Prefix[m.API()], System: rules.System,
		Decoding: crosstalk.Decoding{MaxTokens: rules.MaxTokens, Temperature: &rules.Temperature}}
	if changed("prefix") {
		p.Prefix = a.prefix
	}
	if changed("system") {
		p.System = a.system
	}
	if p.API == crosstalk.Completions {
		p.System = ""
	}
	if a.answerTokens > 0 {
		p.Decoding.MaxTokens = a.answerTokens
	}
	switch {
	case a.temperature == "default":
		p.Decoding.Temperature = nil
	case a.temperature != "":
		t, err := strconv.ParseFloat(a.temperature, 64)
		if err != nil || t < 0 || math.IsNaN(t) || math.IsInf(t, 0) {
			return p, fmt.Errorf("--temperature is %q; expected a number from 0, or default", a.temperature)
		}
		p.Decoding.Temperature = &t
	}
	if changed("top-p") {
		if !(a.topP > 0 && a.topP <= 1) {
			return p, fmt.Errorf("--top-p is %g; expected more than 0 and at most 1", a.topP)
		}
		p.Decoding.TopP = &a.topP
	}
	if changed("seed") {
		p.Decoding.Seed = &a.seed
	}
	for _, param := range a.params {
		name, value, ok := strings.Cut(param, "=")
		if !ok || name == "" {
			return p, fmt.Errorf("--param is %q; expected NAME=VALUE", param)
		}
		if p.Decoding.Extra == nil {
			p.Decoding.Extra = map[string]any{}
		}
		var v any
		if err := json.Unmarshal([]byte(value), &v); err != nil {
			v = value // a bare word is a string
		}
		p.Decoding.Extra[name] = v
	}
	return p, nil
}

// asksPlanned counts what a run will ask.
type asksPlanned struct {
	distinct int
	worst    crosstalk.Usage
	cost     float64
	priced   bool
}

// counter is an Asker that only counts.
type counter struct {
	mu      sync.Mutex
	id      crosstalk.Identity
	seen    map[crosstalk.Key]struct{}
	planned asksPlanned
}

func (n *counter) Ask(_ context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
	key := crosstalk.KeyOf(n.id, req)
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, again := n.seen[key]; !again {
		n.seen[key] = struct{}{}
		worst := ask.Worst(req)
		n.planned.distinct++
		n.planned.worst.Prompt += worst.Prompt
		n.planned.worst.Completion += worst.Completion
	}
	return crosstalk.Answer{Status: crosstalk.Empty}, nil
}

// countAsks runs the instrument over the items without asking.
func countAsks(ctx context.Context, in crosstalk.Instrument, id crosstalk.Identity, items []crosstalk.Item, prices ask.Prices) (asksPlanned, error) {
	n := &counter{id: id, seen: map[crosstalk.Key]struct{}{}}
	for _, item := range items {
		if _, err := in.Measure(ctx, n, item); err != nil {
			return n.planned, err
		}
	}
	_, n.planned.priced = prices[id.Name]
	n.planned.cost = prices.Cost(id.Name, n.planned.worst)
	return n.planned, nil
}

func printDryRun(w io.Writer, p asksPlanned, id crosstalk.Identity, out string) error {
	cost := "unknown (name a price file with --prices)"
	if p.priced {
		cost = fmt.Sprintf("%.4f at most", p.cost)
	}
	_, err := fmt.Fprintf(w, `model      %s
asks       %d
tokens     about %d in, %d out at most
cost       %s
directory  %s
`, id, p.distinct, p.worst.Prompt, p.worst.Completion, cost, out)
	return err
}
