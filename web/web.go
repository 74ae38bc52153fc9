// Package web shows runs in a browser: what was measured and how, figures,
// every answer behind them, and how far a run is that is under way.
//
// Answers were written by others and may be hostile. Everything is escaped;
// control characters and what reorders text are made visible; pages load
// nothing but the server's own style sheet and script, which their
// Content-Security-Policy enforces. Nothing can be changed: the server answers
// GET and HEAD only. Runs are named by ids that the listing gives them, never by
// a path.
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
	"crosstalk/web/index"
)

// Options say who may look.
type Options struct {
	Token string   // that a browser must show; empty: none, which is for loopback only
	Hosts []string // names that the server goes by, beside localhost and IP addresses
	Cache string   // where indexes go for runs that cannot be written; empty: the user's cache
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

//go:embed icon.svg
var icon []byte

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
	mux.HandleFunc("/style.css", static("text/css; charset=utf-8", []byte(page.Style()+sheet)))
	mux.HandleFunc("/script.js", static("text/javascript; charset=utf-8", script))
	mux.HandleFunc("/icon.svg", static("image/svg+xml", icon))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { s.fail(w, r, errNothing) })
	s.handler = s.guard(mux)
	return s, nil
}

// CheckDir refuses what is no directory.
func CheckDir(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no directory %s: 'crosstalk run' and 'crosstalk score --out' make runs; name the directory that holds yours", dir)
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is a file; expected the directory that holds runs", dir)
	}
	return nil
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Close ends the building of indexes and closes them.
func (s *Server) Close() error { return s.runs.close() }

func static(kind string, content []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", kind)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	}
}

// errNothing is a page that there is not.
var errNothing = &statusError{http.StatusNotFound, "There is no such page. It may have been of a run that is gone."}

var errSlow = &statusError{http.StatusServiceUnavailable, "This took too long. Try a search that finds less."}

// statusError is an error that the browser's user is told.
type statusError struct {
	status  int
	message string
}

func (e *statusError) Error() string { return e.message }

// frame is what every page has.
type frame struct {
	Title string
	Lead  string // what it is about, in a sentence
	Trail []link // to this page
	Live  string // where the script asks how far things are; empty: nothing changes
}

// link leads to another page.
type link struct{ Text, To string }

// show writes a page. It is made whole first: an error is no half page.
func (s *Server) show(w http.ResponseWriter, r *http.Request, name string, data any) {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, data); err != nil {
		s.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(b.Bytes()))
}

// fail tells what went wrong. Of errors that are not meant for the user it says
// no more than they do without paths, which nobody else need know.
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
