package openai

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"crosstalk"
	"crosstalk/model/endpoint"
	"crosstalk/model/settle"
)

// reply is an answer of either API: a choice of chats has a message, one of completions a text.
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

// usage counts reasoning among the completion tokens, as OpenAI does. Gemini and xAI include it only in their total.
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

// thoughts returns the thoughts, which are in one of the fields, or in two with the same text.
func (m *message) thoughts() string {
	var content, reasoning, details string // anything but a text is ignored
	json.Unmarshal(m.ReasoningContent, &content)
	json.Unmarshal(m.Reasoning, &reasoning)
	if m.thought() {
		details = thinking(m.ReasoningDetails)
	}
	return cmp.Or(content, reasoning, details, m.Content.thoughts)
}

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

// thinking reads a text, or parts that have texts or summaries. It ignores everything else, such as servers' own
// parts.
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

// logprobs are in one of two formats: llama.cpp sends that of chats for completions, and Together the reverse.
type logprobs struct {
	// In chats.
	Content []position `json:"content"`
	// In completions. A position that was not predicted is null: with echo, the first one of the prompt.
	Tokens        []string              `json:"tokens"`
	TokenLogprobs []*float64            `json:"token_logprobs"`
	TopLogprobs   []map[string]*float64 `json:"top_logprobs"`
}

// position is a token in the format of chats. llama.cpp sends TopProbs instead of Top if told post_sampling_probs.
type position struct {
	candidate
	Top      []candidate `json:"top_logprobs"`
	TopProbs []candidate `json:"top_probs"`
}

// candidate has one of Logprob and Prob.
type candidate struct {
	Token   string     `json:"token"`
	Bytes   tokenBytes `json:"bytes"`
	Logprob *float64   `json:"logprob"`
	Prob    *float64   `json:"prob"`
}

// tokenBytes are a token's bytes, as numbers, or nothing: only tokens that are not text need them.
type tokenBytes []byte

func (b *tokenBytes) UnmarshalJSON(text []byte) error {
	var numbers []int
	strange := func(n int) bool { return n < 0 || n > 255 }
	if json.Unmarshal(text, &numbers) != nil || slices.ContainsFunc(numbers, strange) {
		return nil
	}
	for _, n := range numbers {
		*b = append(*b, byte(n))
	}
	return nil
}

// tokens returns the positions that have a log probability, candidates likeliest first.
func (l *logprobs) tokens() ([]crosstalk.TokenLogprob, error) {
	if l == nil {
		return nil, nil
	}
	if len(l.Content) > 0 || l.Tokens == nil {
		return positions(l.Content), nil
	}
	if len(l.TokenLogprobs) != len(l.Tokens) || l.TopLogprobs != nil && len(l.TopLogprobs) != len(l.Tokens) {
		return nil, errors.New("its logprobs do not match its tokens")
	}
	var out []crosstalk.TokenLogprob
	for i, token := range l.Tokens {
		if l.TokenLogprobs[i] == nil {
			continue
		}
		var top []crosstalk.CandidateLogprob
		if l.TopLogprobs != nil {
			for token, p := range l.TopLogprobs[i] {
				if p != nil {
					top = append(top, unescape(token, *p))
				}
			}
		}
		out = append(out, at(unescape(token, *l.TokenLogprobs[i]), top))
	}
	return out, nil
}

func positions(content []position) (out []crosstalk.TokenLogprob) {
	for _, p := range content {
		taken, known := p.read()
		if !known {
			continue
		}
		var top []crosstalk.CandidateLogprob
		for _, c := range slices.Concat(p.Top, p.TopProbs) {
			if c, known := c.read(); known {
				top = append(top, c)
			}
		}
		out = append(out, at(taken, top))
	}
	return out
}

// read returns the candidate; ok is false unless it has a probability above 0.
func (c candidate) read() (crosstalk.CandidateLogprob, bool) {
	out := crosstalk.CandidateLogprob{Token: c.Token}
	switch {
	case string(c.Bytes) == c.Token || len(c.Bytes) == 0:
	case utf8.Valid(c.Bytes):
		out.Token = string(c.Bytes)
	default:
		out.Bytes = c.Bytes
	}
	switch {
	case c.Logprob != nil:
		out.Logprob = *c.Logprob
	case c.Prob != nil && *c.Prob > 0:
		out.Logprob = math.Log(*c.Prob)
	default:
		return out, false
	}
	return out, true
}

// unescape decodes a candidate of completions, where OpenAI writes a part of a character as bytes:\xe2\x80.
func unescape(token string, logprob float64) crosstalk.CandidateLogprob {
	out := crosstalk.CandidateLogprob{Token: token, Logprob: logprob}
	if escapes, found := strings.CutPrefix(token, "bytes:"); found && escaped.MatchString(escapes) {
		out.Bytes = escaped.ReplaceAllFunc([]byte(escapes), func(e []byte) []byte {
			n, _ := strconv.ParseUint(string(e[2:]), 16, 8)
			return []byte{byte(n)}
		})
	}
	return out
}

var escaped = regexp.MustCompile(`\\x[0-9a-fA-F]{2}`)

// at returns a position with its candidates in order.
func at(taken crosstalk.CandidateLogprob, top []crosstalk.CandidateLogprob) crosstalk.TokenLogprob {
	slices.SortStableFunc(top, func(a, b crosstalk.CandidateLogprob) int {
		return cmp.Or(cmp.Compare(b.Logprob, a.Logprob), cmp.Compare(a.Token, b.Token))
	})
	return crosstalk.TokenLogprob{Token: taken.Token, Bytes: taken.Bytes, Logprob: taken.Logprob, Top: top}
}
