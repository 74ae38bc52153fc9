// Package web shows runs in a browser: figures, what was measured and how, every answer behind them, two runs side by
// side, and the progress of unfinished runs.
//
// Answers are untrusted. Everything is escaped; control characters and characters that reorder text are made visible;
// pages load only the server's own style sheet and script, which their Content-Security-Policy enforces. The only thing
// that a request changes is a note on an answer. URLs contain ids that the listing assigns to runs, never paths.
package web

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"crosstalk/internal/visible"
	"crosstalk/report"
	"crosstalk/report/page"
	"crosstalk/report/plot"
	"crosstalk/web/access"
	"crosstalk/web/index"
)

// Limits of the server and its pages.
const (
	mostBody     = 64 << 10        // bytes in a form
	mostRuns     = 5000            // runs in the listing
	mostRows     = 300             // runs on a page of the list; the search finds the others
	mostListed   = 3               // conditions and measures of a run in the list
	fewestNights = 5               // runs that become one entry of the list
	listingAge   = time.Second     // age at which the listing is read again
	mostOpen     = 32              // open runs
	perPage      = 50              // answers on a page
	mostFields   = 4               // columns to filter by that are always visible
	longest      = 64 << 10        // bytes of a text on an answer's page; 'crosstalk export' writes all
	mostDownload = 50_000          // answers in a file; 'crosstalk export' writes all
	pairsPerPage = 25              // items on a page of a comparison
	mostPairs    = 200             // items of a comparison in a file
	mostKept     = 16              // comparisons
	mostCompared = 128 << 20       // bytes of observations of each run: larger comparisons need the command
	shortly      = 3 * time.Second // wait for a comparison; later results are shown when the page is reloaded
	soon         = 16 << 20        // bytes of observations: up to this size, requests wait for the index, up to soonTime
	soonTime     = 400 * time.Millisecond
)

// Options control access.
type Options struct {
	Token string   // required from browsers; empty: none, on loopback addresses only
	Hosts []string // accepted host names besides localhost and IP addresses
	Cache string   // directory for the indexes of runs; empty: the user's cache
}

// Server shows the runs below a directory.
type Server struct {
	token   string // from Options
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

// New returns a server for the runs below a directory. The directory need not exist yet.
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

// CheckDir returns an error if dir exists and is not a directory, or, if it must exist, if it does not.
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

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Close stops building indexes and closes them.
func (s *Server) Close() error { return s.runs.close() }

var errNothing = &access.Error{Status: http.StatusNotFound, Message: "Page not found. Its run may have been deleted."}

var errSlow = &access.Error{Status: http.StatusServiceUnavailable,
	Message: "This took too long. Try a more specific search."}

type frame struct {
	Title  string
	Lead   string // its subject, as a sentence
	Trail  []link // the pages above this one, and this one if it has no URL
	Tabs   []link // the pages of a run; this one has no URL
	Live   string // URL at which the script polls the progress; empty: the page does not change
	Reload bool   // the script reloads the page when the progress ends
	Static bool   // written as a separate file
}

type link struct{ Text, To string }

// frame returns the frame of a run's page. here is the page's tab, "" for a page below a tab.
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

const cookie = "crosstalk-token"

// admit passes a request with the token.
func (s *Server) admit(w http.ResponseWriter, r *http.Request) bool {
	// Lax: links from other sites work, and are harmless since reading changes nothing. Other sites' forms are sent
	// without the cookie.
	keep := http.Cookie{Name: cookie, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode}
	valid := func(token string) bool { return access.Equal(token, s.token) }
	return s.token == "" || access.Admit(w, r, keep, valid, func() {
		s.refuse(w, r, http.StatusUnauthorized,
			"Token missing. Open the address that 'crosstalk serve' printed when it started; it contains the token.")
	})
}

// Serve shows the runs below dir at an address, HOST:PORT, under these host names, until ctx ends. It prints the URL to
// open, with a token if other machines can reach it.
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

type openRuns struct {
	cache string

	mu   sync.Mutex
	runs map[string]*openRun
}

type openRun struct {
	notes *notebook
	index *index.Index // nil: no observations yet, or see err
	err   error        // why there is no index
	users int
	used  time.Time
}

// ofRun opens the run in the URL for a handler.
func (s *Server) ofRun(
	handle func(http.ResponseWriter, *http.Request, *runEntry, openRun) error,
) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		run, err := s.listing.run(r.PathValue("run"))
		if err != nil {
			return err
		}
		l, done := s.runs.open(run)
		defer done()
		return handle(w, r, run, l)
	}
}

// open returns an open run, and a function to call after using it.
func (o *openRuns) open(r *runEntry) (openRun, func()) {
	found, done := o.acquire(r)
	if x := found.index; x != nil && x.Progress().Size < soon {
		ctx, cancel := context.WithTimeout(context.Background(), soonTime)
		defer cancel()
		x.Wait(ctx)
	}
	return found, done
}

func (o *openRuns) acquire(r *runEntry) (openRun, func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	l := o.runs[r.ID]
	switch {
	case l == nil:
		if len(o.runs) >= mostOpen {
			o.closeOldest()
		}
		if o.runs == nil {
			o.runs = map[string]*openRun{}
		}
		l = &openRun{notes: &notebook{}}
		o.runs[r.ID] = l
	case l.users == 0 && l.index != nil && !l.index.Fresh():
		go l.index.Close()
		l.index = nil
	}
	if l.index == nil {
		l.index, l.err = index.Open(r.path, o.cache, &gallery{plot.NewCollector(report.WorstFirst(r.Estimates))})
		if errors.Is(l.err, fs.ErrNotExist) {
			l.err = nil
		}
	}
	l.users++
	l.used = time.Now()
	return *l, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		l.users--
	}
}

// closeOldest closes the least recently used run that nobody uses.
func (o *openRuns) closeOldest() {
	oldest := ""
	for id, l := range o.runs {
		if l.users == 0 && (oldest == "" || l.used.Before(o.runs[oldest].used)) {
			oldest = id
		}
	}
	if oldest != "" {
		if x := o.runs[oldest].index; x != nil {
			go x.Close()
		}
		delete(o.runs, oldest)
	}
}

func (o *openRuns) close() (err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, l := range o.runs {
		if l.index != nil {
			err = errors.Join(err, l.index.Close())
		}
	}
	o.runs = nil
	return err
}

// gallery draws a run's plots while its index is built.
type gallery struct{ *plot.Collector }

// plotSVG is a plot as stored in the index.
type plotSVG struct {
	Title, Note string
	Wide        bool
	SVG         template.HTML // our own markup, in which untrusted texts are escaped
}

func (g *gallery) Pages() ([]byte, error) {
	var list []plotSVG
	for _, p := range g.Plots() {
		var b strings.Builder
		if err := p.WriteSVG(&b); err != nil {
			return nil, err
		}
		list = append(list, plotSVG{p.Title, p.Note, p.Width > page.Narrow, template.HTML(b.String())})
	}
	return json.Marshal(list)
}

// count formats a number with thin spaces: 1 234 567.
func count(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "\u202f" + s[i:]
	}
	return s
}

func number(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(n) + " " + many
}

// ago formats a time relative to now, or as the date if it is more than a day ago.
func ago(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	d := time.Since(t)
	switch {
	case d < 2*time.Second:
		return "now"
	case d < 24*time.Hour:
		return duration(d) + " ago"
	}
	return t.Local().Format("2 Jan 2006 15:04")
}

// duration rounds to seconds, minutes or tenths of an hour.
func duration(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}

func size(n int64) string {
	switch {
	case n < 1e3:
		return fmt.Sprintf("%d bytes", n)
	case n < 1e6:
		return fmt.Sprintf("%.0f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.0f MB", float64(n)/1e6)
}

func joined(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), " · ")
}

// brief returns the beginning of a text on one line, at most 240 characters.
func brief(text string) string {
	const most = 240
	runes := []rune(text[:min(len(text), 4*most)])
	if len(runes) > most {
		runes = append(runes[:most], '…')
	}
	return visible.Line(string(runes))
}
