package testserver

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
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
type Message struct{ Role, Text string }

// Request is a request for text, as [Options.Answer] sees it.
type Request struct {
	Protocol    Protocol
	Path        string // such as /v1/chat/completions
	Model       string
	Messages    []Message // chat: all turns, Anthropic's system text first; else empty
	Prompt      string    // the last user turn, or the prompt of /v1/completions
	Seed        *int64
	Temperature *float64
	MaxTokens   int    // 0: not given
	Sample      int    // 0-based index among the answers to this prompt
	Attempt     int    // 1-based, of the whole HTTP request
	Hash        string // see [Hash]
	Body        []byte
}

// Reply is what the model says. The server cuts Text at the request's stop
// sequences and token limit and sets Finish accordingly.
type Reply struct {
	Text      string
	Finish    string // "stop" (also ""), "length" or "content_filter"; Anthropic's words are derived
	Refusal   string // OpenAI message.refusal; Anthropic only knows that it refused
	Reasoning int    // tokens spent thinking, part of the completion tokens
}

// Hash identifies a request: hex SHA-256 of method, path and body. Headers,
// and so API keys, are no part of it.
func Hash(method, path string, body []byte) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n", method, path)
	h.Write(body)
	return hex.EncodeToString(h.Sum(nil))
}

// query is a parsed request body of either protocol.
type query struct {
	Request
	serves     string   // the model's name in the answer
	context    int      // tokens to which prompts are cut; 0: no limit
	prompts    []string // completions
	inputs     []string // embeddings
	n          int
	profile    *profile // nil: none
	params     params
	stop       []string
	logprobs   int // top alternatives asked for; -1: none asked for
	dimensions int
	base64     bool
}

type wireBody struct {
	Model               string          `json:"model"`
	Messages            []wireMessage   `json:"messages"`
	System              text            `json:"system"`
	Prompt              list            `json:"prompt"`
	Input               json.RawMessage `json:"input"`
	Instructions        string          `json:"instructions"`
	Include             []string        `json:"include"`
	Seed                *int64          `json:"seed"`
	N                   *int            `json:"n"`
	MaxTokens           *int            `json:"max_tokens"`
	MaxCompletionTokens *int            `json:"max_completion_tokens"`
	MaxOutputTokens     *int            `json:"max_output_tokens"`
	Temperature         *float64        `json:"temperature"`
	Stop                list            `json:"stop"`
	StopSequences       []string        `json:"stop_sequences"`
	Logprobs            json.RawMessage `json:"logprobs"`
	TopLogprobs         int             `json:"top_logprobs"`
	Dimensions          int             `json:"dimensions"`
	EncodingFormat      string          `json:"encoding_format"`
	Stream              bool            `json:"stream"`
}

type wireMessage struct {
	Role    string `json:"role"`
	Content text   `json:"content"`
}

// text is a string, or a list of parts of type text.
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
		if p.Type != "text" {
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
	if protocolOf(r) == Anthropic {
		switch key := r.Header.Get("x-api-key"); {
		case s.opts.Key != "" && key == "":
			return &problem{401, "authentication_error", "x-api-key header is required", "", "", nil}
		case s.opts.Key != "" && key != s.opts.Key:
			return &problem{401, "authentication_error", "invalid x-api-key", "", "", nil}
		case r.Header.Get("anthropic-version") == "":
			return badRequest("anthropic-version: header is required", "", "")
		}
		return nil
	}
	key, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case s.opts.Key == "" || key == s.opts.Key:
		return nil
	case !ok || key == "":
		return &problem{401, "invalid_request_error", "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).", "", "", nil}
	}
	return &problem{401, "invalid_request_error", "Incorrect API key provided: " + masked(key) + ". You can find your API key at https://platform.openai.com/account/api-keys.", "", "invalid_api_key", nil}
}

// masked shows a key as OpenAI's error does: its first eight and last four
// characters, and a short key entirely.
func masked(key string) string {
	if len(key) <= 12 {
		return key
	}
	return key[:8] + strings.Repeat("*", len(key)-12) + key[len(key)-4:]
}

// parse reads the body of a POST request to a known path.
func (s *Server) parse(r *http.Request, body []byte) (*query, *problem) {
	var params params
	var b wireBody
	if json.Unmarshal(body, &params) != nil {
		return nil, badRequest("We could not parse the JSON body of your request.", "", "")
	}
	heeded := maps.Clone(params)
	for _, name := range s.opts.Ignores {
		delete(heeded, name)
	}
	if err := json.Unmarshal(encode(heeded), &b); err != nil {
		return nil, badRequest("Invalid type: "+err.Error(), "", "invalid_type")
	}
	q := &query{
		Request: Request{
			Protocol: protocolOf(r), Path: r.URL.Path, Model: b.Model, Seed: b.Seed, Temperature: b.Temperature,
			Hash: Hash(r.Method, r.URL.Path, body), Body: body,
		},
		prompts: b.Prompt, n: 1, params: heeded, stop: append(b.Stop, b.StopSequences...),
		serves: cmp.Or(s.opts.Serves, b.Model), context: s.opts.Context,
		logprobs: -1, dimensions: b.Dimensions, base64: b.EncodingFormat == "base64",
	}
	if len(b.Input) > 0 && r.URL.Path == responsesPath {
		if json.Unmarshal(b.Input, &b.Messages) != nil {
			var alone string
			if err := json.Unmarshal(b.Input, &alone); err != nil {
				return nil, badRequest("Invalid type for 'input'.", "input", "invalid_type")
			}
			b.Messages = []wireMessage{{Role: "user", Content: text(alone)}}
		}
		b.System = text(b.Instructions)
	} else if len(b.Input) > 0 {
		if err := json.Unmarshal(b.Input, (*list)(&q.inputs)); err != nil {
			return nil, badRequest("Invalid type: "+err.Error(), "", "invalid_type")
		}
	}
	if s.opts.System != "" && len(b.Messages) > 0 {
		q.Messages = append(q.Messages, Message{"system", s.opts.System})
	}
	if b.System != "" {
		q.Messages = append(q.Messages, Message{"system", string(b.System)})
	}
	for _, m := range b.Messages {
		q.Messages = append(q.Messages, Message{m.Role, string(m.Content)})
		if m.Role == "user" {
			q.Prompt = string(m.Content)
		}
	}
	for _, limit := range []*int{b.MaxTokens, b.MaxCompletionTokens, b.MaxOutputTokens} {
		if limit != nil {
			if *limit < 1 {
				return nil, badRequest(fmt.Sprintf("Invalid 'max_tokens': integer below minimum value. Expected a value >= 1, but got %d instead.", *limit), "max_tokens", "integer_below_min_value")
			}
			q.MaxTokens = *limit
		}
	}
	if b.N != nil {
		if *b.N < 1 || *b.N > 128 {
			return nil, badRequest(fmt.Sprintf("Invalid 'n': want 1 to 128, got %d.", *b.N), "n", "")
		}
		q.n = *b.N
	}
	if p := s.checkModel(q, heeded); p != nil {
		return nil, p
	}
	if q.profile = s.opts.profileOf(q.Model); q.profile != nil && q.profile.refuse != nil {
		if p := q.profile.refuse(heeded); p != nil {
			return nil, p
		}
	}
	if b.Stream {
		return nil, badRequest("Unsupported value: 'stream' does not support true with this model.", "stream", "unsupported_value")
	}
	return q, q.checkPath(b)
}

func (s *Server) checkModel(q *query, params params) *problem {
	if q.Model == "" {
		return badRequest("you must provide a model parameter", "", "")
	}
	if len(s.opts.Models) > 0 && !slices.Contains(s.opts.Models, q.Model) {
		if q.Protocol == Anthropic {
			return &problem{404, "not_found_error", "model: " + q.Model, "", "", nil}
		}
		return &problem{404, "invalid_request_error", fmt.Sprintf("The model `%s` does not exist or you do not have access to it.", q.Model), "", "model_not_found", nil}
	}
	for _, name := range slices.Sorted(maps.Keys(s.opts.Unsupported)) {
		instead := s.opts.Unsupported[name]
		if _, given := params[name]; !given {
			continue
		}
		if q.Protocol == Anthropic {
			return badRequest(name+": Extra inputs are not permitted", "", "")
		}
		msg := fmt.Sprintf("Unsupported parameter: '%s' is not supported with this model.", name)
		if instead != "" {
			msg += fmt.Sprintf(" Use '%s' instead.", instead)
		}
		return badRequest(msg, name, "unsupported_parameter")
	}
	return nil
}

// checkPath checks what only one path asks for, and fills in its defaults.
func (q *query) checkPath(b wireBody) *problem {
	switch q.Path {
	case chatPath:
		if len(b.Messages) == 0 {
			return badRequest("Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.", "messages", "empty_array")
		}
		switch on := string(b.Logprobs) == "true"; {
		case !on && b.TopLogprobs != 0:
			return badRequest("The 'top_logprobs' parameter is only allowed when 'logprobs' is enabled.", "top_logprobs", "")
		case b.TopLogprobs < 0 || b.TopLogprobs > 20:
			return badRequest("Invalid 'top_logprobs': want 0 to 20.", "top_logprobs", "")
		case on:
			q.logprobs = b.TopLogprobs
		}
	case responsesPath:
		if len(b.Messages) == 0 {
			return badRequest("Missing required parameter: 'input'.", "input", "missing_required_parameter")
		}
		for _, name := range []string{"stop", "seed", "messages", "max_tokens", "logprobs"} {
			if q.params.has(name) {
				return badRequest("Unknown parameter: '"+name+"'.", name, "unknown_parameter")
			}
		}
		if slices.Contains(b.Include, "message.output_text.logprobs") {
			q.logprobs = b.TopLogprobs
		}
	case completionsPath:
		if len(q.prompts) == 0 {
			return badRequest("you must provide a prompt", "prompt", "")
		}
		if q.MaxTokens == 0 {
			q.MaxTokens = 16 // OpenAI's default for this path
		}
		if n := string(b.Logprobs); n != "" && n != "null" {
			if json.Unmarshal(b.Logprobs, &q.logprobs) != nil || q.logprobs < 0 || q.logprobs > 5 {
				return badRequest("Invalid 'logprobs': want an integer from 0 to 5.", "logprobs", "")
			}
		}
	case embeddingsPath:
		if len(q.inputs) == 0 || slices.Contains(q.inputs, "") {
			return badRequest("'$.input' is invalid. Please check the API reference: https://platform.openai.com/docs/api-reference.", "", "")
		}
		if q.dimensions < 0 || q.dimensions > 4096 {
			return badRequest("Invalid 'dimensions': want 1 to 4096.", "dimensions", "")
		}
		if q.dimensions == 0 {
			q.dimensions = 256
		}
	case messagesPath:
		if b.MaxTokens == nil {
			return badRequest("max_tokens: Field required", "", "")
		}
		if len(b.Messages) == 0 {
			return badRequest("messages: at least one message is required", "", "")
		}
	}
	return nil
}
