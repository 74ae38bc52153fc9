package endpoint

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"crosstalk"
	"crosstalk/internal/duration"
	"crosstalk/internal/inflight"
	"crosstalk/internal/lazyregexp"
)

// Limits in bytes of the responses that are read.
const (
	maxText = 8 << 20 // for text answers: some ten times the longest of current models
	// MaxNumbers is for log probabilities and vectors: 4,000 tokens with 20 candidates of up to 200 bytes each.
	MaxNumbers = 16 << 20
	maxProblem = 64 << 10 // for errors
)

// MostText returns the most bytes of a text answer: maxText or, if tokens are limited, 256 KiB and 64 bytes per
// token. Servers that respect the limit need a tenth, and hundreds of answers may wait in memory to be scored.
func MostText(d crosstalk.Decoding) int {
	const base, each = 256 << 10, 64
	if limit := d.Limit(); limit > 0 && limit < (maxText-base)/each {
		return base + each*limit
	}
	return maxText
}

// maxValues is the most values in an answer's JSON: twice as many as 4,000 tokens have. Each takes much memory.
const maxValues = 1 << 20

var (
	errTooLong = errors.New("the answer is too long")
	errTooMany = errors.New("the answer has too many values")
)

type cutOff struct{ error }

func (c cutOff) Unwrap() error { return c.error }

// readBody reads a body of at most most bytes, or errTooLong. Beyond inflight.Free it waits for its share.
func readBody(ctx context.Context, resp *http.Response, most int, share *inflight.Share) ([]byte, error) {
	claimed := resp.ContentLength // -1 if unknown, or if the body is compressed
	if claimed > int64(most) {
		return nil, errTooLong
	}
	var body []byte
	for size := 8 << 10; ; size *= 2 { // do not reserve memory for a mere claim
		var err error
		if body, err = grow(body, resp.Body, min(size, most+1)); err == io.EOF {
			return body, nil
		} else if err != nil {
			return nil, cutOff{err}
		}
		if len(body) > most {
			return nil, errTooLong
		}
		if size == inflight.Free {
			need := most
			if claimed > 0 {
				need = int(claimed)
			}
			if err := share.Take(ctx, need); err != nil {
				return nil, err
			}
		}
	}
}

// grow reads on until body has size bytes; at the end of r it returns io.EOF.
func grow(body []byte, r io.Reader, size int) ([]byte, error) {
	all := make([]byte, size)
	n := copy(all, body)
	for n < size {
		more, err := r.Read(all[n:])
		if n += more; err != nil {
			return all[:n], err
		}
	}
	return all, nil
}

// parsing lets two long answers be parsed at a time: no share includes the memory that this takes.
var parsing = make(chan struct{}, 2)

// parse reads a body with read. The error is errTooMany, or read's.
func parse(body []byte, read func([]byte) (crosstalk.Answer, error)) (crosstalk.Answer, error) {
	if len(body) > inflight.Free {
		if values(body) > maxValues {
			return crosstalk.Answer{}, errTooMany
		}
		parsing <- struct{}{}
		defer func() { <-parsing }()
	}
	return read(body)
}

// values returns the approximate number of values in JSON, counted by the characters that start or precede one.
func values(body []byte) (n int) {
	for len(body) > 0 {
		i := bytes.IndexByte(body, '"')
		if i < 0 {
			i = len(body)
		}
		for _, b := range body[:i] {
			if b == ',' || b == '[' || b == '{' {
				n++
			}
		}
		for i++; i < len(body) && body[i] != '"'; i++ {
			if body[i] == '\\' {
				i++
			}
		}
		body = body[min(i+1, len(body)):]
	}
	return n
}

// longestWait bounds a wait that a server requests to one that fits in a time.Duration.
const longestWait = 100 * 365 * 24 * time.Hour

// retryAfter returns how long the server wants to be left alone, 0 if unknown: from retry-after-ms (OpenAI, Azure),
// Retry-After in seconds or as a date (RFC 9110, section 10.2.3), or else the time at which the exhausted limit is
// renewed, as reported by OpenAI and compatible servers (a duration) or Anthropic (a time).
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("retry-after-ms"), 64); err == nil {
		return wait(ms / 1000)
	}
	if v := strings.TrimSpace(h.Get("Retry-After")); v != "" {
		if s, err := strconv.ParseFloat(v, 64); err == nil {
			return wait(s)
		}
		if at, err := http.ParseTime(v); err == nil {
			return wait(at.Sub(now).Seconds())
		}
	}
	longest := time.Duration(0)
	for _, limit := range []string{"requests", "tokens", "input-tokens", "output-tokens"} {
		for _, names := range [][2]string{
			{"x-ratelimit-remaining-" + limit, "x-ratelimit-reset-" + limit},
			{"anthropic-ratelimit-" + limit + "-remaining", "anthropic-ratelimit-" + limit + "-reset"},
		} {
			if left, err := strconv.ParseFloat(h.Get(names[0]), 64); err == nil && left <= 0 {
				longest = max(longest, reset(h.Get(names[1]), now))
			}
		}
	}
	if longest == 0 {
		longest = reset(h.Get("x-ratelimit-reset"), now)
	}
	return longest
}

// reset parses a duration, seconds, a time, or seconds or milliseconds since 1970.
func reset(v string, now time.Time) time.Duration {
	if d, err := time.ParseDuration(v); err == nil {
		return wait(d.Seconds())
	}
	if at, err := time.Parse(time.RFC3339, v); err == nil {
		return wait(at.Sub(now).Seconds())
	}
	s, err := strconv.ParseFloat(v, 64)
	switch {
	case err != nil:
		return 0
	case s > 1e11:
		return wait(s/1000 - float64(now.Unix()))
	case s > 1e9:
		return wait(s - float64(now.Unix()))
	}
	return wait(s)
}

func wait(seconds float64) time.Duration {
	if !(seconds > 0) {
		return 0
	}
	return time.Duration(min(seconds, longestWait.Seconds()) * float64(time.Second))
}

// fault returns an error in the model's name.
func (e *Endpoint) fault(f crosstalk.Fault, status int, cause error, format string, args ...any) *crosstalk.AskError {
	if cause != nil {
		if safe := e.hidden().hide(cause.Error()); safe != cause.Error() {
			cause = errors.New(safe)
		}
	}
	message := e.identity.String() + ": " + fmt.Sprintf(format, args...)
	return &crosstalk.AskError{Fault: f, Status: status, Err: cause, Message: message}
}

// Rejected returns the error for a request that is not sent.
func (e *Endpoint) Rejected(param, format string, args ...any) error {
	err := e.fault(crosstalk.Rejected, 0, nil, format, args...)
	err.Param = param
	return err
}

// Unwritable returns the error for a request with a parameter that cannot be encoded as JSON.
func (e *Endpoint) Unwritable(cause error) error {
	return e.fault(crosstalk.Rejected, 0, cause, "an extra parameter cannot be written as JSON: %v", cause)
}

// NoLevel returns the error for a level of reasoning that a model lacks.
func (e *Endpoint) NoLevel(level string) error {
	return e.Rejected(crosstalk.ParamReasoning, "this model has no reasoning level %q (--reasoning)", level)
}

// failed reads a response with an error status. key is the key that was sent.
func (e *Endpoint) failed(status int, h http.Header, body []byte, key string) (crosstalk.Answer, error) {
	p := readProblem(body)
	refuses := status == 400 || status == 403 || status == 422 || status == 500 && template().MatchString(p.message)
	if status == 400 || status == 403 || status == 422 {
		switch {
		case p.flagged():
			return crosstalk.Answer{Status: crosstalk.Refused, Reason: "filtered: " + e.quote(p), Finish: crosstalk.FinishFilter,
				Raw: e.hidden().hideInJSON(body)}, nil
		case strings.Contains(p.message, "Could not finish the message because max_tokens"): // of OpenAI, for some models
			return crosstalk.Answer{Status: crosstalk.Empty, Reason: crosstalk.Thinking, Finish: crosstalk.FinishLength,
				Raw: e.hidden().hideInJSON(body)}, nil
		}
	}
	param := ""
	if refuses {
		param = p.param()
	}
	f, what := e.explain(status, h, p, param)
	if now, err := e.key(); f == crosstalk.Denied && status == 401 && err == nil && now != key {
		f = crosstalk.Transient // the file has a new key
	}
	err := e.fault(f, status, nil, "%s (HTTP %d, %s)", what, status, e.quote(p))
	err.Param = param
	if f == crosstalk.Transient || f == crosstalk.Overloaded {
		err.RetryAfter = retryAfter(h, time.Now())
		if err.RetryAfter == 0 {
			err.RetryAfter = p.retry
		}
	}
	return crosstalk.Answer{}, err
}

func (e *Endpoint) explain(status int, h http.Header, p problem, param string) (crosstalk.Fault, string) {
	at := e.identity.Endpoint
	switch {
	case status == 402, status < 500 && p.unpaid():
		return crosstalk.Denied, fmt.Sprintf("%s has no credit left at %s", e.account(), at)
	case status == 429 && p.daily:
		return crosstalk.Denied, fmt.Sprintf("%s has used up its quota for today at %s", e.account(), at)
	case status == 401 && !e.hasKey() && e.config.KeyVar != "":
		return crosstalk.Denied, fmt.Sprintf("%s is not set, and %s wants a key", e.config.KeyVar, at)
	case status == 401:
		return crosstalk.Denied, fmt.Sprintf("%s was refused by %s", e.keyName(), at)
	case status == 403 && param == "":
		return crosstalk.Denied, fmt.Sprintf("%s may not use this model at %s", e.keyName(), at)
	case status == 404 && !p.page &&
		(p.code == "model_not_found" || strings.Contains(strings.ToLower(p.message), "model")):
		what := fmt.Sprintf("%s has no model %q: check the name after %s:", at, e.identity.Name, e.identity.Provider)
		if e.config.Missing != "" {
			what += "; " + e.config.Missing
		}
		return crosstalk.Denied, what
	case status < 200: // 101: Switching Protocols
		return crosstalk.Denied, fmt.Sprintf("the base URL %s is wrong: it speaks another protocol than HTTP", at)
	case status == 404, status == 405, status == 410:
		return crosstalk.Denied, fmt.Sprintf("the base URL %s is wrong (most end in /v1), or there is no model %q", at,
			e.identity.Name)
	case status/100 == 3:
		to := ""
		if u, err := url.Parse(h.Get("Location")); err == nil && u.Host != "" {
			to = " to " + u.Scheme + "://" + u.Host
		}
		return crosstalk.Denied, fmt.Sprintf("the base URL %s is wrong: it redirects%s", at, e.hidden().hide(to))
	case status == 429:
		return crosstalk.Overloaded, fmt.Sprintf("%s limits the rate of requests", at)
	case status == 503, status == 529:
		return crosstalk.Overloaded, fmt.Sprintf("%s is overloaded", at)
	case status == 500 && param != "": // from a chat template
	case status >= 500, status == 408, status == 409, status == 425:
		return crosstalk.Transient, fmt.Sprintf("%s failed", at)
	}
	what := fmt.Sprintf("%s rejected the request", at)
	if missingHeader().MatchString(p.message) {
		what += "; set the header with --header NAME=VALUE"
	}
	return crosstalk.Rejected, what
}

// missingHeader matches how gateways ask for a header that they need.
var missingHeader = lazyregexp.New(`(?i)\bheaders? (is|are|was|were) (required|missing)|` +
	`\b(missing|requires?|required)\b[^.]{0,40} headers?\b`)

func (e *Endpoint) hasKey() bool { return e.config.Key != "" || e.file != nil }

func (e *Endpoint) keyName() string {
	switch {
	case e.file != nil:
		return "the key in " + e.file.path
	case e.config.Key == "":
		return "a request without a key"
	case e.config.KeyVar == "":
		return "the key"
	}
	return e.config.KeyVar
}

func (e *Endpoint) account() string {
	if e.hasKey() {
		return "the account of " + e.keyName()
	}
	return "the account"
}

// unreadable explains a success that is not an answer: an error with the wrong status, a page, something truncated.
func (e *Endpoint) unreadable(status int, h http.Header, raw []byte, cause error,
	key string) (crosstalk.Answer, error) {
	p := readProblem(raw)
	if p.page {
		return crosstalk.Answer{}, e.page(status, p)
	}
	if meant := p.status(); meant != 0 {
		return e.failed(meant, h, raw, key)
	}
	return crosstalk.Answer{}, e.fault(crosstalk.Transient, status, nil, "the answer of %s cannot be read: %s: %s",
		e.identity.Endpoint, e.hidden().hide(cause.Error()), e.quote(p))
}

func (e *Endpoint) page(status int, p problem) error {
	return e.fault(crosstalk.Transient, status, nil,
		"%s sent no answer but %s: is there a proxy, or is the base URL wrong?", e.identity.Endpoint, e.quote(p))
}

func (e *Endpoint) unreachable(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return context.Cause(ctx)
	}
	var wrapped *url.Error // it contains the whole URL
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	at := e.identity.Endpoint
	var dns *net.DNSError
	var op *net.OpError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var timeout net.Error
	says, advice := "", ""
	switch {
	case ctx.Err() != nil:
		err, says = ctx.Err(), at+" did not answer in time"
	case errors.As(err, new(cutOff)):
		says = at + " broke off its answer"
	case errors.As(err, &op) && op.Op == "proxyconnect":
		says = fmt.Sprintf("the proxy before %s cannot be reached: check HTTPS_PROXY and HTTP_PROXY (%v)", at, op.Err)
	case errors.As(err, &dns):
		says = fmt.Sprintf("the host of %s cannot be found: check the base URL and the network", at)
		advice = e.config.Advice
	case errors.Is(err, syscall.ECONNREFUSED):
		says = fmt.Sprintf("nothing listens at %s: check that the server runs, and the base URL", at)
		advice = e.config.Advice
	case errors.As(err, &certificate):
		says = fmt.Sprintf("%s has a certificate that is not trusted here (%s)", at, e.Quote(certificate.Err.Error()))
	case errors.As(err, &record), strings.Contains(err.Error(), "HTTP response to HTTPS client"):
		says = at + " does not speak TLS: use http:// in the base URL"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET),
		errors.Is(err, syscall.EPIPE):
		says = at + " closed the connection before it answered"
	case errors.As(err, &timeout) && timeout.Timeout():
		says = fmt.Sprintf("%s cannot be reached: no connection within %s", at, duration.Text(dialTimeout))
		advice = e.config.Advice
	default:
		says = fmt.Sprintf("%s cannot be reached (%s)", at, e.Quote(err.Error()))
		advice = e.config.Advice
	}
	if advice != "" {
		says += "; " + advice
	}
	return e.fault(crosstalk.Transient, 0, err, "%s", says)
}
