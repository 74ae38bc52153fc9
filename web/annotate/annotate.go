// Package annotate asks people about a run's answers in a browser: one question at a time, blind, and saves each answer
// before it shows the next question.
//
// Pages are plain forms and work without the script, which adds keys and keeps unsent input. An annotator's state is
// the run's labels and nothing else: whoever opens the address again, perhaps after the server was killed, sees the
// first question without an answer. Texts are untrusted and escaped as everywhere (package web).
package annotate

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/internal/plainfile"
	"crosstalk/internal/visible"
	"crosstalk/labels"
	"crosstalk/report/page"
	"crosstalk/run"
	"crosstalk/web/access"
)

// Limits of what people and their browsers send.
const (
	maxGuide       = 1 << 20        // bytes in a guide's file
	mostBody       = 1 << 20        // bytes in a form
	longestName    = 80             // characters in an annotator's name
	longestComment = 4000           // characters
	mostThought    = 24 * time.Hour // time for an answer: after more, the annotator did something else
	mostWords      = 3000           // in a text whose words can be marked: browsers are slow with many more
	mostKnown      = 1000           // annotators with questions in memory: on loopback anybody can enter new names
)

// Options choose the annotators and the questions.
type Options struct {
	Questions  []string // names; empty: all questions of the run
	Sample     labels.Sample
	Annotators []string // each needs a token; empty: annotators enter a name, on loopback addresses only
	Hosts      []string // accepted host names besides localhost
	Guide      []string // paragraphs that replace the guide of every question

	Overlap     int    // annotators of each question; 0: all
	Adjudicator string // the only annotator, who decides on answers with disagreeing labels
}

// Server asks about one run.
type Server struct {
	run     string
	options Options
	design  labels.Design
	sheets  []*sheet
	LeftOut []error // why unnamed questions are not asked
	cookie  string  // the cookie's name
	handler http.Handler

	mu  sync.Mutex // serialises answers, and guards the fields below
	log *labels.Log
}

// sheet contains the questions of one kind, drawn for each annotator.
type sheet struct {
	labels.Blind
	units []labels.Unit

	mu    sync.Mutex
	asked map[string][]labels.Asked // by annotator
}

//go:embed templates
var files embed.FS

//go:embed annotate.css
var style string

//go:embed annotate.js
var script []byte

var templates = sync.OnceValue(func() *template.Template {
	return template.Must(page.Templates().ParseFS(files, "templates/*.html"))
})

// check returns an error for an impossible sample, and for names that cannot be stored or are not unique.
func (o Options) check() error {
	if err := o.Sample.Check(); err != nil {
		return err
	}
	switch {
	case o.Overlap < 0, o.Overlap > len(o.Annotators):
		return crosstalk.BadOption("overlap", " is %d; expected at most the number of names in --annotator", o.Overlap)
	case o.Adjudicator != "" && (len(o.Annotators) != 1 || o.Sample.N > 0 || o.Sample.Only != nil):
		return crosstalk.BadOption("adjudicator", " cannot be combined with --annotator, --sample and --only")
	}
	for i, name := range o.Annotators {
		if err := checkName(name); err != nil {
			return crosstalk.BadOption("annotator", " %q: %w", name, err)
		}
		if slices.Contains(o.Annotators[:i], name) {
			return crosstalk.BadOption("annotator", ": duplicate name %s", name)
		}
	}
	return nil
}

// ReadGuide reads the paragraphs of Options.Guide from a text file, separated by empty lines.
func ReadGuide(file string) (paragraphs []string, err error) {
	text, err := plainfile.Read(file, maxGuide)
	for paragraph := range strings.SplitSeq(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n\n") {
		if paragraph = strings.TrimSpace(paragraph); paragraph != "" {
			paragraphs = append(paragraphs, paragraph)
		}
	}
	return paragraphs, err
}

// New returns a server for the questions about a run. If o.Questions names none, questions that cannot be asked are
// left out (LeftOut), as long as another one remains.
func New(run string, o Options) (*Server, error) {
	o.Annotators = slices.Clone(o.Annotators)
	if o.Adjudicator != "" {
		o.Annotators = append(o.Annotators, o.Adjudicator)
	}
	for i, name := range o.Annotators {
		o.Annotators[i] = strings.TrimSpace(name)
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	s := &Server{run: run, options: o, log: labels.NewLog(run)}
	if err := s.open(); err != nil {
		return nil, err
	}
	if err := s.log.Refresh(); err != nil {
		return nil, err
	}
	s.cookie = "crosstalk-" + strings.ToLower(s.design.Token("")[:8]) // cookies are the same on all ports
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.shown(s.home))
	mux.HandleFunc("POST /name", s.shown(s.enter))
	mux.HandleFunc("POST /leave", s.leave)
	mux.HandleFunc("GET /progress", s.known(s.progress))
	mux.HandleFunc("GET /{question}", s.ofSheet(s.ask))
	mux.HandleFunc("POST /{question}", s.ofSheet(s.answer))
	mux.HandleFunc("POST /{question}/undo", s.ofSheet(s.undo))
	mux.HandleFunc("GET /style.css", access.Static("text/css; charset=utf-8", []byte(page.Style+style)))
	mux.HandleFunc("GET /script.js", access.Static("text/javascript; charset=utf-8", script))
	mux.HandleFunc("GET /icon.svg", access.Static("image/svg+xml", access.Icon))
	mux.HandleFunc("/", s.shown(func(http.ResponseWriter, *http.Request) error { return errNothing }))
	s.handler = access.Rules{Hosts: o.Hosts, Anyhow: len(o.Annotators) > 0, Body: mostBody,
		Command: "crosstalk annotate", Admit: s.admit, Refuse: s.refuse}.Guard(mux)
	return s, nil
}

func (s *Server) open() error {
	manifest, err := run.ReadManifest(s.run)
	if err != nil {
		return err
	}
	of := manifest.Plan.Instrument
	var possible []string
	for _, q := range instrument.Named(of).Questions {
		possible = append(possible, q.Name)
	}
	wanted := s.options.Questions
	for _, name := range wanted {
		if !slices.Contains(possible, name) {
			return fmt.Errorf("unknown question %q for a run of %s; choose one of: %s",
				name, of, strings.Join(possible, ", "))
		}
	}
	if len(wanted) > 0 {
		possible = slices.DeleteFunc(possible, func(name string) bool { return !slices.Contains(wanted, name) })
	}
	opened, errs := labels.OpenAll(s.run, possible...)
	for i, of := range opened {
		if errs[i] == nil {
			errs[i] = s.add(of)
		}
		if errs[i] != nil {
			s.LeftOut = append(s.LeftOut, fmt.Errorf("question %s: %w", possible[i], errs[i]))
		}
	}
	if len(s.LeftOut) > 0 && (len(s.sheets) == 0 || len(wanted) > 0) {
		return errors.Unwrap(s.LeftOut[0])
	}
	if s.decides() {
		s.design, err = labels.ReadDesign(s.run) // no sample yet
	} else {
		s.design, err = labels.Plan(s.run, s.options.Sample)
	}
	if err != nil {
		return err
	}
	for _, sheet := range s.sheets {
		sheet.Blind = sheet.Sheet.Blind(s.design)
	}
	return nil
}

func (s *Server) add(of *labels.Sheet) error {
	units, err := of.Draw(s.options.Sample)
	if err != nil {
		return err
	}
	if s.decides() {
		given, err := labels.Read(s.run)
		if err != nil {
			return err
		}
		if units = of.Disagreed(given); len(units) == 0 {
			return fmt.Errorf("%s has no labels that disagree about this question", s.run)
		}
	}
	if len(units) == 0 {
		return fmt.Errorf("%s has no answers to ask about", s.run)
	}
	s.sheets = append(s.sheets, &sheet{Blind: labels.Blind{Sheet: of}, units: units, asked: map[string][]labels.Asked{}})
	return nil
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Token returns an annotator's token, which is the same whenever the run is served.
func (s *Server) Token(annotator string) string { return s.design.Token(annotator) }

var errNothing = &access.Error{Status: http.StatusNotFound, Message: "Page not found."}

type frame struct {
	Title     string
	Annotator string // empty: unknown
	Leave     bool   // the annotator can enter another name
	Team      bool   // there is a page with everybody's progress
	Home      bool   // there are several questions to choose from
}

func (s *Server) frame(r *http.Request, title string) frame {
	return frame{Title: title, Annotator: s.annotator(r), Leave: len(s.options.Annotators) == 0,
		Team: !s.decides(), Home: len(s.sheets) > 1}
}

func show(w http.ResponseWriter, status int, name string, data any) error {
	return access.Show(w, status, templates(), name, data)
}

func (s *Server) refuse(w http.ResponseWriter, r *http.Request, status int, message string) {
	s.fail(w, r, &access.Error{Status: status, Message: message})
}

// fail writes an error page. Messages omit the run's path, which may name the model.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	path := regexp.MustCompile(`(^|\W)` + regexp.QuoteMeta(filepath.Clean(s.run)) + `(\W|$)`)
	status, message := http.StatusInternalServerError, path.ReplaceAllString(err.Error(), "${1}the run$2")
	var known *access.Error
	if errors.As(err, &known) {
		status, message = known.Status, known.Message
	}
	f := s.frame(r, http.StatusText(status))
	if status == http.StatusUnauthorized {
		f.Annotator = ""
	}
	show(w, status, "error.html", struct {
		frame
		Message string
	}{f, visible.Line(message)})
}

// Serve asks about a run at an address until ctx ends. It prints to w the address, with each annotator's token, and
// which questions are left out. It is an error if other machines have access and there are no annotators.
func Serve(ctx context.Context, w io.Writer, addr, run string, o Options) error {
	at, err := access.Listen(addr, o.Hosts)
	if err != nil {
		return err
	}
	defer at.Close()
	if !at.Loopback() && len(o.Annotators) == 0 {
		return crosstalk.BadOption("addr", " %s lets others connect; name those who may with --annotator", addr)
	}
	o.Hosts = at.Hosts
	s, err := New(run, o)
	if err != nil {
		return err
	}
	for _, reason := range s.LeftOut {
		fmt.Fprintf(w, "Not asked: %v\n", reason)
	}
	if len(o.Annotators) == 0 {
		fmt.Fprintf(w, "%d questions: %s\n", s.count(""), at.URL)
	}
	for _, name := range s.options.Annotators {
		fmt.Fprintf(w, "%d questions for %s: %s?token=%s\n", s.count(name), name, at.URL, s.Token(name))
	}
	if !at.Loopback() {
		fmt.Fprintln(w, "Whoever has such an address can answer under that name. The connection is not encrypted.")
	}
	return at.Serve(ctx, s)
}

func (s *Server) annotator(r *http.Request) string {
	c, err := r.Cookie(s.cookie)
	if err != nil {
		return ""
	}
	if len(s.options.Annotators) == 0 {
		name, err := url.QueryUnescape(c.Value)
		if err != nil || checkName(name) != nil {
			return ""
		}
		return name
	}
	return s.holder(c.Value)
}

func (s *Server) holder(token string) (name string) {
	for _, a := range s.options.Annotators {
		if access.Equal(token, s.design.Token(a)) {
			name = a
		}
	}
	return name
}

// admit passes a request with a token, or any request if there are no tokens.
func (s *Server) admit(w http.ResponseWriter, r *http.Request) bool {
	if len(s.options.Annotators) == 0 {
		return true
	}
	valid := func(token string) bool { return s.holder(token) != "" }
	return access.Admit(w, r, s.keep(""), valid, func() {
		s.refuse(w, r, http.StatusUnauthorized,
			"Token missing. Open the address that you were given; it contains your token.")
	})
}

// keep returns the cookie that remembers the annotator for a month. Lax: the address can be a link in a message;
// requests from other sites are refused (access.Rules).
func (s *Server) keep(value string) http.Cookie {
	return http.Cookie{Name: s.cookie, Value: value, Path: "/", MaxAge: 30 * 24 * 60 * 60, HttpOnly: true,
		SameSite: http.SameSiteLaxMode}
}

func checkName(name string) error {
	plain := name == strings.TrimSpace(name) && name == visible.Line(name)
	if n := utf8.RuneCountInString(name); !plain || n < 1 || n > longestName {
		return fmt.Errorf("expected a name of 1 to %d characters", longestName)
	}
	return nil
}

func (s *Server) home(w http.ResponseWriter, r *http.Request) error {
	annotator := s.annotator(r)
	if annotator == "" {
		return show(w, http.StatusOK, "name.html", s.frame(r, "Who answers?"))
	}
	if len(s.sheets) == 1 {
		http.Redirect(w, r, "/"+s.sheets[0].Question.Name, http.StatusSeeOther)
		return nil
	}
	type kind struct {
		Title, To string
		Done, Of  int
	}
	var kinds []kind
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range s.sheets {
		st, err := s.stateOf(q, annotator)
		if err != nil {
			return err
		}
		kinds = append(kinds, kind{q.Question.Title, "/" + q.Question.Name, st.done, len(st.asked)})
	}
	return show(w, http.StatusOK, "home.html", struct {
		frame
		Kinds []kind
	}{s.frame(r, "Questions"), kinds})
}

func (s *Server) enter(w http.ResponseWriter, r *http.Request) error {
	name := strings.TrimSpace(r.PostFormValue("name"))
	if len(s.options.Annotators) > 0 {
		return errNothing
	}
	if err := checkName(name); err != nil {
		return &access.Error{Status: http.StatusBadRequest, Message: "Not a name: " + err.Error() + "."}
	}
	who := s.keep(url.QueryEscape(name))
	http.SetCookie(w, &who)
	http.Redirect(w, r, "/", http.StatusSeeOther)
	return nil
}

func (s *Server) leave(w http.ResponseWriter, r *http.Request) {
	who := s.keep("")
	who.MaxAge = -1
	http.SetCookie(w, &who)
	http.Redirect(w, r, "/", http.StatusSeeOther)
}
