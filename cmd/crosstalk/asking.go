package main

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/internal/config"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"
)

// asking are the flags that say which models are asked, how, and within which
// limits. Those that take several values span the grid of a run's conditions.
type asking struct {
	models, baseURLs, apis []string
	keyVar                 string
	temperatures, topPs    []string
	answerTokens           int
	systems, prefixes      []string
	params                 []string
	seed                   *int64 // nil: none is sent
	samples                int

	options ask.Options
	prices  string
}

// flags adds the flags; standIn is the model that is asked where none is
// named.
func (a *asking) flags(c *cobra.Command, standIn string) {
	f := c.Flags()
	f.StringSliceVarP(&a.models, "model", "m", []string{standIn}, "provider:name, as in openai:gpt-4o-mini or ollama:llama3.2; of this and of temperature, top-p, system, prefix and param several values are measured side by side")
	f.StringSliceVar(&a.baseURLs, "base-url", nil, "where the provider's API is, instead of its own address; one for all models, or one for each")
	f.StringSliceVar(&a.apis, "api", nil, "chat or completions (default: the provider's)")
	config.Choices(f, "api", string(crosstalk.Chat), string(crosstalk.Completions))
	f.StringVar(&a.keyVar, "key-var", "", "the environment variable that holds the API key (default: the provider's)")
	f.IntVar(&a.samples, "samples", 0, "answers to each prompt (default: the protocol's)")
	f.StringSliceVar(&a.temperatures, "temperature", nil, "sampling temperature, or \"default\" to leave it to the provider (default: the protocol's)")
	f.StringSliceVar(&a.topPs, "top-p", nil, "nucleus sampling, or \"default\" to leave it to the provider (default: the protocol's)")
	f.IntVar(&a.answerTokens, "answer-tokens", 0, "the most tokens an answer may have (default: the protocol's)")
	f.Var(optionalSeed{&a.seed}, "seed", "seed for models that take one; sample k is asked with seed+k")
	f.StringArrayVar(&a.systems, "system", nil, "system message for chat models (default: the protocol's)")
	f.StringArrayVar(&a.prefixes, "prefix", nil, "what stands before each prompt (default: the suite's)")
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

// limits settles the limits of asking.
func (a *asking) limits(c *cobra.Command) (err error) {
	for flag, value := range map[string]int{"concurrency": a.options.Concurrency, "rpm": a.options.RPM, "tpm": a.options.TPM, "retries": a.options.Retries,
		"fail-after": a.options.FailAfter, "max-asks": a.options.Budget.Asks, "max-tokens": a.options.Budget.Tokens, "samples": a.samples, "answer-tokens": a.answerTokens} {
		if value < 0 || value == 0 && c.Flags().Changed(flag) && flag != "retries" {
			return fmt.Errorf("--%s is %d; expected a number above 0", flag, value)
		}
	}
	if t := a.options.Timeout; t <= 0 {
		return fmt.Errorf("--timeout is %v; expected a duration above 0, such as 2m", t)
	}
	if cost := a.options.Budget.Cost; c.Flags().Changed("max-cost") && !(cost > 0) {
		return fmt.Errorf("--max-cost is %g; expected a number above 0", cost)
	}
	if a.options.Retries == 0 {
		a.options.Retries = -1
	}
	a.options.Budget.Prices, err = readPrices(a.prices)
	return err
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

// optionalSeed is a flag's whole number that may be absent.
type optionalSeed struct{ seed **int64 }

// Set implements pflag.Value.
func (o optionalSeed) Set(text string) error {
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return fmt.Errorf("expected a whole number")
	}
	*o.seed = &v
	return nil
}

// String implements pflag.Value.
func (o optionalSeed) String() string {
	if o.seed == nil || *o.seed == nil {
		return ""
	}
	return strconv.FormatInt(**o.seed, 10)
}

// Type implements pflag.Value.
func (o optionalSeed) Type() string { return "int" }
