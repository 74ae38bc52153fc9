package endpoint

import (
	"context"
	"crosstalk/internal/testing/golden"
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

// What comes of what servers answer, in the words of many providers. A case is the status, with "no key" where none is
// set, and the body.
func TestAnswers(t *testing.T) {
	golden.Cases(t, "testdata/answers.txt", func(input string) string {
		head, body, _ := strings.Cut(input, "\n")
		c := Config{Provider: "openai", Model: "gpt", KeyVar: "OPENAI_API_KEY", Key: key, Missing: "pull it"}
		if strings.HasSuffix(head, " no key") {
			c.Key = ""
		}
		status := 0
		fmt.Sscan(head, &status)
		a, err := ask(t, c, status, nil, body)
		if err != nil {
			return fmt.Sprintf("fault %d, status %d, param %q, after %v\n%s", err.Fault, err.Status, err.Param, err.RetryAfter,
				err.Message)
		}
		return fmt.Sprintf("%s, %s, %q\n%s", a.Status, a.Finish, a.Reason, a.Raw)
	})
}

// The wait that a server asks for counts where it is busy.
func TestRetryAfterInErrors(t *testing.T) {
	for status, want := range map[int]time.Duration{429: 3 * time.Second, 400: 0} {
		if _, err := ask(t, Config{}, status, http.Header{"Retry-After": {"3"}}, ""); err.RetryAfter != want {
			t.Errorf("%d: %v", status, err.RetryAfter)
		}
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
