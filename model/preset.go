package model

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Preset is a provider by name: where its models are, and which environment
// variable has the key.
type Preset struct {
	Name        string
	BaseURL     string // "": the user has to give one; {VARIABLE} is replaced by an environment variable, {VARIABLE:default} by it or a default
	KeyVar      string
	Local       bool   // runs on the user's machine; the key is sent if there is one
	Concurrency int    // asks in flight that make sense unless the user says otherwise; 0: let asking find out
	Start       string // local: how to start the server
	Fetch       string // local: how to get a model, %s its name

	protocol  protocol
	batches   bool   // has a batch API of the forms that crosstalk knows
	newTokens bool   // chat takes max_completion_tokens only
	keyHeader string // "": Authorization, as a bearer token
}

type protocol int

const (
	openAI protocol = iota
	anthropicMessages
)

// Compatible is the preset for a server that has none.
const Compatible = "compatible"

// Presets returns the known providers: those behind the internet first, then
// local servers, then those that need a base URL.
func Presets() []Preset { return slices.Clone(presets) }

var placeholder = regexp.MustCompile(`\{([A-Z_]+)(?::([^}]*))?\}`)

// baseURL is the preset's, with the environment's values in their places.
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
		return "", fmt.Errorf("the environment variable %s is not set, or is not a name; it is a part of the base URL of %s (--base-url gives another)", missing, p.Name)
	}
	// Google's global location has a host without a location.
	return strings.Replace(url, "//global-aiplatform.", "//aiplatform.", 1), nil
}

// PublicURL is a base URL as it can be shown and saved: without a user, a
// password and a query.
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

// Paid are the names of the providers that bill what is asked of them to the
// owner of the key, as far as their names tell.
func Paid() (names []string) {
	for _, p := range presets {
		if !p.Local && p.Name != Compatible {
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

func lookup(provider string) (Preset, bool) {
	i := slices.IndexFunc(presets, func(p Preset) bool { return p.Name == provider })
	if i < 0 {
		return Preset{}, false
	}
	return presets[i], true
}

var presets = []Preset{
	{Name: "openai", BaseURL: "https://api.openai.com/v1", KeyVar: "OPENAI_API_KEY", newTokens: true, batches: true},
	{Name: "anthropic", BaseURL: "https://api.anthropic.com/v1", KeyVar: "ANTHROPIC_API_KEY", protocol: anthropicMessages, batches: true},
	{Name: "gemini", BaseURL: "https://generativelanguage.googleapis.com/v1beta/openai", KeyVar: "GEMINI_API_KEY", batches: true},
	{Name: "mistral", BaseURL: "https://api.mistral.ai/v1", KeyVar: "MISTRAL_API_KEY"},
	{Name: "deepseek", BaseURL: "https://api.deepseek.com/v1", KeyVar: "DEEPSEEK_API_KEY"},
	{Name: "cohere", BaseURL: "https://api.cohere.ai/compatibility/v1", KeyVar: "COHERE_API_KEY"},
	{Name: "xai", BaseURL: "https://api.x.ai/v1", KeyVar: "XAI_API_KEY"},
	{Name: "qwen", BaseURL: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", KeyVar: "DASHSCOPE_API_KEY", batches: true},
	{Name: "zai", BaseURL: "https://api.z.ai/api/paas/v4", KeyVar: "ZAI_API_KEY"},
	{Name: "minimax", BaseURL: "https://api.minimax.io/v1", KeyVar: "MINIMAX_API_KEY"},
	{Name: "moonshot", BaseURL: "https://api.moonshot.ai/v1", KeyVar: "MOONSHOT_API_KEY", batches: true},
	{Name: "openrouter", BaseURL: "https://openrouter.ai/api/v1", KeyVar: "OPENROUTER_API_KEY"},
	{Name: "groq", BaseURL: "https://api.groq.com/openai/v1", KeyVar: "GROQ_API_KEY", batches: true},
	{Name: "together", BaseURL: "https://api.together.xyz/v1", KeyVar: "TOGETHER_API_KEY"},
	{Name: "fireworks", BaseURL: "https://api.fireworks.ai/inference/v1", KeyVar: "FIREWORKS_API_KEY"},
	{Name: "deepinfra", BaseURL: "https://api.deepinfra.com/v1/openai", KeyVar: "DEEPINFRA_API_KEY"},
	{Name: "cerebras", BaseURL: "https://api.cerebras.ai/v1", KeyVar: "CEREBRAS_API_KEY"},
	{Name: "nvidia", BaseURL: "https://integrate.api.nvidia.com/v1", KeyVar: "NVIDIA_API_KEY"},
	{Name: "huggingface", BaseURL: "https://router.huggingface.co/v1", KeyVar: "HF_TOKEN"},

	{Name: "bedrock", BaseURL: "https://bedrock-runtime.{AWS_REGION}.amazonaws.com/openai/v1", KeyVar: "AWS_BEARER_TOKEN_BEDROCK"},
	{Name: "vertex", BaseURL: "https://{GOOGLE_CLOUD_LOCATION:global}-aiplatform.googleapis.com/v1/projects/{GOOGLE_CLOUD_PROJECT}/locations/{GOOGLE_CLOUD_LOCATION:global}/endpoints/openapi",
		KeyVar: "VERTEX_ACCESS_TOKEN"},
	{Name: "ollama", BaseURL: "http://localhost:11434/v1", KeyVar: "OLLAMA_API_KEY", Local: true, Concurrency: 4,
		Start: "ollama serve", Fetch: "ollama pull %s"},
	{Name: "llamacpp", BaseURL: "http://localhost:8080/v1", KeyVar: "LLAMA_API_KEY", Local: true, Concurrency: 4,
		Start: "llama-server -m MODEL.gguf"},
	{Name: "lmstudio", BaseURL: "http://localhost:1234/v1", KeyVar: "LMSTUDIO_API_KEY", Local: true, Concurrency: 4,
		Start: "lms server start", Fetch: "lms get %s"},
	{Name: "vllm", BaseURL: "http://localhost:8000/v1", KeyVar: "VLLM_API_KEY", Local: true, Concurrency: 64,
		Start: "vllm serve MODEL"},
	{Name: "sglang", BaseURL: "http://localhost:30000/v1", KeyVar: "SGLANG_API_KEY", Local: true, Concurrency: 64,
		Start: "python -m sglang.launch_server --model-path MODEL"},
	{Name: "litellm", BaseURL: "http://localhost:4000/v1", KeyVar: "LITELLM_API_KEY", Local: true,
		Start: "litellm --model MODEL", batches: true},

	{Name: "azure", KeyVar: "AZURE_OPENAI_API_KEY", newTokens: true, keyHeader: "api-key", batches: true},
	{Name: Compatible, KeyVar: "CROSSTALK_API_KEY", Local: true, batches: true},
}

// Beams returns the settings, sent as they are, that make a server look for the
// likeliest answer with a beam of width n instead of drawing one; none for
// width 1. vLLM takes n for the width (BeamSearchParams; before 0.6.3 best_of,
// whose default is n) and gives the best answer first. Servers that are known
// to have no beam search are an error: most ignore what they do not know.
func Beams(name string, n int) (map[string]any, error) {
	provider, _, err := cutName(name)
	if err != nil || n <= 1 {
		return nil, err
	}
	if provider != "vllm" && provider != Compatible {
		return nil, fmt.Errorf("model %q: %s has no beam search; vllm has, and a server elsewhere that takes use_beam_search and n can be named %s:NAME", name, provider, Compatible)
	}
	return map[string]any{"use_beam_search": true, "n": n}, nil
}

// HasLogprobs is an error for a model that is known to give no log
// probabilities.
func HasLogprobs(name string, own []Family) error {
	provider, model, err := cutName(name)
	if err != nil {
		return err
	}
	if p, _ := lookup(provider); p.protocol == anthropicMessages {
		return fmt.Errorf("model %q: %s gives no log probabilities", name, provider)
	}
	if refused(FamilyOf(name, own).Logprobs) {
		return fmt.Errorf("model %q: %s gives no log probabilities", name, model)
	}
	return nil
}
