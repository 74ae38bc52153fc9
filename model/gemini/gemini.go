// Package gemini is the batch API of Gemini, which takes requests in Gemini's own form. Single requests go over its
// endpoint that is compatible with OpenAI's API (package openai).
package gemini

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"

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

// body is the request in Gemini's form. (https://ai.google.dev/api/generate-content)
func body(model string, req crosstalk.Request) (json.RawMessage, error) {
	d := req.Decoding
	extra := maps.Clone(d.Extra)
	level, limit := d.Reasoning, any(d.Limit())
	if effort, ok := extra["reasoning_effort"].(string); ok {
		level = effort
		delete(extra, "reasoning_effort")
	}
	for _, name := range []string{"max_tokens", "max_completion_tokens"} { // as Gemini's other endpoint calls it
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

// thinkingOf asks for a level, nil for none, as in reasoning_effort. (https://ai.google.dev/gemini-api/docs/openai)
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
