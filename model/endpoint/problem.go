package endpoint

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"crosstalk"
	"crosstalk/internal/lazyregexp"
)

type problem struct {
	message, kind, code string
	names               []string      // of the parameters concerned, as the server spells them
	retry               time.Duration // Google's RetryInfo
	daily               bool          // the quota is renewed daily
	page                bool          // an HTML page; message is its title
	reported            bool          // the body has an error in the usual place
}

// readProblem reads an error body: {"error": {...}} (OpenAI, Anthropic and most), the same in a list (Gemini),
// {"error": "..."} (Ollama), {"message": "..."} (Mistral, Cohere), {"detail": ...} (FastAPI), an HTML page, or text.
func readProblem(body []byte) problem {
	body = bytes.TrimSpace(body)
	var v any
	if len(body) > maxProblem || json.Unmarshal(body, &v) != nil { // longer bodies explain nothing
		start := string(bytes.ToLower(body[:min(len(body), 512)]))
		if strings.HasPrefix(start, "<!doctype html") || strings.Contains(start, "<html") ||
			strings.Contains(start, "<head") {
			return problem{message: title(body), page: true}
		}
		return problem{message: plain(body)}
	}
	if list, ok := v.([]any); ok && len(list) > 0 {
		v = list[0]
	}
	outer, _ := v.(map[string]any)
	inner, _ := outer["error"].(map[string]any)
	// OpenRouter: the host failed midway
	if choices, ok := outer["choices"].([]any); ok && len(choices) > 0 && inner == nil {
		first, _ := choices[0].(map[string]any)
		inner, _ = first["error"].(map[string]any)
	}
	p := problem{kind: word(inner["type"], inner["status"], outer["type"]), code: word(inner["code"], outer["code"])}
	p.daily = strings.Contains(word(inner["message"]), "per-day") // OpenRouter: free-models-per-day
	p.reported = inner != nil || word(outer["error"]) != ""
	p.message = word(inner["message"], inner["detail"], outer["error"], outer["message"], outer["detail"], inner["code"])
	nested, _ := outer["message"].(map[string]any) // Mistral
	for _, detail := range []any{outer["detail"], nested["detail"], inner["detail"]} {
		message, name := invalidField(detail)
		p.message = cmp.Or(p.message, message)
		if name != "" {
			p.names = append(p.names, name)
		}
	}
	if name := word(inner["param"], outer["param"]); name != "" {
		p.names = append(p.names, name)
	}
	if meta, ok := inner["metadata"].(map[string]any); ok { // OpenRouter: the message of the model's host
		if upstream := word(meta["raw"]); upstream != "" {
			p.message += ": " + upstream
		}
	}
	if details, ok := inner["details"].([]any); ok {
		for _, d := range details {
			info, _ := d.(map[string]any)
			if d, err := time.ParseDuration(word(info["retryDelay"])); err == nil {
				p.retry = wait(d.Seconds())
			}
			violations, _ := info["violations"].([]any)
			for _, v := range violations {
				violation, _ := v.(map[string]any)
				p.daily = p.daily || strings.Contains(word(violation["quotaId"]), "PerDay")
			}
		}
	}
	if p.message == "" && outer["error"] == nil {
		p.message = plain(body)
	}
	return p
}

// invalidField returns the message of the first of FastAPI's validation errors, and the name of the field.
func invalidField(detail any) (message, name string) {
	list, _ := detail.([]any)
	if len(list) == 0 {
		return "", ""
	}
	first, _ := list[0].(map[string]any)
	message = word(first["msg"])
	if at, ok := first["loc"].([]any); ok {
		message = strings.Trim(fmt.Sprint(at), "[]") + ": " + message
		for _, step := range at {
			if s := word(step); s != "body" && name == "" {
				name = s
			}
		}
	}
	return message, name
}

func word(vs ...any) string {
	for _, v := range vs {
		switch v := v.(type) {
		case string:
			if v != "" {
				return v
			}
		case float64:
			return fmt.Sprint(v)
		}
	}
	return ""
}

// status returns the HTTP status that an error sent as a success should have had; 0 if none.
func (p problem) status() int {
	if status, err := strconv.Atoi(p.code); err == nil && status >= 400 && status < 600 {
		return status
	}
	if !p.reported {
		return 0
	}
	what := p.kind + " " + p.code
	for _, c := range []struct {
		part   string
		status int
	}{{"rate_limit", 429}, {"overloaded", 529}, {"auth", 401}, {"insufficient_quota", 402}, {"content_filter", 400},
		{"invalid_", 400}} {
		if strings.Contains(what, c.part) {
			return c.status
		}
	}
	return 500
}

// says reports whether the problem's code or type is one of these codes, or its message contains one of the phrases.
func (p problem) says(codes []string, phrases ...string) bool {
	return slices.Contains(codes, p.code) || slices.Contains(codes, p.kind) ||
		slices.ContainsFunc(phrases, func(phrase string) bool { return strings.Contains(p.message, phrase) })
}

// flagged reports whether a content filter stopped the prompt, which is the provider's answer and not a fault.
func (p problem) flagged() bool {
	return p.says([]string{
		"content_filter", "content_policy_violation", // OpenAI, Azure; Moonshot, as the type
		"data_inspection_failed", "DataInspectionFailed", // Qwen
		"1301", // Z.ai
	},
		"was flagged",               // OpenAI (invalid_prompt), OpenRouter
		"content filtering policy",  // Anthropic
		"Content Exists Risk",       // DeepSeek
		"content management policy", // Azure
		"SAFETY_CHECK_TYPE_",        // xAI
		"violates usage guidelines", // xAI
		"inappropriate content",     // Qwen
		"considered high risk",      // Moonshot
	)
}

// unpaid reports whether the account has no credit, so that waiting does not help.
func (p problem) unpaid() bool {
	p.message = strings.ToLower(p.message)
	return p.says([]string{"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "billing_error",
		"insufficient_balance"}, "credit balance is too low", "spend limit", "spending limit")
}

var (
	headline = lazyregexp.New(`(?is)<(title|h1)[^>]*>(.*?)</(?:title|h1)>`)
	tag      = lazyregexp.New(`(?s)<[^>]*>`)
	ignored  = lazyregexp.New(`(?is)<(script|style)\b.*?</(?:script|style)>`)
)

func title(page []byte) string {
	page = page[:min(len(page), 1<<16)]
	for _, m := range headline().FindAllSubmatch(page, -1) {
		if t := plain([]byte(html.UnescapeString(string(tag().ReplaceAll(m[2], nil))))); t != "" {
			return t
		}
	}
	page = tag().ReplaceAll(ignored().ReplaceAll(page, nil), []byte(" "))
	return plain([]byte(html.UnescapeString(string(page))))
}

func plain(text []byte) string {
	text = text[:min(len(text), 1<<16)]
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(string(text), "?"), func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " ")
}

// quote returns the server's message for display: without secrets, on one line, short.
func (e *Endpoint) quote(p problem) string {
	text := []rune(e.hidden().hide(plain([]byte(p.message))))
	if len(text) > longestQuote {
		text = append(text[:longestQuote], '…')
	}
	switch {
	case len(text) == 0:
		return "with no explanation"
	case p.page:
		return "an HTML page: " + fmt.Sprintf("%q", string(text))
	}
	return `"` + strings.ReplaceAll(string(text), `"`, "'") + `"`
}

// Quote returns a server's text for display.
func (e *Endpoint) Quote(text string) string { return e.quote(problem{message: text}) }

const longestQuote = 300

// param returns our name for the parameter that the server refused, or "". It is the one that the server names as the
// culprit or, if its message only mentions it, the first parameter in a sentence of refusal.
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

// ourName returns our name for a server's: generationConfig.topP, reasoning.effort, messages[0].role.
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

// special are wordings in which the first parameter is not the one to drop.
var special = []wording{
	// Claude 4: the second one has to go
	{crosstalk.ParamTopP, lazyregexp.New(`(?i)temperature\W+and\W+top_p\W+cannot both`)},
	{crosstalk.ParamTopP, lazyregexp.New(`(?i)top_p must be 1 when using greedy`)},               // Mistral
	{crosstalk.ParamReasoning, lazyregexp.New(`(?i)max_tokens\W+must be greater .*budget`)},      // Claude
	{crosstalk.ParamReasoning, lazyregexp.New(`(?i)enable_thinking\W+must be set to false for`)}, // Qwen
	// chat templates with two roles
	{crosstalk.ParamSystem, lazyregexp.New(`(?i)roles must alternate`)},
}

// template matches errors of a chat template, which always refuses; llama.cpp and SGLang report them as 500.
var template = lazyregexp.New(`(?i)jinja|TemplateError|raise_exception`)

var refusal = lazyregexp.New(`(?i)not support|n't support|unsupported|not allow|n't allow|not permit|not enabled|` +
	`not available|not accept|invalid|deprecated|unknown|unrecogni[sz]ed|cannot|can not|can't|forbid|must |only |` +
	`unexpected|out of range|not a valid|extra inputs|incompatible|should be|disabled|greater than|at most`)

// mentions match a parameter in a sentence. A word of everyday English needs quotes or "parameter" beside it.
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
