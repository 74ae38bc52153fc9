package model

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/internal/testing/testserver"
)

func ptr[T any](v T) *T { return &v }

// one is an entry of the user's about compatible:m.
func one(change func(*Family)) []Family {
	f := Family{Name: "mine", Providers: []string{"compatible"}, Models: []string{"m"}}
	change(&f)
	return []Family{f}
}

// What a model takes of temperature and top_p, on both sides of each bound.
func TestAdaptSampling(t *testing.T) {
	for _, c := range []struct {
		takes             string
		temperature, topP float64 // below 0: none
		want              string
	}{
		{"any", 0, 0.5, ""}, {"default", -1, -1, ""},
		{"default", -1, 0.5, "top_p 0.5 is not sent: m takes only its default"},
		{"ignored", 1, 0.5, "top_p 0.5 is not sent: m ignores it"},
		{"alone", -1, 0.5, ""}, {"alone", 0, 0.5, "top_p 0.5 is not sent: m does not take it together with a temperature"},
		{"sampling", -1, 0.5, ""}, {"sampling", 0.1, 0.5, ""}, {"sampling", 0, 1, ""},
		{"sampling", 0, 0.5, "top_p 0.5 is not sent: m does not take it with temperature 0, where it has no effect"},
		{"0.25-0.75", 0, 0.25, ""}, {"0.25-0.75", 0, 0.75, ""},
		{"0.25-0.75", 0, 0.125, "top_p 0.125 is sent as 0.25: m takes 0.25 to 0.75"},
		{"0.25-0.75", 0, 0.875, "top_p 0.875 is sent as 0.75: m takes 0.25 to 0.75"},
	} {
		p := crosstalk.PromptConfig{API: crosstalk.Chat}
		if c.temperature >= 0 {
			p.Decoding.Temperature = &c.temperature
		}
		if c.topP >= 0 {
			p.Decoding.TopP = &c.topP
		}
		got, changes := Adapt("compatible:m", p, one(func(f *Family) { f.TopP = c.takes }))
		if said(changes) != c.want || (got.Decoding.TopP == nil) != (c.topP < 0 || strings.Contains(c.want, "not sent")) {
			t.Errorf("%s of %v, %v: %s", c.takes, c.temperature, c.topP, said(changes))
		}
		for _, change := range changes {
			if keeps := c.takes == "sampling"; change.Keeps != keeps || change.Param != "top_p" {
				t.Errorf("%s: %+v", c.takes, change)
			}
		}
	}
	thinks := func(always string) []Family {
		return one(func(f *Family) {
			f.Reasoning.Default, f.WhileThinking.Temperature, f.Temperature = "high", "default", always
		})
	}
	p := crosstalk.PromptConfig{API: crosstalk.Chat, Decoding: crosstalk.Decoding{Temperature: new(float64)}}
	for always, want := range map[string]string{"": " while it thinks", "0-1": " while it thinks", "default": "", "ignored": ""} {
		if _, changes := Adapt("compatible:m", p, thinks(always)); said(changes) != "temperature 0 is not sent: m takes only its default"+want {
			t.Errorf("%q: %s", always, said(changes))
		}
	}
}

// Of what is no provider's model nothing is known, and nothing is changed.
func TestAdaptUnknown(t *testing.T) {
	p := full()
	p.API = crosstalk.Responses
	own := []Family{{Name: "all", Takes: Takes{Temperature: "default"}}}
	for _, name := range []string{"reference:m", "m", "openai:"} {
		if got, changes := Adapt(name, p, own); len(changes) > 0 || !reflect.DeepEqual(got, p) {
			t.Errorf("%s: %s", name, said(changes))
		}
	}
	p.API = crosstalk.Embeddings
	if _, changes := Adapt("compatible:m", p, own); len(changes) > 0 {
		t.Errorf("embeddings: %s", said(changes))
	}
	for _, name := range []string{"m", "openai:"} {
		if _, _, ok := Without(name, full(), "temperature"); ok {
			t.Errorf("%s is asked without a temperature", name)
		}
		if _, _, ok := WithRoom(name, full(), nil); ok {
			t.Errorf("%s has room", name)
		}
	}
	p.Decoding.MaxTokens = 0
	if _, _, ok := WithRoom("compatible:m", p, nil); ok {
		t.Error("there is room where there is no limit")
	}
}

// Which levels of reasoning are asked for, and what becomes of others.
func TestAdaptReasoning(t *testing.T) {
	for _, c := range []struct {
		r          Reasoning
		level      string
		want, says string
		room       int
	}{
		{Reasoning{}, "low", "low", "", 2000}, {Reasoning{}, "medium", "medium", "", 4000}, {Reasoning{}, "", "", "", 0},
		{Reasoning{}, "most", "", "reasoning most is not sent: m cannot be told how much to think", 0},
		{Reasoning{Headroom: 10}, "low", "low", "", 5}, {Reasoning{Headroom: 10}, "high", "high", "", 20},
		{Reasoning{Levels: &[]string{}}, "off", "", "", 0},
		{Reasoning{Levels: &[]string{}}, "low", "", "reasoning low is not sent: m cannot be told how much to think", 0},
		{Reasoning{Levels: &[]string{"low", "high"}}, "medium", "", "reasoning medium is not sent: m takes only low, high", 0},
		{Reasoning{Levels: &[]string{"low"}, Default: "on"}, "off", "", "reasoning off is not sent: m always thinks", 4000},
		{Reasoning{Levels: &[]string{"low"}, Default: "off"}, "off", "", "", 0},
		{Reasoning{Use: "low"}, "", "low", "reasoning is sent as low: m can only be asked so", 2000},
		{Reasoning{Use: "low"}, "high", "high", "", 8000},
		{Reasoning{Send: map[string]map[string]any{"high": {}}}, "low", "", "reasoning low is not sent", 0},
	} {
		p := crosstalk.PromptConfig{API: crosstalk.Chat, Decoding: crosstalk.Decoding{Reasoning: c.level, MaxTokens: 7}}
		got, changes := Adapt("compatible:m", p, one(func(f *Family) { f.Reasoning = c.r }))
		text, _, _ := strings.Cut(said(changes), "max_tokens 7 is sent as "+fmt.Sprint(7+c.room)+": m thinks")
		if got.Decoding.Reasoning != c.want || got.Decoding.ReasoningTokens != c.room ||
			!strings.HasPrefix(text, c.says) || c.says == "" && text != "" {
			t.Errorf("%+v, asked for %q: %q with room for %d; %s", c.r, c.level, got.Decoding.Reasoning,
				got.Decoding.ReasoningTokens, said(changes))
		}
	}
}

// Parameters that are sent as they are say how much a model thinks, in any provider's way.
func TestExtraLevel(t *testing.T) {
	for _, c := range []struct {
		extra map[string]any
		level string
		found bool
	}{
		{nil, "", false}, {map[string]any{"top_k": "low"}, "", false},
		{map[string]any{"reasoning_effort": "none"}, "off", true}, {map[string]any{"reasoning_effort": "low"}, "low", true},
		{map[string]any{"reasoning": map[string]any{"effort": "medium"}}, "medium", true},
		{map[string]any{"thinking": map[string]any{"type": "disabled"}}, "off", true},
		{map[string]any{"thinking": map[string]any{"type": "enabled"}}, On, true},
		{map[string]any{"enable_thinking": false}, "off", true}, {map[string]any{"enable_thinking": true}, On, true},
		{map[string]any{"chat_template_kwargs": map[string]any{"enable_thinking": false}}, "off", true},
		{map[string]any{"output_config": map[string]any{"effort": "high"}}, "high", true},
		{map[string]any{"reasoning_effort": "high", "thinking": "disabled"}, "high", true},
	} {
		if level, found := extraLevel(c.extra); level != c.level || found != c.found {
			t.Errorf("%v: %q, %v", c.extra, level, found)
		}
	}
	raw := crosstalk.PromptConfig{Decoding: crosstalk.Decoding{MaxTokens: 1, Extra: map[string]any{"reasoning_effort": "low"}}}
	if p, _ := Adapt("compatible:m", raw, nil); p.Decoding.ReasoningTokens != 2000 {
		t.Errorf("room for %d", p.Decoding.ReasoningTokens)
	}
}

// Entries are laid over each other in order; an entry is about the models of its patterns at its providers.
func TestFamilyOf(t *testing.T) {
	own := []Family{
		{Name: "a", Models: []string{"My-*"}, Sources: []string{"x"}, Takes: Takes{Temperature: "0-1", Stop: ptr(false)},
			Reasoning: Reasoning{Headroom: 1, Default: "low"}},
		{Name: "b", Models: []string{"my-model"}, Sources: []string{"y"}, Takes: Takes{Temperature: "any"},
			Reasoning: Reasoning{Default: "high"}},
		{Name: "c", Providers: []string{"vllm"}, Takes: Takes{TopP: "alone"}},
	}
	for name, want := range map[string]string{
		"compatible:my-model": "a; b any  [x y] 1 high", "compatible:somebody/My-Model": "a; b any  [x y] 1 high",
		"compatible:us.openai.my-model": "a; b any  [x y] 1 high", "compatible:my-other": "a 0-1  [x] 1 low",
		"vllm:my-model": "a; b; c any alone [x y] 1 high", "vllm:x": "c  alone [] 0 ", "compatible:not-my-model": "   [] 0 ",
		"nowhere:my-model": "   [] 0 ", "my-model": "   [] 0 ",
	} {
		f := familyOf(name, own)
		if got := fmt.Sprint(f.Name, " ", f.Temperature, " ", f.TopP, " ", f.Sources, " ", f.Reasoning.Headroom, " ",
			f.Reasoning.Default); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for text, ok := range map[string]bool{"0-1": true, "0.5-0.75": true, "1-1": false, "1-0": false, "-1-1": false, "0": false,
		"0-": false, "-1": false, "0-inf": false, "nan-1": false, "any": true, "": true} {
		low, high, err := parseRange("top-p", text, "any")
		if (err == nil) != ok || text == "0.5-0.75" && (low != 0.5 || high != 0.75) {
			t.Errorf("%s: %v to %v, %v", text, low, high, err)
		}
	}
}

// A list of families may be as large as its limit, and an error is of the line of its entry.
func TestFamiliesAtTheirBounds(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f.yaml")
	for text, want := range map[string]string{
		ours + "#" + strings.Repeat("x", 1<<20-len(ours)-1): "", ours + "#" + strings.Repeat("x", 1<<20-len(ours)): ": is larger than 1 MiB",
		ours + "- name: second\n  models: [m]\n  reasoning: {use: on}\n": `:6: second: reasoning.use is "on"; expected one of off, low, medium, high`,
		ours + "- providers: [nowhere]\n  name: second\n":                `:4: second: providers: unknown provider "nowhere"`,
		ours + "- {name: second, models: ['']}\n":                        `:4: second: models: "" is not a pattern`,
		ours + "- name: second\n  models: [m]\n  seed-nam: x\n":          `:6: unknown field "seed-nam"`,
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadFamilies(file); (err == nil) != (want == "") ||
			err != nil && !strings.HasPrefix(err.Error(), file+want) {
			t.Errorf("%.80q: %v; want %s", text, err, want)
		}
	}
	if all, err := ReadFamilies(""); all != nil || err != nil {
		t.Error(all, err)
	}
}

// What is secret in headers, on both sides of each bound.
func TestSecretsOfHeaders(t *testing.T) {
	for text, want := range map[string]string{
		"a=0123456789a": "[]", "a=0123456789ab": "[0123456789ab]", "a=": "", "a=~ x": "[]", "a=x\x7f": "", "a=x\x1f": "",
		"x_session.COOKIE=abc": "[abc]", "keys=abc": "[]", "x-auth=Basic abc": "[Basic abc abc]",
		"cookie=a=b; c=d": "[a=b; c=d]", "token=a,b c": "[a,b c]", "a=$V": "[v w w]", "te=x": "", "a!#$%&'*+-.^_`|~9=x": "[]",
	} {
		h, secret, err := ParseHeader([]string{text}, env("V", " v w\n"))
		if (err != nil) != (want == "") || err == nil && (fmt.Sprint(secret) != want || len(h) != 1) {
			t.Errorf("%q: secret are %q, %v; want %s", text, secret, err, want)
		}
	}
	if h, secret, err := ParseHeader(nil, env()); h != nil || secret != nil || err != nil {
		t.Error(h, secret, err)
	}
}

// Whose key is needed, and where a base URL gets its parts.
func TestKeysAndURLs(t *testing.T) {
	for _, c := range []struct {
		name string
		o    Options
		want string // of the base URL, or of the error
	}{
		{"azure:m", Options{BaseURL: "https://h/v1", Header: []string{"api-key=x"}}, "https://h/v1"},
		{"azure:m", Options{BaseURL: "https://h/v1", Header: []string{"Authorization=x"}}, "AZURE_OPENAI_API_KEY is not set"},
		{"openai:m", Options{Header: []string{"Authorization=x"}}, "https://api.openai.com/v1"},
		{"openai:m", Options{Header: []string{"api-key=x"}}, "OPENAI_API_KEY is not set"},
		{"openai:m", Options{Header: []string{"Authorization=x"}, KeyVar: "MY_KEY"}, "MY_KEY is not set"},
		{"bedrock:m", Options{Header: []string{"Authorization=x"}, Getenv: env("AWS_REGION", "a", "AWS_DEFAULT_REGION", "b")},
			"https://bedrock-runtime.a.amazonaws.com/openai/v1"},
		{"bedrock:m", Options{Header: []string{"Authorization=x"}, Getenv: env("AWS_REGION", " ", "AWS_DEFAULT_REGION", " b\n")},
			"https://bedrock-runtime.b.amazonaws.com/openai/v1"},
		{"vertex:m", Options{Getenv: env("AWS_DEFAULT_REGION", "b")}, "GOOGLE_CLOUD_PROJECT is not set"},
		{"vertex:m", Options{Getenv: env("GOOGLE_CLOUD_PROJECT", "p", "GOOGLE_CLOUD_LOCATION", "a b")}, "GOOGLE_CLOUD_LOCATION is not set, or is not a name"},
		{"vertex:m", Options{Getenv: env("GOOGLE_CLOUD_LOCATION", "a/b")}, "GOOGLE_CLOUD_"},
	} {
		if c.o.Getenv == nil {
			c.o.Getenv = env()
		}
		got := ""
		if m, err := Open(c.name, c.o); err != nil {
			got = err.Error()
		} else {
			got = m.Identity().Endpoint
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s %+v: %s; want %s", c.name, c.o, got, c.want)
		}
	}
}

type failing struct{ err error }

func (f failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }

// What to do about a server that does not run, or a model that it does not have, is said of local servers.
func TestAdvice(t *testing.T) {
	dead := &http.Client{Transport: failing{&net.OpError{Op: "dial", Err: errors.New("refused")}}}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, `{"error":{"message":"no such model"}}`, http.StatusNotFound)
	}))
	defer s.Close()
	for _, c := range []struct {
		name, says string
		o          Options
		want       bool
	}{
		{"ollama:m", "is ollama running? start it with: ", Options{Client: dead}, true},
		{"ollama:m", "is ollama running?", Options{Client: dead, BaseURL: "http://localhost:1/v1"}, false},
		{"openai:m", "running?", Options{Client: dead}, false},
		{"ollama:m", "get it with: ollama pull m", Options{BaseURL: s.URL}, true},
		{"openai:m", "get it with", Options{BaseURL: s.URL}, false},
	} {
		c.o.Getenv = env("OPENAI_API_KEY", "key-0123456789")
		m, err := Open(c.name, c.o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Answer(t.Context(), crosstalk.Request{API: crosstalk.Chat}); err == nil ||
			strings.Contains(err.Error(), c.says) != c.want {
			t.Errorf("%s: %v; says %q: %v", c.name, err, c.says, c.want)
		}
	}
}

// A list of models goes on while the server says so. Anything but a list is an error.
func TestPagesOfList(t *testing.T) {
	for body, want := range map[string]string{
		`{"data":[{"id":"a"}],"has_more":true,"last_id":"a"}`:  "[a] a",
		`{"data":[{"id":"a"}],"has_more":false,"last_id":"a"}`: "[a] ",
		`{"data":[{"id":"a"}],"last_id":"a"}`:                  "[a] ",
		`{"data":[{"id":"a","name":"b"}]}`:                     "[a] ",
		`{"data":[{"id":"a"}],"models":[{"name":"b"}]}`:        "[a b] ",
		`{"data":[]}`: "[] ", `[]`: "[] ",
	} {
		if names, next, err := readList([]byte(body)); err != nil || fmt.Sprint(names, " ", next) != want {
			t.Errorf("%s: %v then %q, %v", body, names, next, err)
		}
	}
	for body, want := range map[string]string{
		"200 {}": "the list of models at URL cannot be read: expected a list named data or models", "200 <html>": "URL sent no answer but",
		"405 x": "URL has no list of models (HTTP 405)", "410 x": "no list of models (HTTP 410)", "501 x": "no list of models (HTTP 501)",
		"404 x": "no list of models (HTTP 404)", "400 x": "400", `200 {"data":[]}`: "", "200 []": "",
	} {
		status, text, _ := strings.Cut(body, " ")
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			var n int
			fmt.Sscan(status, &n)
			w.WriteHeader(n)
			io.WriteString(w, text)
		}))
		list, err := List(t.Context(), "compatible:part", Options{BaseURL: s.URL, Getenv: env()})
		if (err == nil) != (want == "") || len(list) > 0 || err != nil &&
			!strings.Contains(strings.ReplaceAll(err.Error(), s.URL, "URL"), want) ||
			err != nil && (!strings.HasPrefix(err.Error(), "compatible: ") || strings.Contains(err.Error(), "compatible:models")) {
			t.Errorf("%s: %q, %v", body, list, err)
		}
		s.Close()
	}
}

// Each model is listed once, whatever the server says.
func TestListOnce(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"data":[{"id":"b"},{"id":"a"},{"id":"b"}]}`)
	}))
	defer s.Close()
	if list, err := List(t.Context(), "compatible", Options{BaseURL: s.URL, Getenv: env()}); err != nil ||
		fmt.Sprint(list) != "[compatible:a compatible:b]" {
		t.Errorf("%q, %v", list, err)
	}
}

// A level that a model can only be asked with stays when all else is left out, and is spelled out in the flags.
func TestCheckKeepsLevel(t *testing.T) {
	var bodies []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(body))
		switch {
		case strings.Contains(string(body), "temperature"):
			http.Error(w, `{"error":{"message":"no","param":"temperature"}}`, http.StatusBadRequest)
			return
		case strings.Contains(string(body), "top_p"):
			http.Error(w, "Bad Request", http.StatusBadRequest)
			return
		}
		io.WriteString(w, `{"model":"m","choices":[{"message":{"content":"Paris"},"finish_reason":"stop"}]}`)
	}))
	defer s.Close()
	found, err := Check(t.Context(), "compatible:m", Options{BaseURL: s.URL, Getenv: env(),
		Families: one(func(f *Family) { f.Reasoning.Use = "low" })})
	if err != nil || len(bodies) != 3 || !strings.Contains(bodies[2], `"reasoning_effort":"low"`) {
		t.Errorf("%v, %q", err, bodies)
	}
	if got := strings.Join(found.Flags(), " "); got != "--temperature default --reasoning low --reasoning-tokens 2000" {
		t.Errorf("flags %s", got)
	}
	// What cannot be left out ends it.
	neither := testserver.New(testserver.Options{Unsupported: []string{"max_tokens", "max_completion_tokens"}})
	defer neither.Close()
	found, err = Check(t.Context(), "compatible:m", Options{BaseURL: neither.URL + "/v1", Getenv: env()})
	if err == nil || found.Asks != 1 || len(found.Refusals) != 1 {
		t.Errorf("%v after %d asks, %q", err, found.Asks, found.Refusals)
	}
}

// Anthropic's API has no log probabilities, and is not asked for them.
func TestCheckAnthropic(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"type":"message","model":"m","content":[{"type":"text","text":"Paris"}],"stop_reason":"end_turn"}`)
	}))
	defer s.Close()
	found, err := Check(t.Context(), "anthropic:m", Options{BaseURL: s.URL, Getenv: env("ANTHROPIC_API_KEY", "key-0123456789")})
	if p := found.Params; err != nil || p["logprobs"] != NotTried || p["temperature"] != Taken || p["top_p"] != Taken {
		t.Errorf("%v, %v", p, err)
	}
}

// Where thoughts came back, in each provider's form of an answer.
func TestShownIn(t *testing.T) {
	for body, want := range map[string]string{
		`{"content":[{"type":"thinking"},{"type":"text"}]}`:                        "blocks",
		`{"choices":[{"message":{"content":"<think>a</think>b"}}]}`:                "text",
		`{"choices":[{"text":"<think>a</think>b"}]}`:                               "text",
		`{"choices":[{"message":{"content":[{"type":"thinking"}]}}]}`:              "parts",
		`{"choices":[{"message":{"content":"b","reasoning":"<think>a</think>"}}]}`: "field",
		`{"output":[]}`: "field", `{}`: "field", `[`: "field",
	} {
		if got := shownIn(crosstalk.Answer{Reasoning: "a", Raw: []byte(body)}); got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
	if got := shownIn(crosstalk.Answer{Raw: []byte(`{"content":[{}]}`)}); got != "nowhere" {
		t.Errorf("no thoughts: %s", got)
	}
	c := Checked{Answer: crosstalk.Answer{Status: crosstalk.Empty, Reason: "odd\x1b",
		Usage: crosstalk.Usage{Prompt: 2, Completion: 3}},
		Levels: []CheckedLevel{{"off", []byte("{}"), Dropped}, {"low", []byte("{}"), Taken}}}
	rows := fmt.Sprint(c.Rows())
	for _, want := range []string{"[answer empty (odd␛); 2 tokens of prompt, 3 of completion]",
		"[answered as - (the server does not say)]", "[reasoning off no effect seen ({}), low taken ({})]", "[flags none]"} {
		if !strings.Contains(rows, want) {
			t.Errorf("no %s in %s", want, rows)
		}
	}
}
