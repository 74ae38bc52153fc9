package model

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"crosstalk/internal/lazyregexp"
)

// Preset is a provider by name: where its models are, and which environment variable has the key.
type Preset struct {
	Name string `json:"name"`
	// BaseURL is "" if the user has to give one. {VARIABLE} is of the environment, {VARIABLE:default} or a default.
	BaseURL     string `json:"base-url"`
	KeyVar      string `json:"key-var"`
	Local       bool   `json:"local"`       // runs on the user's machine; the key is sent if there is one
	Concurrency int    `json:"concurrency"` // a sensible number of asks in flight; 0: let asking find out
	Start       string `json:"start"`       // local: how to start the server
	Fetch       string `json:"fetch"`       // local: how to get a model, %s its name
	Protocol    string `json:"protocol"`    // "": OpenAI's
	Batches     bool   `json:"batches"`     // has a batch API of the forms that crosstalk knows
	NewTokens   bool   `json:"new-tokens"`  // chat takes max_completion_tokens only
	KeyHeader   string `json:"key-header"`  // "": Authorization, as a bearer token
}

const anthropicMessages = "anthropic"

// Compatible is the preset for a server that has none.
const Compatible = "compatible"

// Presets returns the known providers: those behind the internet, local servers, those that need a base URL.
func Presets() []Preset { return slices.Clone(presets()) }

var placeholder = regexp.MustCompile(`\{([A-Z_]+)(?::([^}]*))?\}`)

func (p Preset) baseURL(getenv func(string) string) (string, error) {
	var missing string
	url := placeholder.ReplaceAllStringFunc(p.BaseURL, func(match string) string {
		m := placeholder.FindStringSubmatch(match)
		value := strings.TrimSpace(cmp.Or(getenv(m[1]), m[2]))
		if value == "" && m[1] == "AWS_REGION" {
			value = strings.TrimSpace(getenv("AWS_DEFAULT_REGION"))
		}
		if value == "" || strings.ContainsAny(value, "/:@?# ") {
			missing = cmp.Or(missing, m[1])
		}
		return value
	})
	if missing != "" {
		return "", fmt.Errorf("the environment variable %s is not set, or is not a name; it is a part of the base URL of %s "+
			"(--base-url gives another)", missing, p.Name)
	}
	// Google's global location has a host without a location.
	return strings.Replace(url, "//global-aiplatform.", "//aiplatform.", 1), nil
}

// PublicURL is a base URL as it can be shown and saved: without a user, a password and a query.
func PublicURL(base string) string {
	u, err := url.Parse(strings.TrimSpace(base))
	switch {
	case err != nil:
		return "an invalid URL"
	case u.User == nil && u.RawQuery == "":
		return base
	}
	u.User, u.RawQuery = nil, ""
	return u.String()
}

// Paid lists the providers that bill the owner of the key, as far as their names tell.
func Paid() []string { return named(func(p Preset) bool { return !p.Local && p.Name != Compatible }) }

func named(is func(Preset) bool) (names []string) {
	for _, p := range presets() {
		if is(p) {
			names = append(names, p.Name)
		}
	}
	return names
}

// Concurrency is the preset's hint for a model's name, 0 if there is none.
func Concurrency(name string) int {
	provider, _, _ := cutName(name)
	p, _ := lookup(provider)
	return p.Concurrency
}

func lookup(provider string) (p Preset, found bool) {
	i := slices.IndexFunc(presets(), func(p Preset) bool { return p.Name == provider })
	if i >= 0 {
		p = presets()[i]
	}
	return p, i >= 0
}

//go:embed presets.json
var presetsFile []byte

var presets = sync.OnceValue(func() (all []Preset) {
	if err := json.Unmarshal(presetsFile, &all); err != nil {
		panic(err)
	}
	return all
})

// Beams returns the settings, sent as they are, that make a server look for the likeliest answer with a beam of width
// n instead of drawing one; none for width 1. vLLM takes n for the width (BeamSearchParams; before 0.6.3 best_of,
// whose default is n) and gives the best answer first. Servers that are known to have no beam search are an error:
// most ignore what they do not know.
func Beams(name string, n int) (map[string]any, error) {
	provider, _, err := cutName(name)
	if err != nil || n <= 1 {
		return nil, err
	}
	if provider != "vllm" && provider != Compatible {
		return nil, fmt.Errorf("model %q: %s has no beam search; vllm has, and a server elsewhere that takes "+
			"use_beam_search and n can be named %s:NAME", name, provider, Compatible)
	}
	return map[string]any{"use_beam_search": true, "n": n}, nil
}

// HasLogprobs is an error for a model that is known to give no log probabilities.
func HasLogprobs(name string, own []Family) error {
	provider, model, err := cutName(name)
	if err != nil {
		return err
	}
	if p, _ := lookup(provider); p.Protocol == anthropicMessages {
		return fmt.Errorf("model %q: %s gives no log probabilities", name, provider)
	}
	if refused(familyOf(name, own).Logprobs) {
		return fmt.Errorf("model %q: %s gives no log probabilities", name, model)
	}
	return nil
}

var (
	// version matches what a provider adds to a model's name when it says which snapshot answered: a date or a number.
	version = lazyregexp.New(`[-@_:](?:v?\d{8}|\d{6}|\d{4}-\d{2}-\d{2}|\d{2}-\d{2,4}|\d{4}|\d{3}|` +
		`v\d+(?::\d+)?|preview(?:-\d{2}-\d{2,4})?)$`)
	// alias matches what a name ends in that leaves the snapshot to the provider.
	alias = lazyregexp.New(`[-:](?:latest|preview|free|nitro|floor|online)$`)
	// file matches what the name of a model's file ends in.
	file = lazyregexp.New(`(?:[-.]q\d\w*|[-.]f16|[-.]bf16|[-.]f32)?\.gguf$`)
)

// SameModel reports whether the model that a server says answered is the one that was asked for: its name, a dated
// snapshot of it, or its file. Where the name asks for a snapshot, another one is another model. A server that does
// not say is believed. The name of a deployment (Azure) tells nothing of the model behind it.
func SameModel(asked, served string) bool {
	asked, served = plainName(asked), plainName(served)
	if served == "" || asked == served {
		return true
	}
	bare, plain := alias().ReplaceAllString(asked, ""), alias().ReplaceAllString(served, "")
	return bare == served || bare == plain || snapshot(served, bare) || snapshot(plain, bare) ||
		snapshot(asked, served) // asked for by date, and named without
}

func snapshot(name, base string) bool {
	for cut := version().ReplaceAllString(name, ""); cut != name; name, cut = cut, version().ReplaceAllString(cut, "") {
		if cut == base {
			return true
		}
	}
	return false
}

func plainName(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	name = strings.TrimRight(strings.ReplaceAll(name, `\`, "/"), "/")
	name = name[strings.LastIndexByte(name, '/')+1:]
	name = vendor().ReplaceAllString(name, "")
	return file().ReplaceAllString(name, "")
}
