package web

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Limits of requests.
const (
	mostRequests = 32               // concurrent
	mostWaiting  = 5 * time.Second  // for a slot
	mostTime     = 20 * time.Second // per request
	mostURL      = 8 << 10          // bytes
	mostHeader   = 16 << 10
)

// policy lets pages load the server's own style sheet, script, icon and
// progress, and nothing else.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// NewServer returns an HTTP server with time-outs and limits.
func (s *Server) NewServer() *http.Server {
	return &http.Server{Handler: s, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: mostHeader}
}

// NewToken returns a secret of 128 random bits or more.
func NewToken() string { return rand.Text() }

// guard refuses requests that are too large or too many, and those with a wrong
// host name or without the token.
func (s *Server) guard(next http.Handler) http.Handler {
	slots := make(chan struct{}, mostRequests)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		refuse := func(status int, message string) { s.fail(w, r, &statusError{status, message}) }
		switch {
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			h.Set("Allow", "GET, HEAD")
			refuse(http.StatusMethodNotAllowed, "This server is read-only.")
			return
		case r.ContentLength != 0:
			refuse(http.StatusRequestEntityTooLarge, "Requests must not have a body.")
			return
		case len(r.RequestURI) > mostURL:
			refuse(http.StatusRequestURITooLong, "The URL is too long.")
			return
		case !s.goesBy(r.Host):
			refuse(http.StatusMisdirectedRequest, "Unknown host name. To accept it, start 'crosstalk serve --host NAME'.")
			return
		case !s.admit(w, r):
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), mostTime)
		defer cancel()
		wait := time.NewTimer(mostWaiting)
		defer wait.Stop()
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
		case <-wait.C:
			h.Set("Retry-After", "5")
			refuse(http.StatusServiceUnavailable, "Too many concurrent requests. Try again soon.")
			return
		case <-ctx.Done():
			return
		}
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// goesBy reports whether a Host header names this server. This prevents DNS
// rebinding: a page of another site, whose name was made to resolve to this
// server, sends that site's name.
func (s *Server) goesBy(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(name, "["), "]"), "."))
	if ip, err := netip.ParseAddr(name); err == nil {
		return s.options.Token != "" || ip.IsLoopback()
	}
	return name == "localhost" || name != "" && slices.ContainsFunc(s.options.Hosts, func(h string) bool { return strings.EqualFold(h, name) })
}

// cookie is the name of the cookie that contains the token.
const cookie = "crosstalk-token"

// admit lets a request with the token pass. It moves a token in the URL to a
// cookie, so that the token does not stay in the browser's history.
func (s *Server) admit(w http.ResponseWriter, r *http.Request) bool {
	if s.options.Token == "" {
		return true
	}
	if c, err := r.Cookie(cookie); err == nil && equal(c.Value, s.options.Token) {
		return true
	}
	query := r.URL.Query()
	if !equal(query.Get("token"), s.options.Token) {
		s.fail(w, r, &statusError{http.StatusUnauthorized,
			"Token missing. Open the address that 'crosstalk serve' printed when it started; it contains the token."})
		return false
	}
	// Lax: links from other sites work, and are harmless since the server is read-only.
	http.SetCookie(w, &http.Cookie{Name: cookie, Value: s.options.Token, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
	query.Del("token")
	to := url.URL{Path: r.URL.Path, RawQuery: query.Encode()}
	http.Redirect(w, r, "/"+strings.TrimLeft(to.String(), "/"), http.StatusSeeOther)
	return false
}

// equal compares in constant time.
func equal(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
