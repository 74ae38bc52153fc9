package crosstalk

import (
	"errors"
	"slices"
)

// PromptConfig is how a prompt becomes a request.
type PromptConfig struct {
	API      API      `json:"api"`
	Prefix   string   `json:"prefix,omitempty"` // before each prompt
	System   string   `json:"system,omitempty"` // chat only; empty: no system message
	Decoding Decoding `json:"decoding"`
	Logprobs int      `json:"logprobs,omitempty"` // candidates wanted at each position; 0: none
}

// Request is the request for one sample of a prompt.
func (p PromptConfig) Request(prompt string, sample int) Request {
	r := Request{API: p.API, Decoding: p.Decoding, Logprobs: p.Logprobs, Sample: sample}
	if p.API == Completions {
		r.Prompt = p.Prefix + prompt
		return r
	}
	if p.System != "" {
		r.Messages = append(r.Messages, Message{Role: "system", Content: p.System})
	}
	r.Messages = append(r.Messages, Message{Role: "user", Content: p.Prefix + prompt})
	return r
}

// CheckBefore returns an error if messages cannot precede a prompt: only chats have several.
func (p PromptConfig) CheckBefore(before []Message) error {
	if len(before) > 0 && p.API == Completions {
		return errors.New("has messages before its prompt, which only chat models take: use --api chat")
	}
	return nil
}

// RequestAfter is the request for a prompt that follows other messages, which must satisfy CheckBefore. A system
// message is the first of them; p's comes before it, in the same message.
func (p PromptConfig) RequestAfter(before []Message, prompt string, sample int) Request {
	if len(before) > 0 && before[0].Role == "system" {
		p.System, before = below(p.System, before[0].Content), before[1:]
	}
	r := p.Request(prompt, sample)
	if p.API != Completions {
		r.Messages = slices.Insert(r.Messages, len(r.Messages)-1, before...)
	}
	return r
}

// NamedRequest is one of the requests of an item, and which of them it is: "test", or
// the place of the instruction, or a language.
type NamedRequest struct {
	Name    string
	Request Request
}

// Demonstration is a question with an answer, shown to the model before a prompt (few-shot prompting).
type Demonstration struct {
	Question string `json:"question"`
	Answer   string `json:"answer"`
}
