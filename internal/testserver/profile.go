package testserver

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// profile is how the models of one family behave at their provider: what they
// refuse and in which words, where their thoughts come back, what a filter
// says. Words and statuses are those of reports and vendors' pages in gist, as
// of November 2026, and owe nothing to the client's own table.
type profile struct {
	name   string
	models []string // patterns of names (path.Match), lower case
	refuse func(params) *problem
	thinks func(params) bool // nil: never

	shown    shown
	outside  bool     // reasoning tokens are in the total and not among the completion tokens
	unsplit  bool     // usage has no reasoning tokens
	filtered *problem // what a filtered request gets; nil: finish_reason content_filter
	finish   string   // the finish_reason of a filtered answer that has no text
	ignores  []string // parameters passed over without a word
	strict   bool     // an answer of nothing but thoughts is an error
}

// shown says where thoughts come back.
type shown int

const (
	nowhere shown = iota
	field         // reasoning_content
	field2        // reasoning
	details       // reasoning and reasoning_details
	markers       // <think>...</think> in the content
	ending        // ...</think> in the content, the start being in the template
	harmony       // channels in the content
	parts         // a part of the content
	blocks        // Anthropic's
	empty         // Anthropic's, without text
)

// thoughtTokens is how long a model that thinks does so.
const thoughtTokens = 390

// params are the request's parameters.
type params map[string]json.RawMessage

func (p params) has(name string) bool { return len(p[name]) > 0 && string(p[name]) != "null" }

func (p params) number(name string, otherwise float64) float64 {
	v := otherwise
	json.Unmarshal(p[name], &v)
	return v
}

// effort is the level of reasoning asked for, "" for none.
func (p params) effort() string {
	var effort string
	var inner struct{ Effort string }
	if json.Unmarshal(p["reasoning_effort"], &effort) != nil && json.Unmarshal(p["reasoning"], &inner) == nil {
		effort = inner.Effort
	}
	return effort
}

// contains reports whether a parameter's JSON contains text.
func (p params) contains(name, text string) bool { return strings.Contains(string(p[name]), text) }

func unsupported(name string) *problem {
	return badRequest(fmt.Sprintf("Unsupported parameter: '%s' is not supported with this model.", name), name, "unsupported_parameter")
}

func always(params) bool { return true }

// first is the first problem of several.
func first(checks ...func(params) *problem) func(params) *problem {
	return func(p params) *problem {
		for _, check := range checks {
			if problem := check(p); problem != nil {
				return problem
			}
		}
		return nil
	}
}

func openAISampling(p params) *problem {
	for _, name := range []string{"temperature", "top_p"} {
		if p.has(name) && p.number(name, 1) != 1 {
			return badRequest(fmt.Sprintf("Unsupported value: '%s' does not support %s with this model. Only the default (1) value is supported.", name, p[name]), name, "unsupported_value")
		}
	}
	if p.has("logprobs") || p.contains("include", "logprobs") {
		return &problem{403, "invalid_request_error", "You are not allowed to request logprobs from this model", "", "", nil}
	}
	return nil
}

func newLimit(p params) *problem {
	if p.has("max_tokens") {
		return badRequest("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", "max_tokens", "unsupported_parameter")
	}
	if p.has("stop") {
		return unsupported("stop")
	}
	return nil
}

func efforts(allowed ...string) func(params) *problem {
	return func(p params) *problem {
		if e := p.effort(); e != "" && !slices.Contains(allowed, e) {
			return badRequest(fmt.Sprintf("Unsupported value: 'reasoning_effort' does not support '%s' with this model. Supported values are: %s.", e, strings.Join(allowed, ", ")),
				"reasoning_effort", "unsupported_value")
		}
		return nil
	}
}

// when applies a check where the model thinks.
func when(thinks func(params) bool, check func(params) *problem) func(params) *problem {
	return func(p params) *problem {
		if thinks(p) {
			return check(p)
		}
		return nil
	}
}

func claude(p params) *problem {
	for _, name := range []string{"seed", "logprobs", "top_logprobs", "reasoning_effort", "n"} {
		if p.has(name) {
			return badRequest(name+": Extra inputs are not permitted", "", "")
		}
	}
	if p.number("temperature", 0) > 1 {
		return badRequest("temperature: range: 0..1", "", "")
	}
	return nil
}

func claudeOne(p params) *problem {
	if p.has("temperature") && p.has("top_p") {
		return badRequest("`temperature` and `top_p` cannot both be specified for this model. Please use only one.", "", "")
	}
	if p.contains("thinking", "enabled") {
		budget := params{}
		json.Unmarshal(p["thinking"], &budget)
		switch b := budget.number("budget_tokens", 0); {
		case b < 1024:
			return badRequest("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024", "", "")
		case b >= p.number("max_tokens", 0):
			return badRequest("`max_tokens` must be greater than `thinking.budget_tokens`.", "", "")
		case p.number("temperature", 1) != 1:
			return badRequest("`temperature` may only be set to 1 when thinking is enabled.", "", "")
		case p.number("top_p", 1) < 0.95:
			return badRequest("`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled.", "", "")
		}
	}
	return nil
}

func claudeDefault(p params) *problem {
	for _, name := range []string{"temperature", "top_p", "top_k"} {
		if p.has(name) {
			return badRequest("`"+name+"` is deprecated for this model.", "", "")
		}
	}
	if p.contains("thinking", "budget_tokens") {
		return badRequest("thinking.type.enabled is not supported for this model. Use thinking.type.adaptive and output_config.effort.", "", "")
	}
	return nil
}

func noDisabling(p params) *problem {
	if p.contains("thinking", "disabled") {
		return badRequest("thinking.type.disabled is not supported for this model.", "", "")
	}
	return nil
}

func claudeThinks(p params) bool {
	return p.contains("thinking", "enabled") || p.contains("thinking", "adaptive")
}
func unlessDisabled(p params) bool { return !p.contains("thinking", "disabled") }

func gemini(p params) *problem {
	known := []string{"model", "messages", "temperature", "top_p", "max_tokens", "max_completion_tokens", "stop", "n", "stream", "reasoning_effort", "logprobs", "top_logprobs",
		"presence_penalty", "frequency_penalty", "response_format", "tools", "tool_choice", "extra_body"}
	for _, name := range slices.Sorted(maps.Keys(p)) {
		if !slices.Contains(known, name) {
			return googleError(400, fmt.Sprintf("Invalid JSON payload received. Unknown name \"%s\": Cannot find field.", name))
		}
	}
	if p.has("logprobs") {
		return googleError(400, "Logprobs is not enabled for this model")
	}
	return nil
}

func noneRefused(p params) *problem {
	if p.effort() == "none" {
		return googleError(400, "Budget 0 is invalid. This model only works in thinking mode: reasoning_effort none is not supported.")
	}
	return nil
}

func googleError(status int, message string) *problem {
	return &problem{status: status, raw: []any{object{"error": object{"code": status, "message": message, "status": "INVALID_ARGUMENT"}}}}
}

func mistral(p params) *problem {
	known := []string{"model", "messages", "temperature", "top_p", "max_tokens", "stop", "random_seed", "n", "stream", "safe_prompt", "presence_penalty", "frequency_penalty",
		"response_format", "tools", "tool_choice", "prompt_mode", "reasoning_effort", "parallel_tool_calls", "prediction"}
	for _, name := range slices.Sorted(maps.Keys(p)) {
		if !slices.Contains(known, name) {
			return &problem{status: 422, raw: object{"object": "error", "message": object{"detail": []any{object{"type": "extra_forbidden", "loc": []any{"body", name},
				"msg": "Extra inputs are not permitted"}}}, "type": "invalid_request_error"}}
		}
	}
	if p.number("temperature", 0) > 1.5 {
		return &problem{status: 422, raw: object{"detail": []any{object{"type": "less_than_equal", "loc": []any{"body", "temperature"}, "msg": "Input should be less than or equal to 1.5"}}}}
	}
	if p.has("temperature") && p.number("temperature", 1) == 0 && p.number("top_p", 1) != 1 {
		return &problem{status: 400, raw: object{"object": "error", "message": "top_p must be 1 when using greedy sampling.", "type": "invalid_request_error", "code": "3051"}}
	}
	return nil
}

func notGreedy(p params) *problem {
	if p.has("temperature") && p.number("temperature", 1) == 0 {
		return &problem{status: 400, raw: object{"object": "error", "message": "Greedy sampling is not supported for this model: temperature must be greater than 0.", "type": "invalid_request_error"}}
	}
	return nil
}

func grok(p params) *problem {
	for _, name := range []string{"stop", "presence_penalty", "frequency_penalty"} {
		if p.has(name) {
			return &problem{status: 400, raw: object{"code": "Client specified an invalid argument", "error": "Model grok-4 does not support parameter " + name + "."}}
		}
	}
	return nil
}

func only(name string, value float64) func(params) *problem {
	return func(p params) *problem {
		if p.has(name) && p.number(name, value) != value {
			return badRequest(fmt.Sprintf("invalid %s: only %g is allowed for this model", name, value), "", "")
		}
		return nil
	}
}

func within(name string, low, high float64) func(params) *problem {
	return func(p params) *problem {
		if v := p.number(name, low); v < low || v > high {
			return badRequest(fmt.Sprintf("Invalid API parameter, please check the documentation. %s should be in [%g, %g]", name, low, high), "", "1210")
		}
		return nil
	}
}

// profiles are looked through in order.
var profiles = []profile{
	{name: "o-series", models: []string{"o1*", "o3*", "o4*"}, refuse: first(openAISampling, newLimit, efforts("low", "medium", "high")), thinks: always, strict: true},
	{name: "gpt-5", models: []string{"gpt-5", "gpt-5-20*", "gpt-5-mini*", "gpt-5-nano*"}, thinks: always,
		refuse: first(openAISampling, newLimit, efforts("minimal", "low", "medium", "high"))},
	{name: "gpt-5.1", models: []string{"gpt-5.[1-4]*"}, thinks: func(p params) bool { return p.effort() != "" && p.effort() != "none" },
		refuse: first(newLimit, efforts("none", "low", "medium", "high", "xhigh"), when(func(p params) bool { return p.effort() != "" && p.effort() != "none" }, openAISampling))},
	{name: "gpt-6-astra", models: []string{"gpt-6-astra*", "gpt-6.1-sol*"}, thinks: always, refuse: first(openAISampling, newLimit, efforts("low", "medium", "high", "max"))},
	{name: "gpt-5.5", models: []string{"gpt-5.[5-6]*", "gpt-6*"}, thinks: func(p params) bool { return p.effort() != "none" },
		refuse: first(newLimit, efforts("none", "low", "medium", "high", "xhigh", "max"), when(func(p params) bool { return p.effort() != "none" }, openAISampling))},
	{name: "gpt-oss", models: []string{"gpt-oss*"}, thinks: always, shown: field2, refuse: efforts("low", "medium", "high")},
	{name: "gpt-oss without a parser", models: []string{"raw-gpt-oss*"}, thinks: always, shown: harmony, unsplit: true},

	{name: "claude-4.7", models: []string{"claude-opus-4-[78]*"}, refuse: first(claude, claudeDefault), thinks: claudeThinks, shown: empty},
	{name: "claude-4.5", models: []string{"claude-*-4-[156]*"}, refuse: first(claude, claudeOne), thinks: claudeThinks, shown: blocks},
	{name: "claude-5.5", models: []string{"claude-opus-5-5*", "claude-fable-5*", "claude-mythos-5*"}, refuse: first(claude, claudeDefault, noDisabling), thinks: always, shown: empty},
	{name: "claude-5", models: []string{"claude-*-5*"}, refuse: first(claude, claudeDefault), thinks: unlessDisabled, shown: empty},

	{name: "gemini-2.5-flash", models: []string{"gemini-2.5-flash*"}, refuse: gemini, thinks: func(p params) bool { return p.effort() != "none" }, outside: true, unsplit: true, finish: "SAFETY"},
	{name: "gemini", models: []string{"gemini-*"}, refuse: first(gemini, noneRefused), thinks: always, outside: true, unsplit: true, finish: "PROHIBITED_CONTENT"},
	{name: "mistral-medium-3.5", models: []string{"mistral-medium-3.5*"}, refuse: first(mistral, notGreedy, efforts("none", "high")), thinks: func(p params) bool { return p.effort() == "high" }, shown: parts},
	{name: "mistral-small", models: []string{"mistral-small*"}, refuse: first(mistral, efforts("none", "high")), thinks: func(p params) bool { return p.effort() == "high" }, shown: parts},
	{name: "mistral", models: []string{"mistral-*", "ministral-*"}, refuse: first(mistral, efforts())},
	{name: "magistral", models: []string{"magistral-*"}, refuse: mistral, thinks: always, shown: parts},
	{name: "deepseek", models: []string{"deepseek-v4*"}, thinks: unlessDisabled, shown: field, ignores: []string{"temperature", "top_p"},
		refuse: when(unlessDisabled, func(p params) *problem {
			if p.has("logprobs") {
				return badRequest("deepseek does not support logprobs while thinking", "", "invalid_request_error")
			}
			return nil
		}),
		filtered: &problem{400, "invalid_request_error", "Content Exists Risk", "", "invalid_request_error", nil}},
	{name: "grok-4.3", models: []string{"grok-4.3*"}, refuse: grok, thinks: func(p params) bool { return p.effort() != "none" }, outside: true, filtered: grokFilter},
	{name: "grok", models: []string{"grok-4*"}, thinks: always, outside: true, filtered: grokFilter,
		refuse: first(grok, func(p params) *problem {
			if p.has("reasoning_effort") {
				return &problem{status: 400, raw: object{"code": "Client specified an invalid argument", "error": "Model grok-4 does not support parameter reasoningEffort: reasoning_effort is not supported."}}
			}
			return nil
		})},
	{name: "qwen-open", models: []string{"qwen3-*b*"}, filtered: qwenFilter, refuse: func(p params) *problem {
		if !p.contains("enable_thinking", "false") {
			return badRequest("parameter.enable_thinking must be set to false for non-streaming calls", "", "invalid_parameter_error")
		}
		return nil
	}},
	{name: "qwen", models: []string{"qwen3.[5-8]*"}, filtered: qwenFilter, thinks: func(p params) bool { return !p.contains("enable_thinking", "false") }, shown: field,
		refuse: within("temperature", 0, 1.99)},
	{name: "kimi-k2.6", models: []string{"kimi-k2.[56]*"}, thinks: unlessDisabled, shown: field, filtered: kimiFilter,
		refuse: first(when(unlessDisabled, only("temperature", 1)), when(func(p params) bool { return !unlessDisabled(p) }, only("temperature", 0.6)), only("top_p", 0.95))},
	{name: "kimi-k3", models: []string{"kimi-k3*"}, thinks: always, shown: field, filtered: kimiFilter, refuse: first(only("temperature", 1), only("top_p", 0.95), noDisabling)},
	{name: "glm", models: []string{"glm-5*"}, thinks: unlessDisabled, shown: field, finish: "sensitive", refuse: first(within("temperature", 0, 1), within("top_p", 0.01, 1))},
	{name: "minimax", models: []string{"minimax-m2*"}, thinks: always, shown: markers},
	{name: "openrouter", models: []string{"openrouter-*"}, thinks: func(p params) bool { return !p.contains("reasoning", "false") }, shown: details, ignores: []string{"logprobs", "top_logprobs", "seed"},
		filtered: &problem{status: 200, raw: object{"error": object{"code": 403, "message": "Your chosen model requires moderation and your input was flagged", "metadata": object{"reasons": []any{"violence"}}}}}},
	{name: "groq", models: []string{"groq-qwen*"}, thinks: func(p params) bool { return p.effort() != "none" }, shown: markers, refuse: func(p params) *problem {
		if p.has("logprobs") {
			return badRequest("'logprobs' is not supported with this model", "logprobs", "")
		}
		return nil
	}},
	{name: "litellm", models: []string{"litellm-*"}, refuse: func(p params) *problem {
		for _, name := range []string{"logprobs", "seed"} {
			if p.has(name) {
				return badRequest("litellm.UnsupportedParamsError: bedrock does not support parameters: ['"+name+"'], for model=x. To drop these, set `litellm.drop_params=True`", "", "400")
			}
		}
		return nil
	}},
	{name: "no parser", models: []string{"think-*"}, thinks: always, shown: markers, unsplit: true},
	{name: "no parser, tag in the template", models: []string{"lone-*"}, thinks: always, shown: ending, unsplit: true},
	{name: "no system message", models: []string{"gemma-2*"}, refuse: func(p params) *problem {
		if p.contains("messages", `"system"`) {
			return badRequest("System role not supported", "", "")
		}
		return nil
	}},
}

var (
	grokFilter = &problem{status: 403, raw: object{"code": "The caller does not have permission to execute the specified operation",
		"error": "Content violates usage guidelines. Team: t, API key ID: k, Model: grok-4, Failed check: SAFETY_CHECK_TYPE_BIO"}}
	qwenFilter = &problem{400, "data_inspection_failed", "Input data may contain inappropriate content.", "", "data_inspection_failed", nil}
	kimiFilter = &problem{400, "content_filter", "The request was rejected because it was considered high risk", "", "", nil}
)

// profileOf is the profile that the options choose for a model, or nil.
func (o *Options) profileOf(model string) *profile {
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	for i := range profiles {
		p := &profiles[i]
		if o.Profile != "" {
			if p.name == o.Profile {
				return p
			}
			continue
		}
		for _, pattern := range p.models {
			if ok, _ := path.Match(pattern, name); ok {
				return p
			}
		}
	}
	return nil
}

// Profiles are the names of all profiles, for [Options.Profile].
func Profiles() []string { return profileNames()[1:] }

func profileNames() []string {
	names := []string{NoProfile}
	for _, p := range profiles {
		names = append(names, p.name)
	}
	return names
}

// thoughts is what a model thinks in n tokens.
func thoughts(n int) string {
	words := tokens(strings.Repeat("The user wants one short answer, and I should think of what fits before I give it. ", n/10+1))
	return strings.Join(words[:min(n, len(words))], "")
}

// reveal puts a choice's thoughts where the profile shows them in a chat: into
// the message, or the text itself.
func (c *choice) reveal(message object) {
	if c.profile == nil || c.Reasoning == 0 {
		return
	}
	thought := thoughts(c.Reasoning)
	done := c.produced > c.Reasoning || c.Finish != "length"
	switch c.profile.shown {
	case field:
		message["reasoning_content"] = thought
	case field2:
		message["reasoning"] = thought
	case details:
		message["reasoning"] = thought
		message["reasoning_details"] = []object{{"type": "reasoning.text", "text": thought, "index": 0}}
	case markers:
		c.Text = enclose("<think>\n", thought, "\n</think>\n\n", c.Text, done)
	case ending:
		c.Text = enclose("", thought, "\n</think>\n\n", c.Text, done)
	case harmony:
		c.Text = enclose("<|channel|>analysis<|message|>", thought, "<|end|><|start|>assistant<|channel|>final<|message|>", c.Text, done)
	case parts:
		list := []object{{"type": "thinking", "thinking": []object{{"type": "text", "text": thought}}}}
		if c.Text != "" {
			list = append(list, object{"type": "text", "text": c.Text})
		}
		message["content"] = list
		return
	default:
		return
	}
	message["content"] = c.Text
	c.tokens = tokens(c.Text)
}

func enclose(start, thought, end, text string, done bool) string {
	if !done {
		return start + thought
	}
	return start + thought + end + text
}
