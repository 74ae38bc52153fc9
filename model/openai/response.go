package openai

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"crosstalk"
	"crosstalk/model/endpoint"
	"crosstalk/model/settle"
)

// reply is an answer of both APIs: a choice of chats has a message, one of completions a text.
type reply struct {
	Model   string          `json:"model"`
	Usage   usage           `json:"usage"`
	Error   json.RawMessage `json:"error"` // OpenRouter: beside or instead of choices, with status 200
	Choices []struct {
		Message      *message  `json:"message"`
		Text         *string   `json:"text"`
		FinishReason string    `json:"finish_reason"`
		Logprobs     *logprobs `json:"logprobs"`
	} `json:"choices"`
}

type usage struct {
	Prompt     endpoint.Count `json:"prompt_tokens"`
	Completion endpoint.Count `json:"completion_tokens"`
	Total      endpoint.Count `json:"total_tokens"`
	Details    struct {
		Reasoning endpoint.Count `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	Reasoning endpoint.Count `json:"reasoning_tokens"` // NVIDIA, some gateways
}

// usage counts reasoning among the completion tokens, as OpenAI does. Gemini and xAI have it only in their total.
func (u usage) usage() crosstalk.Usage {
	all := crosstalk.Usage{Prompt: int(u.Prompt), Completion: int(u.Completion),
		Reasoning: int(max(u.Details.Reasoning, u.Reasoning))}
	if rest := int(u.Total) - all.Prompt; rest > all.Completion {
		all.Reasoning = max(all.Reasoning, rest-all.Completion)
		all.Completion = rest
	}
	return all
}

type message struct {
	Content          content         `json:"content"`
	Refusal          string          `json:"refusal"`
	ReasoningContent json.RawMessage `json:"reasoning_content"` // DeepSeek, Qwen, Kimi, SGLang, llama.cpp, older vLLM
	Reasoning        json.RawMessage `json:"reasoning"`         // OpenRouter, Ollama, Groq, Together, Cerebras, vLLM
	ReasoningDetails json.RawMessage `json:"reasoning_details"` // OpenRouter, MiniMax: a list, some of it encrypted
}

// thoughts are in one of the fields, or in two with the same text.
func (m *message) thoughts() string {
	var content, reasoning, details string // anything but a text is passed over
	json.Unmarshal(m.ReasoningContent, &content)
	json.Unmarshal(m.Reasoning, &reasoning)
	if m.thought() {
		details = thinking(m.ReasoningDetails)
	}
	return cmp.Or(content, reasoning, details, m.Content.thoughts)
}

// thought reports whether there are thoughts, encrypted ones included.
func (m *message) thought() bool {
	var details []json.RawMessage
	return json.Unmarshal(m.ReasoningDetails, &details) == nil && len(details) > 0
}

// content is a text, null, or a list of parts: texts, which are joined, thoughts (Mistral, Cohere) and refusals.
type content struct{ text, thoughts, refusal string }

func (c *content) UnmarshalJSON(b []byte) error {
	if b[0] != '[' {
		return json.Unmarshal(b, &c.text)
	}
	var parts []struct {
		Type           string
		Text, Thinking json.RawMessage
		Refusal        string
	}
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		switch p.Type {
		case "text", "output_text", "":
			var text string
			if err := json.Unmarshal(p.Text, &text); err != nil {
				return fmt.Errorf("a text in the content is not a string: %w", err)
			}
			c.text += text
		case "thinking", "reasoning", "reasoning_text":
			c.thoughts += thinking(p.Thinking) + thinking(p.Text)
		case "refusal":
			c.refusal += p.Refusal
		}
	}
	return nil
}

// thinking reads a text, or parts that have texts or summaries; all else is passed over, as some servers' own.
func thinking(raw json.RawMessage) (text string) {
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []struct{ Text, Summary any }
	json.Unmarshal(raw, &parts)
	for _, p := range parts {
		for _, field := range []any{p.Text, p.Summary} {
			if s, ok := field.(string); ok {
				text += s
			}
		}
	}
	return text
}

var (
	errBroken   = errors.New("the model broke off")
	errReported = errors.New("it reports an error")
)

func readReply(body []byte) (r reply, err error) {
	if err = json.Unmarshal(body, &r); err == nil && len(r.Choices) == 0 {
		err = errors.New("it has no choices")
	}
	return r, err
}

func readChat(body []byte) (settle.Received, error) {
	r, err := readReply(body)
	if err != nil {
		return settle.Received{}, err
	}
	choice := r.Choices[0]
	if choice.Message == nil && settle.FinishOf(choice.FinishReason) != crosstalk.FinishFilter { // Gemini leaves it out
		return settle.Received{}, errors.New("its choice has no message")
	}
	m := cmp.Or(choice.Message, &message{})
	received, err := r.received(m.Content.text)
	received.Refusal = m.Refusal + m.Content.refusal
	received.Reasoning = m.thoughts()
	received.Thought = m.thought()
	return received, err
}

func readCompletion(body []byte) (settle.Received, error) {
	r, err := readReply(body)
	switch {
	case err != nil:
		return settle.Received{}, err
	case r.Choices[0].Text == nil:
		return settle.Received{}, errors.New("its choice has no text")
	}
	return r.received(*r.Choices[0].Text)
}

func (r reply) received(text string) (settle.Received, error) {
	finish := r.Choices[0].FinishReason
	out := settle.Received{Text: text, Finish: finish, Model: r.Model, Usage: r.Usage.usage()}
	switch {
	case !endpoint.IsNull(r.Error):
		return out, errReported
	case settle.Broken(finish):
		return out, fmt.Errorf("%w: its finish_reason is %q", errBroken, finish)
	}
	var err error
	out.Logprobs, err = r.Choices[0].Logprobs.tokens()
	return out, err
}
