// Package endpoint is the way to one model behind an HTTP API that takes and
// gives JSON: connections, limits on what is read, errors in the user's words,
// and API keys kept out of all of it.
package endpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"crosstalk"
)

// MaxBody is the size in bytes up to which a response is read.
const MaxBody = 64 << 20

// Config says where a model is. Provider, Model and BaseURL are required.
type Config struct {
	Provider string // as in crosstalk.Identity
	Model    string
	BaseURL  string // what the API's paths are appended to; may hold a user and a query
	Key      string // the API key, "" for none
	KeyVar   string // the environment variable that the key is from, for messages
	Advice   string // what to do when nothing listens there
	Missing  string // what to do when the model is not there
	Header   http.Header
	Client   *http.Client // default: one that all endpoints share
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
}

// New checks the configuration. Nothing is sent.
func New(c Config) (*Endpoint, error) {
	u, err := parseBase(c.BaseURL)
	if err != nil {
		return nil, err
	}
	for _, r := range c.Key {
		if r <= ' ' || r > '~' {
			return nil, fmt.Errorf("%s holds a space, a line break or another character that no API key has: set it again", c.KeyVar)
		}
	}
	e := &Endpoint{config: c, secrets: newSecrets(c.Key, u)}
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
		// Not quoted: it may hold a password.
		return nil, errors.New("the base URL is not one: expected http:// or https://, a host and mostly /v1, such as http://localhost:8000/v1")
	}
	u.Fragment, u.RawFragment = "", ""
	u.Host = strings.ToLower(u.Host)
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), ""
	for _, path := range []string{"/chat/completions", "/completions", "/messages"} {
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
	raw, resp, err := e.post(ctx, path, body)
	if err != nil {
		return crosstalk.Answer{}, e.unreachable(ctx, err)
	}
	if len(raw) > MaxBody {
		return crosstalk.Answer{}, e.fault(crosstalk.Rejected, resp.StatusCode, nil, "the answer is longer than %d MiB", MaxBody>>20)
	}
	if resp.StatusCode/100 != 2 {
		return e.failed(resp.StatusCode, resp.Header, raw)
	}
	raw = e.secrets.hideInJSON(raw)
	answer, err := read(raw)
	if err != nil {
		return e.unreadable(resp, raw, err)
	}
	for _, s := range []*string{&answer.Text, &answer.Reason, &answer.Model} {
		*s = string(e.secrets.hideInAnswer([]byte(*s)))
	}
	answer.Raw = raw
	return answer, nil
}

// post returns at most MaxBody+1 bytes of the body.
func (e *Endpoint) post(ctx context.Context, path string, body []byte) (json.RawMessage, *http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.base+path+e.query, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	req.Header = e.header.Clone()
	resp, err := e.client.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	var b bytes.Buffer
	// The stated length is a claim; a long body makes the buffer grow.
	b.Grow(int(min(max(resp.ContentLength, 512), 1<<16)) + bytes.MinRead)
	if _, err := b.ReadFrom(io.LimitReader(resp.Body, MaxBody+1)); err != nil && resp.StatusCode/100 == 2 {
		return nil, nil, cutOff{err}
	}
	return b.Bytes(), resp, nil
}

// cutOff is an answer that began and did not end.
type cutOff struct{ error }

func (c cutOff) Unwrap() error { return c.error }
