// Package hubtest serves models as the Hugging Face Hub does, and large files from a second server.
package hubtest

import (
	"bytes"
	"cmp"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Server is a hub. Its fields may be changed while no request is under way.
type Server struct {
	URL    string // of the hub
	CDN    string // of the server for large files
	Models map[string]*Model
	Moved  map[string]string // old names of models
	Token  string            // opens gated models

	mu       sync.Mutex
	fault    Fault
	requests []Request
	close    []func()
}

// Fault may answer a request in place of the server; it returns true if it did.
type Fault func(w http.ResponseWriter, r *http.Request) bool

// Break sets the fault, nil for none.
func (s *Server) Break(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

// Put adds or replaces a model. It also publishes earlier changes of fields without a data race.
func (s *Server) Put(name string, m *Model) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Models[name] = m
}

// Model is a repository on the hub.
type Model struct {
	Files   map[string][]byte
	Gated   bool
	NoRange bool   // the server sends whole files only
	Branch  string // instead of main
}

// Request is a request to the server.
type Request struct {
	Server, Method, Path, Range, Authorization string
}

// New starts a server.
func New() *Server {
	s := &Server{Models: map[string]*Model{}, Moved: map[string]string{}}
	hub := httptest.NewServer(s.recorded("hub", s.serveHub))
	cdn := httptest.NewServer(s.recorded("cdn", s.serveCDN))
	s.URL, s.CDN, s.close = hub.URL, cdn.URL, []func(){hub.Close, cdn.Close}
	return s
}

// Close stops it.
func (s *Server) Close() {
	for _, c := range s.close {
		c()
	}
}

// Read returns the files of a folder as a model.
func Read(dir string) (*Model, error) {
	m := &Model{Files: map[string][]byte{}}
	return m, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		m.Files[filepath.ToSlash(name)], err = os.ReadFile(path)
		return err
	})
}

// Commit is a hash of the model's files.
func (m *Model) Commit() string {
	h := sha1.New()
	for _, name := range slices.Sorted(maps.Keys(m.Files)) {
		fmt.Fprintf(h, "%s %s\n", name, Etag(name, m.Files[name]))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Etag returns the hub's hash of a file's content.
func Etag(name string, content []byte) string {
	if large(name) {
		sum := sha256.Sum256(content)
		return hex.EncodeToString(sum[:])
	}
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00%s", len(content), content)
	return hex.EncodeToString(h.Sum(nil))
}

func large(name string) bool {
	return strings.HasSuffix(name, ".safetensors") || strings.HasSuffix(name, ".bin")
}

// Requests returns the requests since the last call.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.requests
	s.requests = nil
	return all
}

func (s *Server) recorded(server string, next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, Request{server, r.Method, r.URL.Path, r.Header.Get("Range"),
			r.Header.Get("Authorization")})
		fault := s.fault
		s.mu.Unlock()
		if fault == nil || !fault(w, r) {
			next(w, r)
		}
	})
}

// Cut sends the first n bytes of a file of length size and breaks the connection.
func Cut(w http.ResponseWriter, content []byte, n int) {
	w.Header().Set("Content-Length", fmt.Sprint(len(content)))
	w.Write(content[:n])
	http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// Refuse answers with an error as the hub does.
func Refuse(w http.ResponseWriter, status int, code string) {
	if code != "" {
		w.Header().Set("X-Error-Code", code)
	}
	w.WriteHeader(status)
	fmt.Fprintln(w, "refused")
}

func (s *Server) serveHub(w http.ResponseWriter, r *http.Request) {
	if auth := r.Header.Get("Authorization"); auth != "" && auth != "Bearer "+s.Token {
		Refuse(w, http.StatusUnauthorized, "")
		return
	}
	rest, listing := strings.CutPrefix(r.URL.EscapedPath(), "/api/models/")
	name, revision, _ := strings.Cut(rest, "/revision/")
	if !listing {
		name, rest, _ = strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/resolve/")
	}
	if to, ok := s.Moved[name]; ok {
		http.Redirect(w, r, strings.Replace(r.URL.EscapedPath(), name, to, 1), http.StatusTemporaryRedirect)
		return
	}
	commit, file, _ := strings.Cut(rest, "/")
	m := s.Models[name]
	switch {
	case m == nil:
		Refuse(w, http.StatusUnauthorized, "RepoNotFound")
		return
	case listing:
		m.list(w, name, strings.ReplaceAll(revision, "%2F", "/"))
		return
	case m.Gated && r.Header.Get("Authorization") == "":
		Refuse(w, http.StatusUnauthorized, "GatedRepo")
		return
	case commit != m.Commit():
		Refuse(w, http.StatusNotFound, "RevisionNotFound")
		return
	}
	content, ok := m.Files[file]
	if !ok {
		Refuse(w, http.StatusNotFound, "EntryNotFound")
		return
	}
	etag := Etag(file, content)
	w.Header().Set("X-Repo-Commit", commit)
	if large(file) {
		w.Header().Set("X-Linked-Etag", `"`+etag+`"`)
		w.Header().Set("X-Linked-Size", fmt.Sprint(len(content)))
		http.Redirect(w, r, s.CDN+"/"+name+"/"+file+"?signature=secret", http.StatusFound)
		return
	}
	w.Header().Set("ETag", `"`+etag+`"`)
	s.send(w, r, m, content)
}

func (m *Model) list(w http.ResponseWriter, name, revision string) {
	if revision != cmp.Or(m.Branch, "main") && revision != m.Commit() {
		Refuse(w, http.StatusNotFound, "RevisionNotFound")
		return
	}
	var siblings []map[string]string
	for _, name := range slices.Sorted(maps.Keys(m.Files)) {
		siblings = append(siblings, map[string]string{"rfilename": name})
	}
	json.NewEncoder(w).Encode(map[string]any{"id": name, "sha": m.Commit(), "siblings": siblings})
}

func (s *Server) serveCDN(w http.ResponseWriter, r *http.Request) {
	for name, m := range s.Models {
		if file, ok := strings.CutPrefix(r.URL.Path, "/"+name+"/"); ok && r.URL.Query().Get("signature") == "secret" {
			w.Header().Set("ETag", `"of-the-other-server"`)
			s.send(w, r, m, m.Files[file])
			return
		}
	}
	w.WriteHeader(http.StatusForbidden)
}

func (s *Server) send(w http.ResponseWriter, r *http.Request, m *Model, content []byte) {
	if m.NoRange {
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		w.Write(content)
		return
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}
