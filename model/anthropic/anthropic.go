// Package anthropic asks models over Anthropic's messages API.
package anthropic

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"crosstalk"
	"crosstalk/model/endpoint"
	"crosstalk/model/settle"
)

const version = "2023-06-01"

// Model is a model behind Anthropic's API. It has neither seeds nor log probabilities, and they are not sent.
type Model struct {
	endpoint  *endpoint.Endpoint
	reasoning map[string]map[string]any
}

var _ crosstalk.Model = (*Model)(nil)

// New returns the model at this endpoint. Nothing is sent. reasoning gives the parameters that ask for each level of
// reasoning (see crosstalk.Decoding); endpoint.Budget in them becomes the room for it.
func New(c endpoint.Config, reasoning map[string]map[string]any) (*Model, error) {
	c.Header = Headers(c.Header)
	c.KeyHeader = cmp.Or(c.KeyHeader, "x-api-key")
	e, err := endpoint.New(c)
	return &Model{e, reasoning}, err
}

// Headers are the headers of a request to the API, with more of the user's.
func Headers(more http.Header) http.Header {
	h := http.Header{}
	h.Set("anthropic-version", version)
	for name, values := range more {
		h[http.CanonicalHeaderKey(name)] = values
	}
	return h
}

// Identity implements crosstalk.Model.
func (m *Model) Identity() crosstalk.Identity { return m.endpoint.Identity() }

// API implements crosstalk.Model.
func (m *Model) API() crosstalk.API { return crosstalk.Chat }

// Answer implements crosstalk.Model.
func (m *Model) Answer(ctx context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
	if req.API != crosstalk.Chat {
		return crosstalk.Answer{}, m.endpoint.Rejected("", "takes requests over the chat API, and this one is for %q (--api)",
			req.API)
	}
	level := req.Decoding.Reasoning
	if _, known := m.reasoning[level]; level != "" && !known {
		return crosstalk.Answer{}, m.endpoint.NoLevel(level)
	}
	body, err := m.body(req)
	if err != nil {
		return crosstalk.Answer{}, m.endpoint.Unwritable(err)
	}
	return m.endpoint.Ask(ctx, "/messages", body, endpoint.MostText(req.Decoding), settle.Reader(req, read))
}

// body is the request in the API's form, which keeps what the system says apart from the turns.
func (m *Model) body(req crosstalk.Request) ([]byte, error) {
	d := req.Decoding
	system, turns := endpoint.Apart(req.Messages)
	b := endpoint.NewBody(d.Extra)
	b.Set("model", m.Identity().Name)
	b.SetGiven("system", strings.Join(system, "\n\n"))
	b.Set("messages", turns)
	d.MaxTokens = cmp.Or(d.MaxTokens, 4096) // the API wants a limit
	b.Set("max_tokens", d.Limit())
	b.SetGiven("temperature", d.Temperature)
	b.SetGiven("top_p", d.TopP)
	b.SetGiven("stop_sequences", d.Stop)
	b.SetAll(m.reasoning[d.Reasoning], d.ReasoningTokens)
	return b.Bytes()
}

type response struct {
	Type    string `json:"type"`
	Model   string `json:"model"`
	Content []struct {
		Type     string
		Text     *string
		Thinking string // empty where the API is told, or by default decides, not to show it
	} `json:"content"`
	StopReason string          `json:"stop_reason"`
	Error      json.RawMessage `json:"error"`
	Usage      struct {
		Input         endpoint.Count `json:"input_tokens"`
		CacheCreation endpoint.Count `json:"cache_creation_input_tokens"`
		CacheRead     endpoint.Count `json:"cache_read_input_tokens"`
		Output        endpoint.Count `json:"output_tokens"`
	} `json:"usage"`
}

func read(body []byte) (settle.Received, error) {
	var r response
	if err := json.Unmarshal(body, &r); err != nil {
		return settle.Received{}, err
	}
	if !endpoint.IsNull(r.Error) {
		return settle.Received{}, errors.New("it reports an error")
	}
	if r.Content == nil || r.Type != "" && r.Type != "message" {
		return settle.Received{}, errors.New("it is not a message")
	}
	u := r.Usage
	out := settle.Received{Finish: r.StopReason, Model: r.Model,
		Usage: crosstalk.Usage{Prompt: int(u.Input + u.CacheCreation + u.CacheRead), Completion: int(u.Output)}}
	for _, b := range r.Content {
		switch b.Type {
		case "text":
			if b.Text == nil {
				return settle.Received{}, errors.New("a block of text has no text")
			}
			out.Text += *b.Text
		case "thinking", "redacted_thinking":
			out.Thought = true
			out.Reasoning += b.Thinking
		}
	}
	return out, nil
}
