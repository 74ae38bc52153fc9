package testserver

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Protocol is a provider's wire protocol.
type Protocol string

const (
	OpenAI    Protocol = "openai"
	Anthropic Protocol = "anthropic"
)

// Message is one turn of a chat; parts of text are joined.
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

// Reply is what the model says. The server cuts Text at the request's stop
// sequences and token limit and sets Finish accordingly.
type Reply struct {
	Text      string
	Finish    string // "stop" (also ""), "length" or "content_filter"; Anthropic's words are derived
	Refusal   string // OpenAI message.refusal; Anthropic only knows that it refused
	Reasoning int    // tokens spent thinking, part of the completion tokens
}

// hashOf identifies a request: hex SHA-256 of method, path and body. Headers, and so API keys, are no part of it.
func hashOf(method, path string, body []byte) string {
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%s", method, path, body)))
}

// query is a parsed request body of either protocol.
type query struct {
	Request
	wireBody
	Serves  string   `json:"-"` // the model's name in the answer
	Profile *profile `json:"-"`
	context int      // tokens to which prompts are cut; 0: no limit
	params  params
	TopN    int // top alternatives asked for; -1: none asked for
}

type wireBody struct {
	System          text            `json:"system"`
	Input           input           `json:"input"`
	Instructions    text            `json:"instructions"`
	Include         []string        `json:"include"`
	Limit           *int            `json:"max_tokens"`
	CompletionLimit *int            `json:"max_completion_tokens"`
	OutputLimit     *int            `json:"max_output_tokens"`
	Stop            list            `json:"stop"`
	StopSequences   []string        `json:"stop_sequences"`
	Logprobs        json.RawMessage `json:"logprobs"`
	TopLogprobs     int             `json:"top_logprobs"`
	Dimensions      int             `json:"dimensions"`
}

// text is a string, or a list of parts that are texts.
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

// list is a string or a list of strings; null is the empty list.
type list []string

func (l *list) UnmarshalJSON(b []byte) error {
	if b[0] != '"' {
		return json.Unmarshal(b, (*[]string)(l))
	}
	*l = make(list, 1)
	return json.Unmarshal(b, &(*l)[0])
}

// input is that of responses and of embeddings: turns, or texts.
type input struct {
	turns []Message
	texts list
}

func (in *input) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &in.turns) == nil {
		return nil
	}
	in.turns = nil
	return json.Unmarshal(b, &in.texts)
}

const (
	chatPath        = "/v1/chat/completions"
	completionsPath = "/v1/completions"
	embeddingsPath  = "/v1/embeddings"
	messagesPath    = "/v1/messages"
	responsesPath   = "/v1/responses"
	modelsPath      = "/v1/models"
)

func protocolOf(r *http.Request) Protocol {
	if r.URL.Path == messagesPath || r.Header.Get("x-api-key") != "" || r.Header.Get("anthropic-version") != "" {
		return Anthropic
	}
	return OpenAI
}

// authorize checks the API key, and Anthropic's version header.
func (s *Server) authorize(r *http.Request) *problem {
	anthropic := protocolOf(r) == Anthropic
	key, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if anthropic {
		key = r.Header.Get("x-api-key")
	}
	google := r.Header.Get("x-goog-api-key")
	switch {
	case s.opts.Key == "" || cmp.Or(google, key) == s.opts.Key:
	case google != "":
		return badRequest("API key not valid. Please pass a valid API key.", "", "")
	case anthropic:
		return &problem{Status: 401, Type: "authentication_error", Message: "invalid x-api-key"}
	case key == "":
		return &problem{Status: 401, Message: "You didn't provide an API key. You need to provide your API key in " +
			"an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY)."}
	default:
		return &problem{Status: 401, Code: "invalid_api_key", Message: "Incorrect API key provided: " + masked(key) +
			". You can find your API key at https://platform.openai.com/account/api-keys."}
	}
	if anthropic && r.Header.Get("anthropic-version") == "" {
		return badRequest("anthropic-version: header is required", "", "")
	}
	return nil
}

// masked shows a key as OpenAI's error does: its first eight and last four characters, and a short key entirely.
func masked(key string) string {
	if len(key) <= 12 {
		return key
	}
	return key[:8] + strings.Repeat("*", len(key)-12) + key[len(key)-4:]
}

// parse reads the body of a POST request to a known path.
func (s *Server) parse(r *http.Request, body []byte) (*query, *problem) {
	q := &query{context: s.opts.Context, TopN: -1}
	if json.Unmarshal(body, &q.params) != nil {
		return nil, badRequest("We could not parse the JSON body of your request.", "", "")
	}
	for _, name := range s.opts.Ignores {
		delete(q.params, name)
	}
	if err := json.Unmarshal(encode(q.params), q); err != nil {
		return nil, badRequest("Invalid type: "+err.Error(), "", "invalid_type")
	}
	q.Protocol, q.Path, q.Hash, q.Body = protocolOf(r), r.URL.Path, hashOf(r.Method, r.URL.Path, body), body
	q.Serves = cmp.Or(s.opts.Serves, q.Model)
	q.Stop = append(q.Stop, q.StopSequences...)
	if q.Path == responsesPath {
		q.System, q.Messages = q.Instructions, q.Input.turns
		for _, t := range q.Input.texts {
			q.Messages = append(q.Messages, Message{"user", text(t)})
		}
	}
	q.Profile = s.opts.profileOf(q.Model)
	if p := q.Profile.refusal(data().Before, q.params); p != nil {
		return nil, p
	}
	for _, limit := range []*int{q.Limit, q.CompletionLimit, q.OutputLimit} {
		if limit != nil {
			q.MaxTokens = *limit
		}
	}
	if p := s.checkModel(q); p != nil {
		return nil, p
	}
	for _, rules := range append(q.Profile.Refuse, data().After, data().Paths[q.Path]) {
		if p := q.Profile.refusal(rules, q.params); p != nil {
			return nil, p
		}
	}
	q.fill()
	for _, m := range q.Messages {
		if m.Role == "user" {
			q.Prompt = string(m.Text)
		}
	}
	var system []Message
	if s.opts.System != "" && len(q.Messages) > 0 {
		system = append(system, Message{"system", text(s.opts.System)})
	}
	if q.System != "" {
		system = append(system, Message{"system", q.System})
	}
	q.Messages = append(system, q.Messages...)
	return q, nil
}

func (s *Server) checkModel(q *query) *problem {
	switch absent := len(s.opts.Models) > 0 && !slices.Contains(s.opts.Models, q.Model); {
	case q.Model == "":
		return badRequest("you must provide a model parameter", "", "")
	case absent && q.Protocol == Anthropic:
		return &problem{Status: 404, Type: "not_found_error", Message: "model: " + q.Model}
	case absent:
		return &problem{Status: 404, Code: "model_not_found",
			Message: fmt.Sprintf("The model `%s` does not exist or you do not have access to it.", q.Model)}
	}
	return q.Profile.refusal(s.unsupported(q.Protocol), q.params)
}

// unsupported are the rules that refuse parameters for [Options.Unsupported].
func (s *Server) unsupported(p Protocol) (rules []rule) {
	for _, name := range slices.Sorted(maps.Keys(s.opts.Unsupported)) {
		r := rule{If: name, Error: problem{Param: name, Code: "unsupported_parameter",
			Message: fmt.Sprintf("Unsupported parameter: '%s' is not supported with this model.", name)}}
		if instead := s.opts.Unsupported[name]; instead != "" {
			r.Error.Message += fmt.Sprintf(" Use '%s' instead.", instead)
		}
		if p == Anthropic {
			r.Error.Message = name + ": Extra inputs are not permitted"
		}
		rules = append(rules, r)
	}
	return rules
}

// fill puts in the defaults of the path, and the number of likeliest tokens asked for.
func (q *query) fill() {
	inChat := q.Path == chatPath && string(q.Logprobs) == "true"
	switch {
	case inChat || slices.Contains(q.Include, "message.output_text.logprobs"):
		q.TopN = q.TopLogprobs
	case q.Path == completionsPath:
		q.MaxTokens = cmp.Or(q.MaxTokens, 16) // OpenAI's default for this path
		if q.params.has("logprobs") {
			json.Unmarshal(q.Logprobs, &q.TopN)
		}
	}
	q.Dimensions = cmp.Or(q.Dimensions, 256)
}
