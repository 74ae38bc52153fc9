package endpoint

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"crosstalk"
)

const key = "sk-proj-0123456789abcdef"

// ask sends one request to a server that answers with status and body, and
// takes any answer that starts with {"ok" to be right.
func ask(t *testing.T, c Config, status int, header http.Header, body string) (crosstalk.Answer, *crosstalk.AskError) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, values := range header {
			w.Header()[name] = values
		}
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	defer s.Close()
	c.BaseURL = s.URL + "/v1"
	a, err := askAt(t, c)
	if err != nil {
		err.Message = strings.ReplaceAll(err.Message, c.BaseURL, "URL")
	}
	return a, err
}

func askAt(t *testing.T, c Config) (crosstalk.Answer, *crosstalk.AskError) {
	t.Helper()
	if c.Provider == "" {
		c.Provider, c.Model, c.KeyVar = "openai", "gpt", "OPENAI_API_KEY"
	}
	e, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	a, err := e.Ask(ctx, "/chat", []byte("{}"), maxText, func(b []byte) (crosstalk.Answer, error) {
		if !strings.HasPrefix(string(b), `{"ok"`) {
			return crosstalk.Answer{}, errors.New("it is not ok")
		}
		return crosstalk.Answer{Status: crosstalk.Text, Text: string(b)}, nil
	})
	if err == nil {
		return a, nil
	}
	var ask *crosstalk.AskError
	if !errors.As(err, &ask) {
		t.Fatalf("error %v (%T) is no AskError", err, err)
	}
	return a, ask
}

func TestStatuses(t *testing.T) {
	const (
		transient, overloaded = crosstalk.Transient, crosstalk.Overloaded
		rejected, denied      = crosstalk.Rejected, crosstalk.Denied
	)
	message := func(m string) string { return `{"error":{"message":"` + m + `"}}` }
	for _, c := range []struct {
		status int
		key    string
		body   string
		fault  crosstalk.Fault
		want   string
	}{
		{400, key, message("bad"), rejected, `openai:gpt: URL rejected the request (HTTP 400, "bad")`},
		{400, key, message("Either x-portkey-config or x-portkey-provider header is required"), rejected,
			`openai:gpt: URL rejected the request; set the header with --header NAME=VALUE (HTTP 400, "Either x-portkey-config or x-portkey-provider header is required")`},
		{413, key, "", rejected, `openai:gpt: URL rejected the request (HTTP 413, with no explanation)`},
		{422, key, `{"detail":[{"loc":["body","top_k"],"msg":"no"}]}`, rejected, `openai:gpt: URL rejected the request (HTTP 422, "body top_k: no")`},
		{401, key, message("wrong " + key), denied, `openai:gpt: OPENAI_API_KEY was refused by URL (HTTP 401, "wrong [key]")`},
		{401, "", message("no key"), denied, `openai:gpt: OPENAI_API_KEY is not set, and URL wants a key (HTTP 401, "no key")`},
		{403, key, message("no"), denied, `openai:gpt: OPENAI_API_KEY may not use this model at URL (HTTP 403, "no")`},
		{402, key, message("pay"), denied, `openai:gpt: the account of OPENAI_API_KEY has no credit left at URL (HTTP 402, "pay")`},
		{429, key, `{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}`, denied,
			`openai:gpt: the account of OPENAI_API_KEY has no credit left at URL (HTTP 429, "You exceeded your current quota")`},
		{400, key, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low"}}`, denied,
			`openai:gpt: the account of OPENAI_API_KEY has no credit left at URL (HTTP 400, "Your credit balance is too low")`},
		{404, key, message("The model `gpt` does not exist"), denied,
			"openai:gpt: URL has no model \"gpt\": check the name after openai:; pull it (HTTP 404, \"The model `gpt` does not exist\")"},
		{404, key, "404 page not found", denied,
			`openai:gpt: the base URL URL is wrong (most end in /v1), or there is no model "gpt" (HTTP 404, "404 page not found")`},
		{405, key, "", denied, `openai:gpt: the base URL URL is wrong (most end in /v1), or there is no model "gpt" (HTTP 405, with no explanation)`},
		{101, key, "xx", denied, `openai:gpt: the base URL URL is wrong: it speaks another protocol than HTTP (HTTP 101, with no explanation)`},
		{408, key, "", transient, `openai:gpt: URL failed (HTTP 408, with no explanation)`},
		{409, key, "", transient, `openai:gpt: URL failed (HTTP 409, with no explanation)`},
		{425, key, "", transient, `openai:gpt: URL failed (HTTP 425, with no explanation)`},
		{500, key, message("oops"), transient, `openai:gpt: URL failed (HTTP 500, "oops")`},
		{502, key, "<html><title>502 Bad Gateway</title></html>", transient, `openai:gpt: URL failed (HTTP 502, an HTML page: "502 Bad Gateway")`},
		{504, key, "", transient, `openai:gpt: URL failed (HTTP 504, with no explanation)`},
		{520, key, "", transient, `openai:gpt: URL failed (HTTP 520, with no explanation)`},
		{429, key, message("slow down"), overloaded, `openai:gpt: URL limits the rate of requests (HTTP 429, "slow down")`},
		{503, key, message("loading"), overloaded, `openai:gpt: URL is overloaded (HTTP 503, "loading")`},
		{529, key, message("Overloaded"), overloaded, `openai:gpt: URL is overloaded (HTTP 529, "Overloaded")`},
		{200, key, "<html><title>Welcome</title></html>", transient,
			`openai:gpt: URL sent no answer but an HTML page: "Welcome": is there a proxy, or is the base URL wrong?`},
		{200, key, "{", transient, `openai:gpt: the answer of URL cannot be read: it is not ok: "{"`},
		{200, key, `{"error":{"message":"upstream","code":502}}`, transient, `openai:gpt: URL failed (HTTP 502, "upstream")`},
		{200, key, `{"choices":[{"finish_reason":"error","error":{"message":"host","code":503}}]}`, overloaded, `openai:gpt: URL is overloaded (HTTP 503, "host")`},
		{200, key, `{"error":{"message":"boom","code":"server_error"}}`, transient, `openai:gpt: URL failed (HTTP 500, "boom")`},
		{200, key, `{"error":{"message":"bad","type":"invalid_request_error"}}`, rejected, `openai:gpt: URL rejected the request (HTTP 400, "bad")`},
		{200, key, `{"error":{"message":"slow","type":"rate_limit_error"}}`, overloaded, `openai:gpt: URL limits the rate of requests (HTTP 429, "slow")`},
		{400, key, `[{"error":{"code":400,"message":"API key not valid","status":"INVALID_ARGUMENT"}}]`, rejected,
			`openai:gpt: URL rejected the request (HTTP 400, "API key not valid")`},
		{429, key, `[{"error":{"code":429,"message":"Quota","details":[{"violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},{"retryDelay":"9s"}]}}]`, denied,
			`openai:gpt: the account of OPENAI_API_KEY has used up its quota for today at URL (HTTP 429, "Quota")`},
		{429, key, `[{"error":{"code":429,"message":"Quota","details":[{"violations":[{"quotaId":"GenerateRequestsPerMinutePerProject"}]}]}}]`, overloaded,
			`openai:gpt: URL limits the rate of requests (HTTP 429, "Quota")`},
		{429, key, message("Rate limit exceeded: free-models-per-day"), denied,
			`openai:gpt: the account of OPENAI_API_KEY has used up its quota for today at URL (HTTP 429, "Rate limit exceeded: free-models-per-day")`},
		{429, key, message("Monthly spend limit reached"), denied,
			`openai:gpt: the account of OPENAI_API_KEY has no credit left at URL (HTTP 429, "Monthly spend limit reached")`},
		{403, key, message("You are not allowed to request logprobs from this model"), rejected,
			`openai:gpt: URL rejected the request (HTTP 403, "You are not allowed to request logprobs from this model")`},
		{200, key, `{"error":{"message":"slow","code":429}}`, overloaded, `openai:gpt: URL limits the rate of requests (HTTP 429, "slow")`},
	} {
		_, err := ask(t, Config{Provider: "openai", Model: "gpt", KeyVar: "OPENAI_API_KEY", Key: c.key, Missing: "pull it"}, c.status, nil, c.body)
		if err == nil || err.Fault != c.fault || err.Message != c.want {
			t.Errorf("%d %s:\n got %d %v\nwant %d %s", c.status, c.body, err.Fault, err, c.fault, c.want)
		}
		if c.status != 200 && err.Status != c.status {
			t.Errorf("%d: status %d", c.status, err.Status)
		}
	}
}

func TestFiltered(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
	}{
		{400, `{"error":{"message":"The response was filtered","code":"content_filter"}}`},                                        // Azure
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"Output blocked by content filtering policy"}}`}, // Anthropic
		{403, `{"error":{"code":403,"message":"Your input was flagged"}}`},                                                        // OpenRouter
		{400, `{"error":{"message":"Content Exists Risk"}}`},                                                                      // DeepSeek
		{403, `{"code":"The caller does not have permission","error":"Content violates usage guidelines. Team: x, API key ID: y, Model: grok-4. Failed check: SAFETY_CHECK_TYPE_BIO"}`},
		{400, `{"error":{"code":"data_inspection_failed","message":"Input data may contain inappropriate content."}}`}, // Qwen
		{400, `{"error":{"code":"DataInspectionFailed","message":"Output data"}}`},
		{400, `{"error":{"type":"content_filter","message":"The request was rejected because it was considered high risk"}}`}, // Moonshot
		{400, `{"error":{"code":"1301","message":"sensitive"}}`},                                                              // Z.ai
		{200, `{"error":{"code":403,"message":"Your chosen model requires moderation and your input was flagged"}}`},          // OpenRouter
	} {
		a, err := ask(t, Config{}, c.status, nil, c.body)
		if err != nil || a.Status != crosstalk.Refused || !strings.HasPrefix(a.Reason, `filtered: "`) ||
			a.Finish != crosstalk.FinishFilter || string(a.Raw) != c.body {
			t.Errorf("%s: %+v, %v", c.body, a, err)
		}
	}
}

// OpenAI reports some answers of nothing but thoughts as errors.
func TestExhausted(t *testing.T) {
	a, err := ask(t, Config{}, 400, nil, `{"error":{"message":"Could not finish the message because max_tokens or model output limit was reached. Please try again with higher max_tokens.","type":"invalid_request_error"}}`)
	if err != nil || a.Status != crosstalk.Empty || a.Reason != crosstalk.Thinking || a.Finish != crosstalk.FinishLength {
		t.Errorf("%+v, %v", a, err)
	}
}

// DeepSeek sends blank lines while an answer waits for its turn.
func TestBlankLines(t *testing.T) {
	a, err := ask(t, Config{}, 200, nil, "\n\n\r\n\n{\"ok\":1}\n")
	if err != nil || a.Text != `{"ok":1}` || string(a.Raw) != a.Text {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestRetryAfterInErrors(t *testing.T) {
	h := http.Header{"Retry-After": {"3"}}
	if _, err := ask(t, Config{}, 429, h, ""); err.RetryAfter != 3*time.Second {
		t.Errorf("429: %v", err.RetryAfter)
	}
	if _, err := ask(t, Config{}, 400, h, ""); err.RetryAfter != 0 {
		t.Errorf("400: %v", err.RetryAfter)
	}
	if _, err := ask(t, Config{}, 429, nil, `{"error":{"message":"x","details":[{"retryDelay":"2s"}]}}`); err.RetryAfter != 2*time.Second {
		t.Errorf("Gemini: %v", err.RetryAfter)
	}
}

// A redirect would turn the POST into a GET, or carry the key elsewhere.
func TestRedirect(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }))
	defer elsewhere.Close()
	for _, status := range []int{301, 302, 307, 308} {
		_, err := ask(t, Config{Key: key}, status, http.Header{"Location": {elsewhere.URL + "/" + key}}, "")
		want := fmt.Sprintf("openai:gpt: the base URL URL is wrong: it redirects to %s (HTTP %d, with no explanation)", elsewhere.URL, status)
		if err.Fault != crosstalk.Denied || err.Message != want {
			t.Errorf("%d: %v, want %s", status, err, want)
		}
	}
}

func TestUnreachable(t *testing.T) {
	l, _ := net.Listen("tcp", "127.0.0.1:0")
	refused := "http://" + l.Addr().String() + "/v1"
	l.Close()
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	failing := func(err error) *http.Client {
		return &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn,
			error) {
			return nil, err
		}}}
	}
	const advice = "is ollama running? start it with: ollama serve"
	for _, c := range []struct {
		name   string
		config Config
		want   string
	}{
		{"refused", Config{BaseURL: refused}, "nothing listens at URL: check that the server runs, and the base URL; " + advice},
		{"no such host", Config{BaseURL: "http://nowhere.invalid/v1", Client: failing(&net.DNSError{Err: "no such host", IsNotFound: true})},
			"the host of URL cannot be found: check the base URL and the network; " + advice},
		{"certificate", Config{BaseURL: secure.URL}, "URL has a certificate that is not trusted here (\"x509: certificate signed by unknown authority\")"},
		{"https to http", Config{BaseURL: strings.Replace(plain.URL, "http:", "https:", 1)}, "URL does not speak TLS: use http:// in the base URL"},
		{"proxy", Config{BaseURL: "http://h/v1", Client: failing(&net.OpError{Op: "proxyconnect", Net: "tcp", Err: errors.New("refused")})},
			"the proxy before URL cannot be reached: check HTTPS_PROXY and HTTP_PROXY (refused)"},
		{"another", Config{BaseURL: "http://h/v1", Client: failing(errors.New("odd " + key))}, `URL cannot be reached ("odd [key]"); ` + advice},
	} {
		c.config.Provider, c.config.Model, c.config.Key, c.config.Advice = "ollama", "m", key, advice
		_, err := askAt(t, c.config)
		if err == nil || err.Fault != crosstalk.Transient || strings.ReplaceAll(err.Message, c.config.BaseURL, "URL") != "ollama:m: "+c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.name, err, c.want)
		}
		if chain := fmt.Sprintf("%+v %v", err, errors.Unwrap(err)); strings.Contains(chain, key[:8]) {
			t.Errorf("%s: the key is in %s", c.name, chain)
		}
	}
}

func TestBrokenConnections(t *testing.T) {
	for want, handler := range map[string]http.HandlerFunc{
		"closed the connection before it answered": func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) },
		"broke off its answer": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, `{"ok"`)
			http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		},
	} {
		s := httptest.NewServer(handler)
		_, err := askAt(t, Config{BaseURL: s.URL})
		if err == nil || err.Fault != crosstalk.Transient || !strings.HasSuffix(err.Message, want) {
			t.Errorf("%v, want %s", err, want)
		}
		s.Close()
	}
}

func TestTime(t *testing.T) {
	release := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { <-release }))
	defer s.Close()
	defer close(release)
	e, err := New(Config{Provider: "p", Model: "m", BaseURL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	var ask *crosstalk.AskError
	if _, err := e.Ask(ctx, "", nil, maxText, nil); !errors.As(err, &ask) || ask.Fault != crosstalk.Transient ||
		!errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("after its time: %v", err)
	}
	why := errors.New("because")
	cancelled, cancelWith := context.WithCancelCause(context.Background())
	time.AfterFunc(20*time.Millisecond, func() { cancelWith(why) })
	if _, err := e.Ask(cancelled, "", nil, maxText, nil); err != why {
		t.Errorf("when cancelled: %v, want the cause", err)
	}
}

func TestBaseURL(t *testing.T) {
	for _, c := range []struct{ base, endpoint, asked string }{
		{"http://H:1/v1/", "http://h:1/v1", "http://h:1/v1/chat"},
		{"http://h/v1/chat/completions", "http://h/v1", "http://h/v1/chat"},
		{"https://h/v1/messages?api-version=2#x", "https://h/v1", "https://h/v1/chat?api-version=2"},
		{"http://u:p@h/v1", "http://h/v1", "http://u:p@h/v1/chat"},
		{"http://h", "http://h", "http://h/chat"},
	} {
		var asked string
		e, err := New(Config{BaseURL: c.base,
			Client: &http.Client{Transport: transport(func(r *http.Request) { asked = r.URL.String() })}})
		if err != nil {
			t.Fatal(err)
		}
		e.Ask(t.Context(), "/chat", nil, maxText, nil)
		if got := e.Identity().Endpoint; got != c.endpoint || asked != c.asked {
			t.Errorf("%s: endpoint %s, asked %s; want %s, %s", c.base, got, asked, c.endpoint, c.asked)
		}
	}
	for _, base := range []string{"", "localhost:8000/v1", "ftp://h/v1", "http://", "http://u:secret99@[", "/v1"} {
		if _, err := New(Config{BaseURL: base}); err == nil || !strings.HasPrefix(err.Error(), "the base URL is not a URL") ||
			strings.Contains(err.Error(), "secret99") {
			t.Errorf("%q: %v", base, err)
		}
	}
	for _, key := range []string{"a b", "a\nb", "schlüssel"} {
		if _, err := New(Config{BaseURL: "http://h", Key: key, KeyVar: "MY_KEY"}); err == nil || !strings.HasPrefix(err.Error(), "MY_KEY contains") {
			t.Errorf("key %q: %v", key, err)
		}
	}
}

type transport func(*http.Request)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) {
	f(r)
	return nil, tls.RecordHeaderError{}
}
