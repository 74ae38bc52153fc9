// Package gemini implements Gemini's own batch API. Single requests go through package openai.
package gemini

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"crosstalk"
	"crosstalk/model/endpoint"
	"crosstalk/model/settle"
)

type content struct {
	Role  string `json:"role,omitempty"` // user or model
	Parts []part `json:"parts"`
}

type part struct {
	Text    string `json:"text"`
	Thought bool   `json:"thought,omitempty"`
}

// body returns the request in Gemini's format. (https://ai.google.dev/api/generate-content)
func body(model string, req crosstalk.Request) (json.RawMessage, error) {
	d := req.Decoding
	extra := maps.Clone(d.Extra)
	level, limit := d.Reasoning, any(d.Limit())
	if effort, ok := extra["reasoning_effort"].(string); ok {
		level = effort
		delete(extra, "reasoning_effort")
	}
	for _, name := range []string{"max_tokens", "max_completion_tokens"} { // names in Gemini's other endpoint
		if n, ok := extra[name]; ok {
			limit = n
			delete(extra, name)
		}
	}
	config := endpoint.NewBody(extra)
	config.SetGiven("temperature", d.Temperature)
	config.SetGiven("topP", d.TopP)
	if limit != 0 {
		config.Set("maxOutputTokens", limit)
	}
	if d.Seed != nil {
		config.Set("seed", *d.Seed+int64(req.Sample))
	}
	config.SetGiven("stopSequences", d.Stop)
	config.SetGiven("responseLogprobs", req.Logprobs > 0)
	config.SetGiven("logprobs", req.Logprobs)
	config.SetGiven("thinkingConfig", thinkingOf(model, level))
	settings, err := config.Bytes()
	if err != nil {
		return nil, err
	}
	b := endpoint.NewBody(nil)
	said, others := endpoint.Apart(req.Messages)
	var system content
	for _, text := range said {
		system.Parts = append(system.Parts, part{Text: text})
	}
	b.SetGiven("systemInstruction", system)
	var turns []content
	for _, m := range others {
		role := "user"
		if m.Role == "assistant" {
			role = "model"
		}
		turns = append(turns, content{role, []part{{Text: m.Content}}})
	}
	b.Set("contents", turns)
	b.Set("generationConfig", json.RawMessage(settings))
	return b.Bytes()
}

// thinkingOf returns the parameters for a level, as in reasoning_effort; nil for none.
// (https://ai.google.dev/gemini-api/docs/openai)
func thinkingOf(model, level string) map[string]any {
	if strings.HasPrefix(model, "gemini-2.5") || level == crosstalk.ReasoningOff || level == "none" {
		budget, known := map[string]int{crosstalk.ReasoningOff: 0, "none": 0, "minimal": 1024, crosstalk.ReasoningLow: 1024,
			crosstalk.ReasoningMedium: 8192, crosstalk.ReasoningHigh: 24576}[level]
		if !known {
			return nil
		}
		return map[string]any{"thinkingBudget": budget}
	}
	if level == "" {
		return nil
	}
	return map[string]any{"thinkingLevel": level}
}

type response struct {
	Candidates []struct {
		Content *content `json:"content"`
		Finish  string   `json:"finishReason"`
	} `json:"candidates"`
	Feedback struct {
		Blocked string `json:"blockReason"`
	} `json:"promptFeedback"`
	Usage struct {
		Prompt     endpoint.Count `json:"promptTokenCount"`
		Candidates endpoint.Count `json:"candidatesTokenCount"`
		Thoughts   endpoint.Count `json:"thoughtsTokenCount"`
	} `json:"usageMetadata"`
	Model string `json:"modelVersion"`
}

func read(body []byte) (settle.Received, error) {
	var r response
	if err := json.Unmarshal(body, &r); err != nil {
		return settle.Received{}, err
	}
	out := settle.Received{Model: r.Model, Usage: crosstalk.Usage{Prompt: int(r.Usage.Prompt),
		Completion: int(r.Usage.Candidates + r.Usage.Thoughts), Reasoning: int(r.Usage.Thoughts)}}
	if len(r.Candidates) == 0 {
		if r.Feedback.Blocked == "" {
			return out, errors.New("it has no candidates")
		}
		out.Finish = "content_filter: " + r.Feedback.Blocked
		return out, nil
	}
	first := r.Candidates[0]
	out.Finish = first.Finish
	if first.Content != nil {
		for _, p := range first.Content.Parts {
			if p.Thought {
				out.Thought = true
				out.Reasoning += p.Text
			} else {
				out.Text += p.Text
			}
		}
	}
	return out, nil
}

// Batcher is a model with Gemini's batch API. (https://ai.google.dev/gemini-api/docs/batch-api)
type Batcher struct {
	crosstalk.Model
	endpoint *endpoint.Endpoint
}

var _ crosstalk.Batcher = (*Batcher)(nil)

// New returns m, which is at c, with the batch API. It is not ok if c's base URL is not that of the compatible
// endpoint.
func New(m crosstalk.Model, c endpoint.Config) (b *Batcher, ok bool, err error) {
	base, ok := strings.CutSuffix(strings.TrimRight(c.BaseURL, "/"), "/openai")
	if !ok {
		return nil, false, nil
	}
	c.BaseURL, c.KeyHeader = base, "x-goog-api-key"
	e, err := endpoint.New(c)
	return &Batcher{m, e}, true, err
}

// Limits of a batch whose requests are inside the call, which may have 20 MB: results arrive in one piece.
const (
	mostAsks  = 2000
	mostBytes = 8 << 20
)

func (b *Batcher) Fits(asks []crosstalk.BatchAsk) int {
	return endpoint.Fits(asks, mostAsks, mostBytes, func(a crosstalk.BatchAsk) int {
		line, _ := body(b.Identity().Name, a.Request) // Submit reports any error
		return len(line) + 120
	})
}

type object = map[string]any

func (b *Batcher) Submit(ctx context.Context, tag string, asks []crosstalk.BatchAsk) (string, error) {
	name := b.Identity().Name
	requests := make([]object, len(asks))
	for i, a := range asks {
		body, err := body(name, a.Request)
		if err != nil {
			return "", b.endpoint.Unwritable(err)
		}
		requests[i] = object{"request": body, "metadata": object{"key": a.Key.String()}}
	}
	call := object{"batch": object{"displayName": displayName(tag),
		"inputConfig": object{"requests": object{"requests": requests}}}}
	var made operation
	return b.endpoint.Make(ctx, "/models/"+url.PathEscape(name)+":batchGenerateContent", call, &made, &made.Name)
}

func displayName(tag string) string { return "crosstalk-" + tag }

type operation struct {
	Name     string `json:"name"` // batches/...
	Metadata struct {
		DisplayName string `json:"displayName"`
		State       string `json:"state"` // BATCH_STATE_RUNNING; JOB_STATE_RUNNING in older answers
		Stats       struct {
			All       endpoint.Count `json:"requestCount"`
			Succeeded endpoint.Count `json:"successfulRequestCount"`
			Failed    endpoint.Count `json:"failedRequestCount"`
		} `json:"batchStats"`
		Output output `json:"output"` // the same as Response
	} `json:"metadata"`
	Done     bool                     `json:"done"`
	Error    struct{ Message string } `json:"error"`
	Response output                   `json:"response"`
}

type output struct {
	Responses struct {
		Responses []json.RawMessage `json:"inlinedResponses"` // as read by Results
	} `json:"inlinedResponses"`
}

func (o operation) results() []json.RawMessage {
	if list := o.Response.Responses.Responses; len(list) > 0 {
		return list
	}
	return o.Metadata.Output.Responses.Responses
}

func (b *Batcher) Find(ctx context.Context, tag string, _ time.Time, _ []crosstalk.BatchAsk,
	_ func(string) bool) (id string, sure bool, err error) {
	err = b.endpoint.Pages(ctx, "/batches?pageSize=50", func(raw []byte) (string, error) {
		var page struct {
			Operations []operation `json:"operations"`
			Next       string      `json:"nextPageToken"`
		}
		if err := json.Unmarshal(raw, &page); err != nil {
			return "", b.endpoint.Unread("the list of batches at "+b.endpoint.Identity().Endpoint, err)
		}
		for _, o := range page.Operations {
			if o.Metadata.DisplayName == displayName(tag) {
				id = o.Name
				return "", nil
			}
		}
		if page.Next == "" {
			return "", nil
		}
		return "&pageToken=" + url.QueryEscape(page.Next), nil
	})
	return id, err == nil, err
}

func (b *Batcher) get(ctx context.Context, id string) (o operation, err error) {
	name, ok := strings.CutPrefix(id, "batches/")
	if !ok {
		return o, b.endpoint.Unread("the id of a batch", fmt.Errorf("it is %q", id))
	}
	stream, err := b.endpoint.Open(ctx, "/batches/"+url.PathEscape(name))
	if err != nil {
		return o, err
	}
	defer stream.Close()
	raw, err := io.ReadAll(io.LimitReader(stream, mostAsks*100<<10)) // 100 KiB per request
	if err != nil {
		err = b.endpoint.Broken(ctx, err)
		if e := (*crosstalk.AskError)(nil); errors.As(err, &e) {
			e.Status = http.StatusOK
		}
		return o, err
	}
	err = b.endpoint.Account(raw, nil, &o, &o.Name)
	return o, err
}

// Poll implements crosstalk.Batcher. It treats an unreadable batch as ended, and Results reports why.
func (b *Batcher) Poll(ctx context.Context, id string) (crosstalk.BatchState, error) {
	o, err := b.get(ctx, id)
	if e := (*crosstalk.AskError)(nil); errors.As(err, &e) && e.Status == http.StatusOK {
		return crosstalk.BatchState{Ended: true}, nil
	}
	stats := o.Metadata.Stats
	s := crosstalk.BatchState{Ended: o.Done, Done: int(stats.Succeeded + stats.Failed), Failed: int(stats.Failed)}
	switch _, state, _ := strings.Cut(o.Metadata.State, "_STATE_"); state {
	case "SUCCEEDED":
		s.Ended = true
	case "CANCELLED", "EXPIRED", "FAILED":
		s.Ended, s.Failed = true, int(stats.All-stats.Succeeded)
		if state == "FAILED" && len(o.results()) == 0 && stats.Succeeded == 0 {
			s.Problem = b.endpoint.Quote(cmp.Or(o.Error.Message, "the server does not say why"))
		}
	}
	return s, err
}

var statuses = map[int]int{3: 400, 5: 404, 7: 403, 8: 429, 9: 400, 14: 503, 16: 401}

func (b *Batcher) Results(ctx context.Context, id string,
	requests map[crosstalk.Key]crosstalk.Request) iter.Seq2[crosstalk.BatchResult, error] {
	o, err := b.get(ctx, id)
	if err != nil {
		return endpoint.NoResults(err)
	}
	return func(yield func(crosstalk.BatchResult, error) bool) {
		for _, text := range o.results() {
			var one struct {
				Metadata struct{ Key string }
				Response json.RawMessage
				Error    *struct {
					Code    int // of gRPC
					Message string
				}
			}
			answer := func(req crosstalk.Request) (crosstalk.Answer, error) {
				if one.Error == nil {
					return b.endpoint.Read(http.StatusOK, one.Response, settle.Reader(req, read))
				}
				said := crosstalk.Canonical(object{"error": object{"message": one.Error.Message}})
				return b.endpoint.Read(cmp.Or(statuses[one.Error.Code], 500), said, settle.Reader(req, read))
			}
			if !yield(endpoint.BatchResult(text, &one, &one.Metadata.Key, requests, answer), nil) {
				return
			}
		}
	}
}
