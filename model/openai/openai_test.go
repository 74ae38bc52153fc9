package openai

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/internal/testing/testserver"
	"crosstalk/model/endpoint"
)

func open(t *testing.T, s *testserver.Server, o Options) *Model {
	t.Helper()
	m, err := New(endpoint.Config{Provider: "p", Model: "m", BaseURL: s.URL + "/v1", Key: "sk-0123456789", KeyVar: "P_KEY"}, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func chat(text string) crosstalk.Request {
	return crosstalk.Request{API: crosstalk.Chat, Messages: []crosstalk.Message{{Role: "user", Content: text}}}
}

func prompt(text string) crosstalk.Request {
	return crosstalk.Request{API: crosstalk.Completions, Prompt: text}
}

func TestBody(t *testing.T) {
	s := testserver.New(testserver.Options{Record: true})
	defer s.Close()
	half, seed := 0.5, int64(7)
	all := crosstalk.Decoding{Temperature: &half, TopP: &half, MaxTokens: 9, Seed: &seed, Stop: []string{"\n", "<"},
		Extra: map[string]any{"top_k": 3, "a": map[string]any{"b": true}}}
	with := func(r crosstalk.Request, logprobs, sample int, d crosstalk.Decoding) crosstalk.Request {
		r.Logprobs, r.Sample, r.Decoding = logprobs, sample, d
		return r
	}
	for _, c := range []struct {
		name    string
		options Options
		request crosstalk.Request
		path    string
		want    string
	}{
		{"nothing set", Options{}, chat("hi"), "/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"hi"}]}`},
		{"chat", Options{}, with(chat("hi"), 2, 3, all), "/v1/chat/completions",
			`{"model":"m","messages":[{"role":"user","content":"hi"}],"logprobs":true,"top_logprobs":2,"temperature":0.5,"top_p":0.5,"max_tokens":9,"seed":10,"stop":["\n","<"],"a":{"b":true},"top_k":3}`},
		{"OpenAI's own", Options{MaxTokensName: "max_completion_tokens"}, with(chat("hi"), 0, 0, crosstalk.Decoding{MaxTokens: 9}), "/v1/chat/completions",
			`{"model":"m","messages":[{"role":"user","content":"hi"}],"max_completion_tokens":9}`},
		{"zero is a setting", Options{SeedName: "random_seed"}, with(chat("hi"), 0, 1, crosstalk.Decoding{Temperature: new(float64), Seed: new(int64)}), "/v1/chat/completions",
			`{"model":"m","messages":[{"role":"user","content":"hi"}],"temperature":0,"random_seed":1}`},
		{"extra overrides", Options{}, with(chat("hi"), 0, 0, crosstalk.Decoding{MaxTokens: 9, Temperature: &half,
			Extra: map[string]any{"max_tokens": 5, "temperature": nil}}), "/v1/chat/completions",
			`{"model":"m","messages":[{"role":"user","content":"hi"}],"max_tokens":5,"temperature":null}`},
		{"room for thoughts", Options{Reasoning: map[string]map[string]any{"off": {"reasoning_effort": "none"}}},
			with(chat("hi"), 0, 0, crosstalk.Decoding{MaxTokens: 9, Reasoning: "off", ReasoningTokens: 91}), "/v1/chat/completions",
			`{"model":"m","messages":[{"role":"user","content":"hi"}],"max_tokens":100,"reasoning_effort":"none"}`},
		{"reasoning as the server spells it", Options{Reasoning: map[string]map[string]any{"low": {"enable_thinking": true, "inner": map[string]any{"budget": endpoint.Budget}}}},
			with(chat("hi"), 0, 0, crosstalk.Decoding{MaxTokens: 9, Reasoning: "low", ReasoningTokens: 2000}), "/v1/chat/completions",
			`{"model":"m","messages":[{"role":"user","content":"hi"}],"max_tokens":2009,"enable_thinking":true,"inner":{"budget":2000}}`},
		{"no stop sequences", Options{NoStop: true}, with(chat("hi"), 0, 0, crosstalk.Decoding{Stop: []string{"."}}), "/v1/chat/completions",
			`{"model":"m","messages":[{"role":"user","content":"hi"}]}`},
		{"completions", Options{API: crosstalk.Completions, MaxTokensName: "max_completion_tokens"}, with(prompt("hi"), 2, 1, all), "/v1/completions",
			`{"model":"m","prompt":"hi","logprobs":2,"temperature":0.5,"top_p":0.5,"max_tokens":9,"seed":8,"stop":["\n","<"],"a":{"b":true},"top_k":3}`},
	} {
		if _, err := open(t, s, c.options).Answer(t.Context(), c.request); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		records := s.Records()
		r := records[len(records)-1]
		if r.Path != c.path || string(r.Body) != c.want {
			t.Errorf("%s: %s\n got %s\nwant %s", c.name, r.Path, r.Body, c.want)
		}
		for name, want := range map[string]string{"Authorization": "Bearer sk-0123456789", "Content-Type": "application/json",
			"User-Agent": "crosstalk/" + crosstalk.Version, "Accept-Encoding": "gzip"} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("%s: header %s is %q, want %q", c.name, name, got, want)
			}
		}
	}
	m, err := New(endpoint.Config{Provider: "p", Model: "m", BaseURL: s.URL + "/v1", Key: "sk-0123456789", KeyHeader: "api-key"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Answer(t.Context(), chat("hi")); err != nil {
		t.Fatal(err)
	}
	records := s.Records()
	if h := records[len(records)-1].Header; h.Get("api-key") != "sk-0123456789" || h.Get("Authorization") != "" {
		t.Errorf("the key is not in its header: %v", h)
	}
}

func TestWrongRequests(t *testing.T) {
	s := testserver.New(testserver.Options{})
	defer s.Close()
	bad := chat("hi")
	bad.Decoding.Extra = map[string]any{"x": math.NaN()}
	unknown := chat("hi")
	unknown.Decoding.Reasoning = "extreme"
	for _, r := range []crosstalk.Request{prompt("hi"), bad, unknown} {
		var ask *crosstalk.AskError
		if _, err := open(t, s, Options{Reasoning: map[string]map[string]any{}}).Answer(t.Context(), r); !errors.As(err,
			&ask) || ask.Fault != crosstalk.Rejected {
			t.Errorf("%v: %v", r, err)
		}
	}
	if n := s.Stats().Attempts; n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

func TestAnswers(t *testing.T) {
	for _, api := range []crosstalk.API{crosstalk.Chat, crosstalk.Completions} {
		for _, c := range []struct {
			fault     testserver.Fault
			reply     testserver.Reply
			maxTokens int
			status    crosstalk.Status
			text      string
			reason    string
			reasoning int
		}{
			{"", testserver.Reply{Text: " red <b>\n"}, 0, crosstalk.Text, " red <b>\n", "stop", 0},
			{"", testserver.Reply{Text: "one two three"}, 2, crosstalk.Text, "one two", "length", 0},
			{"", testserver.Reply{Text: " \n\t"}, 0, crosstalk.Empty, " \n\t", "stop", 0},
			{"", testserver.Reply{Text: "yes", Reasoning: 5}, 0, crosstalk.Text, "yes", "stop", 5},
			{"empty", testserver.Reply{Text: "x"}, 0, crosstalk.Empty, "", "stop", 0},
			{"thinking", testserver.Reply{Text: "x"}, 20, crosstalk.Empty, "", "thinking", 20},
			{"refusal", testserver.Reply{Text: "x"}, 0, crosstalk.Refused, "", "I'm sorry, but I can't help with that.", 0},
			{"filtered", testserver.Reply{Text: "one two three four"}, 0, crosstalk.Refused, "one two", "content_filter", 0},
		} {
			o := testserver.Options{Answer: func(testserver.Request) testserver.Reply { return c.reply }}
			if c.fault != "" {
				o.Faults = map[testserver.Fault]float64{c.fault: 1}
			}
			s := testserver.New(o)
			req := chat("hi")
			if api == crosstalk.Completions {
				req = prompt("hi")
				if c.fault == "refusal" {
					c.reason = "content_filter" // this form has no words for it
				}
			}
			req.Decoding.MaxTokens = c.maxTokens
			a, err := open(t, s, Options{API: api}).Answer(t.Context(), req)
			if err != nil || a.Status != c.status || a.Text != c.text || a.Reason != c.reason ||
				a.Usage.Reasoning != c.reasoning || a.Model != "m" {
				t.Errorf("%s %s %q: %+v, %v", api, c.fault, c.reply.Text, a, err)
			}
			if a.Usage.Prompt == 0 || c.text != "" && a.Usage.Completion == 0 {
				t.Errorf("%s %s: usage %+v", api, c.fault, a.Usage)
			}
			if !json.Valid(a.Raw) || !strings.Contains(string(a.Raw), `"system_fingerprint"`) {
				t.Errorf("%s %s: raw body %s", api, c.fault, a.Raw)
			}
			s.Close()
		}
	}
}

func TestLogprobs(t *testing.T) {
	s := testserver.New(testserver.Options{})
	defer s.Close()
	for _, req := range []crosstalk.Request{chat("hi"), prompt("hi")} {
		req.Logprobs = 3
		a, err := open(t, s, Options{API: req.API}).Answer(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		joined := ""
		for _, l := range a.Logprobs {
			joined += l.Token
			found := false
			for i, c := range l.Top {
				found = found || c.Token == l.Token && c.Logprob == l.Logprob
				if i > 0 && c.Logprob > l.Top[i-1].Logprob {
					t.Errorf("%s: candidates are not sorted: %v", req.API, l.Top)
				}
			}
			if !found || len(l.Top) < 3 || !(l.Logprob < 0) {
				t.Errorf("%s: %+v", req.API, l)
			}
		}
		if joined != a.Text || joined == "" {
			t.Errorf("%s: the tokens make %q, the text is %q", req.API, joined, a.Text)
		}
	}
}

// Each failure that the server can produce is the fault that the asker needs.
func TestFailures(t *testing.T) {
	faults := map[testserver.Fault]crosstalk.Fault{
		"408": crosstalk.Transient, "409": crosstalk.Transient,
		"429": crosstalk.Overloaded, "429-seconds": crosstalk.Overloaded,
		"429-date": crosstalk.Overloaded, "429-ms": crosstalk.Overloaded,
		"500": crosstalk.Transient, "502": crosstalk.Transient,
		"503": crosstalk.Overloaded, "504": crosstalk.Transient,
		"529": crosstalk.Overloaded, "drop": crosstalk.Transient,
		"cut":          crosstalk.Transient,
		"invalid-json": crosstalk.Transient, "wrong-shape": crosstalk.Transient,
		"html": crosstalk.Transient, "html-200": crosstalk.Transient,
	}
	for fault, want := range faults {
		s := testserver.New(testserver.Options{Faults: map[testserver.Fault]float64{fault: 1}})
		for _, req := range []crosstalk.Request{chat("a"), chat("b"), chat("c"), prompt("a"), prompt("b"), prompt("c")} {
			_, err := open(t, s, Options{API: req.API}).Answer(t.Context(), req)
			var ask *crosstalk.AskError
			if !errors.As(err, &ask) || ask.Fault != want {
				t.Errorf("%s: %v", fault, err)
				continue
			}
			if strings.HasPrefix(string(fault), "429-") != (ask.RetryAfter > 0) {
				t.Errorf("%s: wait %v", fault, ask.RetryAfter)
			}
		}
		s.Close()
	}
}

func TestDenied(t *testing.T) {
	s := testserver.New(testserver.Options{Key: "another", Models: []string{"n"}})
	defer s.Close()
	_, err := open(t, s, Options{}).Answer(t.Context(), chat("a"))
	var ask *crosstalk.AskError
	if !errors.As(err, &ask) || ask.Fault != crosstalk.Denied ||
		!strings.Contains(err.Error(), "P_KEY was refused by "+s.URL) || strings.Contains(err.Error(), "sk-01234") {
		t.Errorf("wrong key: %v", err)
	}
	m, err := New(endpoint.Config{Provider: "p", Model: "m", BaseURL: s.URL + "/v1", Key: "another"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Answer(t.Context(), chat("a"))
	if !errors.As(err, &ask) || ask.Fault != crosstalk.Denied || !strings.Contains(err.Error(), `has no model "m"`) {
		t.Errorf("wrong model: %v", err)
	}
}
