// Package endpoint is the way to one model behind an HTTP API that takes and
// gives JSON: connections, limits on what is read, errors in the user's words,
// and API keys kept out of all of it.
package endpoint

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"crosstalk"
)

// MaxBody is the size in bytes up to which an answer is read: some ten times
// the longest answer of a current model, or 4,000 tokens with 20 candidates each.
const MaxBody = 16 << 20

// maxProblem is the size in bytes up to which an error is read.
const maxProblem = 64 << 10

// Config says where a model is. Provider, Model and BaseURL are required.
type Config struct {
	Provider string // as in crosstalk.Identity
	Model    string
	BaseURL  string // what the API's paths are appended to; may have a user and a query

	Key       string // the API key, "" for none
	KeyVar    string // the environment variable that the key is from, for messages
	KeyFile   string // a file with the key, read again whenever it changes; instead of Key
	KeyHeader string // the header that takes the key; "": Authorization, as a bearer token

	Header  http.Header
	Secrets []string // values of Header that must not be shown or saved

	Advice  string       // what to do when nothing listens there
	Missing string       // what to do when the model is not there
	Client  *http.Client // default: one that all endpoints share
}

// Endpoint is one model behind one API. It is safe for concurrent use.
type Endpoint struct {
	config   Config
	identity crosstalk.Identity
	base     string // may hold a user and password
	query    string
	header   http.Header
	client   *http.Client
	secrets  secrets
	file     *keyFile // nil: the key is constant
}

// New checks the configuration. Nothing is sent.
func New(c Config) (*Endpoint, error) {
	u, err := parseBase(c.BaseURL)
	if err != nil {
		return nil, err
	}
	if err := checkKey(c.Key, c.KeyVar); err != nil {
		return nil, err
	}
	e := &Endpoint{config: c, secrets: append(newSecrets(c.Key, u), c.Secrets...)}
	if c.KeyFile != "" {
		e.file = &keyFile{path: c.KeyFile}
		if _, err := e.file.read(); err != nil {
			return nil, err
		}
	}
	if u.RawQuery != "" {
		e.query = "?" + u.RawQuery
	}
	u.RawQuery = ""
	e.base = u.String()
	u.User = nil
	e.identity = crosstalk.Identity{Provider: c.Provider, Endpoint: u.String(), Name: c.Model}
	e.header = http.Header{
		"Content-Type": {"application/json"},
		"Accept":       {"application/json"},
		"User-Agent":   {"crosstalk/" + crosstalk.Version},
	}
	for name, values := range c.Header {
		e.header[http.CanonicalHeaderKey(name)] = values
	}
	client := shared
	if c.Client != nil {
		client = *c.Client
	}
	// A redirected POST would become a GET, or take the key to another host.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	e.client = &client
	return e, nil
}

// Identity is the model's, its endpoint without user, password and query.
func (e *Endpoint) Identity() crosstalk.Identity { return e.identity }

// parseBase reads a base URL. A path of the API at its end is taken off: that
// is what many people paste.
func parseBase(base string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(base))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		// Not quoted: it may contain a password.
		return nil, errors.New("the base URL is not a URL: expected http:// or https://, a host and usually /v1, such as http://localhost:8000/v1")
	}
	u.Fragment, u.RawFragment = "", ""
	u.Host = strings.ToLower(u.Host)
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), ""
	for _, path := range []string{"/chat/completions", "/completions", "/messages", "/responses"} {
		if cut, found := strings.CutSuffix(u.Path, path); found {
			u.Path = cut
			break
		}
	}
	return u, nil
}

// shared keeps as many connections open as asks may be in flight.
var shared = http.Client{Transport: &http.Transport{
	Proxy:               http.ProxyFromEnvironment,
	DialContext:         (&net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}).DialContext,
	ForceAttemptHTTP2:   true,
	HTTP2:               &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
	MaxIdleConnsPerHost: 512,
	IdleConnTimeout:     90 * time.Second,
	TLSHandshakeTimeout: dialTimeout,
}}

const dialTimeout = 15 * time.Second

// Ask posts body to a path of the API and reads the answer with read, which
// returns an error if the JSON is not one of the API's answers. Every error is
// a *crosstalk.AskError, or ctx's if ctx was cancelled. A prompt that the
// provider's filter stopped is an answer with status Refused.
func (e *Endpoint) Ask(ctx context.Context, path string, body []byte, read func([]byte) (crosstalk.Answer, error)) (crosstalk.Answer, error) {
	raw, resp, key, err := e.send(ctx, http.MethodPost, path+e.query, body)
	if err != nil {
		return crosstalk.Answer{}, err
	}
	if resp.StatusCode/100 != 2 {
		return e.failed(resp.StatusCode, resp.Header, raw, key)
	}
	hidden := e.hidden()
	raw = hidden.hideInJSON(bytes.TrimSpace(raw)) // blank lines kept the connection open
	answer, err := read(raw)
	if err != nil {
		return e.unreadable(resp, raw, err, key)
	}
	for _, s := range []*string{&answer.Text, &answer.Reasoning, &answer.Reason, &answer.Model} {
		*s = string(hidden.hideInAnswer([]byte(*s)))
	}
	answer.Raw = raw
	return answer, nil
}

// Get returns what is at a path of the API, which may have a query. Every
// error is a *crosstalk.AskError, or ctx's if ctx was cancelled.
func (e *Endpoint) Get(ctx context.Context, path string) ([]byte, error) {
	if query := strings.TrimPrefix(e.query, "?"); query != "" {
		sign := "?"
		if strings.Contains(path, "?") {
			sign = "&"
		}
		path += sign + query
	}
	raw, resp, key, err := e.send(ctx, http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode/100 != 2 {
		_, err := e.failed(resp.StatusCode, resp.Header, raw, key)
		if err == nil { // a filter's word
			err = e.fault(crosstalk.Rejected, resp.StatusCode, nil, "%s rejected the request (HTTP %d, %s)",
				e.identity.Endpoint, resp.StatusCode, e.quote(readProblem(raw)))
		}
		return nil, err
	}
	if p := readProblem(raw); p.page {
		return nil, e.page(resp, p)
	}
	return e.hidden().hideInJSON(raw), nil
}

// send makes a request and reads the whole response, with the key it sent.
func (e *Endpoint) send(ctx context.Context, method, path string, body []byte) (raw json.RawMessage, resp *http.Response, key string, err error) {
	if key, err = e.key(); err != nil {
		return nil, nil, "", e.fault(crosstalk.Denied, 0, nil, "%v", err)
	}
	raw, resp, err = e.exchange(ctx, method, path, body, key)
	if err != nil {
		return nil, nil, key, e.unreachable(ctx, err)
	}
	if len(raw) > MaxBody {
		return nil, nil, key, e.fault(crosstalk.Rejected, resp.StatusCode, nil, "the answer is longer than %d MiB", MaxBody>>20)
	}
	return raw, resp, key, nil
}

// exchange returns at most MaxBody+1 bytes of the body.
func (e *Endpoint) exchange(ctx context.Context, method, path string, body []byte, key string) (json.RawMessage, *http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, e.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	req.Header = e.header.Clone()
	if name := e.config.KeyHeader; key != "" && req.Header.Get(cmp.Or(name, "Authorization")) == "" { // a header of the user's comes first
		if name == "" {
			name, key = "Authorization", "Bearer "+key
		}
		req.Header.Set(name, key)
	}
	resp, err := e.client.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	good := resp.StatusCode/100 == 2
	most := int64(maxProblem)
	if good {
		most = MaxBody + 1
	}
	var b bytes.Buffer
	// The stated length is a claim; a long body makes the buffer grow.
	b.Grow(int(min(max(resp.ContentLength, 512), 1<<16)) + bytes.MinRead)
	if _, err := b.ReadFrom(io.LimitReader(resp.Body, most)); err != nil && good {
		return nil, nil, cutOff{err}
	}
	return b.Bytes(), resp, nil
}

// cutOff is an answer that began and did not end.
type cutOff struct{ error }

func (c cutOff) Unwrap() error { return c.error }
