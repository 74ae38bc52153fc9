// Package anthropic asks models over Anthropic's messages API.
package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"crosstalk"
	"crosstalk/model/endpoint"
)

// DefaultMaxTokens is sent when a request states no limit: the API wants one.
const DefaultMaxTokens = 4096

// version of the API, a header of every request.
const version = "2023-06-01"

// Model is a model behind Anthropic's API. Seeds and log probabilities are
// unknown to it and not sent.
type Model struct{ endpoint *endpoint.Endpoint }

var _ crosstalk.Model = (*Model)(nil)

// New returns the model at this endpoint. Nothing is sent.
func New(c endpoint.Config) (*Model, error) {
	if c.Header = c.Header.Clone(); c.Header == nil {
		c.Header = http.Header{}
	}
	c.Header.Set("anthropic-version", version)
	if c.Key != "" {
		c.Header.Set("x-api-key", c.Key)
	}
	e, err := endpoint.New(c)
	return &Model{e}, err
}

// Identity implements crosstalk.Model.
func (m *Model) Identity() crosstalk.Identity { return m.endpoint.Identity() }

// API implements crosstalk.Model.
func (m *Model) API() crosstalk.API { return crosstalk.Chat }

// Answer implements crosstalk.Model.
func (m *Model) Answer(ctx context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
	if req.API != crosstalk.Chat {
		return crosstalk.Answer{}, &crosstalk.AskError{Fault: crosstalk.Rejected,
			Message: fmt.Sprintf("%s: is asked over the chat API, and this request is for %q (--api)", m.Identity(), req.API)}
	}
	body, err := m.body(req)
	if err != nil {
		return crosstalk.Answer{}, &crosstalk.AskError{Fault: crosstalk.Rejected, Err: err,
			Message: fmt.Sprintf("%s: an extra parameter cannot be written as JSON: %v", m.Identity(), err)}
	}
	return m.endpoint.Ask(ctx, "/messages", body, read)
}

// body is the request in the API's form, which keeps what the system says
// apart from the turns.
func (m *Model) body(req crosstalk.Request) ([]byte, error) {
	d := req.Decoding
	var system []string
	turns := make([]crosstalk.Message, 0, len(req.Messages))
	for _, msg := range req.Messages {
		if msg.Role == "system" {
			system = append(system, msg.Content)
		} else {
			turns = append(turns, msg)
		}
	}
	b := endpoint.NewBody(d.Extra)
	b.Set("model", m.Identity().Name)
	if len(system) > 0 {
		b.Set("system", strings.Join(system, "\n\n"))
	}
	b.Set("messages", turns)
	if d.MaxTokens > 0 {
		b.Set("max_tokens", d.MaxTokens)
	} else {
		b.Set("max_tokens", DefaultMaxTokens)
	}
	if d.Temperature != nil {
		b.Set("temperature", *d.Temperature)
	}
	if d.TopP != nil {
		b.Set("top_p", *d.TopP)
	}
	if len(d.Stop) > 0 {
		b.Set("stop_sequences", d.Stop)
	}
	return b.Bytes()
}

type response struct {
	Type       string  `json:"type"`
	Model      string  `json:"model"`
	Content    []block `json:"content"`
	StopReason string  `json:"stop_reason"`
	Usage      struct {
		Input         endpoint.Count `json:"input_tokens"`
		CacheCreation endpoint.Count `json:"cache_creation_input_tokens"`
		CacheRead     endpoint.Count `json:"cache_read_input_tokens"`
		Output        endpoint.Count `json:"output_tokens"`
	} `json:"usage"`
}

type block struct {
	Type string  `json:"type"`
	Text *string `json:"text"`
}

var (
	errShape = errors.New("it is no message")
	errBlock = errors.New("a block of text holds no text")
)

// read joins the blocks that are text; what the model thought is not part of
// its answer.
func read(body []byte) (crosstalk.Answer, error) {
	var r response
	if err := json.Unmarshal(body, &r); err != nil {
		return crosstalk.Answer{}, err
	}
	if r.Content == nil || r.Type != "" && r.Type != "message" {
		return crosstalk.Answer{}, errShape
	}
	var text strings.Builder
	thought := false
	for _, b := range r.Content {
		switch b.Type {
		case "text":
			if b.Text == nil {
				return crosstalk.Answer{}, errBlock
			}
			text.WriteString(*b.Text)
		case "thinking", "redacted_thinking":
			thought = true
		}
	}
	u := r.Usage
	a := crosstalk.Answer{Status: endpoint.Kind(text.String()), Text: text.String(), Reason: r.StopReason, Model: r.Model,
		Usage: crosstalk.Usage{Prompt: int(u.Input + u.CacheCreation + u.CacheRead), Completion: int(u.Output)}}
	switch {
	case r.StopReason == "refusal":
		a.Status = crosstalk.Refused
	case a.Status == crosstalk.Empty && thought:
		a.Reason += "; only reasoning"
	}
	return a, nil
}
