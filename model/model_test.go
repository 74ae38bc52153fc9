package model

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"crosstalk"
)

// env is an environment for Options.Getenv: name, value, ...
func env(vars ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(vars); i += 2 {
			if vars[i] == name {
				return vars[i+1]
			}
		}
		return ""
	}
}

func TestOpen(t *testing.T) {
	for _, c := range []struct {
		name     string
		o        Options
		identity crosstalk.Identity
		api      crosstalk.API
	}{
		{"openai:gpt-4o-mini", Options{Getenv: env("OPENAI_API_KEY", "k")},
			crosstalk.Identity{Provider: "openai", Endpoint: "https://api.openai.com/v1", Name: "gpt-4o-mini"}, crosstalk.Chat},
		{"anthropic:claude", Options{Getenv: env("ANTHROPIC_API_KEY", " k\n")},
			crosstalk.Identity{Provider: "anthropic", Endpoint: "https://api.anthropic.com/v1", Name: "claude"}, crosstalk.Chat},
		{"ollama:llama3.2:1b", Options{API: crosstalk.Completions},
			crosstalk.Identity{Provider: "ollama", Endpoint: "http://localhost:11434/v1", Name: "llama3.2:1b"}, crosstalk.Completions},
		{"OpenRouter:meta/llama:free", Options{Getenv: env("MY_KEY", "k"), KeyVar: "MY_KEY"},
			crosstalk.Identity{Provider: "openrouter", Endpoint: "https://openrouter.ai/api/v1", Name: "meta/llama:free"}, crosstalk.Chat},
		{"openai:qwen", Options{BaseURL: "http://me:pass@Host:8000/v1/?api_key=x"},
			crosstalk.Identity{Provider: "openai", Endpoint: "http://host:8000/v1", Name: "qwen"}, crosstalk.Chat},
		{"compatible:a/b:c", Options{BaseURL: "http://host/v1"},
			crosstalk.Identity{Provider: "compatible", Endpoint: "http://host/v1", Name: "a/b:c"}, crosstalk.Chat},
		{"bedrock:openai.gpt-oss-120b-1:0", Options{Getenv: env("AWS_BEARER_TOKEN_BEDROCK", "k", "AWS_DEFAULT_REGION", "eu-west-1")},
			crosstalk.Identity{Provider: "bedrock", Endpoint: "https://bedrock-runtime.eu-west-1.amazonaws.com/openai/v1", Name: "openai.gpt-oss-120b-1:0"}, crosstalk.Chat},
		{"vertex:google/gemini-2.5-flash", Options{Getenv: env("VERTEX_ACCESS_TOKEN", "k", "GOOGLE_CLOUD_PROJECT", "p")},
			crosstalk.Identity{Provider: "vertex", Endpoint: "https://aiplatform.googleapis.com/v1/projects/p/locations/global/endpoints/openapi", Name: "google/gemini-2.5-flash"}, crosstalk.Chat},
		{"vertex:google/gemini-2.5-flash", Options{Getenv: env("VERTEX_ACCESS_TOKEN", "k", "GOOGLE_CLOUD_PROJECT", "p", "GOOGLE_CLOUD_LOCATION", "europe-west4")},
			crosstalk.Identity{Provider: "vertex", Endpoint: "https://europe-west4-aiplatform.googleapis.com/v1/projects/p/locations/europe-west4/endpoints/openapi", Name: "google/gemini-2.5-flash"}, crosstalk.Chat},
		{"openai:gpt-5.4", Options{API: crosstalk.Responses, Getenv: env("GATEWAY", "k"), Header: []string{"Authorization=Bearer x-0123456789"}},
			crosstalk.Identity{Provider: "openai", Endpoint: "https://api.openai.com/v1", Name: "gpt-5.4"}, crosstalk.Responses},
		{"azure:deployment", Options{BaseURL: "https://r.openai.azure.com/openai/v1", Getenv: env("AZURE_OPENAI_API_KEY", "k")},
			crosstalk.Identity{Provider: "azure", Endpoint: "https://r.openai.azure.com/openai/v1", Name: "deployment"}, crosstalk.Chat},
	} {
		if c.o.Getenv == nil {
			c.o.Getenv = env()
		}
		m, err := Open(c.name, c.o)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if m.Identity() != c.identity || m.API() != c.api {
			t.Errorf("%s: %+v, %s", c.name, m.Identity(), m.API())
		}
	}
}

func TestOpenErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		o    Options
		want string // a part of the error
	}{
		{"gpt-4o-mini", Options{}, `model "gpt-4o-mini": expected provider:name, such as openai:gpt-4o-mini`},
		{"openai:", Options{}, `model "openai:": expected a model after the provider, as in openai:NAME`},
		{"openia:gpt", Options{}, `there is no provider "openia"; choose one of openai, anthropic, gemini,`},
		{"openia:gpt", Options{}, "--model compatible:NAME --base-url http://HOST:PORT/v1"},
		{"openai:gpt", Options{}, `model "openai:gpt": the environment variable OPENAI_API_KEY is not set`},
		{"openai:gpt", Options{BaseURL: "https://api.openai.com/v1/"}, `OPENAI_API_KEY is not set`},
		{"ollama:m", Options{KeyVar: "sk-a-key-1"}, `the environment variable that --key-var names (expected a name such as OPENAI_API_KEY, not the key) is not set; it should be`},
		{"ollama:m", Options{KeyVar: "gsk_aKey1"}, `the environment variable that --key-var names (expected`},
		{"ollama:m", Options{KeyVar: "MY_KEY"}, `the environment variable MY_KEY is not set`},
		{"anthropic:m", Options{API: crosstalk.Completions, BaseURL: "http://h"}, `anthropic has only the chat API, not completions (--api)`},
		{"ollama:m", Options{API: "talk"}, `api "talk": expected chat, responses or completions`},
		{"compatible:m", Options{}, `compatible needs --base-url, such as http://localhost:8000/v1`},
		{"azure:m", Options{}, `azure needs --base-url, such as https://RESOURCE.openai.azure.com/openai/v1`},
		{"bedrock:m", Options{}, `the environment variable AWS_REGION is not set, or is not a name; it is a part of the base URL of bedrock`},
		{"bedrock:m", Options{Getenv: env("AWS_REGION", "evil.example/")}, `AWS_REGION is not set, or is not a name`},
		{"vertex:m", Options{}, `GOOGLE_CLOUD_PROJECT is not set`},
		{"openai:m", Options{Header: []string{"x"}}, "--header: expected a name, = and a value: NAME=VALUE or NAME=$VARIABLE"},
		{"openai:m", Options{KeyFile: "no-such-file"}, "no-such-file: no such file"},
		{"anthropic:m", Options{API: crosstalk.Responses, BaseURL: "http://h"}, `anthropic has only the chat API, not responses (--api)`},
		{"ollama:m", Options{BaseURL: "localhost:1/v1"}, `model "ollama:m": the base URL is not a URL: expected http:// or https://`},
		{"ollama:m", Options{Getenv: env("OLLAMA_API_KEY", "a b")}, `OLLAMA_API_KEY contains a space`},
		{"mine:x", Options{Others: map[string]func(string) (crosstalk.Model, error){
			"mine": func(name string) (crosstalk.Model, error) { return nil, errors.New("mine has no " + name) }}}, "mine has no x"},
		{"other:x", Options{Others: map[string]func(string) (crosstalk.Model, error){"mine": nil}}, "mine"},
	} {
		if c.o.Getenv == nil {
			c.o.Getenv = env()
		}
		if m, err := Open(c.name, c.o); m != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %+v:\n got %v, %v\nwant %s", c.name, c.o, m, err, c.want)
		}
	}
}

func TestPresets(t *testing.T) {
	var names []string
	for _, p := range Presets() {
		names = append(names, p.Name)
		base, err := p.baseURL(func(string) string { return "x" })
		if err != nil {
			t.Error(err)
		}
		p.BaseURL = base
		u, err := url.Parse(p.BaseURL)
		if p.BaseURL != "" && (err != nil || p.Local != (u.Hostname() == "localhost") || !p.Local && u.Scheme != "https" ||
			strings.HasSuffix(u.Path, "/")) {
			t.Errorf("%+v", p)
		}
		if p.KeyVar == "" || p.Name != strings.ToLower(p.Name) || strings.Contains(p.Name, ":") || p.Local &&
			p.BaseURL != "" && p.Start == "" {
			t.Errorf("%+v", p)
		}
		if m, err := Open(p.Name+":m",
			Options{Getenv: func(string) string { return "key" }, BaseURL: p.BaseURL}); p.BaseURL != "" &&
			(err != nil || m.Identity().Endpoint != p.BaseURL) {
			t.Errorf("%s: %v, %v", p.Name, m, err)
		}
	}
	if slices.Sort(names); len(slices.Compact(names)) != len(Presets()) {
		t.Errorf("two presets have one name: %v", names)
	}
}

// Which parameters and headers a preset sends.
func TestPresetDialects(t *testing.T) {
	var header http.Header
	var body []byte
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header = r.Header
		body = make([]byte, r.ContentLength)
		r.Body.Read(body)
		fmt.Fprint(w, `{"choices":[{"message":{"content":"a"}}]}`)
	}))
	defer s.Close()
	for _, c := range []struct{ name, param, header, value string }{
		{"openai", `"max_tokens":9`, "Authorization", "Bearer k"}, // elsewhere than at OpenAI
		{"azure", `"max_completion_tokens":9`, "Api-Key", "k"},
		{"mistral", `"random_seed":4`, "Authorization", "Bearer k"},
		{"vllm", `"seed":4`, "Authorization", "Bearer k"},
	} {
		m, err := Open(c.name+":m", Options{BaseURL: s.URL, Getenv: func(string) string { return "k" }})
		if err != nil {
			t.Fatal(err)
		}
		seed := int64(4)
		if _, err := m.Answer(t.Context(),
			crosstalk.Request{API: crosstalk.Chat, Decoding: crosstalk.Decoding{MaxTokens: 9, Seed: &seed}}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(body), c.param) || header.Get(c.header) != c.value {
			t.Errorf("%s: want %s and %s: %s\n%s\n%v", c.name, c.param, c.header, c.value, body, header)
		}
	}
	sent := ""
	m, err := Open("openai:m",
		Options{Getenv: func(string) string { return "k" }, Client: &http.Client{Transport: roundTrip(func(r *http.Request) {
			body = make([]byte, r.ContentLength)
			r.Body.Read(body)
			sent = string(body)
		})}})
	if err != nil {
		t.Fatal(err)
	}
	m.Answer(t.Context(), crosstalk.Request{API: crosstalk.Chat, Decoding: crosstalk.Decoding{MaxTokens: 9}})
	if !strings.Contains(sent, `"max_completion_tokens":9`) {
		t.Errorf("OpenAI itself is sent %s", sent)
	}
}

type roundTrip func(*http.Request)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) {
	f(r)
	return nil, errors.New("not sent")
}

// A server that echoes what it was sent does not bring the key into the
// journal, an error or a log.
func TestKeyStaysOut(t *testing.T) {
	const key = "sk-ant-api03-0123456789/abcdefghij+klmnopqrst"
	for _, status := range []int{200, 400, 401, 403, 404, 418, 429, 500} {
		for _, body := range []string{
			`{"choices":[{"message":{"content":"%[1]s"},"text":"%[1]s","finish_reason":"%[1]s"}],"model":"%[1]s","type":"message","content":[{"type":"text","text":"%[1]s"}],"stop_reason":"%[1]s","headers":["Bearer %[1]s"]}`,
			`{"error":{"message":"model: wrong key %[1]s","code":"%[1]s","type":"%[1]s"},"choices":7,"content":7}`,
			`{"choices":[{"message":{"content":"a"},"logprobs":{"tokens":["%[1]s"],"token_logprobs":[]}}]}`,
			`<html><title>%[1]s</title></html>`, `key %[1]s`, `%[1]s`,
		} {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Location", "https://"+key+".example/")
				w.Header().Set("Retry-After", key)
				w.WriteHeader(status)
				fmt.Fprintf(w, body, r.Header.Get("x-api-key")+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
			}))
			for _, name := range []string{"openai:m", "anthropic:m", "azure:m"} {
				for _, api := range []crosstalk.API{crosstalk.Chat, crosstalk.Completions} {
					m, err := Open(name, Options{BaseURL: s.URL + "/v1", Getenv: func(string) string { return key }, API: api})
					if err != nil {
						continue // completions of anthropic
					}
					a, err := m.Answer(t.Context(), crosstalk.Request{API: api})
					all := fmt.Sprintf("%+v %s %s %+v %#v", a, a.Raw, crosstalk.Canonical(a), err, err)
					for e := err; e != nil; e = errors.Unwrap(e) {
						all += fmt.Sprintf(" %v %#v", e, e)
					}
					for i := 0; i+16 <= len(key); i++ {
						if strings.Contains(all, key[i:i+16]) {
							t.Fatalf("%s, status %d, %s: %s", name, status, body, all)
						}
					}
					if err != nil && strings.Contains(err.Error(), key[:8]) {
						t.Fatalf("%s, status %d, %s: %v", name, status, body, err)
					}
					if id := fmt.Sprint(m.Identity()); strings.Contains(id, key[:8]) {
						t.Fatal(id)
					}
				}
			}
			s.Close()
		}
	}
}

// Beam search is asked for where it is known, and refused where it is not:
// servers pass over what they do not know.
func TestBeams(t *testing.T) {
	for _, name := range []string{"vllm:m", "compatible:m"} {
		if got, err := Beams(name, 4); err != nil || got["use_beam_search"] != true || got["n"] != 4 || len(got) != 2 {
			t.Errorf("%s: %v %v", name, got, err)
		}
	}
	if got, err := Beams("ollama:m", 1); err != nil || got != nil {
		t.Errorf("one beam is none: %v %v", got, err)
	}
	for name, want := range map[string]string{
		"openai:gpt-4o": "openai has no beam search", "llamacpp:m": "llamacpp has no beam search", "reference:confused": "reference has no beam search",
		"m": "expected provider:name",
	} {
		if _, err := Beams(name, 2); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

func TestHasLogprobs(t *testing.T) {
	for name, ok := range map[string]bool{"openai:gpt-4o": true, "vllm:m": true, "reference:confused": true, "anthropic:claude": false, "Anthropic:claude": false, "m": false, "openai:gpt-5-mini": false, "openrouter:anthropic/claude-x": false, "groq:llama": false} {
		if err := HasLogprobs(name, nil); (err == nil) != ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Headers are sent with every request, and their values are neither shown nor
// saved, nor a part of what names an ask.
func TestHeadersStayOut(t *testing.T) {
	const secret, bearer = "gw-0123456789/abcdefgh", "tok-9876543210+zyxwvut"
	getenv := env("GATE", secret, "OPENAI_API_KEY", "sk-unused-0123456789", "ANTHROPIC_API_KEY", "sk-unused-0123456789")
	for _, name := range []string{"openai:m", "anthropic:m"} {
		for _, status := range []int{200, 400, 401, 500} {
			var got http.Header
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				got = r.Header
				w.WriteHeader(status)
				fmt.Fprintf(w, `{"choices":[{"message":{"content":"%[1]s %[2]s","reasoning":"%[1]s"},"finish_reason":"%[1]s"}],"content":[{"type":"text","text":"%[2]s"},{"type":"thinking","thinking":"%[1]s"}],"message":"%[1]s %[2]s"}`,
					r.Header.Get("X-Gateway"), r.Header.Get("Authorization"))
			}))
			o := Options{BaseURL: s.URL + "/v1", Getenv: getenv, Header: []string{"X-Gateway=$GATE", "Authorization=Bearer " + bearer, "X-Provider=ollama"}}
			m, err := Open(name, o)
			if err != nil {
				t.Fatal(err)
			}
			a, err := m.Answer(t.Context(), crosstalk.Request{API: crosstalk.Chat})
			if got.Get("X-Gateway") != secret || got.Get("Authorization") != "Bearer "+bearer || got.Get("X-Provider") != "ollama" {
				t.Errorf("%s: sent %v", name, got)
			}
			if (err == nil) != (status == 200) {
				t.Errorf("%s %d: %v", name, status, err)
			}
			all := fmt.Sprintf("%+v %s %s %+v %#v %v", a, a.Raw, crosstalk.Canonical(a), err, err, m.Identity())
			for _, part := range []string{secret, bearer} {
				if strings.Contains(all, part) {
					t.Errorf("%s %d: %s", name, status, all)
				}
			}
			plain, err := Open(name, Options{BaseURL: s.URL + "/v1", Getenv: getenv})
			if err != nil || plain.Identity() != m.Identity() {
				t.Errorf("headers are a part of the identity: %v, %v, %v", plain.Identity(), m.Identity(), err)
			}
			s.Close()
		}
	}
}

// A base URL is saved and shown without what is secret in it.
func TestPublicURL(t *testing.T) {
	for base, want := range map[string]string{
		"https://h/v1":             "https://h/v1",
		" https://h/v1 ":           " https://h/v1 ",
		"https://u:secret@h/v1":    "https://h/v1",
		"https://h/v1?key=secret":  "https://h/v1",
		"https://u@h:8/v1?a=b&c=d": "https://h:8/v1",
		"https://h:secret/v1":      "an invalid URL",
		"":                         "",
	} {
		if got := PublicURL(base); got != want {
			t.Errorf("%q is shown as %q, want %q", base, got, want)
		}
	}
}

// Providers on this machine and servers of any kind send no bill that crosstalk knows of.
func TestPaid(t *testing.T) {
	paid := Paid()
	for name, want := range map[string]bool{"openai": true, "anthropic": true, "gemini": true, "ollama": false, Compatible: false} {
		if slices.Contains(paid, name) != want {
			t.Errorf("%s is paid: %v", name, !want)
		}
	}
}
