package endpoint

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

var problems = []struct{ name, body, quote string }{
	{"OpenAI", `{"error":{"message":"Incorrect API key","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`, `"Incorrect API key"`},
	{"Anthropic", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"r"}`, `"Overloaded"`},
	{"Gemini", `[{"error":{"code":429,"message":"Quota","status":"RESOURCE_EXHAUSTED","details":[{"@type":"x"},{"retryDelay":"34.5s"}]}}]`, `"Quota"`},
	{"Ollama", `{"error":"model 'x' not found"}`, `"model 'x' not found"`},
	{"Mistral", `{"object":"error","message":"Invalid model: x","type":"invalid_model","code":"1500"}`, `"Invalid model: x"`},
	{"Mistral, nested", `{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","seed"],"msg":"Extra inputs are not permitted"}]}}`,
		`"body seed: Extra inputs are not permitted"`},
	{"FastAPI", `{"detail":[{"loc":["body","n",0],"msg":"too large"}]}`, `"body n 0: too large"`},
	{"FastAPI, text", `{"detail":"Not Found"}`, `"Not Found"`},
	{"OpenRouter", `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"bad temperature"}}}`, `"Provider returned error: bad temperature"`},
	{"page", "<!DOCTYPE html>\n<html><head><title>502 Bad\nGateway</title></head><body>x</body></html>", `an HTML page: "502 Bad Gateway"`},
	{"page with a headline", `<html><body><h1 class="a">Not <b>found</b> &amp; gone</h1><p>long</p></body></html>`, `an HTML page: "Not found & gone"`},
	{"page without", `<html><style>p{}</style><script>var a = "b"</script><body><p>Access denied</p></body></html>`, `an HTML page: "Access denied"`},
	{"text", "404 page not found\n", `"404 page not found"`},
	{"control characters", "a\x1b[31mb\x00c", `"a [31mb c"`},
	{"nothing", "  ", "with no explanation"},
	{"null", "null", `"null"`},
	{"no error", `{"error":null}`, `"{'error':null}"`},
	{"binary", "\xff\xfe\x80", `"?"`},
	{"long", strings.Repeat("ä", 1000), `"` + strings.Repeat("ä", longestQuote) + `…"`},
}

func TestReadProblem(t *testing.T) {
	e := &Endpoint{}
	for _, c := range problems {
		p := readProblem([]byte(c.body))
		if got := e.quote(p); got != c.quote {
			t.Errorf("%s: %s, want %s", c.name, got, c.quote)
		}
		if want := 34500 * time.Millisecond; c.name == "Gemini" && p.retry != want {
			t.Errorf("Gemini's wait: %v, want %v", p.retry, want)
		}
	}
}

func TestParam(t *testing.T) {
	message := func(m string) string {
		b, _ := json.Marshal(map[string]any{"error": map[string]any{"message": m}})
		return string(b)
	}
	for _, c := range []struct{ body, want string }{
		{`{"error":{"message":"Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.","param":"temperature","code":"unsupported_value"}}`, "temperature"},
		{`{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens","code":"unsupported_parameter"}}`, "max_tokens"},
		{message("Unsupported parameter: 'top_p' is not supported with this model."), "top_p"},
		{message("Unsupported parameter: 'stop' is not supported with this model."), "stop"},
		{`{"error":{"message":"You are not allowed to request logprobs from this model","param":null,"code":null}}`, "logprobs"},
		{`{"error":{"message":"Unsupported value: 'none'","param":"reasoning.effort"}}`, "reasoning"},
		{`{"error":{"message":"Unsupported value: 'messages[0].role' does not support 'system' with this model.","param":"messages[0].role"}}`, "system"},
		{`{"type":"error","error":{"type":"invalid_request_error","message":"` + "`temperature` and `top_p`" + ` cannot both be specified for this model. Please use only one."}}`, "top_p"},
		{message("`temperature` is deprecated for this model."), "temperature"},
		{message("`temperature` may only be set to 1 when thinking is enabled."), "temperature"},
		{message("`max_tokens` must be greater than `thinking.budget_tokens`."), "reasoning"},
		{message("thinking.type.disabled is not supported for this model"), "reasoning"},
		{message("top_k: Extra inputs are not permitted"), ""},
		{`[{"error":{"code":400,"message":"Invalid JSON payload received. Unknown name \"seed\": Cannot find field.","status":"INVALID_ARGUMENT"}}]`, "seed"},
		{message("Logprobs is not enabled for this model"), "logprobs"},
		{message("Developer instruction is not enabled for models/gemma-3-1b-it"), "system"},
		{`{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","seed"],"msg":"Extra inputs are not permitted"}]}}`, "seed"},
		{`{"detail":[{"type":"extra_forbidden","loc":["body","logprobs"],"msg":"Extra inputs are not permitted"}]}`, "logprobs"},
		{`{"object":"error","message":"top_p must be 1 when using greedy sampling.","type":"invalid_request_error","code":"3051"}`, "top_p"},
		{message("invalid temperature: only 1 is allowed for this model"), "temperature"},
		{`{"code":"Client specified an invalid argument","error":"Model grok-4 does not support parameter stop."}`, "stop"},
		{`{"error":"Argument not supported on this model: stop"}`, "stop"},
		{message("parameter.enable_thinking must be set to false for non-streaming calls"), "reasoning"},
		{message("litellm.UnsupportedParamsError: openai does not support parameters: ['logprobs', 'seed'], for model=gpt-5."), "logprobs"},
		{message("litellm.UnsupportedParamsError: gpt-5 models (including gpt-5-codex) don't support temperature=0.0. Only temperature=1 is supported."), "temperature"},
		{`{"error":{"code":"1210","message":"Invalid API parameter, please check: temperature should be in [0, 1]"}}`, "temperature"},
		{message("'logprobs' is not supported with this model"), "logprobs"},
		{message("System role not supported"), "system"},
		{`{"error":{"code":500,"message":"\n------------\nWhile executing CallExpression at line 1, column 2 in source:\nError: Jinja Exception: System role not supported","type":"server_error"}}`, "system"},
		{message("Conversation roles must alternate user/assistant/user/assistant/..."), "system"},
		{`{"object":"error","message":"Requested sample logprobs of 25, which is greater than max allowed: 20","type":"BadRequestError","param":null,"code":400}`, "logprobs"},
		{`{"object":"error","message":"Cannot request more than 5 logprobs.","type":"BadRequestError","param":null,"code":400}`, "logprobs"},
		{message("Gaudi doesn't support logprobs. Please remove 'logprobs'/'top_logprobs' from your request to receive a response."), "logprobs"},
		{`{"error":{"message":"bad value","param":"top_p"}}`, "top_p"},
		{`{"error":{"message":"bad value","param":"generationConfig.maxOutputTokens"}}`, "max_tokens"},
		{message("seed: Extra inputs are not permitted"), "seed"},
		{message("reasoning_effort is not supported by this model"), "reasoning"},

		{message("This model's maximum context length is 8192 tokens. max_tokens must be reduced"), ""},
		{message("The model deepseek-reasoning-1 does not exist, or is not supported"), ""},
		{message("Stop: this is not allowed"), ""},
		{message("Invalid API key"), ""},
		{message("temperature looks good"), ""},
		{`{"error":{"message":"Invalid 'messages': empty array.","param":"messages"}}`, ""},
	} {
		if got := readProblem([]byte(c.body)).param(); got != c.want {
			t.Errorf("%s: %q, want %q", c.body, got, c.want)
		}
	}
}

func FuzzReadProblem(f *testing.F) {
	for _, c := range problems {
		f.Add([]byte(c.body))
	}
	f.Add([]byte(`[]`))
	f.Add([]byte(`{"error":{"details":[7],"metadata":{"raw":1}},"detail":[null]}`))
	e := &Endpoint{secrets: secrets{"sk-0123456789"}}
	f.Fuzz(func(t *testing.T, body []byte) {
		p := readProblem(body)
		p.param()
		if s := p.status(); s != 0 && (s < 400 || s > 599) {
			t.Fatalf("status %d", s)
		}
		q := e.quote(p)
		if !utf8.ValidString(q) || utf8.RuneCountInString(q) > longestQuote+20 || strings.ContainsAny(q, "\n\r\x1b") {
			t.Fatalf("%q", q)
		}
		if strings.Contains(q, "sk-01234") {
			t.Fatalf("a part of the key is quoted: %s", q)
		}
	})
}
