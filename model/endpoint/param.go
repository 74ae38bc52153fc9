package endpoint

import (
	"regexp"
	"strings"

	"crosstalk"
	"crosstalk/internal/lazyregexp"
)

// param is the parameter of the request that the server refused, by our name, or "". It is what the server names as
// the culprit or, where it only says it in words, the parameter that a sentence of refusal mentions first.
func (p problem) param() string {
	if excess().MatchString(p.message) {
		return ""
	}
	for _, c := range special {
		if c.wording().MatchString(p.message) {
			return c.param
		}
	}
	for _, name := range p.names {
		if name := ourName(name, p.message); name != "" {
			return name
		}
	}
	if !refusal().MatchString(p.message) {
		return ""
	}
	at, found := len(p.message), ""
	for _, c := range mentions {
		if m := c.wording().FindStringSubmatchIndex(p.message); m != nil && m[0] < at {
			at, found = m[0], c.param
		}
	}
	return found
}

// ourName is our name for a server's: generationConfig.topP, reasoning.effort, messages[0].role.
func ourName(name, message string) string {
	if strings.HasPrefix(name, "messages") || strings.HasPrefix(name, "input") {
		if strings.Contains(message, "system") {
			return crosstalk.ParamSystem
		}
		return ""
	}
	for _, step := range strings.FieldsFunc(name, func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		if ours := ourNames[strings.ToLower(strings.ReplaceAll(step, "-", "_"))]; ours != "" {
			return ours
		}
	}
	return ""
}

var ourNames = map[string]string{
	"temperature": crosstalk.ParamTemperature, "top_p": crosstalk.ParamTopP, "topp": crosstalk.ParamTopP,
	"stop": crosstalk.ParamStop, "stop_sequences": crosstalk.ParamStop, "stopsequences": crosstalk.ParamStop,
	"seed": crosstalk.ParamSeed, "random_seed": crosstalk.ParamSeed,
	"logprobs": crosstalk.ParamLogprobs, "top_logprobs": crosstalk.ParamLogprobs,
	"responselogprobs": crosstalk.ParamLogprobs,
	"max_tokens":       crosstalk.ParamMaxTokens, "max_completion_tokens": crosstalk.ParamMaxTokens,
	"max_output_tokens": crosstalk.ParamMaxTokens, "maxoutputtokens": crosstalk.ParamMaxTokens,
	"reasoning": crosstalk.ParamReasoning, "reasoning_effort": crosstalk.ParamReasoning,
	"thinking": crosstalk.ParamReasoning, "enable_thinking": crosstalk.ParamReasoning,
	"thinking_budget": crosstalk.ParamReasoning, "output_config": crosstalk.ParamReasoning,
	"chat_template_kwargs": crosstalk.ParamReasoning,
	"system":               crosstalk.ParamSystem, "instructions": crosstalk.ParamSystem,
}

type wording struct {
	param   string
	wording func() *regexp.Regexp
}

// excess matches errors about the length of the prompt, which name limits.
var excess = lazyregexp.New(`(?i)context (length|window)|maximum context|prompt is too long|too many (input )?tokens`)

// special are wordings whose first parameter is not the one to leave out.
var special = []wording{
	// Claude 4: the second is left out
	{crosstalk.ParamTopP, lazyregexp.New(`(?i)temperature\W+and\W+top_p\W+cannot both`)},
	{crosstalk.ParamTopP, lazyregexp.New(`(?i)top_p must be 1 when using greedy`)},               // Mistral
	{crosstalk.ParamReasoning, lazyregexp.New(`(?i)max_tokens\W+must be greater .*budget`)},      // Claude
	{crosstalk.ParamReasoning, lazyregexp.New(`(?i)enable_thinking\W+must be set to false for`)}, // Qwen
	// chat templates that know two roles
	{crosstalk.ParamSystem, lazyregexp.New(`(?i)roles must alternate`)},
}

// template matches errors of a chat template, which always refuses; llama.cpp and SGLang report them as 500.
var template = lazyregexp.New(`(?i)jinja|TemplateError|raise_exception`)

var refusal = lazyregexp.New(`(?i)not support|n't support|unsupported|not allow|n't allow|not permit|not enabled|` +
	`not available|not accept|invalid|deprecated|unknown|unrecogni[sz]ed|cannot|can not|can't|forbid|must |only |` +
	`unexpected|out of range|not a valid|extra inputs|incompatible|should be|disabled|greater than|at most`)

// mentions find a parameter in a sentence. A word of everyday English needs quotes or "parameter" beside it.
var mentions = []wording{
	{crosstalk.ParamTemperature, mention(`temperature`)},
	{crosstalk.ParamTopP, mention(`top_p|topP|top-p`)},
	{crosstalk.ParamStop, lazyregexp.New("(?i)[\"'`](stop|stop_sequences)[\"'`]|stop_sequences|parameters?:? " +
		"(stop)\\b|argument .*: (stop)\\b|\\bstop parameter")},
	{crosstalk.ParamSeed, lazyregexp.New("(?i)[\"'`](seed|random_seed)[\"'`]|random_seed|parameters?:? " +
		"(seed)\\b|argument .*: (seed)\\b|\\bseed parameter|^seed: ")},
	{crosstalk.ParamLogprobs, mention(`log ?probs|top_logprobs|responseLogprobs`)},
	{crosstalk.ParamMaxTokens, mention(`max_tokens|max_completion_tokens|max_output_tokens`)},
	{crosstalk.ParamReasoning, mention(`reasoning_effort|reasoning\.effort|reasoning|thinking(?:[._]\w+)*|` +
		`enable_thinking|budget_tokens|chat_template_kwargs|output_config(?:\.\w+)?`)},
	{crosstalk.ParamSystem, mention(`system (?:role|message|prompt|instruction)s?|'system'|developer instructions?`)},
}

// mention matches a name that is not part of a longer one, such as a model's.
func mention(names string) func() *regexp.Regexp {
	return lazyregexp.New(`(?i)(?:^|[^\w\-/.])(` + names + `)(?:$|[^\w\-/])`)
}
