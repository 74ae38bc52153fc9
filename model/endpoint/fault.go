package endpoint

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"crosstalk"
	"crosstalk/internal/duration"
	"crosstalk/internal/lazyregexp"
)

// fault is an error in the model's name.
func (e *Endpoint) fault(f crosstalk.Fault, status int, cause error, format string, args ...any) *crosstalk.AskError {
	if cause != nil {
		if safe := e.hidden().hide(cause.Error()); safe != cause.Error() {
			cause = errors.New(safe)
		}
	}
	message := e.identity.String() + ": " + fmt.Sprintf(format, args...)
	return &crosstalk.AskError{Fault: f, Status: status, Err: cause, Message: message}
}

// Rejected is the error for a request that is not sent.
func (e *Endpoint) Rejected(param, format string, args ...any) error {
	err := e.fault(crosstalk.Rejected, 0, nil, format, args...)
	err.Param = param
	return err
}

// Unwritable is the error for a request with a parameter that is no JSON.
func (e *Endpoint) Unwritable(cause error) error {
	return e.fault(crosstalk.Rejected, 0, cause, "an extra parameter cannot be written as JSON: %v", cause)
}

// NoLevel is the error for a level of reasoning that a model does not have.
func (e *Endpoint) NoLevel(level string) error {
	return e.Rejected(crosstalk.ParamReasoning, "this model has no reasoning level %q (--reasoning)", level)
}

// failed reads a response whose status is no success. Key is what was sent.
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
	case status == 500 && param != "": // of a chat template
	case status >= 500, status == 408, status == 409, status == 425:
		return crosstalk.Transient, fmt.Sprintf("%s failed", at)
	}
	what := fmt.Sprintf("%s rejected the request", at)
	if missingHeader().MatchString(p.message) {
		what += "; set the header with --header NAME=VALUE"
	}
	return crosstalk.Rejected, what
}

// missingHeader matches how gateways ask for a header of their own.
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

// unreadable explains a success that is no answer: an error with a wrong status, a page, something cut.
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
	var wrapped *url.Error // has the whole URL
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
