package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"

	"crosstalk/internal/fetch"
)

const (
	maxJSON = 32 << 20 // limit in bytes of a listing or a configuration file
	maxHops = 10
)

type client struct {
	endpoint    *url.URL
	token, from string // from: origin of the token
	header      http.Header
	offline     bool
	files       *http.Client // follows redirects
	api         *http.Client // follows those within the hub
}

func newClient() (*client, error) {
	address := cmp.Or(os.Getenv("HF_ENDPOINT"), "https://huggingface.co")
	u, err := url.Parse(strings.TrimRight(strings.TrimSpace(address), "/"))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		// Not quoted: it may contain a password.
		return nil, fmt.Errorf("HF_ENDPOINT is not a URL; expected one like https://huggingface.co")
	}
	c := &client{endpoint: u, offline: offline()}
	c.token, c.from = token()
	if strings.ContainsFunc(c.token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, fmt.Errorf("%s contains a space, a line break or another character that is invalid in a token: set it "+
			"again", c.from)
	}
	if c.token != "" {
		c.header = http.Header{"Authorization": {"Bearer " + c.token}}
	}
	transport := fetch.Transport()
	c.api = &http.Client{Transport: transport, Timeout: 2 * fetch.Stall,
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			if !sameOrigin(req.URL, u) || len(via) >= maxHops {
				return http.ErrUseLastResponse
			}
			return nil
		}}
	c.files = &http.Client{Transport: transport, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		// net/http would also send the token to subdomains and other ports.
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

// list returns the commit of a revision, and the names of its files, which serve only for comparison.
func (c *client) list(ctx context.Context, name, revision string) (commit string, files []string, err error) {
	var l struct {
		SHA      string
		Siblings []struct{ Rfilename string }
	}
	what := about{name: name, revision: revision}
	err = fetch.Again(ctx, func() (bool, error) {
		resp, err := c.ask(ctx, http.MethodGet, c.endpoint.JoinPath("api", "models", name,
			"revision").String()+"/"+url.PathEscape(revision), what)
		if err != nil {
			return false, err
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(io.LimitReader(resp.Body, maxJSON+1))
		switch {
		case err != nil:
			return false, fetch.Unreached(ctx, c.address(), err)
		case len(b) > maxJSON:
			return false, fmt.Errorf("%s: the listing is longer than %d bytes", name, maxJSON)
		}
		if err := json.Unmarshal(b, &l); err != nil {
			return false, fmt.Errorf("%s sent an invalid listing of %s: is HF_ENDPOINT right? (%v)", c.address(), name, err)
		}
		return false, nil
	})
	if err == nil && !commitPattern().MatchString(l.SHA) {
		err = fmt.Errorf("%s names no commit for %s at revision %s", c.address(), name, revision)
	}
	for _, s := range l.Siblings {
		files = append(files, s.Rfilename)
	}
	return l.SHA, files, err
}

// stat requests a file's hash and size: the SHA-256 of a large file, the SHA-1 as git computes it of a small one.
func (c *client) stat(ctx context.Context, address string, what about) (hash string, size int64, err error) {
	err = fetch.Again(ctx, func() (bool, error) {
		resp, err := c.ask(ctx, http.MethodHead, address, what)
		if err != nil {
			return false, err
		}
		resp.Body.Close()
		tag := cmp.Or(linked(resp, "X-Linked-Etag"), resp.Header.Get("ETag"))
		length := linked(resp, "X-Linked-Size")
		if length == "" && resp.StatusCode == http.StatusOK {
			length = resp.Header.Get("Content-Length")
		}
		size, err = strconv.ParseInt(length, 10, 64)
		hash = strings.Trim(strings.TrimPrefix(tag, "W/"), `"`)
		if !commitPattern().MatchString(hash) || err != nil || size < 0 {
			return false, fmt.Errorf("%s did not send the checksum and size of %s of %s", c.address(), what.file, what.name)
		}
		return false, nil
	})
	return hash, size, err
}

// ask sends a request and follows redirects within the hub. It returns a success, or for HEAD a redirect elsewhere.
func (c *client) ask(ctx context.Context, method, address string, what about) (*http.Response, error) {
	req, err := fetch.Request(ctx, method, address, c.header)
	if err != nil {
		return nil, err
	}
	resp, err := c.api.Do(req)
	if err != nil {
		return nil, fetch.Unreached(ctx, c.address(), err)
	}
	to, err := resp.Location()
	switch redirects := resp.StatusCode/100 == 3 && err == nil; {
	case resp.StatusCode/100 == 2, redirects && method == http.MethodHead && linked(resp, "X-Linked-Etag") != "":
		return resp, nil
	case !redirects:
		err = c.refused(resp, what)
	case sameOrigin(to, c.endpoint):
		err = fmt.Errorf("%s redirects in a loop", c.address())
	default:
		err = fmt.Errorf("%s redirects to %s://%s: set HF_ENDPOINT to that if it is right", c.address(), to.Scheme, to.Host)
	}
	resp.Body.Close()
	return nil, err
}

// linked returns a header about a linked file, which the hub sends before the first redirect to it.
func linked(resp *http.Response, name string) (value string) {
	for ; resp != nil; resp = resp.Request.Response {
		value = cmp.Or(resp.Header.Get(name), value)
	}
	return value
}

func (c *client) address() string {
	u := *c.endpoint
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// about is the subject of a request, for errors.
type about struct{ name, revision, file string }

// refused explains an error status. It does not quote the server's message, which may contain secrets.
func (c *client) refused(resp *http.Response, what about) error {
	code, status := resp.Header.Get("X-Error-Code"), resp.StatusCode
	page := c.address() + "/" + what.name
	switch {
	case code == "GatedRepo" && c.token == "":
		return fmt.Errorf("%s is gated: request access at %s, create a token at %s/settings/tokens and set HF_TOKEN to it",
			what.name, page, c.address())
	case code == "GatedRepo":
		return fmt.Errorf("%s is gated, and the account of the token in %s has no access: request it at %s", what.name,
			c.from, page)
	case code == "DisabledRepo":
		return fmt.Errorf("%s was disabled at %s", what.name, c.address())
	case code == "RevisionNotFound":
		return fmt.Errorf("%s has no revision %s: see %s/commits/main", what.name, what.revision, page)
	case code == "EntryNotFound":
		return fmt.Errorf("%s has no file %s at revision %s", what.name, what.file, what.revision)
	case code == "RepoNotFound" && c.token == "", status == http.StatusUnauthorized && c.token == "":
		return fmt.Errorf("%s has no model %s, or it is private: check the name, or set HF_TOKEN", c.address(), what.name)
	case code == "RepoNotFound":
		return fmt.Errorf("%s has no model %s, or the account of the token in %s may not see it: check the name", c.address(),
			what.name, c.from)
	case status == http.StatusUnauthorized:
		return fmt.Errorf("%s rejected the token in %s: set HF_TOKEN to a valid one, or unset it", c.address(), c.from)
	case status == http.StatusForbidden && c.token == "":
		return fmt.Errorf("%s does not allow reading %s: set HF_TOKEN (HTTP 403)", c.address(), what.name)
	case status == http.StatusForbidden:
		return fmt.Errorf("the token in %s may not read %s at %s (HTTP 403)", c.from, what.name, c.address())
	case status == http.StatusNotFound:
		return fmt.Errorf("%s has no model %s, or the model has no revision %s (HTTP 404)", c.address(), what.name,
			what.revision)
	}
	if err, busy := fetch.Busy(resp, c.address()); busy {
		return err
	}
	return fmt.Errorf("%s refused the request for %s (%s)", c.address(), what.name, fetch.StatusText(status))
}
