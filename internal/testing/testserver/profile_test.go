package testserver

import (
	"encoding/json"
	"path"
	"strings"
	"testing"
)

// Each family refuses in its provider's words.
func TestRefusals(t *testing.T) {
	s := start(t, Options{})
	for _, c := range []struct {
		model, more string // the model and more parameters
		status      int
		want        string // a part of the body
	}{
		{"gpt-4o", `"temperature":0,"top_p":0.75,"seed":1,"stop":["x"],"logprobs":true`, 200, `"logprobs":{`},
		{"gpt-5-mini", `"temperature":0`, 400, `"param":"temperature"`},
		{"gpt-5-mini", `"temperature":1`, 200, `"reasoning_tokens":390`},
		{"gpt-5-mini", `"max_tokens":9`, 400, "Use 'max_completion_tokens' instead"},
		{"o4-mini", `"logprobs":true`, 403, "not allowed to request logprobs"},
		{"o4-mini", `"max_completion_tokens":100`, 400, "Could not finish the message because max_tokens"},
		{"gpt-5", `"max_completion_tokens":100`, 200, `"finish_reason":"length"`},
		{"gpt-5.1", `"temperature":0`, 200, `"reasoning_tokens":0`},
		{"gpt-5.1", `"temperature":0,"reasoning_effort":"high"`, 400, `"param":"temperature"`},
		{"gpt-5.6-sol", `"temperature":0`, 400, `"param":"temperature"`},
		{"gpt-5.6-sol", `"temperature":0,"reasoning_effort":"none"`, 200, `"reasoning_tokens":0`},
		{"gpt-6-astra", `"reasoning_effort":"none"`, 400, `"param":"reasoning_effort"`},
		{"google/gemini-3.5-flash", `"seed":1`, 400, `[{"error":{"code":400`},
		{"gemini-3.5-flash", `"logprobs":true`, 400, "Logprobs is not enabled"},
		{"gemini-3.5-flash", `"max_tokens":100`, 200, `"completion_tokens":0,`},
		{"mistral-large", `"seed":1`, 422, `"loc":["body","seed"]`},
		{"mistral-large", `"temperature":0,"top_p":0.75`, 400, "top_p must be 1 when using greedy sampling"},
		{"mistral-large", `"temperature":2`, 422, `"loc":["body","temperature"]`},
		{"magistral-medium", ``, 200, `"type":"thinking"`},
		{"deepseek-v4-pro", ``, 200, `"reasoning_content":"The user`},
		{"deepseek-v4-pro", `"thinking":{"type":"disabled"}`, 200, `"reasoning_tokens":0`},
		{"grok-4.3", `"stop":[]`, 400, "does not support parameter stop"},
		{"qwen3-32b", ``, 400, "enable_thinking must be set to false"},
		{"kimi-k2.6", `"temperature":0`, 400, "invalid temperature: only 1 is allowed"},
		{"kimi-k2.6", `"temperature":1,"thinking":{"type":"disabled"}`, 400, "only 0.6 is allowed"},
		{"glm-5.2", `"temperature":1.5`, 400, `"1210"`},
		{"minimax-m2", ``, 200, `"content":"<think>\nThe user`},
		{"lone-x", ``, 200, `\n</think>\n\n`},
		{"raw-gpt-oss", ``, 200, `<|channel|>analysis<|message|>`},
		{"openrouter-x", `"logprobs":true`, 200, `"reasoning_details":[`},
		{"litellm-x", `"seed":1`, 400, "UnsupportedParamsError"},
	} {
		more := c.more
		if more != "" {
			more = "," + more
		}
		r := post(s, chatPath, `{"model":"`+c.model+`","messages":[{"role":"user","content":"hi"}]`+more+`}`)
		if r.status != c.status || !strings.Contains(string(r.body), c.want) {
			t.Errorf("%s %s: %d %s, want %d %s", c.model, c.more, r.status, r.body, c.status, c.want)
		}
	}
	if r := post(start(t, Options{Profile: NoProfile}), chatPath, `{"model":"gpt-5","temperature":0,"messages":[{"role":"user","content":"hi"}]}`); r.status != 200 {
		t.Errorf("without profiles: %d %s", r.status, r.body)
	}
	if r := post(start(t, Options{Profile: "gpt-5"}), chatPath, `{"model":"x","temperature":0,"messages":[{"role":"user","content":"hi"}]}`); r.status != 400 {
		t.Errorf("every model is GPT-5: %d %s", r.status, r.body)
	}
	if _, err := Listen("127.0.0.1:0", Options{Profile: "gpt-7"}); err == nil || !strings.Contains(err.Error(), `unknown profile "gpt-7": want one of none, o-series, gpt-5,`) {
		t.Errorf("unknown profile: %v", err)
	}
}

func TestProfilesAreReachable(t *testing.T) {
	s := start(t, Options{})
	names := map[string]bool{}
	for _, p := range data().Profiles {
		if names[p.Name] {
			t.Errorf("two profiles are called %s", p.Name)
		}
		names[p.Name] = true
		for _, pattern := range p.Models {
			if _, err := path.Match(pattern, ""); err != nil || pattern != strings.ToLower(pattern) {
				t.Errorf("%s: pattern %s", p.Name, pattern)
			}
			model := strings.NewReplacer("*", "", "[1-4]", "1", "[78]", "7", "[156]", "5", "[5-6]", "5", "[5-8]", "5", "[56]", "5").Replace(pattern)
			if p.Name == "claude-4.5" || p.Name == "claude-5" {
				model = strings.Replace(pattern, "*", "x", 1)
				model = strings.NewReplacer("*", "", "[156]", "5").Replace(model)
			}
			if got := s.opts.profileOf(model); got.Name != p.Name {
				t.Errorf("%s: model %s has the profile %v", p.Name, model, got)
			}
		}
	}
}

func TestResponses(t *testing.T) {
	s := start(t, Options{})
	r := post(s, responsesPath, `{"model":"gpt-4o","instructions":"Be brief.","input":[{"role":"user","content":"hi"}],"include":["message.output_text.logprobs"],"top_logprobs":2}`)
	m := r.json(t)
	wantPath(t, m, "completed", "status")
	wantPath(t, m, "output_text", "output", 0, "content", 0, "type")
	if logprobs, _ := json.Marshal(at(m, "output", 0, "content", 0, "logprobs")); !strings.Contains(string(logprobs), "top_logprobs") {
		t.Errorf("logprobs %s", logprobs)
	}
	m = post(s, responsesPath, `{"model":"gpt-5","input":"hi","max_output_tokens":100}`).json(t)
	wantPath(t, m, "incomplete", "status")
	wantPath(t, m, "max_output_tokens", "incomplete_details", "reason")
	wantPath(t, m, "reasoning", "output", 0, "type")
	for _, body := range []string{`{"model":"m"}`, `{"model":"m","input":7}`, `{"model":"m","input":"a","seed":1}`} {
		if r := post(s, responsesPath, body); r.status != 400 {
			t.Errorf("%s: %d %s", body, r.status, r.body)
		}
	}
}

// Losses that no error tells of.
func TestSilentLosses(t *testing.T) {
	s := start(t, Options{Context: 50, System: "Be kind.", Serves: "other", Ignores: []string{"logprobs", "top_logprobs"}, NoList: true})
	ask := func(path, prompt string) string {
		r := post(s, path, `{"model":"m","max_tokens":20,"logprobs":true,"top_logprobs":2,"messages":[{"role":"user","content":"`+prompt+`"}]}`)
		if r.status != 200 || !strings.Contains(string(r.body), `"model":"other"`) {
			t.Errorf("%s: %d %s", path, r.status, r.body)
		}
		return string(r.body)
	}
	if got := ask(chatPath, "hi"); !strings.Contains(got, `"prompt_tokens":15,`) || !strings.Contains(got, `"logprobs":null`) {
		t.Error(got)
	}
	for _, words := range []int{100, 200} {
		if got := ask(chatPath, strings.Repeat("word ", words)); !strings.Contains(got, `"prompt_tokens":50,`) {
			t.Errorf("%d words: %s", words, got)
		}
	}
	if r := do(t.Context(), s, "GET", modelsPath, ""); r.status != 404 {
		t.Errorf("list: %d %s", r.status, r.body)
	}
}
