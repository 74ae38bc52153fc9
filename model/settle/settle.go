// Package settle makes the answer to what was asked out of what a server sent: thoughts are separated, stop sequences
// and the limit of the visible answer are kept, and the provider's words for how it ended become one vocabulary.
package settle

import (
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/model/thoughts"
)

// Received is what a server sent, as far as its API tells.
type Received struct {
	Text      string // may still contain thoughts between markers
	Reasoning string // thoughts that came in a field of their own
	Thought   bool   // the server says that the model thought, whether it shows the thoughts or not
	Finish    string // the provider's word for how it ended
	Refusal   string // what the model or the provider says instead of an answer
	Model     string
	Usage     crosstalk.Usage
	Logprobs  []crosstalk.TokenLogprob // may cover the thoughts too
}

// Answer is the answer to req. Key, Raw and what the asker measures are left to others.
func Answer(req crosstalk.Request, r Received) crosstalk.Answer {
	text, reasoning := thoughts.Split(r.Text)
	blank := func(s string) bool { return strings.TrimSpace(s) == "" }
	reasoning = strings.Join(slices.DeleteFunc([]string{r.Reasoning, reasoning}, blank), "\n\n")
	thought := r.Thought || reasoning != "" || r.Usage.Reasoning > 0
	a := crosstalk.Answer{Text: text, Reasoning: reasoning, Reason: r.Finish, Finish: FinishOf(r.Finish), Model: r.Model,
		Usage: r.Usage, Logprobs: r.Logprobs}
	if thought && len(a.Logprobs) > 0 {
		a.Logprobs = visible(a.Logprobs, r.Text)
	}
	atStop(&a, req.Decoding.Stop)
	if d := req.Decoding; d.ReasoningTokens > 0 && d.MaxTokens > 0 {
		atLimit(&a, d.MaxTokens, thought)
	}
	a.Status = Kind(a.Text)
	switch {
	case r.Refusal != "":
		a.Status, a.Reason = crosstalk.Refused, r.Refusal
	case a.Finish == crosstalk.FinishFilter:
		a.Status = crosstalk.Refused
	case a.Status == crosstalk.Empty && thought:
		a.Reason = crosstalk.Thinking
	}
	a.Missing = missing(req, a, thought)
	return a
}

// Reader reads the answer to req out of a body, with the API's way to read one.
func Reader(req crosstalk.Request, read func([]byte) (Received, error)) func([]byte) (crosstalk.Answer, error) {
	return func(body []byte) (crosstalk.Answer, error) {
		r, err := read(body)
		if err != nil {
			return crosstalk.Answer{}, err
		}
		return Answer(req, r), nil
	}
}

// Recorded is an answer that was recorded with the model's thoughts still in
// its text, as it would be received today. Any other is returned as it is.
func Recorded(a crosstalk.Answer) crosstalk.Answer {
	if a.Status != crosstalk.Text || a.Reasoning != "" {
		return a
	}
	text, reasoning := thoughts.Split(a.Text)
	if text == a.Text {
		return a
	}
	if len(a.Logprobs) > 0 {
		a.Logprobs = visible(a.Logprobs, a.Text)
	}
	a.Text, a.Reasoning = text, reasoning
	if a.Status = Kind(text); a.Status == crosstalk.Empty {
		a.Reason = crosstalk.Thinking
	}
	return a
}

// Kind is Text, or Empty for a text of white space.
func Kind(text string) crosstalk.Status {
	if strings.TrimSpace(text) == "" {
		return crosstalk.Empty
	}
	return crosstalk.Text
}

// missing names the parameters that had no effect, as far as the answer shows.
func missing(req crosstalk.Request, a crosstalk.Answer, thought bool) (names []string) {
	if req.Logprobs > 0 && len(a.Logprobs) == 0 && a.Status == crosstalk.Text {
		names = append(names, crosstalk.ParamLogprobs)
	}
	if limit := req.Decoding.Limit(); limit > 0 && a.Usage.Completion-a.Usage.Reasoning > limit+endToken {
		names = append(names, crosstalk.ParamMaxTokens)
	}
	if req.Decoding.Reasoning == crosstalk.ReasoningOff && thought {
		names = append(names, crosstalk.ParamReasoning)
	}
	return names
}

// FinishOf reads a provider's word for how an answer ended: OpenAI's, Anthropic's, and Gemini's native ones, which its
// compatible endpoint passes on at times, alone or as "content_filter: RECITATION".
func FinishOf(word string) crosstalk.Finish {
	word, _, _ = strings.Cut(strings.ToLower(word), ":")
	switch strings.TrimSpace(word) {
	case "stop", "eos", "end_turn", "stop_sequence", "tool_calls", "completed", "complete":
		return crosstalk.FinishStop
	case "length", "max_tokens", "model_length", "max_output_tokens", "model_context_window_exceeded", "incomplete":
		return crosstalk.FinishLength
	case "content_filter", "refusal", "sensitive", "safety", "recitation", "prohibited_content", "blocklist", "spii",
		"image_safety":
		return crosstalk.FinishFilter
	}
	return ""
}

// Broken reports whether an answer broke off at the provider's side and is worth asking for again: OpenRouter and
// Mistral (error), DeepSeek (insufficient_system_resource), Z.ai (network_error), vLLM and SGLang (abort).
func Broken(finish string) bool {
	switch strings.ToLower(finish) {
	case "error", "insufficient_system_resource", "network_error", "abort":
		return true
	}
	return false
}
