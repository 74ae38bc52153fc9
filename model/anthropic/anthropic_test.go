package anthropic

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/internal/testing/testserver"
	"crosstalk/model/endpoint"
)

func open(t *testing.T, s *testserver.Server, key string) *Model {
	t.Helper()
	m, err := New(endpoint.Config{Provider: "anthropic", Model: "m", BaseURL: s.URL + "/v1", Key: key,
		KeyVar: "ANTHROPIC_API_KEY"}, map[string]map[string]any{
		"off": {}, "low": {"thinking": map[string]any{"type": "enabled", "budget_tokens": endpoint.Budget}}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func request(roleAndText ...string) crosstalk.Request {
	r := crosstalk.Request{API: crosstalk.Chat}
	for i := 0; i < len(roleAndText); i += 2 {
		r.Messages = append(r.Messages, crosstalk.Message{Role: roleAndText[i], Content: roleAndText[i+1]})
	}
	return r
}

func TestBody(t *testing.T) {
	s := testserver.New(testserver.Options{Record: true})
	defer s.Close()
	half := 0.5
	full := request("system", "be brief", "user", "hi", "assistant", "ho", "system", "and kind", "user", "hi")
	full.Logprobs, full.Sample = 3, 2
	full.Decoding = crosstalk.Decoding{Temperature: &half, TopP: &half, MaxTokens: 9, Seed: new(int64),
		Stop: []string{"."}, Extra: map[string]any{"top_k": 3}}
	for _, c := range []struct {
		request crosstalk.Request
		want    string
	}{
		{request("user", "hi"), `{"model":"m","messages":[{"role":"user","content":"hi"}],"max_tokens":4096}`},
		{full, `{"model":"m","system":"be brief\n\nand kind","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"ho"},{"role":"user","content":"hi"}],` +
			`"max_tokens":9,"temperature":0.5,"top_p":0.5,"stop_sequences":["."],"top_k":3}`},
	} {
		if _, err := open(t, s, "sk-ant-0123456789").Answer(t.Context(), c.request); err != nil {
			t.Fatal(err)
		}
		records := s.Records()
		r := records[len(records)-1]
		if r.Path != "/v1/messages" || string(r.Body) != c.want {
			t.Errorf("%s\n got %s\nwant %s", r.Path, r.Body, c.want)
		}
		if r.Header.Get("x-api-key") != "sk-ant-0123456789" || r.Header.Get("anthropic-version") != version || r.Header.Get("Authorization") != "" {
			t.Errorf("headers %v", r.Header)
		}
	}
	for level, want := range map[string]string{
		"off": `{"model":"m","messages":[{"role":"user","content":"hi"}],"max_tokens":1509}`,
		"low": `{"model":"m","messages":[{"role":"user","content":"hi"}],"max_tokens":1509,"thinking":{"budget_tokens":1500,"type":"enabled"}}`,
	} {
		r := request("user", "hi")
		r.Decoding = crosstalk.Decoding{MaxTokens: 9, Reasoning: level, ReasoningTokens: 1500}
		if _, err := open(t, s, "").Answer(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if records := s.Records(); string(records[len(records)-1].Body) != want {
			t.Errorf("%s\n got %s\nwant %s", level, records[len(records)-1].Body, want)
		}
	}
	var ask *crosstalk.AskError
	unknown := request("user", "hi")
	unknown.Decoding.Reasoning = "high"
	if _, err := open(t, s, "").Answer(t.Context(), unknown); !errors.As(err, &ask) || ask.Fault != crosstalk.Rejected ||
		ask.Param != crosstalk.ParamReasoning {
		t.Errorf("an unknown level: %v", err)
	}
	_, err := open(t, s, "").Answer(t.Context(), crosstalk.Request{API: crosstalk.Completions, Prompt: "hi"})
	if !errors.As(err, &ask) || ask.Fault != crosstalk.Rejected {
		t.Errorf("completions: %v", err)
	}
}

func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		fault  map[testserver.Fault]float64
		tokens int
		status crosstalk.Status
		text   string
		reason string
	}{
		{nil, 0, crosstalk.Text, "one two three", "end_turn"},
		{nil, 2, crosstalk.Text, "one two", "max_tokens"},
		{map[testserver.Fault]float64{"empty": 1}, 0, crosstalk.Empty, "", "end_turn"},
		{map[testserver.Fault]float64{"thinking": 1}, 8, crosstalk.Empty, "", "thinking"},
		{map[testserver.Fault]float64{"refusal": 1}, 0, crosstalk.Refused, "", "refusal"},
	} {
		s := testserver.New(testserver.Options{Faults: c.fault, Answer: func(testserver.Request) testserver.Reply {
			return testserver.Reply{Text: "one two three"}
		}})
		req := request("user", "hi")
		req.Decoding.MaxTokens = c.tokens
		a, err := open(t, s, "").Answer(t.Context(), req)
		if err != nil || a.Status != c.status || a.Text != c.text || a.Reason != c.reason || a.Model != "m" ||
			a.Usage.Prompt == 0 || a.Usage.Completion == 0 {
			t.Errorf("%v: %+v, %v", c.fault, a, err)
		}
		if !json.Valid(a.Raw) || !strings.Contains(string(a.Raw), `"service_tier"`) {
			t.Errorf("%v: raw body %s", c.fault, a.Raw)
		}
		s.Close()
	}
}

func TestRead(t *testing.T) {
	a, err := read([]byte(`{"type":"message","content":[{"type":"thinking","thinking":"t"},{"type":"text","text":"a"},{"type":"x"},{"type":"text","text":"b"}],
		"usage":{"input_tokens":1,"cache_creation_input_tokens":2,"cache_read_input_tokens":4,"output_tokens":8}}`))
	if err != nil || a.Text != "ab" || a.Reasoning != "t" || !a.Thought ||
		a.Usage != (crosstalk.Usage{Prompt: 7, Completion: 8}) {
		t.Errorf("%+v, %v", a, err)
	}
	for _, body := range broken {
		if a, err := read([]byte(body)); err == nil {
			t.Errorf("%s: %+v, want an error", body, a)
		}
	}
}

var broken = []string{``, `{`, `null`, `[]`, `{}`, `{"content":null}`, `{"content":"a"}`, `{"content":[7]}`, `{"content":[{"type":"text"}]}`,
	`{"content":[{"type":"text","text":7}]}`, `{"type":"error","content":[]}`, `{"content":[{"type":"text","text":"a"}],"error":{"message":"m"}}`}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"content":[{"type":"text","text":"a"}],"usage":{"input_tokens":1}}`))
	for _, body := range broken {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if a, err := read(body); err == nil && (!json.Valid(body) || a.Usage.Prompt < 0) {
			t.Fatalf("%q: %+v", body, a)
		}
	})
}

func TestFailures(t *testing.T) {
	for fault, want := range map[testserver.Fault]crosstalk.Fault{
		"529": crosstalk.Overloaded, "429-seconds": crosstalk.Overloaded,
		"429": crosstalk.Overloaded,
		"500": crosstalk.Transient, "cut": crosstalk.Transient,
		"drop":         crosstalk.Transient,
		"invalid-json": crosstalk.Transient, "wrong-shape": crosstalk.Transient,
		"html": crosstalk.Transient, "html-200": crosstalk.Transient,
	} {
		s := testserver.New(testserver.Options{Faults: map[testserver.Fault]float64{fault: 1}})
		for _, text := range []string{"a", "b", "c", "d"} {
			var ask *crosstalk.AskError
			if _, err := open(t, s, "").Answer(t.Context(), request("user", text)); !errors.As(err, &ask) || ask.Fault != want {
				t.Errorf("%s: %v", fault, err)
			}
		}
		s.Close()
	}
	s := testserver.New(testserver.Options{Key: "right"})
	defer s.Close()
	for key, want := range map[string]string{"": "ANTHROPIC_API_KEY is not set", "wrong": "ANTHROPIC_API_KEY was refused by " + s.URL} {
		var ask *crosstalk.AskError
		if _, err := open(t, s, key).Answer(t.Context(), request("user", "hi")); !errors.As(err, &ask) ||
			ask.Fault != crosstalk.Denied || !strings.Contains(err.Error(), want) {
			t.Errorf("key %q: %v", key, err)
		}
	}
}
