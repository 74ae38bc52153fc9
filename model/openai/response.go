package openai

import (
	"encoding/json"
	"errors"
	"fmt"

	"crosstalk"
	"crosstalk/model/endpoint"
)

// envelope is what both APIs put around their choices.
type envelope struct {
	Model   string           `json:"model"`
	Usage   usage            `json:"usage"`
	Natives []nativePosition `json:"completion_probabilities"`
}

type usage struct {
	Prompt     endpoint.Count `json:"prompt_tokens"`
	Completion endpoint.Count `json:"completion_tokens"`
	Total      endpoint.Count `json:"total_tokens"`
	Details    struct {
		Reasoning endpoint.Count `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// usage counts reasoning among the completion tokens, as OpenAI does. Gemini
// and xAI leave it out there, and only their total has it.
func (u usage) usage() crosstalk.Usage {
	all := crosstalk.Usage{Prompt: int(u.Prompt), Completion: int(u.Completion), Reasoning: int(u.Details.Reasoning)}
	if rest := int(u.Total) - all.Prompt; rest > all.Completion {
		all.Reasoning = max(all.Reasoning, rest-all.Completion)
		all.Completion = rest
	}
	return all
}

type chatResponse struct {
	envelope
	Choices []struct {
		Message      *message  `json:"message"`
		FinishReason string    `json:"finish_reason"`
		Logprobs     *logprobs `json:"logprobs"`
	} `json:"choices"`
}

type message struct {
	Content          content `json:"content"`
	Refusal          string  `json:"refusal"`
	ReasoningContent string  `json:"reasoning_content"` // DeepSeek, vLLM, llama.cpp
	Reasoning        string  `json:"reasoning"`         // OpenRouter, Ollama, Groq
}

type completionResponse struct {
	envelope
	Choices []struct {
		Text         *string   `json:"text"`
		FinishReason string    `json:"finish_reason"`
		Logprobs     *logprobs `json:"logprobs"`
	} `json:"choices"`
}

// content is a text, null, or a list of parts of which those that are text are
// joined; a part that refuses is kept apart.
type content struct{ text, refusal string }

func (c *content) UnmarshalJSON(b []byte) error {
	if b[0] != '[' {
		return json.Unmarshal(b, &c.text)
	}
	var parts []struct {
		Type    string          `json:"type"`
		Text    json.RawMessage `json:"text"`
		Refusal string          `json:"refusal"`
	}
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		switch p.Type {
		case "text", "output_text", "":
			var text string
			if err := json.Unmarshal(p.Text, &text); err != nil {
				return fmt.Errorf("a part of the content holds no text: %w", err)
			}
			c.text += text
		case "refusal":
			c.refusal += p.Refusal
		}
	}
	return nil
}

var (
	errChoices = errors.New("it holds no choices")
	errMessage = errors.New("its choice holds no message")
	errText    = errors.New("its choice holds no text")
	errAborted = errors.New("its finish_reason is error")
)

func readChat(body []byte) (crosstalk.Answer, error) {
	var r chatResponse
	if err := json.Unmarshal(body, &r); err != nil {
		return crosstalk.Answer{}, err
	}
	if len(r.Choices) == 0 {
		return crosstalk.Answer{}, errChoices
	}
	choice := r.Choices[0]
	if choice.Message == nil {
		return crosstalk.Answer{}, errMessage
	}
	m := choice.Message
	answer, err := r.answer(m.Content.text, choice.FinishReason, choice.Logprobs)
	if err != nil {
		return crosstalk.Answer{}, err
	}
	if refusal := m.Refusal + m.Content.refusal; refusal != "" {
		answer.Status, answer.Reason = crosstalk.Refused, refusal
	}
	if answer.Status == crosstalk.Empty && answer.Usage.Reasoning == 0 && m.ReasoningContent+m.Reasoning != "" {
		answer.Reason += "; only reasoning"
	}
	return answer, nil
}

func readCompletion(body []byte) (crosstalk.Answer, error) {
	var r completionResponse
	if err := json.Unmarshal(body, &r); err != nil {
		return crosstalk.Answer{}, err
	}
	if len(r.Choices) == 0 {
		return crosstalk.Answer{}, errChoices
	}
	choice := r.Choices[0]
	if choice.Text == nil {
		return crosstalk.Answer{}, errText
	}
	return r.answer(*choice.Text, choice.FinishReason, choice.Logprobs)
}

func (e envelope) answer(text, finish string, l *logprobs) (crosstalk.Answer, error) {
	a := crosstalk.Answer{Status: endpoint.Kind(text), Text: text, Reason: finish, Model: e.Model, Usage: e.Usage.usage()}
	switch {
	case finish == "error": // OpenRouter, Mistral: the generation broke off
		return a, errAborted
	case finish == "content_filter":
		a.Status = crosstalk.Refused
	case a.Status == crosstalk.Empty && a.Usage.Reasoning > 0:
		a.Reason += fmt.Sprintf("; %d reasoning tokens", a.Usage.Reasoning)
	}
	var err error
	if a.Logprobs, err = l.tokens(); a.Logprobs == nil {
		a.Logprobs = natives(e.Natives)
	}
	return a, err
}
