// Package web shows runs in a browser: figures, what was measured and how, every
// answer behind them, two runs side by side, and the progress of unfinished runs.
//
// Answers are untrusted. Everything is escaped; control characters and characters that reorder text are made visible;
// pages load only the server's own style sheet and script, which their Content-Security-Policy enforces. The only thing
// that a request changes is a note on an answer. URLs contain the ids that the listing gives to runs, never paths.
package web

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"crosstalk/internal/visible"
	"crosstalk/report/page"
	"crosstalk/web/access"
	"crosstalk/web/index"
)

// Options control access.
type Options struct {
	Token string   // that a browser must present; empty: none, for loopback addresses only
	Hosts []string // accepted host names besides localhost and IP addresses
	Cache string   // directory for the indexes of runs; empty: the user's cache
}

// Server shows the runs below a directory.
type Server struct {
	token   string // of Options
	listing listing
	runs    openRuns
	figures comparisons
	handler http.Handler
}

//go:embed templates
var files embed.FS

//go:embed web.css
var sheet string

//go:embed web.js
var script []byte

var templates = sync.OnceValue(func() *template.Template {
	return template.Must(page.Templates().Funcs(funcs).ParseFS(files, "templates/*.html"))
})

var funcs = template.FuncMap{
	"count": count, "ago": ago,
	"times100":    func(p float32) float64 { return 100 * float64(p) },
	"sheet":       func() template.CSS { return template.CSS(page.Style + sheet) },
	"sheetPolicy": func() string { return page.PolicyOf(page.Style + sheet) },
	"short":       func(text string) string { return strings.ToValidUTF8(text[:min(len(text), 500)], "") },
}

// New returns a server of the runs below a directory. The directory need not exist yet.
func New(dir string, o Options) (*Server, error) {
	if err := CheckDir(dir, false); err != nil {
		return nil, err
	}
	if o.Cache == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			if base, err = os.MkdirTemp("", "crosstalk-"); err != nil {
				return nil, err
			}
		}
		o.Cache = filepath.Join(base, "crosstalk", "browse")
	}
	s := &Server{token: o.Token, listing: listing{dir: dir}, runs: openRuns{cache: o.Cache}}
	mux := http.NewServeMux()
	for pattern, handle := range map[string]func(http.ResponseWriter, *http.Request) error{
		"GET /{$}":                               s.list,
		"GET /compare":                           s.compare,
		"GET /runs/{run}":                        s.ofRun(s.run),
		"GET /runs/{run}/live.json":              s.ofRun(s.live),
		"GET /runs/{run}/answers":                s.ofRun(s.answers),
		"GET /runs/{run}/answers.csv":            s.ofRun(s.download),
		"GET /runs/{run}/answers.jsonl":          s.ofRun(s.download),
		"GET /runs/{run}/answers/{number}":       s.answer,
		"POST /runs/{run}/answers/{number}/note": s.note,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := handle(w, r); err != nil {
				s.fail(w, r, err)
			}
		})
	}
	mux.HandleFunc("GET /style.css", access.Static("text/css; charset=utf-8", []byte(page.Style+sheet)))
	mux.HandleFunc("GET /script.js", access.Static("text/javascript; charset=utf-8", script))
	mux.HandleFunc("GET /icon.svg", access.Static("image/svg+xml", access.Icon))
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) { s.fail(w, r, errNothing) })
	mux.HandleFunc("POST /", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Allow", "GET, HEAD")
		s.fail(w, r, &access.Error{Status: http.StatusMethodNotAllowed, Message: "This page takes no such requests."})
	})
	s.handler = access.Rules{Hosts: o.Hosts, Anyhow: o.Token != "", Body: mostBody,
		Command: "crosstalk serve", Admit: s.admit, Refuse: s.refuse}.Guard(mux)
	return s, nil
}

// CheckDir returns an error if dir is not a directory; one that does not exist is an error if it must.
func CheckDir(dir string, must bool) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !must:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("directory %s does not exist; expected the directory above your runs "+
			"('crosstalk run' and 'crosstalk score --out' write them)", dir)
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is a file; expected the directory above your runs", dir)
	}
	return nil
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Close stops building indexes and closes them.
func (s *Server) Close() error { return s.runs.close() }

// errNothing is the error for an unknown page.
var errNothing = &access.Error{Status: http.StatusNotFound, Message: "Page not found. Its run may have been deleted."}

var errSlow = &access.Error{Status: http.StatusServiceUnavailable,
	Message: "This took too long. Try a more specific search."}

// frame is what every page has.
type frame struct {
	Title  string
	Lead   string // its subject, in a sentence
	Trail  []link // the pages above this one, and this one if it has no URL
	Tabs   []link // the pages of a run; this one has no URL
	Live   string // URL at which the script polls the progress; empty: the page does not change
	Reload bool   // the script loads the page again when the progress ends
	Static bool   // it is a file of its own
}

// link is a link to another page.
type link struct{ Text, To string }

// frame frames a page of a run. here is the tab that it is, "" for a page below one of them.
func (r *runEntry) frame(title, here string) frame {
	path := "/runs/" + r.ID
	f := frame{Title: title, Trail: []link{{"Runs", "/"}, {r.Name, path}},
		Tabs: []link{{"Result", path}, {"Answers", path + "/answers"}, {"Compare", "/compare?a=" + r.ID}}}
	for i := range f.Tabs {
		if f.Tabs[i].Text == here {
			f.Tabs[i].To = ""
		}
	}
	return f
}

// show writes a page.
func show(w http.ResponseWriter, status int, name string, data any) error {
	return access.Show(w, status, templates(), name, data)
}

// fail writes an error page. It removes the directory's path from messages.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	status := http.StatusInternalServerError
	var known *access.Error
	switch {
	case errors.As(err, &known):
		status = known.Status
	case errors.Is(err, index.ErrNone), errors.Is(err, fs.ErrNotExist):
		status, err = errNothing.Status, errNothing
	case r.Context().Err() != nil:
		status, err = errSlow.Status, errSlow
	}
	message := strings.ReplaceAll(err.Error(), s.listing.dir, "…")
	show(w, status, "error.html", struct {
		frame
		Message string
	}{frame{Title: http.StatusText(status), Trail: []link{{"Runs", "/"}}}, visible.Line(message)})
}

func (s *Server) refuse(w http.ResponseWriter, r *http.Request, status int, message string) {
	s.fail(w, r, &access.Error{Status: status, Message: message})
}

// mostBody is the maximum size of a form in bytes.
const mostBody = 64 << 10

// cookie is the name of the cookie that contains the token.
const cookie = "crosstalk-token"

// admit lets a request with the token pass.
func (s *Server) admit(w http.ResponseWriter, r *http.Request) bool {
	// Lax: links from other sites work, and are harmless since reading changes
	// nothing. Forms of other sites come without the cookie.
	keep := http.Cookie{Name: cookie, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode}
	valid := func(token string) bool { return access.Equal(token, s.token) }
	return s.token == "" || access.Admit(w, r, keep, valid, func() {
		s.refuse(w, r, http.StatusUnauthorized,
			"Token missing. Open the address that 'crosstalk serve' printed when it started; it contains the token.")
	})
}

// Serve shows the runs below dir at an address, HOST:PORT, and under these host names,
// until ctx ends. It prints the URL to open; one that others can reach has a token.
func Serve(ctx context.Context, stderr io.Writer, dir, addr string, hosts []string) error {
	at, err := access.Listen(addr, hosts)
	if err != nil {
		return err
	}
	defer at.Close()
	o := Options{Hosts: at.Hosts}
	where := at.URL
	if !at.Loopback() {
		o.Token = access.NewToken()
		where += "?token=" + o.Token
	}
	server, err := New(dir, o)
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "Runs below %s: %s\n", dir, where)
	if o.Token != "" {
		fmt.Fprintln(stderr, "Anyone with this address can read everything there and write notes. "+
			"The connection is not encrypted.")
	}
	return errors.Join(at.Serve(ctx, server), server.Close())
}
