package model

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/internal/testing/testserver"
)

func opened2(t *testing.T, s *testserver.Server, name string, api crosstalk.API) crosstalk.Model {
	t.Helper()
	m, err := Open(name, Options{BaseURL: s.URL + "/v1", API: api, Getenv: func(string) string { return "sk-0123456789" }})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// askAsIs asks, and drops what is refused until there is an answer.
func askAsIs(t *testing.T, m crosstalk.Model, name string, p crosstalk.PromptConfig) (a crosstalk.Answer,
	refused []string) {
	t.Helper()
	for range 9 {
		a, err := m.Answer(t.Context(), p.Request("His favourite food is", 0))
		if err == nil {
			return a, refused
		}
		var e *crosstalk.AskError
		if !errors.As(err, &e) || e.Param == "" {
			t.Fatalf("%s: %v", name, err)
		}
		refused = append(refused, e.Param)
		without, _, ok := Without(name, p, e.Param)
		if !ok {
			t.Fatalf("%s: nothing to leave out after %v", name, err)
		}
		p = without
	}
	t.Fatalf("%s: refused %v", name, refused)
	return a, nil
}

var served = []struct {
	name, reasoning string
	thinks          bool
	shown           bool // the thoughts come back
}{
	{"openai:gpt-4o-mini", "", false, false},
	{"openai:gpt-5-mini", "", true, false},
	{"openai:o4-mini", "low", true, false},
	{"openrouter:openai/gpt-5", "off", true, false},
	{"openai:gpt-5.1", "", false, false},
	{"openai:gpt-5.1", "high", true, false},
	{"openai:gpt-5.6-sol", "", true, false},
	{"openai:gpt-5.6-sol", "off", false, false},
	{"azure:gpt-6-astra", "off", true, false},
	{"bedrock:gpt-oss-120b", "", true, true},
	{"anthropic:claude-sonnet-4-5", "", false, false},
	{"anthropic:claude-sonnet-4-5", "low", true, true},
	{"anthropic:claude-opus-4-7", "", false, false},
	{"anthropic:claude-opus-4-7", "high", true, false},
	{"anthropic:claude-sonnet-5", "", true, false},
	{"anthropic:claude-sonnet-5", "off", false, false},
	{"anthropic:claude-opus-5-5", "off", true, false},
	{"gemini:gemini-3.5-flash", "", true, false},
	{"gemini:gemini-2.5-flash", "off", false, false},
	{"vertex:google/gemini-2.5-flash", "", true, false},
	{"mistral:mistral-large-2512", "", false, false},
	{"mistral:mistral-medium-3.5", "", false, false},
	{"mistral:mistral-small-2603", "high", true, true},
	{"mistral:magistral-medium-2509", "", true, true},
	{"deepseek:deepseek-v4-pro", "", true, true},
	{"deepseek:deepseek-v4-pro", "off", false, false},
	{"xai:grok-4.3", "off", false, false},
	{"xai:grok-4.20", "", true, false},
	{"qwen:qwen3-32b", "", false, false},
	{"qwen:qwen3.5-plus", "", true, true},
	{"qwen:qwen3.5-plus", "off", false, false},
	{"moonshot:kimi-k2.6", "", true, true},
	{"moonshot:kimi-k2.6", "off", false, false},
	{"moonshot:kimi-k3", "", true, true},
	{"zai:glm-5.2", "", true, true},
	{"zai:glm-5.2", "off", false, false},
	{"minimax:MiniMax-M2.7", "", true, true},
	{"groq:groq-qwen3", "", true, true},
	{"litellm:litellm-x", "", false, false},
	{"vllm:google/gemma-2-9b-it", "", false, false},
}

// Each family at a server that refuses what its provider refuses, and thinks
// as it does: what Adapt makes of a request is answered at the first try, the
// answer is the visible one and within the limit, and thoughts are apart.
func TestFamiliesServed(t *testing.T) {
	long := strings.Repeat("one two three four five six seven eight nine ten ", 3)
	s := testserver.New(testserver.Options{Answer: func(testserver.Request) testserver.Reply {
		return testserver.Reply{Text: long}
	}})
	defer s.Close()
	for _, c := range served {
		name := c.name + " " + c.reasoning
		m := opened2(t, s, c.name, "")
		p := full()
		p.Logprobs, p.Decoding.Seed = 0, nil
		p.Decoding.MaxTokens, p.Decoding.Reasoning, p.Decoding.Stop = 10, c.reasoning, []string{"##"}
		p, changes := Adapt(c.name, p, nil)
		before := s.Stats().Attempts
		a, refused := askAsIs(t, m, c.name, p)
		unknown := c.name == "litellm:litellm-x" || c.name == "groq:groq-qwen3"
		if tries := s.Stats().Attempts - before; tries > 1 && !unknown {
			t.Errorf("%s: %d tries, refused %v after\n%s", name, tries, refused, said(changes))
		}
		if unknown && p.Decoding.ReasoningTokens == 0 && a.Status == crosstalk.Empty { // found out by asking
			if a.Reason != crosstalk.Thinking {
				t.Errorf("%s: %+v", name, a)
			}
			p, _, _ = WithRoom(c.name, p, nil)
			a, _ = askAsIs(t, m, c.name, p)
		}
		words := len(strings.Fields(a.Text))
		if a.Status != crosstalk.Text || !strings.HasPrefix(long, a.Text) || words < 8 || words > 12 ||
			a.Finish != crosstalk.FinishLength {
			t.Errorf("%s: %d words, %s, %s: %q", name, words, a.Status, a.Finish, a.Text)
		}
		// Anthropic bills thoughts among the output tokens and does not tell them apart.
		hidden := strings.HasPrefix(c.name, "anthropic:") && !c.shown
		if a.Thought() != c.thinks && !hidden || c.shown != (a.Reasoning != "") {
			t.Errorf("%s: thinks %v, and %d characters of thoughts; want %v, %v", name, a.Thought(), len(a.Reasoning), c.thinks, c.shown)
		}
		if len(a.Missing) > 0 {
			t.Errorf("%s: missing %v", name, a.Missing)
		}
	}
}

// A model that the table does not know is found out by asking.
func TestUnknownServed(t *testing.T) {
	for profile, want := range map[string]string{
		"gpt-5": "temperature top_p logprobs", "gpt-5.5": "temperature top_p logprobs", "claude-4.5": "", "gemini": "logprobs seed",
		"mistral": "logprobs seed top_p", "mistral-medium-3.5": "logprobs seed top_p temperature", "grok": "", "kimi-k2.6": "temperature top_p",
		"litellm": "logprobs seed", "no system message": "system", "glm": "", "groq": "logprobs", "gpt-5.1": "",
	} {
		s := testserver.New(testserver.Options{Profile: profile})
		p := full()
		p.Decoding.MaxTokens, p.Decoding.ReasoningTokens = 50, 1000
		a, refused := askAsIs(t, opened2(t, s, "compatible:mystery", ""), "compatible:mystery", p)
		slices.Sort(refused)
		expected := strings.Fields(want)
		slices.Sort(expected)
		if profile == "claude-4.5" {
			expected = []string{"logprobs", "seed", "top_p"}
		}
		if a.Status != crosstalk.Text || !slices.Equal(refused, expected) {
			t.Errorf("%s: refused %v, want %v; %+v", profile, refused, expected, a)
		}
		s.Close()
	}
}

// Every profile is found out by asking at any base URL, under a name that says
// nothing and under one of a known family, at each level of reasoning.
func TestProfilesAnywhere(t *testing.T) {
	for _, profile := range testserver.Profiles() {
		s := testserver.New(testserver.Options{Profile: profile})
		for _, name := range []string{"compatible:mystery", "compatible:qwen3-8b"} {
			for _, level := range []string{"", crosstalk.ReasoningOff, crosstalk.ReasoningHigh} {
				p := full()
				p.Decoding.Reasoning, p.Decoding.MaxTokens, p.Decoding.ReasoningTokens = level, 50, 1000
				p, _ = Adapt(name, p, nil)
				a, refused := askAsIs(t, opened2(t, s, name, ""), fmt.Sprint(profile, " ", name, " ", level), p)
				if a.Status != crosstalk.Text || strings.Contains(a.Text, "The user wants") || len(refused) > 5 {
					t.Errorf("%s, %s, %q: refused %v, then %+v", profile, name, level, refused, a)
				}
			}
		}
		s.Close()
	}
}

// Filters in each provider's words are refusals and no faults, and thoughts
// that take all the room are an empty answer.
func TestFilteredAndUsedUp(t *testing.T) {
	s := testserver.New(testserver.Options{Faults: map[testserver.Fault]float64{"filtered": 1}})
	defer s.Close()
	for _, name := range []string{"openai:gpt-5.1", "gemini:gemini-3.5-flash", "xai:grok-4.3", "qwen:qwen3.5-plus", "moonshot:kimi-k3", "deepseek:deepseek-v4-pro", "zai:glm-5.2",
		"anthropic:claude-sonnet-5", "openrouter:openrouter-x"} {
		p, _ := Adapt(name, full(), nil)
		p.Logprobs = 0
		if a, err := opened2(t, s, name, "").Answer(t.Context(), p.Request("hi", 0)); err != nil ||
			a.Status != crosstalk.Refused || a.Finish != crosstalk.FinishFilter || a.Reason == "" {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
	s = testserver.New(testserver.Options{})
	defer s.Close()
	for _, name := range []string{"openai:gpt-5", "openai:o3", "gemini:gemini-3-pro", "moonshot:kimi-k3", "minimax:minimax-m2", "compatible:think-x", "compatible:lone-x", "compatible:raw-gpt-oss", "anthropic:claude-opus-5-5"} {
		p := crosstalk.PromptConfig{API: crosstalk.Chat, Decoding: crosstalk.Decoding{MaxTokens: 100}}
		a, err := opened2(t, s, name, "").Answer(t.Context(), p.Request("hi", 0))
		if name == "compatible:lone-x" { // without its end a thought cannot be told from an answer
			continue
		}
		if err != nil || a.Status != crosstalk.Empty || a.Reason != crosstalk.Thinking ||
			a.Finish != crosstalk.FinishLength || a.Text != "" {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
}

// Thoughts that a server leaves in the answer, and their log probabilities.
func TestThoughtsInText(t *testing.T) {
	s := testserver.New(testserver.Options{Answer: func(testserver.Request) testserver.Reply {
		return testserver.Reply{Text: "a pizza with cheese"}
	}})
	defer s.Close()
	for _, name := range []string{"compatible:think-x", "compatible:lone-x", "compatible:raw-gpt-oss"} {
		p := crosstalk.PromptConfig{API: crosstalk.Chat, Logprobs: 2,
			Decoding: crosstalk.Decoding{MaxTokens: 3, ReasoningTokens: 1000}}
		a, err := opened2(t, s, name, "").Answer(t.Context(), p.Request("hi", 0))
		joined := ""
		for _, l := range a.Logprobs {
			joined += l.Token
		}
		if err != nil || a.Text != "a pizza with" || joined != a.Text || a.Finish != crosstalk.FinishLength ||
			!strings.HasPrefix(a.Reasoning, "The user wants") {
			t.Errorf("%s: %q %q %s, %v", name, a.Text, joined, a.Finish, err)
		}
	}
}

// The parameter's name is learned once.
func TestRenamedOnce(t *testing.T) {
	s := testserver.New(testserver.Options{Unsupported: []string{"max_tokens"}})
	defer s.Close()
	m := opened2(t, s, "compatible:m", "")
	for i := range 3 {
		req := crosstalk.PromptConfig{API: crosstalk.Chat,
			Decoding: crosstalk.Decoding{MaxTokens: 5, Stop: []string{"."}}}.Request(fmt.Sprint(i), 0)
		if a, err := m.Answer(t.Context(), req); err != nil || a.Status != crosstalk.Text {
			t.Errorf("%+v, %v", a, err)
		}
	}
	if n := s.Stats().Attempts; n != 4 {
		t.Errorf("%d attempts for 3 asks, want 4", n)
	}
	neither := testserver.New(testserver.Options{Unsupported: []string{"max_tokens", "max_completion_tokens"}})
	defer neither.Close()
	var e *crosstalk.AskError
	req := crosstalk.PromptConfig{API: crosstalk.Chat, Decoding: crosstalk.Decoding{MaxTokens: 5}}.Request("x", 0)
	if _, err := opened2(t, neither, "compatible:m", "").Answer(t.Context(), req); !errors.As(err, &e) ||
		e.Param != crosstalk.ParamMaxTokens {
		t.Errorf("a server that wants neither: %v", err)
	}
	if n := neither.Stats().Attempts; n != 2 {
		t.Errorf("%d attempts, want 2", n)
	}
	stops := testserver.New(testserver.Options{Unsupported: []string{"stop"},
		Answer: func(testserver.Request) testserver.Reply { return testserver.Reply{Text: "one. two."} }})
	defer stops.Close()
	req.Decoding.Stop = []string{"."}
	for range 2 {
		if a, err := opened2(t, stops, "compatible:m", "").Answer(t.Context(), req); err != nil || a.Text != "one" ||
			a.Finish != crosstalk.FinishStop {
			t.Errorf("%+v, %v", a, err)
		}
	}
}

func TestResponsesAPI(t *testing.T) {
	s := testserver.New(testserver.Options{Record: true})
	defer s.Close()
	for _, name := range []string{"openai:gpt-4o", "openai:gpt-5-mini"} {
		p := full()
		p.API = crosstalk.Responses
		p.Decoding.MaxTokens, p.Decoding.Stop = 50, nil
		p, _ = Adapt(name, p, nil)
		a, err := opened2(t, s, name, crosstalk.Responses).Answer(t.Context(), p.Request("hi", 0))
		thinks := name == "openai:gpt-5-mini"
		if err != nil || a.Status != crosstalk.Text || a.Thought() != thinks || (len(a.Logprobs) > 0) == thinks ||
			a.Finish != crosstalk.FinishStop {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
	r := s.Records()[0]
	want := `{"model":"gpt-4o","instructions":"Be brief.","input":[{"role":"user","content":"hi"}],"store":false,"include":["message.output_text.logprobs"],"top_logprobs":5,"temperature":0,"top_p":0.75,"max_output_tokens":50}`
	if r.Path != "/v1/responses" || string(r.Body) != want {
		t.Errorf("%s\n got %s\nwant %s", r.Path, r.Body, want)
	}
	p := crosstalk.PromptConfig{API: crosstalk.Responses, Decoding: crosstalk.Decoding{Reasoning: "low"}}
	if _, err := opened2(t, s, "openai:gpt-5", crosstalk.Responses).Answer(t.Context(), p.Request("hi", 0)); err != nil {
		t.Error(err)
	}
	records := s.Records()
	if last := string(records[len(records)-1].Body); !strings.Contains(last, `"reasoning":{"effort":"low"}`) {
		t.Error(last)
	}
}

func TestList(t *testing.T) {
	var names []string
	for i := range 2105 {
		names = append(names, fmt.Sprintf("m-%04d", i))
	}
	s := testserver.New(testserver.Options{Models: names, Key: "sk-0123456789", Record: true})
	defer s.Close()
	o := Options{BaseURL: s.URL + "/v1", Getenv: func(string) string { return "sk-0123456789" }}
	for _, provider := range []string{"openai", "anthropic", "OpenRouter:", "openai:M-0"} {
		got, err := List(t.Context(), provider, o)
		name, part, _ := strings.Cut(strings.ToLower(provider), ":")
		var want []string
		for _, model := range names {
			if strings.Contains(model, part) {
				want = append(want, name+":"+model)
			}
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %d of %d names, %v", provider, len(got), len(want), err)
		}
	}
	if got, err := List(t.Context(), "openai:claude", o); err == nil || err.Error() != `none of the 2105 models of openai has "claude" in its name` {
		t.Errorf("%q, %v", got, err)
	}
	for _, r := range s.Records() {
		if r.Method != "GET" || r.Path != "/v1/models" {
			t.Errorf("%s %s", r.Method, r.Path)
		}
	}
	if _, err := List(t.Context(), "openai", Options{BaseURL: s.URL + "/v1", Getenv: func(string) string { return "wrong-key-0123" }}); err == nil ||
		!strings.Contains(err.Error(), "OPENAI_API_KEY was refused") || strings.Contains(err.Error(), "wrong-key") {
		t.Errorf("wrong key: %v", err)
	}
	if _, err := List(t.Context(), "nosuch", Options{}); err == nil || !strings.Contains(err.Error(), `there is no provider "nosuch"`) {
		t.Error(err)
	}
	if _, err := List(t.Context(), "compatible", Options{BaseURL: s.URL + "/v1", Getenv: func(string) string { return "" }}); err == nil ||
		!strings.HasPrefix(err.Error(), "compatible: CROSSTALK_API_KEY is not set, and "+s.URL+"/v1 wants a key") {
		t.Errorf("no key: %v", err)
	}
	listless := testserver.New(testserver.Options{NoList: true})
	defer listless.Close()
	for _, path := range []string{"/v1", "/v1/v2"} {
		if _, err := List(t.Context(), "vllm", Options{BaseURL: listless.URL + path}); err == nil ||
			err.Error() != "vllm: "+listless.URL+path+" has no list of models (HTTP 404), or the base URL is wrong (most end in /v1)" {
			t.Errorf("no list: %v", err)
		}
	}
	for body, want := range map[string]string{
		`[{"id":"b"},{"id":"a"}]`:                 "[b a]",
		`{"data":[{"id":"models/gemini-x"}]}`:     "[gemini-x]",
		`{"models":[{"name":"command"},{"x":1}]}`: "[command]",
	} {
		if got, _, err := readList([]byte(body)); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%s: %v, %v", body, got, err)
		}
	}
	for _, body := range []string{`{}`, `7`, `<html>`} {
		if _, _, err := readList([]byte(body)); err == nil {
			t.Errorf("%s was read", body)
		}
	}
}

func TestCheck(t *testing.T) {
	o := Options{Getenv: func(string) string { return "sk-0123456789" }}
	// Nothing known, all refused: the third ask has nothing to refuse.
	all := testserver.New(testserver.Options{Profile: "gpt-5"})
	defer all.Close()
	o.BaseURL = all.URL + "/v1"
	got, err := Check(t.Context(), "compatible:mystery", o)
	if err != nil || got.Asks != 3 || got.Params["temperature"] != Refused || got.Params["top_p"] != Refused ||
		got.Params["logprobs"] != NotTried || len(got.Refusals) != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	// A refusal that names nothing: the next ask has nothing but the prompt.
	mute := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if bytes.Contains(body, []byte("temperature")) {
			http.Error(w, "Bad Request", 400)
			return
		}
		io.WriteString(w, `{"model":"m","choices":[{"message":{"content":"Paris"},"finish_reason":"stop"}]}`)
	}))
	defer mute.Close()
	got, err = Check(t.Context(), "compatible:m", Options{BaseURL: mute.URL + "/v1"})
	if err != nil || got.Asks != 3 || got.Answer.Text != "Paris" || got.Params["temperature"] != NotTried ||
		len(got.Refusals) != 1 || len(got.Levels) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := Check(t.Context(), "compatible:m", Options{BaseURL: "http://127.0.0.1:1/v1"}); err == nil {
		t.Error("nothing listens, and nothing was said")
	}
}
