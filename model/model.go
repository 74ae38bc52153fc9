// Package model opens models by name: providers and local servers over HTTP,
// and answers that were recorded elsewhere.
package model

import (
	"fmt"
	"net/http"
	"os"
	"strings"

	"crosstalk"
	"crosstalk/model/anthropic"
	"crosstalk/model/endpoint"
	"crosstalk/model/openai"
	"crosstalk/model/replay"
)

// Options override what a model's name says; the zero value overrides nothing.
type Options struct {
	BaseURL string              // instead of the preset's
	API     crosstalk.API       // instead of chat
	KeyVar  string              // the environment variable that holds the key, instead of the preset's
	Getenv  func(string) string // default os.Getenv
	Client  *http.Client        // default: one that all models share

	// Others are further providers by name, such as the reference models. Each
	// is given what follows "provider:".
	Others map[string]func(name string) (crosstalk.Model, error)
}

// Open returns the model with this name, provider:name. The name may hold
// colons and slashes: ollama:llama3.2:1b. Provider is one of Presets, of
// o.Others, or replay, whose name is a file (see replay.Open). Nothing is
// asked; a key that is missing is an error here.
func Open(name string, o Options) (crosstalk.Model, error) {
	provider, model, err := cutName(name)
	if err != nil {
		return nil, err
	}
	if o.API != "" && o.API != crosstalk.Chat && o.API != crosstalk.Completions && o.API != crosstalk.Embeddings {
		return nil, fmt.Errorf("api %q: expected chat or completions (--api)", o.API)
	}
	var m crosstalk.Model
	if open, found := o.Others[provider]; found {
		m, err = open(model)
	} else if provider == "replay" {
		m, err = opened(replay.Open(model, o.API))
	} else {
		m, err = openPreset(provider, model, o)
	}
	if err != nil {
		return nil, fmt.Errorf("model %q: %w", name, err)
	}
	return m, nil
}

func openPreset(provider, model string, o Options) (crosstalk.Model, error) {
	p, found := lookup(provider)
	if !found {
		return nil, fmt.Errorf("there is no provider %q; known are %s.\n"+
			"Any other server that speaks OpenAI's API: --model %s:NAME --base-url http://HOST:PORT/v1",
			provider, strings.Join(names(o), ", "), Compatible)
	}
	c, err := p.config(model, o)
	if err != nil {
		return nil, err
	}
	if p.protocol == openAI {
		return opened(openai.New(c, openai.Options{API: o.API, MaxCompletionTokens: p.newTokens && p.own(c.BaseURL),
			SeedName: p.seedName, KeyHeader: p.keyHeader}))
	}
	switch o.API {
	case crosstalk.Completions:
		return nil, fmt.Errorf("%s takes chats only, no bare prompts (--api)", p.Name)
	case crosstalk.Embeddings:
		return nil, fmt.Errorf("%s has no embeddings", p.Name)
	}
	return opened(anthropic.New(c))
}

// opened keeps a nil pointer from becoming a Model.
func opened[M crosstalk.Model](m M, err error) (crosstalk.Model, error) {
	if err != nil {
		return nil, err
	}
	return m, nil
}

// cutName splits provider:name.
func cutName(name string) (provider, model string, err error) {
	provider, model, found := strings.Cut(strings.TrimSpace(name), ":")
	provider = strings.ToLower(provider)
	switch {
	case !found:
		err = fmt.Errorf("model %q: expected provider:name, such as openai:gpt-4o-mini or ollama:llama3.2", name)
	case model == "":
		err = fmt.Errorf("model %q: names no model after the provider; expected %s:NAME", name, provider)
	}
	return provider, model, err
}

// config is where the model is, and the key that the environment holds for it.
func (p Preset) config(model string, o Options) (endpoint.Config, error) {
	c := endpoint.Config{Provider: p.Name, Model: model, BaseURL: p.BaseURL, KeyVar: p.KeyVar, Client: o.Client}
	if o.BaseURL != "" {
		c.BaseURL = o.BaseURL
	}
	if c.BaseURL == "" {
		return c, fmt.Errorf("%s needs --base-url, such as %s", p.Name, p.example())
	}
	if o.KeyVar != "" {
		c.KeyVar = o.KeyVar
	}
	getenv := o.Getenv
	if getenv == nil {
		getenv = os.Getenv
	}
	c.Key = strings.TrimSpace(getenv(c.KeyVar))
	if needed := o.KeyVar != "" || !p.Local && p.own(c.BaseURL); needed && c.Key == "" {
		return c, fmt.Errorf("the environment variable %s is not set; it holds the API key of %s", c.KeyVar, p.Name)
	}
	if p.Start != "" && o.BaseURL == "" {
		c.Advice = fmt.Sprintf("is %s running? start it with: %s", p.Name, p.Start)
	}
	if p.Fetch != "" {
		c.Missing = "get it with: " + fmt.Sprintf(p.Fetch, model)
	}
	return c, nil
}

// own reports whether a base URL is the provider's own: a server elsewhere may
// need no key, and know the parameters that all know.
func (p Preset) own(baseURL string) bool {
	return p.BaseURL == "" || strings.TrimRight(baseURL, "/") == p.BaseURL
}

func (p Preset) example() string {
	if p.Name == "azure" {
		return "https://RESOURCE.openai.azure.com/openai/v1"
	}
	return "http://localhost:8000/v1"
}

func names(o Options) []string {
	var all []string
	for _, p := range presets {
		all = append(all, p.Name)
	}
	for name := range o.Others {
		all = append(all, name)
	}
	return append(all, "replay")
}
