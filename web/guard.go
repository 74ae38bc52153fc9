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
	mostRequests = 32               // under way at a time
	mostWaiting  = 5 * time.Second  // for others to end
	mostTime     = 20 * time.Second // of a request
	mostURL      = 8 << 10          // bytes
	mostHeader   = 16 << 10
)

// policy lets pages load the server's own style sheet, script, icon and
// progress, and nothing else.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// NewServer returns an HTTP server with the limits that fit.
func (s *Server) NewServer() *http.Server {
	return &http.Server{Handler: s, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: time.Minute,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: mostHeader}
}

// NewToken returns a secret of 128 random bits or more.
func NewToken() string { return rand.Text() }

// guard refuses requests that are too large, too many, by the wrong name or
// without the token.
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
			refuse(http.StatusMethodNotAllowed, "Nothing can be changed here.")
			return
		case r.ContentLength != 0:
			refuse(http.StatusRequestEntityTooLarge, "A request has no body here.")
			return
		case len(r.RequestURI) > mostURL:
			refuse(http.StatusRequestURITooLong, "The address is too long.")
			return
		case !s.goesBy(r.Host):
			refuse(http.StatusMisdirectedRequest, "This server does not go by the name that was asked for. 'crosstalk serve --host NAME' lets it.")
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
			refuse(http.StatusServiceUnavailable, "Too many requests are under way. Try again soon.")
			return
		case <-ctx.Done():
			return
		}
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// goesBy reports whether a Host header names this server. A page of another
// site whose name was made to lead here (DNS rebinding) says that name.
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

// cookie is the name of the cookie that holds the token.
const cookie = "crosstalk-token"

// admit lets a request with the token pass. A token in the address is moved to
// a cookie, so that it stays in no history of pages.
func (s *Server) admit(w http.ResponseWriter, r *http.Request) bool {
	if s.options.Token == "" {
		return true
	}
	if c, err := r.Cookie(cookie); err == nil && equal(c.Value, s.options.Token) {
		return true
	}
	query := r.URL.Query()
	if !equal(query.Get("token"), s.options.Token) {
		s.fail(w, r, &statusError{http.StatusUnauthorized, "Open the address that 'crosstalk serve' printed when it began: it holds a token."})
		return false
	}
	// Lax: a link from elsewhere may lead here, which changes nothing.
	http.SetCookie(w, &http.Cookie{Name: cookie, Value: s.options.Token, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
	query.Del("token")
	to := url.URL{Path: r.URL.Path, RawQuery: query.Encode()}
	http.Redirect(w, r, "/"+strings.TrimLeft(to.String(), "/"), http.StatusSeeOther)
	return false
}

// equal compares in a time that tells nothing.
func equal(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
