package hub

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"crosstalk"
)

const (
	maxJSON  = 32 << 20 // bytes of a listing or a configuration file that is read
	attempts = 6        // in a row that failed
	dials    = 3        // in a row that did not even reach the hub
	maxWait  = 5 * time.Minute
	maxHops  = 10
)

var (
	firstWait = time.Second      // before the second attempt; doubles
	stall     = 60 * time.Second // without a byte: the connection is dead
)

// client talks to one hub.
type client struct {
	endpoint    *url.URL
	token, from string // from: where the token is from
	offline     bool
	files       *http.Client // follows redirects
	api         *http.Client // does not
}

func newClient() (*client, error) {
	address := os.Getenv("HF_ENDPOINT")
	if address == "" {
		address = "https://huggingface.co"
	}
	u, err := url.Parse(strings.TrimRight(strings.TrimSpace(address), "/"))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		// Not quoted: it may hold a password.
		return nil, fmt.Errorf("HF_ENDPOINT is no address: expected something like https://huggingface.co")
	}
	c := &client{endpoint: u, offline: offline()}
	c.token, c.from = token()
	if strings.ContainsFunc(c.token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, fmt.Errorf("%s holds a space, a line break or another character that no token has: set it again", c.from)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = stall
	c.api = &http.Client{Transport: transport, Timeout: 2 * stall, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	c.files = &http.Client{Transport: transport, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		// net/http would send the token to subdomains and other ports, too.
		for _, r := range append(via, req) {
			if !sameOrigin(r.URL, u) {
				req.Header.Del("Authorization")
			}
		}
		if len(via) > maxHops {
			return errors.New("too many redirects")
		}
		return nil
	}}
	return c, nil
}

func sameOrigin(a, b *url.URL) bool { return a.Scheme == b.Scheme && a.Host == b.Host }

// listing is what a repository holds at a commit.
type listing struct {
	commit string
	files  []string // names as the hub gives them: to compare with only
}

// list resolves a revision.
func (c *client) list(ctx context.Context, name, revision string) (listing, error) {
	var l struct {
		SHA      string
		Siblings []struct{ Rfilename string }
	}
	what := about{name: name, revision: revision}
	err := again(ctx, func() (bool, error) {
		resp, err := c.ask(ctx, http.MethodGet, c.endpoint.JoinPath("api", "models", name, "revision").String()+"/"+url.PathEscape(revision), what)
		if err != nil {
			return false, err
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(io.LimitReader(resp.Body, maxJSON+1))
		switch {
		case err != nil:
			return false, c.unreached(ctx, err)
		case len(b) > maxJSON:
			return false, fmt.Errorf("%s: the listing is longer than %d bytes", name, maxJSON)
		}
		if err := json.Unmarshal(b, &l); err != nil {
			return false, fmt.Errorf("%s sent no listing of %s: is HF_ENDPOINT right? (%v)", c.address(), name, err)
		}
		return false, nil
	})
	if err == nil && !commitPattern.MatchString(l.SHA) {
		err = fmt.Errorf("%s names no commit for %s at revision %s", c.address(), name, revision)
	}
	if err != nil {
		return listing{}, err
	}
	found := listing{commit: l.SHA}
	for _, s := range l.Siblings {
		found.files = append(found.files, s.Rfilename)
	}
	return found, nil
}

// content is what identifies the content of a file.
type content struct {
	hash string // SHA-256, or SHA-1 as git makes it of a blob
	size int64
}

// stat asks for a file's hash and size. The hub says them itself, before it
// redirects to where large files are.
func (c *client) stat(ctx context.Context, address string, what about) (found content, err error) {
	err = again(ctx, func() (bool, error) {
		resp, err := c.ask(ctx, http.MethodHead, address, what)
		if err != nil {
			return false, err
		}
		resp.Body.Close()
		hash, size := resp.Header.Get("X-Linked-Etag"), resp.ContentLength
		if hash == "" {
			hash = resp.Header.Get("ETag")
		}
		if linked := resp.Header.Get("X-Linked-Size"); linked != "" {
			if size, err = strconv.ParseInt(linked, 10, 64); err != nil {
				size = -1
			}
		} else if resp.StatusCode != http.StatusOK {
			size = -1
		}
		found = content{strings.Trim(strings.TrimPrefix(hash, "W/"), `"`), size}
		if !commitPattern.MatchString(found.hash) || size < 0 {
			return false, fmt.Errorf("%s does not say the checksum and size of %s of %s", c.address(), what.file, what.name)
		}
		return false, nil
	})
	return found, err
}

// ask sends a request and follows redirects on the hub itself. The response is
// a success, or for HEAD a redirect to elsewhere; headers about the linked file
// on the way are kept.
func (c *client) ask(ctx context.Context, method, address string, what about) (*http.Response, error) {
	linked := http.Header{}
	for range maxHops {
		req, err := c.request(ctx, method, address)
		if err != nil {
			return nil, err
		}
		resp, err := c.api.Do(req)
		if err != nil {
			return nil, c.unreached(ctx, err)
		}
		for _, name := range []string{"X-Linked-Etag", "X-Linked-Size"} {
			if v := resp.Header.Get(name); v != "" && linked.Get(name) == "" {
				linked.Set(name, v)
			}
			if v := linked.Get(name); v != "" {
				resp.Header.Set(name, v)
			}
		}
		if resp.StatusCode/100 == 2 {
			return resp, nil
		}
		resp.Body.Close()
		if resp.StatusCode/100 != 3 {
			return nil, c.refused(resp, what)
		}
		to, err := resp.Location()
		switch {
		case err != nil:
			return nil, c.refused(resp, what)
		case sameOrigin(to, c.endpoint):
			address = to.String()
		case method == http.MethodHead && linked.Get("X-Linked-Etag") != "":
			return resp, nil
		default:
			return nil, fmt.Errorf("%s redirects to %s://%s: set HF_ENDPOINT to that if it is right", c.address(), to.Scheme, to.Host)
		}
	}
	return nil, fmt.Errorf("%s redirects in circles", c.address())
}

func (c *client) request(ctx context.Context, method, address string) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, nil)
	if err != nil {
		return nil, bare(err)
	}
	req.Header.Set("User-Agent", "crosstalk/"+crosstalk.Version)
	req.Header.Set("Accept-Encoding", "identity") // so that sizes are those of the files
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	return req, nil
}

// address is the hub's, fit to be shown.
func (c *client) address() string {
	u := *c.endpoint
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// about is what a request is about, for errors.
type about struct{ name, revision, file string }

// refused explains a status that is no success. What the server says in words
// is not repeated: it may hold what must not be shown.
func (c *client) refused(resp *http.Response, what about) error {
	code, status := resp.Header.Get("X-Error-Code"), resp.StatusCode
	page := c.address() + "/" + what.name
	switch {
	case code == "GatedRepo" && c.token == "":
		return fmt.Errorf("%s is gated: ask for access at %s, make a token at %s/settings/tokens and set HF_TOKEN to it", what.name, page, c.address())
	case code == "GatedRepo":
		return fmt.Errorf("%s is gated, and the account of the token in %s has no access: ask for it at %s", what.name, c.from, page)
	case code == "DisabledRepo":
		return fmt.Errorf("%s was disabled at %s", what.name, c.address())
	case code == "RevisionNotFound":
		return fmt.Errorf("%s has no revision %s: see %s/commits/main", what.name, what.revision, page)
	case code == "EntryNotFound":
		return fmt.Errorf("%s has no file %s at revision %s", what.name, what.file, what.revision)
	case code == "RepoNotFound" && c.token == "", status == http.StatusUnauthorized && c.token == "":
		return fmt.Errorf("%s has no model %s, or it is private: check the name, or set HF_TOKEN", c.address(), what.name)
	case code == "RepoNotFound":
		return fmt.Errorf("%s has no model %s, or the account of the token in %s may not see it: check the name", c.address(), what.name, c.from)
	case status == http.StatusUnauthorized:
		return fmt.Errorf("%s refused the token in %s: set HF_TOKEN to one that is valid, or to none", c.address(), c.from)
	case status == http.StatusForbidden && c.token == "":
		return fmt.Errorf("%s does not allow reading %s: set HF_TOKEN (HTTP 403)", c.address(), what.name)
	case status == http.StatusForbidden:
		return fmt.Errorf("the token in %s may not read %s at %s (HTTP 403)", c.from, what.name, c.address())
	case status == http.StatusNotFound:
		return fmt.Errorf("%s has no model %s, or that has no revision %s (HTTP 404)", c.address(), what.name, what.revision)
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly, status == http.StatusTooManyRequests, status >= 500:
		after, _ := strconv.ParseFloat(resp.Header.Get("Retry-After"), 64)
		return passing{fmt.Errorf("%s failed (%s)", c.address(), statusText(status)), time.Duration(min(max(after, 0), maxWait.Seconds()) * float64(time.Second))}
	}
	return fmt.Errorf("%s refused the request for %s (%s)", c.address(), what.name, statusText(status))
}

func statusText(status int) string {
	return strings.TrimSpace(fmt.Sprintf("HTTP %d %s", status, http.StatusText(status)))
}

// unreachable is an error of the network before anything was answered.
type unreachable struct{ error }

func (u unreachable) Unwrap() error { return u.error }

// unreached explains why no whole response came.
func (c *client) unreached(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var certificate *tls.CertificateVerificationError
	var dns *net.DNSError
	var op *net.OpError
	err = bare(err)
	if errors.As(err, &certificate) {
		return fmt.Errorf("%s has a certificate that is not trusted here (%w)", c.address(), err)
	}
	if errors.As(err, &dns) || errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect") {
		return passing{unreachable{fmt.Errorf("%s cannot be reached (%w)", c.address(), err)}, 0}
	}
	return passing{fmt.Errorf("the connection to %s failed (%w)", c.address(), err), 0}
}

// bare takes the address out of an error: it may be signed, which is a secret.
func bare(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

// passing is a fault that may be gone at the next attempt.
type passing struct {
	error
	after time.Duration // as the server wants
}

func (p passing) Unwrap() error { return p.error }

// again repeats what ends in a passing fault, with growing random waits.
// Attempts that moved things on do not count.
func again(ctx context.Context, attempt func() (moved bool, err error)) error {
	for failed := 0; ; {
		moved, err := attempt()
		var p passing
		if !errors.As(err, &p) {
			return err
		}
		if moved {
			failed = 0
		}
		limit := attempts
		if errors.As(err, new(unreachable)) {
			limit = dials
		}
		if failed++; failed >= limit {
			return fmt.Errorf("%w, after %d attempts", p.error, failed)
		}
		wait := firstWait << (failed - 1)
		wait = max(p.after, wait/2+rand.N(wait/2+1))
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(wait):
		}
	}
}
