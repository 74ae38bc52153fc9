// Package openai asks models over OpenAI's HTTP API, which most other
// providers and local servers speak too: chat completions, completions and
// embeddings.
package openai

import (
	"context"
	"fmt"
	"net/http"

	"crosstalk"
	"crosstalk/model/endpoint"
)

// Options say how a server differs from what most understand.
type Options struct {
	// API is what the model is asked over; default crosstalk.Chat.
	API crosstalk.API
	// MaxCompletionTokens sends max_completion_tokens to the chat endpoint
	// instead of max_tokens, which OpenAI's own newer models refuse.
	MaxCompletionTokens bool
	// SeedName is the parameter that takes the seed; default "seed".
	SeedName string
	// KeyHeader takes the API key; default Authorization, as a bearer token.
	KeyHeader string
}

// Model is a model behind an OpenAI-compatible server.
type Model struct {
	endpoint *endpoint.Endpoint
	options  Options
}

var _ crosstalk.Model = (*Model)(nil)

// New returns the model at this endpoint. Nothing is sent.
func New(c endpoint.Config, o Options) (*Model, error) {
	if o.API == "" {
		o.API = crosstalk.Chat
	}
	if o.SeedName == "" {
		o.SeedName = "seed"
	}
	c.Header = c.Header.Clone()
	if c.Key != "" {
		if c.Header == nil {
			c.Header = http.Header{}
		}
		if o.KeyHeader == "" {
			c.Header.Set("Authorization", "Bearer "+c.Key)
		} else {
			c.Header.Set(o.KeyHeader, c.Key)
		}
	}
	e, err := endpoint.New(c)
	return &Model{e, o}, err
}

// Identity implements crosstalk.Model.
func (m *Model) Identity() crosstalk.Identity { return m.endpoint.Identity() }

// API implements crosstalk.Model.
func (m *Model) API() crosstalk.API { return m.options.API }

// Answer implements crosstalk.Model.
func (m *Model) Answer(ctx context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
	if req.API != m.options.API {
		return crosstalk.Answer{}, &crosstalk.AskError{Fault: crosstalk.Rejected,
			Message: fmt.Sprintf("%s: is asked over the %s API, and this request is for %q (--api)", m.Identity(), m.options.API, req.API)}
	}
	path, read := "/chat/completions", readChat
	switch req.API {
	case crosstalk.Completions:
		path, read = "/completions", readCompletion
	case crosstalk.Embeddings:
		path, read = "/embeddings", func(body []byte) (crosstalk.Answer, error) { return readEmbeddings(body, len(req.Input)) }
	}
	body, err := m.body(req)
	if err != nil {
		return crosstalk.Answer{}, &crosstalk.AskError{Fault: crosstalk.Rejected, Err: err,
			Message: fmt.Sprintf("%s: an extra parameter cannot be written as JSON: %v", m.Identity(), err)}
	}
	return m.endpoint.Ask(ctx, path, body, read)
}

// body is the request in the API's form. Each sample is an ask of its own: n
// is never sent, and with a seed sample k is asked with seed+k.
func (m *Model) body(req crosstalk.Request) ([]byte, error) {
	d := req.Decoding
	b := endpoint.NewBody(d.Extra)
	b.Set("model", m.Identity().Name)
	maxTokens := "max_tokens"
	if req.API == crosstalk.Embeddings {
		b.Set("input", req.Input)
		return b.Bytes()
	}
	if req.API == crosstalk.Completions {
		b.Set("prompt", req.Prompt)
		if req.Logprobs > 0 {
			b.Set("logprobs", req.Logprobs)
		}
	} else {
		b.Set("messages", req.Messages)
		if req.Logprobs > 0 {
			b.Set("logprobs", true)
			b.Set("top_logprobs", req.Logprobs)
		}
		if m.options.MaxCompletionTokens {
			maxTokens = "max_completion_tokens"
		}
	}
	if d.Temperature != nil {
		b.Set("temperature", *d.Temperature)
	}
	if d.TopP != nil {
		b.Set("top_p", *d.TopP)
	}
	if d.MaxTokens > 0 {
		b.Set(maxTokens, d.MaxTokens)
	}
	if d.Seed != nil {
		b.Set(m.options.SeedName, *d.Seed+int64(req.Sample))
	}
	if len(d.Stop) > 0 {
		b.Set("stop", d.Stop)
	}
	return b.Bytes()
}
