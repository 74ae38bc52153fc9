// Package openai asks models over OpenAI's HTTP API: chat completions, responses, completions and embeddings.
package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"

	"crosstalk"
	"crosstalk/model/endpoint"
	"crosstalk/model/settle"

	"golang.org/x/sync/errgroup"
)

// Options describe how a server differs from most servers.
type Options struct {
	API crosstalk.API // the API to use; default crosstalk.Chat
	// MaxTokensName is the parameter of chats for the limit; default max_tokens. If the server asks for the other one of
	// max_tokens and max_completion_tokens, the model sends that from then on.
	MaxTokensName string
	SeedName      string // the parameter for the seed; default "seed"
	// NoStop means that the server refuses stop sequences: answers are cut here instead. A refusal sets it, too.
	NoStop bool
	// Reasoning maps each level of reasoning to parameters; endpoint.Budget in them becomes the number of tokens.
	Reasoning map[string]map[string]any
}

// Model is a model behind an OpenAI-compatible server.
type Model struct {
	endpoint *endpoint.Endpoint
	options  Options
	dialect  atomic.Pointer[dialect]
}

// dialect holds what a model learns from errors. It is replaced, never modified.
type dialect struct {
	maxTokens string
	noStop    bool
	off       map[string]any // parameters that switch reasoning off; nil: those in the options
	renamed   bool           // only once: a server that refuses both names is not retried forever
}

// New returns the model at this endpoint. It sends nothing.
func New(c endpoint.Config, o Options) (*Model, error) {
	o.API = cmp.Or(o.API, crosstalk.Chat)
	o.SeedName = cmp.Or(o.SeedName, "seed")
	e, err := endpoint.New(c)
	if err != nil {
		return nil, err
	}
	m := &Model{endpoint: e, options: o}
	m.dialect.Store(&dialect{maxTokens: cmp.Or(o.MaxTokensName, "max_tokens"), noStop: o.NoStop})
	return m, nil
}

func (m *Model) Identity() crosstalk.Identity { return m.endpoint.Identity() }

func (m *Model) API() crosstalk.API { return m.options.API }

// MaxTokensName returns the parameter for the limit, as known so far.
func (m *Model) MaxTokensName() string {
	switch m.options.API {
	case crosstalk.Responses:
		return "max_output_tokens"
	case crosstalk.Completions:
		return "max_tokens"
	}
	return m.dialect.Load().maxTokens
}

// Answer implements crosstalk.Model. If the server refuses only the name of a parameter, or the stop sequences, the
// request is sent again without them; likewise if it expects other parameters to switch thinking off.
func (m *Model) Answer(ctx context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
	if req.API != m.options.API {
		return crosstalk.Answer{}, m.endpoint.Rejected("", "takes requests over the %s API, and this one is for %q (--api)",
			m.options.API, req.API)
	}
	most := endpoint.MostText(req.Decoding)
	if req.Logprobs > 0 || req.API == crosstalk.Embeddings {
		most = endpoint.MaxNumbers
	}
	for {
		d := m.dialect.Load()
		body, err := m.body(req, d)
		if err != nil {
			return crosstalk.Answer{}, err
		}
		answer, err := m.endpoint.Ask(ctx, pathOf(req.API), body, most, reader(req))
		if !m.learn(d, req, err) {
			return answer, err
		}
	}
}

func pathOf(api crosstalk.API) string {
	switch api {
	case crosstalk.Responses:
		return "/responses"
	case crosstalk.Completions:
		return "/completions"
	case crosstalk.Embeddings:
		return "/embeddings"
	}
	return "/chat/completions"
}

func reader(req crosstalk.Request) func(body []byte) (crosstalk.Answer, error) {
	read := readChat
	switch req.API {
	case crosstalk.Embeddings:
		return func(body []byte) (crosstalk.Answer, error) { return readEmbeddings(body, len(req.Input)) }
	case crosstalk.Responses:
		read = readResponse
	case crosstalk.Completions:
		read = readCompletion
	}
	return settle.Reader(req, read)
}

var otherName = map[string]string{"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}

// unknown matches servers' messages about a parameter whose name they do not know.
var unknown = regexp.MustCompile(`(?i)extra inputs|unknown|unrecogni[sz]ed|unsupported parameter|unexpected`)

// wantsFlag matches DashScope's message about a request that must switch thinking off with its own parameter.
var wantsFlag = regexp.MustCompile(`(?i)enable_thinking\W+must be (set to )?false`)

// learn reports whether err shows how to send the request differently from used; another request may have found out
// already.
func (m *Model) learn(used *dialect, req crosstalk.Request, err error) bool {
	var refused *crosstalk.AskError
	if !errors.As(err, &refused) {
		return false
	}
	next := *used
	switch other := otherName[used.maxTokens]; {
	case refused.Param == crosstalk.ParamMaxTokens && !used.renamed && req.API == crosstalk.Chat &&
		req.Decoding.Limit() > 0 &&
		(strings.Contains(refused.Message, other) || unknown.MatchString(refused.Message)):
		next.maxTokens, next.renamed = other, true
	case refused.Param == crosstalk.ParamStop && !used.noStop && len(req.Decoding.Stop) > 0:
		next.noStop = true
	case refused.Param == crosstalk.ParamReasoning && used.off == nil &&
		req.Decoding.Reasoning == crosstalk.ReasoningOff && wantsFlag.MatchString(refused.Message):
		next.off = map[string]any{"enable_thinking": false}
	default:
		return false
	}
	m.dialect.CompareAndSwap(used, &next)
	return true
}

// body returns the request in the format of the API. It never has n: each sample is a request; sample k has seed+k.
func (m *Model) body(req crosstalk.Request, how *dialect) ([]byte, error) {
	d := req.Decoding
	b := endpoint.NewBody(d.Extra)
	b.Set("model", m.Identity().Name)
	maxTokens := "max_tokens"
	switch req.API {
	case crosstalk.Embeddings:
		b.Set("input", req.Input)
	case crosstalk.Completions:
		b.Set("prompt", req.Prompt)
		b.SetGiven("logprobs", req.Logprobs)
	case crosstalk.Responses:
		maxTokens = "max_output_tokens"
		system, turns := endpoint.Apart(req.Messages)
		b.SetGiven("instructions", strings.Join(system, "\n\n"))
		b.Set("input", turns)
		b.Set("store", false) // a copy of each answer
		if req.Logprobs > 0 {
			b.Set("include", []string{"message.output_text.logprobs"})
			b.Set("top_logprobs", req.Logprobs)
		}
	default:
		maxTokens = how.maxTokens
		b.Set("messages", req.Messages)
		b.SetGiven("logprobs", req.Logprobs > 0)
		b.SetGiven("top_logprobs", req.Logprobs)
	}
	b.SetGiven("temperature", d.Temperature)
	b.SetGiven("top_p", d.TopP)
	b.SetGiven(maxTokens, d.Limit())
	if d.Seed != nil && req.API != crosstalk.Responses {
		b.Set(m.options.SeedName, *d.Seed+int64(req.Sample))
	}
	if len(d.Stop) > 0 && !how.noStop && req.API != crosstalk.Responses {
		b.Set("stop", d.Stop)
	}
	if err := m.setReasoning(b, req, how); err != nil {
		return nil, err
	}
	body, err := b.Bytes()
	if err != nil {
		return nil, m.endpoint.Unwritable(err)
	}
	return body, nil
}

func (m *Model) setReasoning(b *endpoint.Body, req crosstalk.Request, how *dialect) error {
	level := req.Decoding.Reasoning
	if level == "" {
		return nil
	}
	if level == crosstalk.ReasoningOff && how.off != nil {
		b.SetAll(how.off, 0)
		return nil
	}
	params, known := m.options.Reasoning[level]
	if !known {
		return m.endpoint.NoLevel(level)
	}
	if effort, found := params["reasoning_effort"]; found && req.API == crosstalk.Responses {
		params = map[string]any{"reasoning": map[string]any{"effort": effort}}
	}
	b.SetAll(params, req.Decoding.ReasoningTokens)
	return nil
}

type embeddings struct {
	Model string `json:"model"`
	Data  []struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	} `json:"data"`
	Usage struct {
		PromptTokens endpoint.Count `json:"prompt_tokens"`
	} `json:"usage"`
}

// readEmbeddings checks that body has n vectors. They stay in the raw body, where Embedder reads them.
func readEmbeddings(body []byte, n int) (crosstalk.Answer, error) {
	e, _, err := vectors(body, n)
	if err != nil {
		return crosstalk.Answer{}, err
	}
	return crosstalk.Answer{Status: crosstalk.Text, Reason: "stop", Model: e.Model,
		Usage: crosstalk.Usage{Prompt: int(e.Usage.PromptTokens)}}, nil
}

// vectors returns the vectors of an embeddings response, all of the same length, in the order of its n inputs.
func vectors(body []byte, n int) (e embeddings, all [][]float32, err error) {
	if err := json.Unmarshal(body, &e); err != nil {
		return e, nil, err
	}
	if len(e.Data) != n {
		return e, nil, fmt.Errorf("has %d embeddings; expected %d", len(e.Data), n)
	}
	all = make([][]float32, n)
	for _, d := range e.Data {
		switch {
		case d.Index < 0 || d.Index >= n || all[d.Index] != nil:
			err = fmt.Errorf("has an embedding with index %d; expected each of 0 to %d once", d.Index, n-1)
		case len(d.Embedding) == 0:
			err = fmt.Errorf("has an embedding without values")
		case len(d.Embedding) != len(e.Data[0].Embedding):
			err = fmt.Errorf("has embeddings of %d and of %d dimensions", len(e.Data[0].Embedding), len(d.Embedding))
		}
		if err != nil {
			return e, nil, err
		}
		all[d.Index] = d.Embedding
	}
	return e, all, nil
}

// Embedder is an embedding.Embedder over a model that speaks OpenAI's embeddings API.
type Embedder struct {
	name string
	ask  crosstalk.Asker
}

// NewEmbedder returns the embedder with this name that uses ask, an Asker of a model whose API is
// crosstalk.Embeddings.
func NewEmbedder(name string, ask crosstalk.Asker) *Embedder { return &Embedder{name, ask} }

func (e *Embedder) Name() string { return e.name }

// Embed implements embedding.Embedder. A request that fails is an error: figures must not rest on the others.
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	const most = 64 // texts per request
	all := make([][]float32, len(texts))
	group, ctx := errgroup.WithContext(ctx)
	for from := 0; from < len(texts); from += most {
		input := texts[from:min(from+most, len(texts))]
		group.Go(func() error {
			answer, err := e.ask.Ask(ctx, crosstalk.Request{API: crosstalk.Embeddings, Input: input})
			if err != nil {
				return err
			}
			if answer.Status != crosstalk.Text {
				return fmt.Errorf("%s gave no vectors: %s", e.name, answer.Reason)
			}
			_, made, err := vectors(answer.Raw, len(input))
			if err != nil {
				return fmt.Errorf("%s: the journalled response %w", e.name, err)
			}
			copy(all[from:], made)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for i, v := range all {
		if len(v) != len(all[0]) {
			return nil, fmt.Errorf("%s: text %q has a vector of %d dimensions, and another text one of %d", e.name, texts[i],
				len(v), len(all[0]))
		}
	}
	return all, nil
}
