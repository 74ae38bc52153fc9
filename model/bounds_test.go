package model

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
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
