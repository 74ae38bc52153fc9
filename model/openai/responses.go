package openai

import (
	"cmp"
	"encoding/json"
	"errors"

	"crosstalk/model/endpoint"
	"crosstalk/model/settle"
)

type response struct {
	Status     string          `json:"status"`
	Model      string          `json:"model"`
	Error      json.RawMessage `json:"error"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Output []struct {
		Type    string          `json:"type"`
		Summary json.RawMessage `json:"summary"` // reasoning
		Content json.RawMessage `json:"content"` // parts of a message, or of reasoning
	} `json:"output"`
	Usage struct {
		Input   endpoint.Count `json:"input_tokens"`
		Output  endpoint.Count `json:"output_tokens"`
		Total   endpoint.Count `json:"total_tokens"`
		Details struct {
			Reasoning endpoint.Count `json:"reasoning_tokens"`
		} `json:"output_tokens_details"`
	} `json:"usage"`
}

func readResponse(body []byte) (settle.Received, error) {
	var r response
	if err := json.Unmarshal(body, &r); err != nil {
		return settle.Received{}, err
	}
	switch {
	case !endpoint.IsNull(r.Error), r.Status == "failed":
		return settle.Received{}, errReported
	case r.Status == "cancelled" || r.Status == "queued" || r.Status == "in_progress":
		return settle.Received{}, errBroken
	case r.Output == nil:
		return settle.Received{}, errors.New("it has no output")
	}
	u := usage{Prompt: r.Usage.Input, Completion: r.Usage.Output, Total: r.Usage.Total}
	u.Details.Reasoning = r.Usage.Details.Reasoning
	out := settle.Received{Finish: cmp.Or(r.Incomplete.Reason, r.Status), Model: r.Model, Usage: u.usage()}
	for _, item := range r.Output {
		switch item.Type {
		case "reasoning":
			out.Thought = true
			out.Reasoning += thinking(item.Summary) + thinking(item.Content)
		case "message":
			var c content
			if len(item.Content) > 0 {
				if err := json.Unmarshal(item.Content, &c); err != nil {
					return settle.Received{}, err
				}
			}
			out.Text += c.text
			out.Reasoning += c.thoughts
			out.Refusal += c.refusal
			var parts []struct {
				Logprobs []position `json:"logprobs"`
			}
			if json.Unmarshal(item.Content, &parts) == nil {
				for _, p := range parts {
					out.Logprobs = append(out.Logprobs, positions(p.Logprobs)...)
				}
			}
		}
	}
	return out, nil
}
