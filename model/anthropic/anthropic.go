// Package anthropic asks models over Anthropic's messages API.
package anthropic

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"crosstalk"
	"crosstalk/model/endpoint"
	"crosstalk/model/settle"
)

const version = "2023-06-01"

// Model is a model behind Anthropic's API. The API has neither seeds nor log probabilities, so they are not sent.
type Model struct {
	endpoint  *endpoint.Endpoint
	reasoning map[string]map[string]any
}

// New returns the model at this endpoint. reasoning has the parameters for each level, with the placeholder
// endpoint.Budget.
func New(c endpoint.Config, reasoning map[string]map[string]any) (*Model, error) {
	c.Header = Headers(c.Header)
	c.KeyHeader = cmp.Or(c.KeyHeader, "x-api-key")
	e, err := endpoint.New(c)
	return &Model{e, reasoning}, err
}

// Headers returns the headers of a request to the API, including the user's.
func Headers(more http.Header) http.Header {
	h := http.Header{}
	h.Set("anthropic-version", version)
	for name, values := range more {
		h[http.CanonicalHeaderKey(name)] = values
	}
	return h
}

func (m *Model) Identity() crosstalk.Identity { return m.endpoint.Identity() }

func (m *Model) API() crosstalk.API { return crosstalk.Chat }

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

// body returns the request in the format of the API, which separates system messages from the turns.
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
		Thinking string // empty if the API does not show it, on request or by default
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

var _ crosstalk.Batcher = (*Model)(nil)

func (m *Model) Fits(asks []crosstalk.BatchAsk) int {
	// The API accepts 100,000 requests and 256 MB.
	return endpoint.Fits(asks, 100_000, 90<<20, func(a crosstalk.BatchAsk) int {
		body, _ := m.body(a.Request) // Submit reports any error
		return len(body) + 100
	})
}

type batchRequest struct {
	ID     string          `json:"custom_id"`
	Params json.RawMessage `json:"params"`
}

type batch struct {
	ID      string                                                          `json:"id"`
	Status  string                                                          `json:"processing_status"`
	Created time.Time                                                       `json:"created_at"`
	Counts  struct{ Processing, Succeeded, Errored, Canceled, Expired int } `json:"request_counts"`
	// null before the end, and when the results are no longer kept
	Results *string `json:"results_url"`
}

func (b batch) done() int {
	return b.Counts.Succeeded + b.Counts.Errored + b.Counts.Canceled + b.Counts.Expired
}

// Submit implements crosstalk.Batcher. The API cannot store a tag.
func (m *Model) Submit(ctx context.Context, _ string, asks []crosstalk.BatchAsk) (string, error) {
	requests := make([]batchRequest, len(asks))
	for i, a := range asks {
		body, err := m.body(a.Request)
		if err != nil {
			return "", m.endpoint.Unwritable(err)
		}
		requests[i] = batchRequest{a.Key.String(), body}
	}
	var b batch
	return m.endpoint.Make(ctx, "/messages/batches", map[string]any{"requests": requests}, &b, &b.ID)
}

// Find implements crosstalk.Batcher. Only the ids in its results identify a batch, so one of the same size may have
// to end first.
func (m *Model) Find(ctx context.Context, _ string, at time.Time, asks []crosstalk.BatchAsk,
	known func(string) bool) (id string, sure bool, err error) {
	earliest := at.Add(-24 * time.Hour) // the clock may be wrong
	sure = true
	err = m.endpoint.Pages(ctx, "/messages/batches?limit=100", func(raw []byte) (string, error) {
		var page struct {
			Data    []batch `json:"data"`
			HasMore bool    `json:"has_more"`
			Last    string  `json:"last_id"`
		}
		if err := json.Unmarshal(raw, &page); err != nil {
			return "", m.endpoint.Unread("the list of batches at "+m.Identity().Endpoint, err)
		}
		for _, b := range page.Data { // the newest first
			switch {
			case b.Created.Before(earliest):
				return "", nil
			case known(b.ID) || b.done()+b.Counts.Processing != len(asks):
				continue
			case b.Status != "ended":
				sure = false
				return "", nil
			}
			if ours, err := m.has(ctx, b, asks); ours || err != nil {
				id = b.ID
				return "", err
			}
		}
		if !page.HasMore || page.Last == "" {
			return "", nil
		}
		return "&after_id=" + url.QueryEscape(page.Last), nil
	})
	return id, sure && err == nil, err
}

// has reports whether the first result of an ended batch belongs to one of the asks.
func (m *Model) has(ctx context.Context, b batch, asks []crosstalk.BatchAsk) (bool, error) {
	if b.Results == nil && time.Since(b.Created) > 29*24*time.Hour { // results are no longer kept
		return false, nil
	}
	for line, err := range m.endpoint.Lines(ctx, resultsPath(b.ID)) {
		if err != nil {
			return false, err
		}
		var l outputLine
		if json.Unmarshal(line, &l) != nil || l.ID == "" {
			continue
		}
		return slices.ContainsFunc(asks, func(a crosstalk.BatchAsk) bool { return a.Key.String() == l.ID }), nil
	}
	return false, m.endpoint.Unread("the results of the batch "+b.ID, errors.New("they have no line with an id"))
}

// resultsPath returns the path of the results. It ignores the API's own address, so that the key goes to no other
// host.
func resultsPath(id string) string { return "/messages/batches/" + url.PathEscape(id) + "/results" }

func (m *Model) Poll(ctx context.Context, id string) (crosstalk.BatchState, error) {
	b, err := m.get(ctx, id)
	return crosstalk.BatchState{Ended: b.Status == "ended", Done: b.done(), Failed: b.done() - b.Counts.Succeeded}, err
}

func (m *Model) get(ctx context.Context, id string) (b batch, err error) {
	raw, err := m.endpoint.Get(ctx, "/messages/batches/"+url.PathEscape(id))
	err = m.endpoint.Account(raw, err, &b, &b.ID)
	return b, err
}

type outputLine struct {
	ID     string `json:"custom_id"`
	Result struct {
		Type    string          `json:"type"` // succeeded, errored, canceled or expired
		Message json.RawMessage `json:"message"`
		Error   json.RawMessage `json:"error"`
	} `json:"result"`
}

func (m *Model) Results(ctx context.Context, id string,
	requests map[crosstalk.Key]crosstalk.Request) iter.Seq2[crosstalk.BatchResult, error] {
	b, err := m.get(ctx, id)
	switch {
	case err != nil:
		return endpoint.NoResults(err)
	case b.Results == nil:
		return func(func(crosstalk.BatchResult, error) bool) {}
	}
	read := func(line []byte) crosstalk.BatchResult { return m.result(line, requests) }
	return m.endpoint.Results(ctx, resultsPath(id), read)
}

var statuses = map[string]int{
	"invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403,
	"not_found_error": 404, "request_too_large": 413, "rate_limit_error": 429, "timeout_error": 504,
	"overloaded_error": 529,
}

func (m *Model) result(text []byte, requests map[crosstalk.Key]crosstalk.Request) crosstalk.BatchResult {
	var l outputLine
	return endpoint.BatchResult(text, &l, &l.ID, requests, func(req crosstalk.Request) (crosstalk.Answer, error) {
		switch l.Result.Type {
		case "errored":
			var e struct{ Error struct{ Type string } }
			json.Unmarshal(l.Result.Error, &e)
			return m.endpoint.Read(cmp.Or(statuses[e.Error.Type], 500), l.Result.Error, settle.Reader(req, read))
		case "canceled", "expired":
			return crosstalk.Answer{}, fmt.Errorf("the request is %s", l.Result.Type)
		}
		return m.endpoint.Read(200, l.Result.Message, settle.Reader(req, read))
	})
}
