package main

import (
	"strings"
	"time"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/internal/config"
	"crosstalk/model"
	"crosstalk/study"

	"github.com/spf13/cobra"
)

// modelFlags choose the models, their settings and the limits.
type modelFlags struct {
	sweep   study.Sweep
	options ask.Options
	prices  string
	zip     []string
}

// add adds the flags; standIn is the default model.
func (m *modelFlags) add(c *cobra.Command, standIn string) {
	f, s, o := c.Flags(), &m.sweep, &m.options
	f.StringSliceVarP(&s.Models, "model", "m", []string{standIn}, "provider:name, as in openai:gpt-4o-mini or ollama:llama3.2. "+
		"--model, --api, --temperature, --top-p, --reasoning, --system, --prefix and --param accept several values, which are compared")
	f.StringSliceVar(&s.BaseURLs, "base-url", nil,
		"URL of the API, one for all models or one for each (default: the provider's)")
	f.StringSliceVar(&s.APIs, "api", nil, "chat, completions or responses (default: the provider's)")
	config.Choices(f, "api", apis...)
	f.StringVar(&s.KeyVar, "key-var", "", "environment variable that contains the API key (default: the provider's)")
	f.IntVar(&s.Samples, "samples", 0, "answers per prompt (default: the protocol's)")
	f.IntVar(&s.Items, "items", 0, "ask N items of the suite: always the same ones, from all categories, languages and sources (default: all)")
	f.StringSliceVar(&s.Temperatures, "temperature", nil,
		"sampling temperature, or \"default\" for the provider's (default: the protocol's)")
	f.StringSliceVar(&s.TopPs, "top-p", nil,
		"top-p (nucleus) sampling, or \"default\" for the provider's (default: the protocol's)")
	f.StringArrayVar(&m.zip, "zip", nil, "settings whose values are paired in order instead of combined, such as temperature,top-p")
	f.IntVar(&s.MaxTokens, "max-tokens", 0, "maximum tokens per answer (default: the protocol's)")
	f.StringSliceVar(&s.Reasoning, "reasoning", nil,
		"how much the model thinks: off, low, medium, high, or \"default\" for the model's own (default: the model's own)")
	config.Choices(f, "reasoning", "default", crosstalk.ReasoningOff, crosstalk.ReasoningLow, crosstalk.ReasoningMedium, crosstalk.ReasoningHigh)
	f.IntVar(&s.ReasoningTokens, "reasoning-tokens", 0,
		"tokens for thinking, in addition to --max-tokens (default: what the model is known to need)")
	f.Var(config.OptionalInt(&s.Seed), "seed", "seed for models that accept one; sample k uses seed+k (default: none)")
	f.StringArrayVar(&s.Systems, "system", nil, "system message for chat models; @FILE reads it from a file; for a text that begins with @, write @@ (default: the protocol's)")
	f.StringArrayVar(&s.Prefixes, "prefix", nil, "text to put before each prompt (default: the suite's)")
	f.StringArrayVar(&s.Headers, "header", nil,
		"header to send with every request, NAME=VALUE or NAME=$VARIABLE; values are kept out of files and messages")
	f.Var(families{&s.Families}, "families",
		"a YAML file of what models take and refuse, before the built-in table; in crosstalk.yaml the entries themselves (docs/models.md)")
	f.StringArrayVar(&s.Params, "param", nil, "any other setting as NAME=VALUE, as in --param reasoning_effort=low")
	f.BoolVar(&o.Batch, "batch", false,
		"send the requests in batches: half the price at most providers, answers within a day; can be interrupted and resumed")
	f.BoolVar(&o.BatchGiveUp, "batch-give-up", false,
		"send requests again, at the full price, whose answers in a batch cannot be read within --patience (default: stop)")
	f.IntVar(&o.Concurrency, "concurrency", 0,
		"maximum concurrent requests; adapts to the endpoint's limit (default 64, fewer for local servers)")
	f.IntVar(&o.RPM, "rpm", 0, "maximum requests per minute (default: no limit)")
	f.IntVar(&o.TPM, "tpm", 0, "maximum tokens per minute (default: no limit)")
	f.DurationVar(&o.Timeout, "timeout", 2*time.Minute, "maximum time per request")
	f.IntVar(&o.Retries, "retries", 8, "retries after a transient error")
	f.DurationVar(&o.Patience, "patience", 10*time.Minute, "maximum time to wait for a server that is down or asks to wait; a batch in progress is always waited for")
	f.IntVar(&o.FailAfter, "fail-after", 0, "stop after N failed requests (default: never)")
	f.IntVar(&o.Budget.Asks, "budget-asks", 0, "stop before exceeding N requests")
	f.IntVar(&o.Budget.Tokens, "budget-tokens", 0, "stop before exceeding N tokens in total")
	f.Float64Var(&o.Budget.Cost, "budget-cost", 0, "stop before exceeding this cost (needs --prices)")
	f.StringVar(&m.prices, "prices", "",
		"a YAML file of prices per million tokens: {gpt-4o-mini: {input: 0.15, output: 0.60}}")
	config.Sensitive(f, "base-url", config.Address)
	config.Sensitive(f, "key-var", config.Credential)
	config.Sensitive(f, "header", config.Credential)
	config.Sensitive(f, "model", config.Address, `(?i)@\s*https?:`)
	config.Sensitive(f, "model", config.Expense, paid())
	config.Sensitive(f, "batch-give-up", config.Expense, "true")
	config.PathIn(f, "model", `(?is)^\s*replay:(.*)`)
	config.PathIn(f, "system", `(?s)^@([^@].*)`)
	config.Path(f, "prices")
	config.Harmless(f, "temperature", "top-p", "zip", "prefix", "param", "families")
}

// apis are the values of --api.
var apis = []string{string(crosstalk.Chat), string(crosstalk.Completions), string(crosstalk.Responses)}

// For tests, which cannot wait; 0 is the default.
var batchPoll, batchSettle time.Duration

// paid matches the names of models whose requests cost money.
func paid() string { return `(?i)^\s*(` + strings.Join(model.Paid(), "|") + `)\s*:` }

// check reads texts and prices from files, and refuses what the study cannot see: the
// flags that are 0.
func (m *modelFlags) check(c *cobra.Command) (err error) {
	o := &m.options
	for _, name := range []string{"concurrency", "rpm", "tpm", "fail-after", "budget-asks", "budget-tokens", "budget-cost", "samples", "items",
		"max-tokens", "reasoning-tokens", "timeout", "patience"} { // whose 0 is the default in Go
		switch f := c.Flags().Lookup(name); {
		case f.Changed && f.Value.String() == "0":
			return crosstalk.BadOption(name, " is 0; expected a number above 0")
		case f.Changed && f.Value.String() == "0s":
			return crosstalk.BadOption(name, " is 0s; expected a duration above 0, such as 2m")
		}
	}
	if o.Retries < 0 {
		return crosstalk.BadOption("retries", " is %d; expected a number from 0", o.Retries)
	}
	for i, text := range m.sweep.Systems {
		if m.sweep.Systems[i], err = config.TextOrFile(text); err != nil {
			return crosstalk.BadOption("system", ": %w", err)
		}
	}
	for _, list := range m.zip {
		m.sweep.Zip = append(m.sweep.Zip, strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' }))
	}
	if o.Retries == 0 {
		o.Retries = -1
	}
	o.Poll, o.Settle = batchPoll, batchSettle
	o.Budget.Prices, err = ask.ReadPrices(m.prices)
	return err
}
