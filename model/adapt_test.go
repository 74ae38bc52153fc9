package model

import (
	"fmt"
	"path"
	"strings"
	"testing"

	"crosstalk"

	"github.com/goccy/go-yaml"
)

// full is a request with every parameter.
func full() crosstalk.PromptConfig {
	temperature, topP, seed := 0.0, 0.75, int64(1)
	return crosstalk.PromptConfig{API: crosstalk.Chat, System: "Be brief.", Logprobs: 5,
		Decoding: crosstalk.Decoding{Temperature: &temperature, TopP: &topP, Seed: &seed, MaxTokens: 100, Stop: []string{"\n"}}}
}

func said(changes []Change) string {
	var all []string
	for _, c := range changes {
		all = append(all, c.String())
	}
	return strings.Join(all, "\n")
}

func TestAdapt(t *testing.T) {
	for _, c := range []struct{ name, reasoning, want string }{
		{"openai:gpt-4o-mini", "", ""},
		{"ollama:llama3.2:1b", "", ""},
		{"reference:leaky", "", ""},
		{"openai:gpt-5-mini", "", "max_tokens 100 is sent as 4100: gpt-5-mini thinks, and has 4000 tokens for it; longer answers are cut when they arrive\n" +
			"temperature 0 is not sent: gpt-5-mini takes only its default\ntop_p 0.75 is not sent: gpt-5-mini takes only its default\n" +
			"stop [\"\\n\"] is not sent: gpt-5-mini takes none; answers are cut at it when they arrive\nlogprobs 5 is not sent: gpt-5-mini gives none"},
		{"openrouter:openai/gpt-5-mini", "off", "reasoning off is not sent: openai/gpt-5-mini always thinks\nmax_tokens 100 is sent as 4100\ntemperature\ntop_p\nstop\nlogprobs"},
		{"openai:gpt-5-chat-latest", "", ""},
		{"openai:gpt-5.1", "", "stop"},
		{"openai:gpt-5.1", "high", "max_tokens 100 is sent as 8100: gpt-5.1 thinks\ntemperature 0 is not sent: gpt-5.1 takes only its default while it thinks\ntop_p\nstop\nlogprobs 5 is not sent: gpt-5.1 gives none while it thinks"},
		{"openai:gpt-5.6-sol", "", "max_tokens\ntemperature\ntop_p\nstop\nlogprobs"},
		{"openai:gpt-5.6-sol", "off", "stop"},
		{"openai:gpt-6-astra", "off", "reasoning off is not sent: gpt-6-astra always thinks\nmax_tokens\ntemperature\ntop_p\nstop\nlogprobs"},
		{"anthropic:claude-sonnet-4-5-20250929", "", "top_p 0.75 is not sent: claude-sonnet-4-5-20250929 does not take it together with a temperature\nseed 1 is not sent\nlogprobs"},
		{"bedrock:us.anthropic.claude-haiku-4-5", "low", "max_tokens 100 is sent as 2100\ntemperature\ntop_p\nseed\nlogprobs"},
		{"anthropic:claude-opus-4-7", "", "temperature\ntop_p\nseed\nlogprobs"},
		{"anthropic:claude-sonnet-5", "", "max_tokens 100 is sent as 4100\ntemperature\ntop_p\nseed\nlogprobs"},
		{"anthropic:claude-sonnet-5", "off", "temperature\ntop_p\nseed\nlogprobs"},
		{"anthropic:claude-opus-5-5", "off", "reasoning off is not sent: claude-opus-5-5 always thinks\nmax_tokens\ntemperature\ntop_p\nseed\nlogprobs"},
		{"anthropic:something-new", "", "seed\nlogprobs"},
		{"gemini:gemini-2.5-pro", "off", "reasoning off\nmax_tokens\nseed\nlogprobs"},
		{"gemini:gemini-2.5-flash", "off", "seed\nlogprobs"},
		{"gemini:gemma-3-27b-it", "", "seed\nsystem message is sent as a part of the prompt: gemma-3-27b-it takes no system message"},
		{"mistral:mistral-large-2512", "", "top_p 0.75 is not sent: mistral-large-2512 does not take it with temperature 0, where it has no effect\nlogprobs"},
		{"mistral:mistral-medium-3.5", "", "temperature 0 is sent as 0.01: mistral-medium-3.5 takes 0.01 to 1.5\nlogprobs"},
		{"deepseek:deepseek-v4-pro", "", "max_tokens\ntemperature 0 is not sent: deepseek-v4-pro ignores it while it thinks\ntop_p\nlogprobs"},
		{"deepseek:deepseek-v4-pro", "off", ""},
		{"deepseek:deepseek-v4-pro", "low", "reasoning low is not sent: deepseek-v4-pro takes only off, high\nmax_tokens\ntemperature\ntop_p\nlogprobs"},
		{"xai:grok-4.3", "", "max_tokens 100 is sent as 4100\nstop"},
		{"xai:grok-4.20", "high", "reasoning high is not sent: grok-4.20 cannot be told how much to think\nmax_tokens\nstop"},
		{"qwen:qwen3-32b", "", "reasoning is sent as off: qwen3-32b can only be asked so"},
		{"vllm:Qwen/Qwen3-8B", "", "max_tokens 100 is sent as 4100"},
		{"vllm:Qwen/Qwen3-8B", "off", ""},
		{"vllm:Qwen/Qwen2.5-7B-Instruct", "", ""},
		{"moonshot:kimi-k2.6", "off", "temperature\ntop_p"},
		{"together:moonshotai/Kimi-K2.6", "off", ""},
		{"moonshot:kimi-k3", "", "max_tokens 100 is sent as 16100\ntemperature\ntop_p"},
		{"zai:glm-5.2", "off", ""},
		{"minimax:MiniMax-M2.7", "", "max_tokens 100 is sent as 4100"},
		{"groq:llama-3.3-70b-versatile", "", "logprobs"},
		{"vllm:google/gemma-2-9b-it", "", "system message"},
		{"cohere:command-a", "", ""},
	} {
		p := full()
		p.Decoding.Reasoning = c.reasoning
		got, changes := Adapt(c.name, p, nil)
		want := strings.Split(c.want, "\n")
		if c.want == "" {
			want = nil
		}
		text := said(changes)
		if len(changes) != len(want) {
			t.Errorf("%s %s:\n got %s\nwant %s", c.name, c.reasoning, text, c.want)
			continue
		}
		for i := range want {
			if !strings.HasPrefix(changes[i].String(), want[i]) {
				t.Errorf("%s %s:\n got %s\nwant %s", c.name, c.reasoning, text, c.want)
			}
		}
		// What was adapted needs nothing more but the notes of what the answer keeps.
		if _, again := Adapt(c.name, got, nil); len(again) > strings.Count(text, "stop [") {
			t.Errorf("%s %s: adapted again: %s", c.name, c.reasoning, said(again))
		}
	}
}

func TestAdaptDetails(t *testing.T) {
	p, _ := Adapt("gemini:gemma-3-4b-it", full(), nil)
	if p.System != "" || p.Prefix != "Be brief.\n\n" {
		t.Errorf("the system message went to %q", p.Prefix)
	}
	before := full()
	before.Decoding.Reasoning = "off"
	if p, _ = Adapt("gemini:gemini-2.5-pro", before, nil); p.Decoding.Reasoning != "" ||
		p.Decoding.ReasoningTokens != 4000 || p.Decoding.Limit() != 4100 {
		t.Errorf("%+v", p.Decoding)
	}
	if before.Decoding.Reasoning != "off" || *before.Decoding.Temperature != 0 {
		t.Error("Adapt changed its argument")
	}
	// Parameters that the user sets as they are say whether the model thinks.
	raw := full()
	raw.Decoding.Extra = map[string]any{"reasoning_effort": "none"}
	if _, changes := Adapt("openai:gpt-5.6-sol", raw, nil); len(changes) != 1 {
		t.Errorf("with reasoning_effort none: %s", said(changes))
	}
	// The user's room is kept, and no limit needs none.
	own := full()
	own.Decoding.ReasoningTokens = 77
	if p, changes := Adapt("openai:gpt-5", own, nil); p.Decoding.ReasoningTokens != 77 || strings.Contains(said(changes), "max_tokens") {
		t.Errorf("%+v: %s", p.Decoding, said(changes))
	}
	own.Decoding.MaxTokens, own.Decoding.ReasoningTokens = 0, 0
	if p, _ := Adapt("openai:gpt-5", own, nil); p.Decoding.ReasoningTokens != 0 {
		t.Errorf("%+v", p.Decoding)
	}
	api := full()
	api.API = crosstalk.Responses
	if p, changes := Adapt("openai:gpt-4o", api, nil); p.Decoding.Seed != nil || len(changes) != 2 || !changes[0].Keeps ||
		changes[1].Keeps {
		t.Errorf("responses: %s", said(changes))
	}
	// The user's entries come last.
	yes := true
	families := []Family{{Name: "mine", Models: []string{"gpt-5-mini*"},
		Takes: Takes{Temperature: "0.5-1", Logprobs: &yes}, Reasoning: Reasoning{Default: "off"}}}
	if p, changes := Adapt("openai:gpt-5-mini", full(), families); *p.Decoding.Temperature != 0.5 || p.Logprobs != 5 ||
		p.Decoding.ReasoningTokens != 0 {
		t.Errorf("%+v: %s", p, said(changes))
	}
}

func TestWithout(t *testing.T) {
	for param, want := range map[string]string{
		"temperature": "temperature 0 is not sent: m refused it", "top_p": "top_p 0.75 is not sent: m refused it",
		"stop": `stop ["\n"] is not sent: m refused it`, "seed": "seed 1 is not sent: m refused it", "logprobs": "logprobs 5 is not sent: m refused it",
		"system": "system message is sent as a part of the prompt: m takes no system message",
	} {
		p, change, ok := Without("compatible:m", full(), param)
		if !ok || change.String() != want {
			t.Errorf("%s: %s, %v", param, change, ok)
		}
		if _, _, again := Without("compatible:m", p, param); again {
			t.Errorf("%s can be left out twice", param)
		}
	}
	p := full()
	p.Decoding.Reasoning = "low"
	p, c1, _ := Without("compatible:m", p, "reasoning")
	p, c2, ok := Without("compatible:m", p, "reasoning")
	if c1.String() != "reasoning low is not sent: m refused it" || c2.String() != "reasoning is sent as off: m refused to think here" || !ok || p.Decoding.Reasoning != "off" {
		t.Errorf("%s; %s", c1, c2)
	}
	for _, param := range []string{"max_tokens", "", "x"} {
		if _, _, ok := Without("compatible:m", full(), param); ok {
			t.Errorf("%q cannot be left out", param)
		}
	}
}

func TestWithRoom(t *testing.T) {
	p, c, ok := WithRoom("compatible:m", full(), nil)
	if !ok || p.Decoding.ReasoningTokens != DefaultHeadroom || !c.Keeps || !strings.HasPrefix(c.String(), "max_tokens 100 is sent as 4100: m thinks") {
		t.Errorf("%+v: %s", p, c)
	}
	if _, _, ok := WithRoom("compatible:m", p, nil); ok {
		t.Error("room is given twice")
	}
	for _, a := range []crosstalk.Answer{{Reasoning: "hm"}, {Usage: crosstalk.Usage{Reasoning: 1}},
		{Status: crosstalk.Empty, Reason: crosstalk.Thinking}} {
		if !a.Thought() {
			t.Errorf("%+v shows no thoughts", a)
		}
	}
	if (crosstalk.Answer{Status: crosstalk.Text, Text: "a"}).Thought() {
		t.Error("a plain answer shows thoughts")
	}
}

// The table is well formed, has sources, and each pattern says something.
func TestFamilies(t *testing.T) {
	families, date := Families()
	if len(date) != len("2026-11-22") || len(families) < 40 {
		t.Errorf("%d families of %s", len(families), date)
	}
	seen := map[string]bool{}
	for _, f := range families {
		if err := f.validate(); err != nil {
			t.Error(err)
		}
		if len(f.Sources) == 0 || seen[f.Name] {
			t.Errorf("%s has no source, or is there twice", f.Name)
		}
		seen[f.Name] = true
		for _, m := range f.Models {
			if m != strings.ToLower(m) {
				t.Errorf("%s: pattern %s", f.Name, m)
			}
			if ok, err := path.Match(m, strings.NewReplacer("*", "", "?", ".").Replace(m)); !ok || err != nil {
				t.Errorf("%s: pattern %s: %v", f.Name, m, err)
			}
		}
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"[{name: a, models: [m], temperature: 0-2, top-p: alone, stop: false, reasoning: {default: on, levels: [off], headroom: 9, send: {off: {x: 1}}}}]", ""},
		{"[{models: [m]}]", "expected a name"},
		{"[{name: a}]", "a: expected providers or models that it is about"},
		{"[{name: a, providers: [opnai]}]", `a: providers: unknown provider "opnai"; choose one of: openai, anthropic`},
		{"[{name: a, models: ['[']}]", `a: models: "[" is not a pattern`},
		{"[{name: a, models: [m], temperature: hot}]", `a: temperature is "hot"; expected any, default, ignored, or a range such as 0-1`},
		{"[{name: a, models: [m], while-thinking: {top-p: 1-0}}]", `a: while-thinking.top-p is "1-0"; expected any, default, ignored, alone, sampling, or a range`},
		{"[{name: a, models: [m], max-tokens-name: limit}]", `max-tokens-name is "limit"; expected one of max_tokens, max_completion_tokens`},
		{"[{name: a, models: [m], reasoning: {default: much}}]", `reasoning.default is "much"; expected one of off, low, medium, high, on`},
		{"[{name: a, models: [m], reasoning: {levels: [on]}}]", `reasoning.levels is "on"; expected one of off, low, medium, high`},
		{"[{name: a, models: [m], reasoning: {send: {max: {}}}}]", `reasoning.send is "max"`},
		{"[{name: a, models: [m], reasoning: {use: x}}]", `reasoning.use is "x"`},
		{"[{name: a, models: [m], reasoning: {shown: x}}]", `reasoning.shown is "x"; expected one of field, text, parts, blocks, nowhere`},
		{"[{name: a, models: [m], reasoning: {headroom: -1}}]", `reasoning.headroom is -1`},
	} {
		var families []Family
		if err := yaml.UnmarshalWithOptions([]byte(c.text), &families, yaml.Strict()); err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		err := families[0].validate()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.text, err, c.want)
		}
	}
}

func TestSameModel(t *testing.T) {
	for _, c := range []struct {
		asked, served string
		same          bool
	}{
		{"gpt-4o-mini", "", true},
		{"gpt-4o-mini", "gpt-4o-mini-2024-07-18", true},
		{"gpt-4o-mini-2024-07-18", "gpt-4o-mini", true},
		{"gpt-4", "gpt-4-0613", true},
		{"gpt-4-0613", "gpt-4-1106", false},
		{"gpt-4o", "gpt-4o-mini", false},
		{"gpt-4o", "gpt-4o-mini-2024-07-18", false},
		{"gpt-4", "gpt-4-32k", false},
		{"claude-sonnet-4-5", "claude-sonnet-4-5-20250929", true},
		{"claude-sonnet-4", "claude-sonnet-4-5-20250929", false},
		{"anthropic/claude-opus-4.7", "claude-opus-4.7", true},
		{"us.anthropic.claude-haiku-4-5-20251001-v1:0", "claude-haiku-4-5-20251001", true},
		{"mistral-large-latest", "mistral-large-2512", true},
		{"mistral-large-latest", "mistral-medium-2512", false},
		{"models/gemini-2.0-flash", "gemini-2.0-flash-001", true},
		{"gemini-2.5-flash", "gemini-2.5-flash-preview-05-20", true},
		{"gemini-2.5-flash", "gemini-2.5-flash-lite", false},
		{"llama3.2", "llama3.2:latest", true},
		{"qwen2.5:7b", "qwen2.5:14b", false},
		{"meta-llama/llama-3.3-70b-instruct:free", "meta-llama/Llama-3.3-70B-Instruct", true},
		{"Qwen2.5-7B-Instruct", "/models/Qwen2.5-7B-Instruct-Q4_K_M.gguf", true},
		{"Qwen2.5-7B-Instruct", `C:\models\qwen2.5-7b-instruct.gguf`, true},
		{"deepseek-chat", "deepseek-v4-flash", false},
		{"gpt-5.1", "gpt-5", false},
	} {
		if got := SameModel(c.asked, c.served); got != c.same {
			t.Errorf("%s served as %s: %v", c.asked, c.served, got)
		}
	}
}

func TestParseHeader(t *testing.T) {
	getenv := env("TOKEN", " secret-1 ")
	h, secret, err := ParseHeader([]string{"x-portkey-provider=ollama", "X-Key=$TOKEN", "authorization=Bearer abc", "x-long=0123456789abc", "api-key=k"}, getenv)
	if err != nil || h.Get("X-Portkey-Provider") != "ollama" || h.Get("X-Key") != "secret-1" || h.Get("Authorization") != "Bearer abc" {
		t.Errorf("%v, %v", h, err)
	}
	if got := fmt.Sprint(secret); got != "[secret-1 Bearer abc abc 0123456789abc k]" {
		t.Errorf("secret are %s", got)
	}
	for text, want := range map[string]string{
		"sk-secret":        "expected a name, = and a value: NAME=VALUE or NAME=$VARIABLE",
		"X-Key: sk-secret": "expected a name, = and a value",
		"=v":               "expected a name, = and a value",
		"x y=v":            "what is before the first = is not the name of a header",
		"a/sk-secret==":    "what is before the first = is not the name of a header",
		"x=$sk-secret":     "--header x: the environment variable after $ is not set",
		"x=":               "--header x: expected a value after =",
		"x=$NONE":          "--header x: the environment variable NONE is not set",
		"x=sk-secret\n":    "--header x: the value contains a line break",
		"host=sk-secret":   "--header host: this header is set by the program",
	} {
		if _, _, err := ParseHeader([]string{text}, getenv); err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "sk-secret") {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if _, _, err := ParseHeader([]string{"a=1", "A=2"}, getenv); err == nil || !strings.Contains(err.Error(), "--header A is given twice") {
		t.Error(err)
	}
}
