// Package model opens models by name: at providers, on local servers over HTTP, and recorded ones.
package model

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/textproto"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/model/anthropic"
	"crosstalk/model/endpoint"
	"crosstalk/model/gemini"
	"crosstalk/model/openai"
)

// Options override the settings implied by a model's name; the zero value overrides nothing.
type Options struct {
	BaseURL  string              // replaces the preset's
	API      crosstalk.API       // replaces chat
	KeyVar   string              // the environment variable with the key; replaces the preset's
	KeyFile  string              // a file with the key, in place of a variable; read again when it changes
	NoKey    bool                // the model is not asked: a missing key is no error
	Header   []string            // NAME=VALUE or NAME=$VARIABLE, sent with every request; see ParseHeader
	Families []Family            // the user's additions to what is known about models
	Getenv   func(string) string // default os.Getenv
	Client   *http.Client        // default: one shared by all models
	// Others are further providers by name, such as the reference models. Each gets the part after "provider:".
	Others map[string]func(name string) (crosstalk.Model, error)
}

func (o Options) getenv(name string) string {
	if o.Getenv != nil {
		return o.Getenv(name)
	}
	return os.Getenv(name)
}

// Open returns the model with this name, provider:name, where name may contain colons and slashes. Provider is one
// of Presets or of o.Others. It sends nothing, but a missing key is an error unless o.NoKey is set.
func Open(name string, o Options) (crosstalk.Model, error) {
	provider, model, err := cutName(name)
	if err != nil {
		return nil, err
	}
	switch o.API {
	case "", crosstalk.Chat, crosstalk.Responses, crosstalk.Completions, crosstalk.Embeddings:
	default:
		return nil, fmt.Errorf("api %q: expected chat, responses or completions (--api)", o.API)
	}
	var m crosstalk.Model
	if open, found := o.Others[provider]; found {
		m, err = open(model)
	} else {
		m, err = openPreset(provider, model, o)
	}
	if err != nil {
		return nil, fmt.Errorf("model %q: %w", name, err)
	}
	return m, nil
}

func openPreset(provider, model string, o Options) (crosstalk.Model, error) {
	p, c, err := find(provider, model, o)
	if err != nil {
		return nil, err
	}
	f := familyOf(provider+":"+model, o.Families)
	spelled := map[string]map[string]any{}
	for level, params := range f.Reasoning.spelling() {
		if f.Reasoning.can(level) {
			spelled[level] = params
		}
	}
	if p.Protocol == "" {
		maxTokens := f.MaxTokensName
		if p.NewTokens && p.own(o.BaseURL) {
			maxTokens = "max_completion_tokens"
		}
		m, err := openai.New(c, openai.Options{API: o.API, MaxTokensName: maxTokens, SeedName: f.SeedName,
			NoStop: refused(f.Stop), Reasoning: spelled})
		if err != nil || !p.Batches || o.API == crosstalk.Embeddings {
			return m, err
		}
		if p.Name != "gemini" {
			return openai.Batcher{Model: m}, nil
		}
		if b, ok, err := gemini.New(m, c); ok && (o.API == "" || o.API == crosstalk.Chat) {
			return b, err
		}
		return m, nil
	}
	if o.API != "" && o.API != crosstalk.Chat {
		return nil, fmt.Errorf("%s has only the chat API, not %s (--api)", p.Name, o.API)
	}
	return anthropic.New(c, spelled)
}

// Batchers returns the names of the providers whose models can be asked in batches.
func Batchers() []string { return named(func(p Preset) bool { return p.Batches }) }

// find returns the preset of a provider, and the endpoint of one of its models with the key from the environment.
func find(provider, model string, o Options) (p Preset, c endpoint.Config, err error) {
	p, found := lookup(provider)
	if !found {
		return p, c, fmt.Errorf("there is no provider %q; choose one of %s.\n"+
			"Any other server that speaks OpenAI's API: --model %s:NAME --base-url http://HOST:PORT/v1",
			provider, strings.Join(names(o), ", "), Compatible)
	}
	c = endpoint.Config{Provider: p.Name, Model: model, BaseURL: o.BaseURL, KeyVar: cmp.Or(o.KeyVar, p.KeyVar),
		KeyFile: o.KeyFile, KeyHeader: p.KeyHeader, Client: o.Client}
	if c.BaseURL == "" {
		if c.BaseURL, err = p.baseURL(o.getenv); err != nil {
			return p, c, err
		}
	}
	if c.BaseURL == "" {
		example := "http://localhost:8000/v1"
		if p.Name == "azure" {
			example = "https://RESOURCE.openai.azure.com/openai/v1"
		}
		return p, c, fmt.Errorf("%s needs --base-url, such as %s", p.Name, example)
	}
	if c.Header, c.Secrets, err = ParseHeader(o.Header, o.getenv); err != nil {
		return p, c, err
	}
	if o.KeyFile == "" {
		c.Key = strings.TrimSpace(o.getenv(c.KeyVar))
		needed := o.KeyVar != "" || !p.Local && p.own(o.BaseURL) && c.Header.Get(cmp.Or(p.KeyHeader, "Authorization")) == ""
		if needed && c.Key == "" && !o.NoKey {
			return p, c, fmt.Errorf("%s is not set; it should be the API key of %s", variable(c.KeyVar), p.Name)
		}
	}
	if p.Start != "" && o.BaseURL == "" {
		c.Advice = fmt.Sprintf("is %s running? start it with: %s", p.Name, p.Start)
	}
	if p.Fetch != "" {
		c.Missing = "get it with: " + fmt.Sprintf(p.Fetch, model)
	}
	return p, c, nil
}

func cutName(name string) (provider, model string, err error) {
	provider, model, found := strings.Cut(strings.TrimSpace(name), ":")
	provider = strings.ToLower(provider)
	switch {
	case !found:
		err = fmt.Errorf("model %q: expected provider:name, such as openai:gpt-4o-mini or ollama:llama3.2", name)
	case model == "":
		err = fmt.Errorf("model %q: expected a model after the provider, as in %s:NAME", name, provider)
	}
	return provider, model, err
}

var usualName = regexp.MustCompile(`^[A-Z_][A-Z0-9_]{0,63}$`)

// variable returns the name of a key's variable for a message, unless it looks unusual: it may be the key itself.
func variable(name string) string {
	if usualName.MatchString(name) {
		return "the environment variable " + name
	}
	return "the environment variable that --key-var names (expected a name such as OPENAI_API_KEY, not the key)"
}

// own reports whether a base URL is that of the provider: others may need no key and accept only common parameters.
func (p Preset) own(baseURL string) bool {
	return baseURL == "" || p.BaseURL == "" || strings.TrimRight(baseURL, "/") == p.BaseURL
}

func names(o Options) []string {
	all := named(func(Preset) bool { return true })
	for name := range o.Others {
		all = append(all, name)
	}
	return all
}

// ParseHeader parses headers written NAME=VALUE or NAME=$VARIABLE, so that a key need not be written down. secret has
// the values of variables, of headers with a secret's name, and all of some length; errors show none of them.
func ParseHeader(list []string, getenv func(string) string) (h http.Header, secret []string, err error) {
	for _, text := range list {
		name, value, found := strings.Cut(text, "=")
		name = strings.TrimSpace(name)
		key := textproto.CanonicalMIMEHeaderKey(name)
		variable, fromVariable := strings.CutPrefix(value, "$")
		if fromVariable {
			value = strings.TrimSpace(getenv(variable))
		}
		switch {
		case !found || name == "": // do not quote it: it may be a key
			err = errors.New("--header: expected a name, = and a value: NAME=VALUE or NAME=$VARIABLE")
		case strings.Trim(name, headerCharacters) != "":
			err = errors.New("--header: what is before the first = is not the name of a header; " +
				"expected letters, digits and hyphens")
		case slices.Contains(ownHeaders, key):
			err = fmt.Errorf("--header %s: this header is set by the program", name)
		case h.Get(key) != "":
			err = fmt.Errorf("--header %s is given twice", name)
		case fromVariable && value == "" && !usualName.MatchString(variable):
			err = fmt.Errorf("--header %s: the environment variable after $ is not set", name)
		case fromVariable && value == "":
			err = fmt.Errorf("--header %s: the environment variable %s is not set", name, variable)
		case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }):
			err = fmt.Errorf("--header %s: the value contains a line break or another character that no header takes", name)
		case value == "":
			err = fmt.Errorf("--header %s: expected a value after =", name)
		}
		if err != nil {
			return nil, nil, err
		}
		if h == nil {
			h = http.Header{}
		}
		h.Set(key, value)
		words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune("-_.", r) })
		named := slices.ContainsFunc(words, func(word string) bool { return slices.Contains(secretWords, word) })
		// Any longer value may be secret; shorter ones are words.
		if fromVariable || len(value) >= 12 || named {
			secret = append(secret, value)
			scheme, credentials, found := strings.Cut(value, " ") // Bearer ..., Basic ...
			if found && !strings.ContainsAny(scheme, "=;,") {
				secret = append(secret, credentials)
			}
		}
	}
	return h, secret, nil
}

var ownHeaders = []string{"Host", "Content-Length", "Content-Type", "Content-Encoding", "Accept-Encoding",
	"Transfer-Encoding", "Connection", "Te", "Trailer", "Upgrade"}

const headerCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~"

var secretWords = []string{"key", "apikey", "token", "secret", "auth", "authorization", "password", "cookie",
	"signature", "credential", "credentials"}

// List requests the models of a provider's server and returns their names, sorted, in the form for Open. name is the
// provider, or provider:part for those whose names contain part, in any case. Errors contain no API key.
func List(ctx context.Context, name string, o Options) ([]string, error) {
	provider, part, _ := strings.Cut(strings.ToLower(strings.TrimSpace(name)), ":")
	p, c, err := find(provider, "models", o)
	if err != nil {
		return nil, err
	}
	path := "/models"
	if p.Protocol == anthropicMessages {
		c.Header = anthropic.Headers(c.Header)
		path += "?limit=1000"
	}
	e, err := endpoint.New(c)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", provider, err)
	}
	var all []string
	err = e.Pages(ctx, path, func(body []byte) (string, error) {
		names, last, err := readList(body)
		if err != nil {
			return "", fmt.Errorf("%s: the list of models at %s cannot be read: %w", provider, e.Identity().Endpoint, err)
		}
		if all = append(all, names...); last == "" || len(all) > 50_000 {
			return "", nil
		}
		return "&after_id=" + url.QueryEscape(last), nil
	})
	if refused := (*crosstalk.AskError)(nil); errors.As(err, &refused) {
		switch refused.Status {
		case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusGone, http.StatusNotImplemented:
			return nil, fmt.Errorf("%s: %s has no list of models (HTTP %d), or the base URL is wrong (most end in /v1)",
				provider, e.Identity().Endpoint, refused.Status)
		}
		// The error names a model, but there is none here.
		return nil, fmt.Errorf("%s: %s", provider, strings.TrimPrefix(refused.Message, e.Identity().String()+": "))
	}
	if err != nil {
		return nil, err
	}
	slices.Sort(all)
	all = slices.Compact(all)
	var chosen []string
	for _, name := range all {
		if strings.Contains(strings.ToLower(name), part) {
			chosen = append(chosen, provider+":"+name)
		}
	}
	if len(chosen) == 0 && len(all) > 0 {
		return nil, fmt.Errorf("none of the %d models of %s has %q in its name", len(all), provider, part)
	}
	return chosen, nil
}

// readList reads a page: {"data": [...]} (most), a list (Together) or {"models": [...]} (Cohere); next is the query
// of the next page.
func readList(body []byte) (names []string, next string, err error) {
	var page struct {
		Data, Models []struct{ ID, Name string }
		HasMore      bool   `json:"has_more"`
		Last         string `json:"last_id"`
	}
	if err := json.Unmarshal(body, &page.Data); err != nil {
		page.Data = nil
		if err := json.Unmarshal(body, &page); err != nil {
			return nil, "", err
		}
		if page.Data == nil && page.Models == nil {
			return nil, "", fmt.Errorf("expected a list named data or models")
		}
	}
	for _, m := range append(page.Data, page.Models...) {
		if name := strings.TrimPrefix(cmp.Or(m.ID, m.Name), "models/"); name != "" { // Gemini
			names = append(names, name)
		}
	}
	if page.HasMore {
		next = page.Last
	}
	return names, next, nil
}
