// Package endpoint talks to one model over a JSON HTTP API, within limits. Its errors are for users and contain no
// keys.
package endpoint

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"crosstalk"
	"crosstalk/internal/inflight"
	"crosstalk/internal/lazyregexp"
)

const jsonType = "application/json"

// Config specifies where a model is. Provider, Model and BaseURL are required.
type Config struct {
	Provider string // as in crosstalk.Identity
	Model    string
	BaseURL  string // base of the API's paths; may have a user and a query

	Key       string // the API key, "" for none
	KeyVar    string // the environment variable of the key, for messages
	KeyFile   string // a file with the key, read again when it changes; replaces Key
	KeyHeader string // the header for the key; "": Authorization, as a bearer token

	Header  http.Header
	Secrets []string // values of Header that must not be shown or saved

	Advice  string       // what to do if nothing listens there
	Missing string       // what to do if the model does not exist
	Client  *http.Client // default: one shared by all endpoints
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
	e.query, u.RawQuery = u.RawQuery, ""
	e.base = u.String()
	u.User = nil
	e.identity = crosstalk.Identity{Provider: c.Provider, Endpoint: u.String(), Name: c.Model}
	e.header = http.Header{
		"Accept":     {"application/json"},
		"User-Agent": {"crosstalk/" + crosstalk.Version},
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

// Identity returns the identity of the model, with its endpoint without user, password and query.
func (e *Endpoint) Identity() crosstalk.Identity { return e.identity }

// parseBase parses a base URL. It removes a path of the API from the end, because many people paste it.
func parseBase(base string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(base))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		// Not quoted: it may contain a password.
		return nil, errors.New("the base URL is not a URL: expected http:// or https://, a host and usually /v1, such as " +
			"http://localhost:8000/v1")
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

// shared keeps as many connections open as there may be requests in flight.
var shared = http.Client{Transport: &http.Transport{
	Proxy:             http.ProxyFromEnvironment,
	DialContext:       (&net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}).DialContext,
	ForceAttemptHTTP2: true,
	HTTP2: &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second,
		MaxReceiveBufferPerStream: 512 << 10},
	MaxIdleConnsPerHost: 512,
	IdleConnTimeout:     90 * time.Second,
	TLSHandshakeTimeout: dialTimeout,

	// The memory that a server may make each request use before the body is read.
	MaxResponseHeaderBytes: 256 << 10,
}}

const dialTimeout = 15 * time.Second

// Ask posts body to a path of the API and reads the answer, of at most most bytes (maxText or MaxNumbers), with read,
// which returns an error if the JSON is not an answer of the API. Every error is a *crosstalk.AskError, or ctx's if
// ctx was cancelled. If the provider's filter stopped the prompt, the answer has status Refused.
//
// A long answer waits for memory that others in flight use; with a share in ctx (inflight.With), it keeps its memory.
func (e *Endpoint) Ask(ctx context.Context, path string, body []byte, most int,
	read func([]byte) (crosstalk.Answer, error)) (answer crosstalk.Answer, err error) {
	share, returned := inflight.Of(ctx)
	defer func() {
		if err != nil {
			share.Release()
		}
		returned()
	}()
	raw, resp, key, err := e.send(ctx, http.MethodPost, path, jsonType, body, most, share)
	if err != nil {
		return crosstalk.Answer{}, err
	}
	return e.answer(resp.StatusCode, resp.Header, raw, key, read)
}

// Read is like Ask, for a response inside another one, such as the results of a batch.
func (e *Endpoint) Read(status int, raw []byte, read func([]byte) (crosstalk.Answer, error)) (crosstalk.Answer, error) {
	key, _ := e.key()
	return e.answer(status, nil, raw, key, read)
}

func (e *Endpoint) answer(status int, h http.Header, raw []byte, key string,
	read func([]byte) (crosstalk.Answer, error)) (crosstalk.Answer, error) {
	if status/100 != 2 {
		return e.failed(status, h, raw, key)
	}
	hidden := e.hidden()
	raw = hidden.hideInJSON(bytes.TrimSpace(raw)) // blank lines keep the connection open
	answer, err := parse(raw, read)
	if errors.Is(err, errTooMany) {
		return answer, e.fault(crosstalk.Rejected, status, nil, "the answer has more than %d JSON values: lower "+
			"--max-tokens or --logprobs, or check the server", maxValues)
	}
	if err != nil {
		return e.unreadable(status, h, raw, err, key)
	}
	for _, s := range []*string{&answer.Text, &answer.Reasoning, &answer.Reason, &answer.Model} {
		*s = string(hidden.hideInAnswer([]byte(*s)))
	}
	answer.Raw = raw
	return answer, nil
}

// Get returns the content at a path, possibly with a query. Errors are *crosstalk.AskErrors, or ctx's if cancelled.
func (e *Endpoint) Get(ctx context.Context, path string) ([]byte, error) {
	return e.fetch(ctx, http.MethodGet, path, jsonType, nil)
}

// Pages reads a list page by page. read returns the query of the next page, or "" to stop.
func (e *Endpoint) Pages(ctx context.Context, path string, read func(page []byte) (next string, err error)) error {
	for this, next := "", ""; ; this = next {
		page, err := e.Get(ctx, path+next)
		if err != nil {
			return err
		}
		if next, err = read(page); err != nil || next == "" || next == this {
			return err
		}
	}
}

// Post sends a body of a media type to a path and returns the server's reply. Errors are those of Get.
func (e *Endpoint) Post(ctx context.Context, path, mediaType string, body []byte) ([]byte, error) {
	return e.fetch(ctx, http.MethodPost, path, mediaType, body)
}

func (e *Endpoint) fetch(ctx context.Context, method, path, mediaType string, body []byte) ([]byte, error) {
	share := new(inflight.Share)
	defer share.Release()
	raw, resp, key, err := e.send(ctx, method, path, mediaType, body, maxText, share)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode/100 != 2 {
		return nil, e.refused(resp, raw, key)
	}
	if p := readProblem(raw); p.page {
		return nil, e.page(resp.StatusCode, p)
	}
	return e.hidden().hideInJSON(raw), nil
}

func (e *Endpoint) refused(resp *http.Response, raw []byte, key string) error {
	_, err := e.failed(resp.StatusCode, resp.Header, raw, key)
	if err == nil { // the word of a filter
		err = e.fault(crosstalk.Rejected, resp.StatusCode, nil, "%s rejected the request (HTTP %d, %s)",
			e.identity.Endpoint, resp.StatusCode, e.quote(readProblem(raw)))
	}
	return err
}

func (e *Endpoint) send(ctx context.Context, method, path, mediaType string, body []byte, most int,
	share *inflight.Share) (raw []byte, resp *http.Response, key string, err error) {
	resp, key, err = e.exchange(ctx, method, path, mediaType, body)
	if err != nil {
		return nil, nil, key, err
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		raw, _ = io.ReadAll(io.LimitReader(resp.Body, maxProblem)) // part of an error is better than none
		return raw, resp, key, nil
	}
	raw, err = readBody(ctx, resp, most, share)
	switch {
	case errors.Is(err, errTooLong):
		return nil, nil, key, e.fault(crosstalk.Rejected, resp.StatusCode, nil,
			"the answer is longer than %d KiB: check the server, or lower --max-tokens or --logprobs", most>>10)
	case err != nil:
		return nil, nil, key, e.unreachable(ctx, err)
	}
	return raw, resp, key, nil
}

// exchange returns a response once its headers have arrived, and the key sent. The caller closes the response's body.
func (e *Endpoint) exchange(ctx context.Context, method, path, mediaType string,
	body []byte) (resp *http.Response, key string, err error) {
	if key, err = e.key(); err != nil {
		return nil, "", e.fault(crosstalk.Denied, 0, nil, "%v", err)
	}
	if e.query != "" {
		sign := "?"
		if strings.Contains(path, "?") {
			sign = "&"
		}
		path += sign + e.query
	}
	req, err := http.NewRequestWithContext(ctx, method, e.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, key, e.unreachable(ctx, err)
	}
	req.Header = e.header.Clone()
	req.Header.Set("Content-Type", mediaType)
	// the user's own header takes precedence
	if name := cmp.Or(e.config.KeyHeader, "Authorization"); key != "" && req.Header.Get(name) == "" {
		value := key
		if e.config.KeyHeader == "" {
			value = "Bearer " + key
		}
		req.Header.Set(name, value)
	}
	if resp, err = e.client.Do(req); err != nil {
		return nil, key, e.unreachable(ctx, err)
	}
	return resp, key, nil
}

// secrets must never be shown: the API key, a password or key in the base URL, values of headers.
type secrets []string

const (
	hidden = "[key]"
	// A part of a secret of this length is hidden in messages: servers echo keys, and the ends of keys.
	leastInMessage = 8
	// In answers, only a longer part is hidden: answers are measured, and words must not vanish from them because
	// somebody's key contains them.
	leastInAnswer = 16
)

func newSecrets(key string, base *url.URL) (s secrets) {
	s = append(s, key)
	if password, ok := base.User.Password(); ok {
		sent := base64.StdEncoding.EncodeToString([]byte(base.User.Username() + ":" + password))
		s = append(s, password, sent)
	}
	for name, values := range base.Query() {
		name = strings.ToLower(name)
		words := []string{"key", "token", "secret", "sig", "auth", "pass", "code", "subscription", "cred"}
		if slices.ContainsFunc(words, func(word string) bool { return strings.Contains(name, word) }) {
			s = append(s, values...)
		}
	}
	return slices.DeleteFunc(s, func(v string) bool { return v == "" })
}

// hide removes secrets from a text for people. A secret shorter than leastInMessage is hidden only as a word.
func (s secrets) hide(text string) string {
	b := []byte(text)
	for _, secret := range s {
		if len(secret) >= leastInMessage {
			b = cut(b, secret, leastInMessage)
		} else {
			b = cutWord(b, secret)
		}
	}
	return string(b)
}

// hideInAnswer removes secrets from a model's text. Placeholders for servers without keys ("none", "something") are
// no secrets: they are shorter than leastInMessage, or a short word of only letters.
func (s secrets) hideInAnswer(text []byte) []byte {
	for _, secret := range s {
		if len(secret) >= leastInAnswer || len(secret) >= leastInMessage && strings.IndexFunc(secret, notLetter) >= 0 {
			text = cut(text, secret, min(len(secret), leastInAnswer))
		}
	}
	return text
}

// hideInJSON is like hideInAnswer, for a body in which characters may be escaped: .NET escapes +, PHP escapes /.
func (s secrets) hideInJSON(body []byte) []byte {
	body = s.hideInAnswer(body)
	if len(s) > 0 && escape().Match(body) {
		plain := escape().ReplaceAllFunc(body, func(e []byte) []byte {
			if e[1] == '\\' {
				return e
			}
			if n, err := strconv.ParseUint(string(e[len(e)-2:]), 16, 8); err == nil {
				return []byte{byte(n)}
			}
			return e[1:]
		})
		if safe := s.hideInAnswer(plain); len(safe) != len(plain) {
			return safe
		}
	}
	return body
}

// escape matches an ASCII character that is escaped without need, and a backslash, so that no match starts there.
var escape = lazyregexp.New(`\\(?:\\|/|u00(?:2[013-9a-fA-F]|[346][0-9a-fA-F]|5[0-9abABd-fD-F]|7[0-9a-eA-E]))`)

func notLetter(r rune) bool { return (r|0x20) < 'a' || (r|0x20) > 'z' }

// cut replaces each part of secret that is at least least (> 1) bytes long. Such a part covers one of every least-1
// positions, so it only looks at these: text without secrets takes about a nanosecond per byte.
func cut(text []byte, secret string, least int) []byte {
	var out []byte
	done := 0 // text before this is in out or hidden
	for i := 0; i+1 < len(text); i += least - 1 {
		if i < done || !strings.Contains(secret, string(text[i:i+2])) {
			continue
		}
		for start := max(done, i-least+2); start <= i && start+least <= len(text); start++ {
			if !strings.Contains(secret, string(text[start:start+least])) {
				continue
			}
			end := start + least
			for end < len(text) && strings.Contains(secret, string(text[start:end+1])) {
				end++
			}
			out = append(append(out, text[done:start]...), hidden...)
			done = end
			break
		}
	}
	if out == nil {
		return text
	}
	return append(out, text[done:]...)
}

func cutWord(text []byte, word string) []byte {
	var out []byte
	for {
		i := bytes.Index(text, []byte(word))
		if i < 0 {
			return append(out, text...)
		}
		end := i + len(word)
		out = append(out, text[:i]...)
		if i > 0 && isWord(text[i-1]) || end < len(text) && isWord(text[end]) {
			out = append(out, word...)
		} else {
			out = append(out, hidden...)
		}
		text = text[end:]
	}
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c >= 0x80
}

// checkKey refuses a key that no header can contain, or that was copied with something else.
func checkKey(key, from string) error {
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fmt.Errorf("%s contains a space, a line break or another character that no API key has: set it again", from)
	}
	return nil
}

func (e *Endpoint) key() (string, error) {
	if e.file == nil {
		return e.config.Key, nil
	}
	return e.file.read()
}

// hidden returns the secrets to keep out of messages and files, including every key that the file ever had.
func (e *Endpoint) hidden() secrets {
	if e.file == nil {
		return e.secrets
	}
	e.file.mu.Lock()
	defer e.file.mu.Unlock()
	return slices.Concat(e.secrets, e.file.seen)
}

// keyFile is a key in a file that another program renews: access tokens last an hour or so.
type keyFile struct {
	path string

	mu   sync.Mutex
	seen secrets // the last one is the current key
}

// read returns the key: the last one while the file is missing or empty, as during a replacement.
func (f *keyFile) read() (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	text, err := os.ReadFile(f.path)
	key := strings.TrimSpace(string(text))
	switch n := len(f.seen); {
	case n > 0 && (key == "" || key == f.seen[n-1]):
		return f.seen[n-1], nil
	case err != nil:
		return "", fmt.Errorf("the file with the API key cannot be read: %w", err)
	case key == "":
		return "", fmt.Errorf("%s: expected an API key, found an empty file", f.path)
	}
	if err := checkKey(key, f.path); err != nil {
		return "", err
	}
	f.seen = append(f.seen, key)
	return key, nil
}
