// Package access is shared by local web servers: it listens, decides which requests to answer by host name, size and
// number, compares secrets, sets headers that prevent pages from loading anything from elsewhere, and serves fixed
// files.
package access

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	_ "embed"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
)

const (
	MostRequests = 32               // concurrent, unless Rules.Concurrent is set
	mostWaiting  = 5 * time.Second  // for a slot
	mostTime     = 20 * time.Second // per request, unless Rules.Time is set
	MostURL      = 8 << 10          // bytes
	mostHeader   = 16 << 10
)

// policy lets pages load the server's own style sheet, script, icon and
// progress, send forms to the server, and nothing else.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Rules define which requests a server accepts.
type Rules struct {
	Hosts   []string // host names besides localhost and loopback addresses
	Anyhow  bool     // any IP address as a host name: tokens protect the server
	Body    int64    // maximum size of a request's body in bytes; 0: GET and HEAD only
	Command string   // for messages: "crosstalk serve"

	Concurrent int           // most concurrent requests; 0: MostRequests
	Time       time.Duration // limit per request; 0: 20 seconds

	Refuse func(w http.ResponseWriter, r *http.Request, status int, message string)
	Admit  func(w http.ResponseWriter, r *http.Request) bool // writes the response if it refuses
}

// Error is an error shown to the user with an HTTP status.
type Error struct {
	Status  int
	Message string
}

func (e *Error) Error() string { return e.Message }

// NewServer returns an HTTP server with time-outs and limits.
func NewServer(h http.Handler) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: mostHeader}
}

// NewToken returns a secret with at least 128 random bits.
func NewToken() string { return rand.Text() }

// Equal compares secrets in constant time.
func Equal(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// Guard refuses requests that are too large or too many, that are for another host, that a page of another site sent,
// or that Admit refuses.
func (a Rules) Guard(next http.Handler) http.Handler {
	slots := make(chan struct{}, cmp.Or(a.Concurrent, MostRequests))
	origin := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		refuse := func(status int, message string) { a.Refuse(w, r, status, message) }
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		reading := r.Method == http.MethodGet || r.Method == http.MethodHead
		switch {
		case !reading && a.Body == 0:
			h.Set("Allow", "GET, HEAD")
			refuse(http.StatusMethodNotAllowed, "This server is read-only.")
			return
		case !reading && r.Method != http.MethodPost:
			h.Set("Allow", "GET, HEAD, POST")
			refuse(http.StatusMethodNotAllowed, "This server takes no such requests.")
			return
		case reading && r.ContentLength != 0:
			refuse(http.StatusRequestEntityTooLarge, "Requests must not have a body.")
			return
		case len(r.RequestURI) > MostURL:
			refuse(http.StatusRequestURITooLong, "The URL is too long.")
			return
		case !a.goesBy(r.Host):
			refuse(http.StatusMisdirectedRequest, "Unknown host name. To accept it, start '"+a.Command+" --host NAME'.")
			return
		case origin.Check(r) != nil:
			refuse(http.StatusForbidden, "This request comes from a page of another site.")
			return
		case !a.Admit(w, r):
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, a.Body)
		ctx, cancel := context.WithTimeout(r.Context(), cmp.Or(a.Time, mostTime))
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
			h.Set("Retry-After", "5")
			refuse(http.StatusServiceUnavailable, "The server did not come to this request in time. Try again soon.")
			return
		}
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// goesBy reports whether a Host header names this server. This prevents DNS rebinding: if the name of another site was
// made to resolve to this server, that site's pages send its name.
func (a Rules) goesBy(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(name, "["), "]"), "."))
	if ip, err := netip.ParseAddr(name); err == nil {
		return a.Anyhow || ip.IsLoopback()
	}
	known := func(host string) bool { return strings.EqualFold(host, name) }
	return name == "localhost" || name != "" && slices.ContainsFunc(a.Hosts, known)
}

// Admit passes a request with a valid token in its cookie, and calls refuse for others. It moves a token from the URL
// to the cookie, to keep it out of the browser's history.
func Admit(
	w http.ResponseWriter, r *http.Request, cookie http.Cookie, valid func(token string) bool, refuse func(),
) bool {
	query := r.URL.Query()
	if cookie.Value = query.Get("token"); valid(cookie.Value) {
		http.SetCookie(w, &cookie)
		query.Del("token")
		to := url.URL{Path: r.URL.Path, RawQuery: query.Encode()}
		http.Redirect(w, r, "/"+strings.TrimLeft(to.String(), "/"), http.StatusSeeOther)
		return false
	}
	if c, err := r.Cookie(cookie.Name); err == nil && valid(c.Value) {
		return true
	}
	refuse()
	return false
}

// Show writes a page from a template: the whole page or, if the template fails, nothing.
func Show(w http.ResponseWriter, status int, pages *template.Template, name string, data any) error {
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, name, data); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, err := w.Write(b.Bytes())
	return err
}

// Icon is the icon of all pages, as SVG.
//
//go:embed icon.svg
var Icon []byte

// Static serves a fixed file of this media type.
func Static(kind string, content []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", kind)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	}
}

// Listener is a listening server's socket.
type Listener struct {
	net.Listener
	Hosts []string // names of the server, for Rules
	URL   string   // for other machines to reach it
}

// Listen starts listening on an address, HOST:PORT, for a server with these names. Its errors mention the flag --addr.
func Listen(addr string, hosts []string) (*Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("--addr %s: %w; expected HOST:PORT, such as 127.0.0.1:8020", addr, err)
	}
	var of net.ListenConfig
	of.SetMultipathTCP(false) // its sockets ignore filters
	l, err := of.Listen(context.Background(), "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w; "+
			"name another address with --addr (port 0 is any free port)", addr, err)
	}
	at := l.Addr().(*net.TCPAddr)
	name := host // for other machines to reach it
	switch {
	case len(hosts) > 0:
		name = hosts[0]
	case host == "" || at.IP.IsUnspecified():
		name = cmp.Or(host, "localhost")
		addresses, _ := net.InterfaceAddrs()
		for _, a := range slices.Backward(addresses) {
			if ip, ok := a.(*net.IPNet); ok && ip.IP.IsGlobalUnicast() && ip.IP.To4() != nil {
				name = ip.IP.String()
			}
		}
	}
	address := "http://" + net.JoinHostPort(name, fmt.Sprint(at.Port)) + "/"
	if _, err := netip.ParseAddr(host); err != nil && host != "" {
		hosts = append(slices.Clip(hosts), host)
	}
	return &Listener{l, hosts, address}, nil
}

// Loopback reports whether only this machine can connect.
func (l *Listener) Loopback() bool { return l.Addr().(*net.TCPAddr).IP.IsLoopback() }

// Serve answers requests until ctx ends, then finishes those in progress for at most a second.
func (l *Listener) Serve(ctx context.Context, handler http.Handler) error {
	return l.ServeUntil(ctx, NewServer(handler), time.Second)
}

// ServeUntil is like Serve, with another server and time for requests in progress.
func (l *Listener) ServeUntil(ctx context.Context, h *http.Server, grace time.Duration) error {
	ended := make(chan error, 1)
	go func() { ended <- h.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	gently, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	if h.Shutdown(gently) != nil {
		h.Close()
	}
	return nil
}
