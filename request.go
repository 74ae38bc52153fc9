package crosstalk

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"
)

// API is the kind of request that a model accepts.
type API string

const (
	Chat        API = "chat"        // a list of messages
	Responses   API = "responses"   // a list of messages, in the form of OpenAI's /v1/responses
	Completions API = "completions" // a bare prompt that the model continues
	Embeddings  API = "embeddings"  // texts that the model turns into vectors
)

// Identity identifies a model and where it runs. Two models with equal identities are assumed to give the same answers.
type Identity struct {
	Provider string `json:"provider"` // "openai", "ollama", "reference", ...
	Endpoint string `json:"endpoint"` // base URL without credentials; empty for models inside the program
	Name     string `json:"model"`    // as the provider spells it
}

func (id Identity) String() string { return id.Provider + ":" + id.Name }

// Message is one turn of a chat.
type Message struct {
	Role    string `json:"role"` // "system", "user" or "assistant"
	Content string `json:"content"`
}

// Decoding tells the model how to choose tokens. A nil field is not sent, so the provider's default applies.
type Decoding struct {
	Temperature *float64       `json:"temperature,omitempty"`
	TopP        *float64       `json:"top_p,omitempty"`
	MaxTokens   int            `json:"max_tokens,omitempty"` // of the visible answer; 0: no limit
	Seed        *int64         `json:"seed,omitempty"`       // sample k is asked with Seed+k
	Stop        []string       `json:"stop,omitempty"`
	Extra       map[string]any `json:"extra,omitempty"` // sent unchanged: top_k, min_p, ...

	// Reasoning is how much the model should think: "off", "low", "medium" or "high"; "" is the model's default.
	// ReasoningTokens is the limit for it: the server's limit is MaxTokens+ReasoningTokens, and an answer longer than
	// MaxTokens is cut when it arrives. Both are left out of the JSON when unset, so the keys of asks without them
	// never change.
	Reasoning       string `json:"reasoning,omitempty"`
	ReasoningTokens int    `json:"reasoning_tokens,omitempty"`
}

const (
	ReasoningOff    = "off"
	ReasoningLow    = "low"
	ReasoningMedium = "medium"
	ReasoningHigh   = "high"
)

// Limit returns the most tokens that the server may produce, thoughts included; 0: no limit.
func (d Decoding) Limit() int {
	if d.MaxTokens == 0 {
		return 0
	}
	return d.MaxTokens + d.ReasoningTokens
}

// Choices returns how many texts the server produces for an answer, such as the beams of a search. Usage counts all.
func (d Decoding) Choices() int {
	switch n := d.Extra["n"].(type) {
	case int:
		return max(1, n)
	case float64: // as JSON is read
		return max(1, int(n))
	}
	return 1
}

// Request is everything that is sent to a model. API decides which one of Messages, Prompt and Input is set.
type Request struct {
	API      API       `json:"api"`
	Messages []Message `json:"messages,omitempty"`
	Prompt   string    `json:"prompt,omitempty"`
	Input    []string  `json:"input,omitempty"`
	Decoding Decoding  `json:"decoding"`
	Logprobs int       `json:"logprobs,omitempty"` // candidates wanted at each position; 0: none
	Sample   int       `json:"sample"`             // 0-based; the same request may be asked several times
}

// Text returns what the user said last: the prompt, or the content of the last message.
func (r Request) Text() string {
	if r.API == Completions || len(r.Messages) == 0 {
		return r.Prompt
	}
	return r.Messages[len(r.Messages)-1].Content
}

// Key identifies an ask: the SHA-256 of the canonical JSON of the identity and the whole request. Neither contains API
// keys.
type Key [sha256.Size]byte

func (k Key) String() string { return hex.EncodeToString(k[:]) }

// Short returns a part of the key, for counting millions of keys: the probability that two of n keys share it is
// n*n/2^65, one in 37 million for a million keys.
func (k Key) Short() uint64 { return binary.BigEndian.Uint64(k[:8]) }

// MarshalText writes the key in hexadecimal.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (k *Key) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(string(text))
	if err != nil || len(b) != len(k) {
		return fmt.Errorf("an answer's key is %d hexadecimal digits, not %q", 2*len(k), text)
	}
	copy(k[:], b)
	return nil
}

// KeyOf returns the key of an ask: req, sent to the model with this identity.
func KeyOf(id Identity, req Request) Key {
	return sha256.Sum256(Canonical(struct {
		Identity
		Request Request `json:"request"`
	}{id, req}))
}

// Canonical returns v as JSON in one defined form: fields in the order of their declaration, map keys sorted, no HTML
// escapes, no trailing newline. Hashes are computed over it. It panics on a value that JSON cannot represent.
func Canonical(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("crosstalk: canonical JSON: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Status classifies an answer. Only Text is ever scored.
type Status string

const (
	Text    Status = "text"
	Empty   Status = "empty"   // the model said nothing, or only thought (Reason "thinking")
	Refused Status = "refused" // reported by the provider
	Failed  Status = "failed"  // no answer after the retries

	// NoAnswer is a text that says it gives no answer (package abstention). A protocol decides on it; models have Text.
	NoAnswer Status = "no answer"
)

// Finish is how an answer ended, independent of the provider's word for it.
type Finish string

const (
	FinishStop   Finish = "stop"   // the model was done, or reached a stop sequence
	FinishLength Finish = "length" // the answer was cut at a limit
	FinishFilter Finish = "filter" // a content filter ended it
)

// Thinking is the Reason of an answer that is empty because the model thought and said nothing.
const Thinking = "thinking"

// Mixed is the Reason of a recorded text in which the model's thoughts cannot be told from its answer.
const Mixed = "thoughts and answer in one text"

// Answer is the outcome of one request.
type Answer struct {
	Key       Key             `json:"key"` // set by whoever asked
	Status    Status          `json:"status"`
	Text      string          `json:"text"`                // as received, without thoughts and text past a limit
	Reasoning string          `json:"reasoning,omitempty"` // the model's thoughts, if the server shows them
	Reason    string          `json:"reason,omitempty"`    // why it ended, was refused or failed, in the provider's words
	Finish    Finish          `json:"finish,omitempty"`    // how it ended; "" if the provider does not report it
	Missing   []string        `json:"missing,omitempty"`   // parameters without effect: logprobs, max_tokens, reasoning
	Model     string          `json:"model,omitempty"`     // the model's name as the server reports it
	Usage     Usage           `json:"usage"`
	Logprobs  []TokenLogprob  `json:"logprobs,omitempty"` // of Text's tokens
	Raw       json.RawMessage `json:"-"`                  // the response body
	Latency   time.Duration   `json:"latency_ns"`
	Attempts  int             `json:"attempts"`
	Time      time.Time       `json:"time"` // when it arrived
}

// Thought reports whether the model thought before it gave this answer, as far as the answer shows.
func (a Answer) Thought() bool {
	return a.Reasoning != "" || a.Usage.Reasoning > 0 || a.Status == Empty && a.Reason == Thinking
}

// Usage counts tokens as the provider bills them.
type Usage struct {
	Prompt     int `json:"prompt"`
	Completion int `json:"completion"` // includes Reasoning
	Reasoning  int `json:"reasoning,omitempty"`
}

// TokenLogprob is one position of an answer: the token chosen and the candidates, with natural logarithms of
// probabilities.
type TokenLogprob struct {
	Token   string             `json:"token"`
	Bytes   []byte             `json:"bytes,omitempty"` // set if Token cannot represent the token: a part of a character
	Logprob float64            `json:"logprob"`
	Top     []CandidateLogprob `json:"top,omitempty"` // likeliest first
}

// CandidateLogprob is one token that the model could have chosen.
type CandidateLogprob struct {
	Token   string  `json:"token"`
	Bytes   []byte  `json:"bytes,omitempty"` // as in TokenLogprob
	Logprob float64 `json:"logprob"`
}

// Fault classifies an error by whether asking again can help.
type Fault int

const (
	Transient  Fault = iota // worth asking again: a timeout, a 500, a broken body
	Overloaded              // worth asking again, later and more slowly: 429, 503, 529
	Rejected                // this request will not be answered: 400
	Denied                  // no request will be answered: a wrong key, model or URL, or no credit
)

// AskError reports a request that got no answer.
type AskError struct {
	Fault      Fault
	Status     int           // HTTP status, 0 if none arrived
	RetryAfter time.Duration // the wait that the server asked for, or 0
	Param      string        // the parameter that the server refused, one of the names below; "" for other errors
	Message    string        // what went wrong and what to do; never contains an API key
	Err        error
}

// Names of a request's parameters, independent of what a provider calls them.
const (
	ParamTemperature = "temperature"
	ParamTopP        = "top_p"
	ParamStop        = "stop"
	ParamSeed        = "seed"
	ParamLogprobs    = "logprobs"
	ParamMaxTokens   = "max_tokens"
	ParamReasoning   = "reasoning"
	ParamSystem      = "system"
)

func (e *AskError) Error() string { return e.Message }
func (e *AskError) Unwrap() error { return e.Err }

// PromptConfig defines how a prompt becomes a request.
type PromptConfig struct {
	API      API      `json:"api"`
	Prefix   string   `json:"prefix,omitempty"` // before each prompt
	System   string   `json:"system,omitempty"` // chat only; empty: no system message
	Decoding Decoding `json:"decoding"`
	Logprobs int      `json:"logprobs,omitempty"` // candidates wanted at each position; 0: none
}

// Request returns the request for one sample of a prompt.
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

// RequestAfter returns the request for a prompt that follows other messages, which must satisfy CheckBefore. A system
// message must be the first of them; p's system message is put before it, in the same message.
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

// NamedRequest is one of an item's requests with its name: "test", the place of the instruction, or a language.
type NamedRequest struct {
	Name    string
	Request Request
}

// Demonstration is a question with an answer, shown to the model before a prompt (few-shot prompting).
type Demonstration struct {
	Question string `json:"question"`
	Answer   string `json:"answer"`

	// Crosslingual is the question in the language of cross-lingual prompts, with the instruction to answer in the
	// answer's language; "": none. Fingerprints of suites leave it out, so that they stay as they were without it.
	Crosslingual string `json:"-"`
}

// Carrier is a way to send a model a text together with an unrelated prompt.
type Carrier string

const (
	Example Carrier = "example" // a few-shot example: a question with its answer, written before the prompt
	System  Carrier = "system"  // a system message
	Note    Carrier = "note"    // something remembered about the user, in the system message
	Passage Carrier = "passage" // a retrieved document, before the prompt
	Turn    Carrier = "turn"    // an earlier turn of the same conversation
)

// Carriers lists all carriers.
var Carriers = []Carrier{Example, System, Note, Passage, Turn}

// InTurns reports whether the carrier's text is a question with an answer.
func (c Carrier) InTurns() bool { return c == Example || c == Turn }

// Context is what a model reads with the prompt of a context leakage item.
type Context struct {
	Carrier Carrier `json:"carrier"`
	Prompt  string  `json:"prompt"`  // the same with both texts
	Test    Carried `json:"test"`    // mentions the concept
	Control Carried `json:"control"` // does not
}

// Carried is the content of a carrier: a text or, for Example and Turn, a question with its answer.
type Carried struct {
	Text      string `json:"text,omitempty"`
	User      string `json:"user,omitempty"`
	Assistant string `json:"assistant,omitempty"`
}

// String returns the text as it was written: without roles, the question before its answer.
func (c Carried) String() string {
	if c.User != "" || c.Assistant != "" {
		return c.User + "\n" + c.Assistant
	}
	return c.Text
}

// Whole returns the carrier's text and the prompt as one text, for models that continue a text.
func (c Carrier) Whole(of Carried, prompt string) string {
	const question, answer = "Q: ", "\nA:"
	switch c {
	case Example, Turn:
		return question + of.User + answer + " " + of.Assistant + "\n\n" + question + prompt + answer
	case Note:
		of.Text = tagged("memory", of.Text)
	case Passage:
		of.Text = tagged("document", of.Text)
	}
	return of.Text + "\n\n" + question + prompt + answer
}

// NextQuestion begins a question that a model asks itself after an answer to Carrier.Whole.
const NextQuestion = "\nQ:"

// CarriedRequest returns the request for one sample of a prompt with a carrier's content. A system message of p comes
// before the carrier's.
func (p PromptConfig) CarriedRequest(c Carrier, of Carried, prompt string, sample int) Request {
	if p.API == Completions {
		return p.Request(c.Whole(of, prompt), sample)
	}
	var turns []Message
	switch c {
	case Example:
		p.Prefix, prompt = "", c.Whole(of, p.Prefix+prompt)
	case System:
		p.System = below(p.System, of.Text)
	case Note:
		p.System = below(p.System, tagged("memory", of.Text))
	case Passage:
		p.Prefix = tagged("document", of.Text) + "\n\n" + p.Prefix
	case Turn:
		turns = []Message{{Role: "user", Content: of.User}, {Role: "assistant", Content: of.Assistant}}
	}
	return p.RequestAfter(turns, prompt, sample)
}

// tagged marks where a text begins and ends, in any language.
func tagged(tag, text string) string { return "<" + tag + ">\n" + text + "\n</" + tag + ">" }

func below(first, text string) string {
	if first == "" {
		return text
	}
	return first + "\n\n" + text
}

// A Batcher is a Model whose provider also accepts batches of requests, answers them within about a day, and charges
// less for them.
//
// In a batch, a request's id is the text of its Key, 64 hexadecimal digits, which every API accepts. Every error is an
// *AskError or an *UnclearError, or ctx's error if ctx was cancelled.
type Batcher interface {
	Model
	// Fits returns how many of the asks, counted from the first, fit into one batch: 1 or more. All asks are for the
	// same API.
	Fits(asks []BatchAsk) int
	// Submit submits a batch under a tag and returns the provider's id of it. Submitting twice costs twice: after an
	// *UnclearError, use Find.
	Submit(ctx context.Context, tag string, asks []BatchAsk) (id string, err error)
	// Find returns the id of the batch that was submitted under a tag at about a given time; "" if the provider does
	// not have it. It is not sure while it cannot tell whether a batch is the one. known recognises the ids of others.
	Find(ctx context.Context, tag string, at time.Time, asks []BatchAsk, known func(id string) bool) (id string, sure bool,
		err error)
	// Poll returns the state of a batch.
	Poll(ctx context.Context, id string) (BatchState, error)
	// Results yields the results of a batch that has ended, in any order. It stops after an error; the results before
	// it are valid. Requests without an answer may be missing, as may answers that are not available yet.
	Results(ctx context.Context, id string, requests map[Key]Request) iter.Seq2[BatchResult, error]
}

// BatchAsk is one request of a batch.
type BatchAsk struct {
	Key     Key
	Request Request
}

// BatchState is the progress of a batch.
type BatchState struct {
	Ended bool // it will get no more results
	Done  int  // finished requests, answered or not

	// Failed is how many requests of an ended batch the provider reports as unanswered: they failed, expired or were
	// cancelled. It answered all others, and was paid for them.
	Failed int

	// Problem is why the provider rejected the batch as a whole, or "": no request was answered or paid for. Full means
	// that the account has too many requests at the provider at the moment.
	Problem string
	Full    bool
}

// BatchResult is the outcome of one request.
type BatchResult struct {
	Key    Key // zero: the result belongs to no request of the batch, or cannot be read
	Answer Answer
	Err    error // why the provider did not answer, or why the result cannot be read; nil: it is an answer
}

// UnclearError reports that a batch may or may not have been submitted.
type UnclearError struct{ Err error }

func (e *UnclearError) Error() string { return e.Err.Error() }
func (e *UnclearError) Unwrap() error { return e.Err }
