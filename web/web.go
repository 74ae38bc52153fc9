// Package web shows runs in a browser: what was measured and how, figures,
// every answer behind them, and the progress of unfinished runs.
//
// Answers are untrusted. Everything is escaped; control characters and
// characters that reorder text are made visible; pages load only the server's
// own style sheet and script, which their Content-Security-Policy enforces. The
// server is read-only: it accepts GET and HEAD only. URLs contain the ids that
// the listing gives to runs, never paths.
package web

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"crosstalk/internal/visible"
	"crosstalk/report/page"
	"crosstalk/web/access"
	"crosstalk/web/index"
)

// Options control access.
type Options struct {
	Token string   // that a browser must present; empty: none, for loopback addresses only
	Hosts []string // accepted host names besides localhost and IP addresses
	Cache string   // directory for the indexes of read-only runs; empty: the user's cache
}

// Server shows the runs below a directory.
type Server struct {
	options Options
	listing listing
	runs    openRuns
	handler http.Handler
}

//go:embed templates
var files embed.FS

//go:embed web.css
var sheet string

//go:embed web.js
var script []byte

var templates = template.Must(template.Must(page.Templates.Clone()).Funcs(template.FuncMap{
	"count": count, "ago": ago,
	"times100": func(p float32) float64 { return 100 * float64(p) },
	"short":    func(text string) string { return strings.ToValidUTF8(text[:min(len(text), 500)], "") },
}).ParseFS(files, "templates/*.html"))

// New returns a server of the runs below a directory.
func New(dir string, o Options) (*Server, error) {
	if err := CheckDir(dir); err != nil {
		return nil, err
	}
	if o.Cache == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			base = os.TempDir()
		}
		o.Cache = filepath.Join(base, "crosstalk", "browse")
	}
	s := &Server{options: o, listing: listing{dir: dir}}
	s.runs.cache = o.Cache
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", s.list)
	mux.HandleFunc("/runs/{run}", s.run)
	mux.HandleFunc("/runs/{run}/live.json", s.live)
	mux.HandleFunc("/runs/{run}/answers", s.answers)
	mux.HandleFunc("/runs/{run}/answers/{number}", s.answer)
	mux.HandleFunc("/runs/{run}/answers/{number}/text", s.text)
	mux.HandleFunc("/style.css", access.Static("text/css; charset=utf-8", []byte(page.Style()+sheet)))
	mux.HandleFunc("/script.js", access.Static("text/javascript; charset=utf-8", script))
	mux.HandleFunc("/icon.svg", access.Static("image/svg+xml", access.Icon))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { s.fail(w, r, errNothing) })
	s.handler = s.guard(mux)
	return s, nil
}

// CheckDir returns an error if dir is not a directory.
func CheckDir(dir string) error {
	info, err := os.Stat(dir)
	switch {
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
var errNothing = &statusError{http.StatusNotFound, "Page not found. Its run may have been deleted."}

var errSlow = &statusError{http.StatusServiceUnavailable, "This took too long. Try a more specific search."}

// statusError is an error that is shown to the user.
type statusError struct {
	status  int
	message string
}

func (e *statusError) Error() string { return e.message }

// frame is what every page has.
type frame struct {
	Title string
	Lead  string // its subject, in a sentence
	Trail []link // the pages above this one
	Live  string // URL at which the script polls the progress; empty: the page does not change
}

// link is a link to another page.
type link struct{ Text, To string }

// show writes a page. The page is buffered, so that an error does not leave half
// a page.
func (s *Server) show(w http.ResponseWriter, r *http.Request, name string, data any) {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, data); err != nil {
		s.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(b.Bytes()))
}

// fail writes an error page. It removes the directory's path from messages.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	status := http.StatusInternalServerError
	var known *statusError
	switch {
	case errors.As(err, &known):
		status = known.status
	case errors.Is(err, index.ErrNone), errors.Is(err, fs.ErrNotExist):
		status, err = errNothing.status, errNothing
	case r.Context().Err() != nil:
		status, err = errSlow.status, errSlow
	}
	var b bytes.Buffer
	message := strings.ReplaceAll(err.Error(), s.listing.dir, "…")
	templates.ExecuteTemplate(&b, "error.html", struct {
		frame
		Message string
	}{frame{Title: http.StatusText(status), Trail: []link{{"Runs", "/"}}}, visible.Line(message)})
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	w.Write(b.Bytes())
}
