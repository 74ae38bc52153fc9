package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	Attempts = 6 // in a row that failed
	dials    = 3 // in a row that did not even reach the server
	maxWait  = 5 * time.Minute
)

// FirstWait is the wait before the second attempt; it doubles. Tests change it.
var FirstWait = time.Second

// Passing is a transient error.
type Passing struct {
	error
	after time.Duration // requested by the server
}

// Pass marks an error as transient.
func Pass(err error) error { return Passing{err, 0} }

func (p Passing) Unwrap() error { return p.error }

// Unreachable is a network error before any response.
type Unreachable struct{ error }

func (u Unreachable) Unwrap() error { return u.error }

// Again retries after transient errors, with growing random waits. Attempts that made progress do not count.
func Again(ctx context.Context, attempt func() (moved bool, err error)) error {
	for failed := 0; ; {
		moved, err := attempt()
		var p Passing
		if !errors.As(err, &p) {
			return err
		}
		if moved {
			failed = 0
		}
		limit := Attempts
		if errors.As(err, new(Unreachable)) {
			limit = dials
		}
		if failed++; failed >= limit {
			return fmt.Errorf("%w, after %d attempts", p.error, failed)
		}
		wait := FirstWait << (failed - 1)
		wait = max(p.after, wait/2+rand.N(wait/2+1))
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(wait):
		}
	}
}

// Unreached explains why a server sent no complete response.
func Unreached(ctx context.Context, server string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var certificate *tls.CertificateVerificationError
	var dns *net.DNSError
	var op *net.OpError
	err = bare(err)
	if errors.As(err, &certificate) {
		return fmt.Errorf("the certificate of %s is not trusted on this machine (%w)", server, err)
	}
	if errors.As(err, &dns) || errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect") {
		return Pass(Unreachable{fmt.Errorf("%s cannot be reached (%w)", server, err)})
	}
	return Pass(fmt.Errorf("the connection to %s failed (%w)", server, err))
}

// Busy is the transient error of a response that asks for a retry; ok is false for other responses.
func Busy(resp *http.Response, server string) (err error, ok bool) {
	switch status := resp.StatusCode; {
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly, status == http.StatusTooManyRequests,
		status >= 500:
		after, _ := strconv.ParseFloat(resp.Header.Get("Retry-After"), 64)
		return Passing{fmt.Errorf("%s failed (%s)", server, StatusText(status)),
			time.Duration(min(max(after, 0), maxWait.Seconds()) * float64(time.Second))}, true
	}
	return nil, false
}

// StatusText is a status for errors.
func StatusText(status int) string {
	return strings.TrimSpace(fmt.Sprintf("HTTP %d %s", status, http.StatusText(status)))
}

// bare removes the URL from an error: it may be signed, which is secret.
func bare(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}
