package testserver

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Protocol is a provider's wire protocol.
type Protocol string

const (
	OpenAI    Protocol = "openai"
	Anthropic Protocol = "anthropic"
)

// Message is one turn of a chat; its text parts are joined.
type Message struct {
	Role string `json:"role"`
	Text text   `json:"content"`
}

// Request is a request for text, as [Options.Answer] sees it.
type Request struct {
	Protocol    Protocol  `json:"-"`
	Path        string    `json:"-"` // such as /v1/chat/completions
	Model       string    `json:"model"`
	Messages    []Message `json:"messages"` // chat: all turns, Anthropic's system text first; else empty
	Prompt      string    `json:"prompt"`   // of /v1/completions, or the last user turn
	Seed        *int64    `json:"seed"`
	Temperature *float64  `json:"temperature"`
	MaxTokens   int       `json:"-"` // 0: not given
	Attempt     int       `json:"-"` // 1-based, of the whole HTTP request
	Hash        string    `json:"-"` // of method, path and body
	Body        []byte    `json:"-"`
}

// Reply is the model's reply. The server cuts Text at stop sequences and the limit, and sets Finish accordingly.
type Reply struct {
	Text      string
	Finish    string // "stop" (also ""), "length" or "content_filter"; Anthropic's words are derived
	Refusal   string // OpenAI message.refusal; Anthropic's API has no text for it
	Reasoning int    // tokens spent thinking, part of the completion tokens
}

// hashOf returns an identifier of a request: hex SHA-256 of method, path and body, without headers and so API keys.
func hashOf(method, path string, body []byte) string {
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%s", method, path, body)))
}

type query struct {
	Request
	Serves  string   `json:"-"` // the model's name in the answer
	Profile *profile `json:"-"`
	context int      // tokens to which prompts are cut; 0: no limit
	params  params
	TopN    int `json:"-"` // number of top alternatives requested; -1: none

	System          text            `json:"system"`
	Input           input           `json:"input"`
	Instructions    text            `json:"instructions"`
	Include         []string        `json:"include"`
	Limit           *int            `json:"max_tokens"`
	CompletionLimit *int            `json:"max_completion_tokens"`
	OutputLimit     *int            `json:"max_output_tokens"`
	Stop            input           `json:"stop"`
	StopSequences   []string        `json:"stop_sequences"`
	LogprobsAsked   json.RawMessage `json:"logprobs"`
	TopLogprobs     int             `json:"top_logprobs"`
	Dimensions      int             `json:"dimensions"`
}

type text string

func (t *text) UnmarshalJSON(b []byte) error {
	if b[0] != '[' {
		return json.Unmarshal(b, (*string)(t))
	}
	var parts []struct{ Type, Text string }
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		if p.Type != "text" && p.Type != "" {
			return fmt.Errorf("content part of type %q: want text", p.Type)
		}
		*t += text(p.Text)
	}
	return nil
}

// input is the input of responses and of embeddings, or stop sequences: turns, a text or texts.
type input struct {
	turns []Message
	Texts []string
}

func (in *input) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &in.turns) == nil {
		return nil
	}
	in.turns = nil
	if b[0] != '"' {
		return json.Unmarshal(b, &in.Texts)
	}
	in.Texts = make([]string, 1)
	return json.Unmarshal(b, &in.Texts[0])
}

const (
	chatPath        = "/v1/chat/completions"
	completionsPath = "/v1/completions"
	embeddingsPath  = "/v1/embeddings"
	messagesPath    = "/v1/messages"
	responsesPath   = "/v1/responses"
	modelsPath      = "/v1/models"
)

var methods = map[string]string{chatPath: "POST", completionsPath: "POST", embeddingsPath: "POST", messagesPath: "POST",
	responsesPath: "POST", modelsPath: "GET"}

func (x *exchange) authorize() *problem {
	h, anthropic := x.r.Header, x.protocol == Anthropic
	key, _ := strings.CutPrefix(h.Get("Authorization"), "Bearer ")
	if anthropic {
		key = h.Get("x-api-key")
	}
	google := h.Get("x-goog-api-key")
	switch right := x.opts.Key == "" || cmp.Or(google, key) == x.opts.Key; {
	case right && anthropic && h.Get("anthropic-version") == "":
		return said("no version")
	case right:
		return nil
	case google != "":
		return said("wrong key of Google")
	case anthropic:
		return said("wrong key of Anthropic")
	case key == "":
		return said("no key")
	}
	if hidden := len(key) - 12; hidden > 0 { // the way OpenAI masks keys
		key = key[:8] + strings.Repeat("*", hidden) + key[8+hidden:]
	}
	return said("wrong key", key)
}

func (x *exchange) parse() (*query, *problem) {
	o := &x.opts
	q := &query{context: o.Context, TopN: -1}
	if json.Unmarshal(x.body, &q.params) != nil {
		return nil, said("no JSON")
	}
	for _, name := range o.Ignores {
		delete(q.params, name)
	}
	if err := json.Unmarshal(encode(q.params), q); err != nil {
		return nil, said("wrong type", err)
	}
	q.Protocol, q.Path, q.Hash, q.Body = x.protocol, x.r.URL.Path, x.hash, x.body
	q.Serves = cmp.Or(o.Serves, q.Model)
	q.StopSequences = append(q.Stop.Texts, q.StopSequences...)
	if q.Path == responsesPath {
		q.System, q.Messages = q.Instructions, q.Input.turns
		for _, t := range q.Input.Texts {
			q.Messages = append(q.Messages, Message{"user", text(t)})
		}
	}
	q.Profile = o.profileOf(q.Model)
	for _, limit := range []*int{q.Limit, q.CompletionLimit, q.OutputLimit} {
		if limit != nil {
			q.MaxTokens = *limit
		}
	}
	switch absent := len(o.Models) > 0 && !slices.Contains(o.Models, q.Model); {
	case q.Model == "":
		return nil, said("no model")
	case absent && q.Protocol == Anthropic:
		return nil, said("unknown model of Anthropic", q.Model)
	case absent:
		return nil, said("unknown model", q.Model)
	}
	unsupported := data().Unsupported
	unsupported.Each = append([]string{}, o.Unsupported...)
	rules := slices.Concat(data().Before, []rule{unsupported}, slices.Concat(q.Profile.Refuse...), data().After,
		data().Paths[q.Path])
	if p := q.Profile.refusal(rules, q.params); p != nil {
		return nil, p
	}
	switch inChat := q.Path == chatPath && string(q.LogprobsAsked) == "true"; {
	case inChat || slices.Contains(q.Include, "message.output_text.logprobs"):
		q.TopN = q.TopLogprobs
	case q.Path == completionsPath:
		q.MaxTokens = cmp.Or(q.MaxTokens, 16)    // OpenAI's default for this path
		json.Unmarshal(q.LogprobsAsked, &q.TopN) // missing or null: not requested
	}
	q.Dimensions = cmp.Or(q.Dimensions, 256)
	for _, m := range q.Messages {
		if m.Role == "user" {
			q.Prompt = string(m.Text)
		}
	}
	turns := len(q.Messages)
	if q.System != "" {
		q.Messages = slices.Insert(q.Messages, 0, Message{"system", q.System})
	}
	if o.System != "" && turns > 0 {
		q.Messages = slices.Insert(q.Messages, 0, Message{"system", text(o.System)})
	}
	return q, nil
}
