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

// Preset describes a provider: where its models are, and which environment variable has the key.
type Preset struct {
	Name string `json:"name"`
	// BaseURL is "" if the user has to give one. It may contain {VARIABLE} from the environment, or {VARIABLE:default}.
	BaseURL   string `json:"base-url"`
	KeyVar    string `json:"key-var"`
	Local     bool   `json:"local"`      // runs on the user's machine; the key is sent if there is one
	Start     string `json:"start"`      // local: how to start the server
	Fetch     string `json:"fetch"`      // local: how to get a model, %s its name
	Protocol  string `json:"protocol"`   // "": OpenAI's
	Batches   bool   `json:"batches"`    // has a batch API that crosstalk supports
	NewTokens bool   `json:"new-tokens"` // chat accepts only max_completion_tokens
	KeyHeader string `json:"key-header"` // "": Authorization, as a bearer token
}

const anthropicMessages = "anthropic"

// Compatible is the preset for servers without their own.
const Compatible = "compatible"

// Presets returns the known providers: those on the internet, local servers, and those that need a base URL.
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

// PublicURL returns a base URL that can be shown and saved: without user, password and query.
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

// Paid lists the providers that bill the owner of the key, judging by their names.
func Paid() []string { return named(func(p Preset) bool { return !p.Local && p.Name != Compatible }) }

func named(is func(Preset) bool) (names []string) {
	for _, p := range presets() {
		if is(p) {
			names = append(names, p.Name)
		}
	}
	return names
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

// Beams returns the parameters, sent unchanged, that make a server search for the likeliest answer with a beam of
// width n instead of sampling one; none for width 1. vLLM uses n as the width (BeamSearchParams; before 0.6.3
// best_of, whose default is n) and returns the best answer first. Servers known to have no beam search are an error:
// most ignore unknown parameters.
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

// HasLogprobs returns an error for a model that is known to return no log probabilities.
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
	// version matches the suffix by which a provider tells which snapshot answered: a date or a number.
	version = lazyregexp.New(`[-@_:](?:v?\d{8}|\d{6}|\d{4}-\d{2}-\d{2}|\d{2}-\d{2,4}|\d{4}|\d{3}|` +
		`v\d+(?::\d+)?|preview(?:-\d{2}-\d{2,4})?)$`)
	// alias matches the end of a name that leaves the snapshot to the provider.
	alias = lazyregexp.New(`[-:](?:latest|preview|free|nitro|floor|online)$`)
	// file matches the end of a model's file name.
	file = lazyregexp.New(`(?:[-.]q\d\w*|[-.]f16|[-.]bf16|[-.]f32)?\.gguf$`)
)

// SameModel reports whether the model that answered, according to the server, is the requested one: its name, a dated
// snapshot of it, or its file. If the name requests a snapshot, another snapshot is another model. A server that does
// not name the model is believed. The name of a deployment (Azure) tells nothing about its model.
func SameModel(asked, served string) bool {
	asked, served = plainName(asked), plainName(served)
	if served == "" || asked == served {
		return true
	}
	bare, plain := alias().ReplaceAllString(asked, ""), alias().ReplaceAllString(served, "")
	return bare == served || bare == plain || snapshot(served, bare) || snapshot(plain, bare) ||
		snapshot(asked, served) // requested with a date, and named without
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
