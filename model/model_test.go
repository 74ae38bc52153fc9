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
