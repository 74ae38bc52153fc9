// Package server judges answers over HTTP: one or many, as they arrive, and in the ways that a gateway (LiteLLM) and a
// test runner (promptfoo) ask. Texts are neither logged nor kept.
package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"crosstalk"
	"crosstalk/guard"
	"crosstalk/web/access"

	"golang.org/x/sync/semaphore"
)

// Limits of requests.
const (
	mostBody    = 8 << 20   // bytes of a request
	mostBodies  = 64 << 20  // bytes of all requests at a time
	mostText    = 256 << 10 // bytes of a text: judging takes some hundred times as much memory
	mostStream  = 1 << 20   // bytes of a stream
	mostRecords = 1000      // of a request
	connections = 512       // at a time
	idleStream  = 30 * time.Second
	longStream  = 10 * time.Minute
)

// Options of a server.
type Options struct {
	Checker  guard.Checker
	Hosts    []string // host names besides localhost and loopback addresses
	Token    string   // that requests must have; empty: none
	Language string   // a tag, or guard.User, for records without one; empty: they are refused
	Block    bool     // say no to answers in another language, where a caller acts on it
}

// Check returns an error for a language that cannot be judged.
func (o Options) Check() error {
	if o.Language == "" || o.Language == guard.User {
		return nil
	}
	if _, err := o.Checker.Check("", o.Language); err != nil {
		return crosstalk.BadOption("language", ": %w", err)
	}
	return nil
}

// New returns a handler of all requests.
func New(o Options) http.Handler {
	s := &server{Options: o, metrics: newMetrics(), bodies: semaphore.NewWeighted(mostBodies), cores: int64(runtime.GOMAXPROCS(0))}
	s.working = semaphore.NewWeighted(s.cores)
	s.Checker.Check("Das ist ein kurzer Satz.", "de") // reads the models, so that the first request need not wait
	paths := http.NewServeMux()
	for _, e := range []struct {
		method, path string
		handle       http.HandlerFunc
	}{
		{"POST", "/v1/check", s.check},
		{"POST", "/v1/check/stream", s.stream},
		{"POST", "/beta/litellm_basic_guardrail_api", s.litellm},
		{"POST", "/promptfoo", s.promptfoo},
		{"GET", "/metrics", s.metrics.write},
	} {
		paths.HandleFunc(e.method+" "+e.path, e.handle)
		paths.HandleFunc(e.path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Allow", e.method)
			s.refuse(w, r, http.StatusMethodNotAllowed, "Expected the method "+e.method+".")
		})
	}
	paths.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.refuse(w, r, http.StatusNotFound, "Nothing is at this path. 'crosstalk guard --help' lists the paths.")
	})
	rules := access.Rules{Hosts: o.Hosts, Anyhow: o.Token != "", Body: mostBody, Concurrent: connections, Command: "crosstalk guard",
		Refuse: s.refuse, Admit: s.admit}
	all := http.NewServeMux()
	all.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok\n") })
	all.Handle("/", rules.Guard(paths))
	return all
}

// HTTP returns an HTTP server with time-outs and limits. Connections beyond their limit are closed at once.
func HTTP(h http.Handler) *http.Server {
	s := access.NewServer(h)
	s.IdleTimeout = idleStream
	var open atomic.Int64
	s.ConnState = func(c net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			if open.Add(1) > connections {
				c.Close()
			}
		case http.StateClosed, http.StateHijacked:
			open.Add(-1)
		}
	}
	return s
}

type server struct {
	Options
	*metrics
	bodies  *semaphore.Weighted // bytes
	working *semaphore.Weighted // checks
	cores   int64               // of working
	calls   calls
}

// admit lets a request with the token pass.
func (s *server) admit(w http.ResponseWriter, r *http.Request) bool {
	scheme, bearer, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		bearer = ""
	}
	for _, given := range []string{bearer, r.Header.Get("X-Api-Key"), r.URL.Query().Get("token")} {
		if s.Token == "" || access.Equal(given, s.Token) {
			return true
		}
	}
	s.refuse(w, r, http.StatusUnauthorized, "Token missing or wrong. Send the header 'Authorization: Bearer TOKEN'.")
	return false
}

// refuse writes an error.
func (s *server) refuse(w http.ResponseWriter, _ *http.Request, status int, message string) {
	s.refused(status)
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]string{"error": message})
}

// errBusy means that there is no room for a request's body now.
var errBusy = errors.New("too many large requests at a time; try again soon")

// body reads the request's whole body. done gives back the room that it takes.
func (s *server) body(r *http.Request) (data []byte, done func(), err error) {
	const free = 64 << 10 // bytes that each connection may have anyway
	taken := int64(0)
	done = func() { s.bodies.Release(taken) }
	buffer := make([]byte, 0, min(max(r.ContentLength, 0), free)+512)
	for {
		if len(buffer) == cap(buffer) {
			n := int64(cap(buffer))
			if cap(buffer) >= free {
				if !s.bodies.TryAcquire(n) {
					done()
					return nil, nil, errBusy
				}
				taken += n
			}
			buffer = append(make([]byte, 0, 2*n), buffer...)
		}
		n, err := r.Body.Read(buffer[len(buffer):cap(buffer)])
		buffer = buffer[:len(buffer)+n]
		if err == io.EOF {
			return buffer, done, nil
		}
		if err != nil {
			done()
			return nil, nil, err
		}
	}
}

// read reads the body of a request and answers with an error if it cannot be read.
func (s *server) read(w http.ResponseWriter, r *http.Request) (data []byte, done func(), ok bool) {
	data, done, err := s.body(r)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		s.refuse(w, r, http.StatusRequestEntityTooLarge, "The request is larger than 8 MiB.")
	case errors.Is(err, errBusy):
		s.refuse(w, r, http.StatusServiceUnavailable, "Too many large requests at a time. Try again soon.")
	case err != nil:
		s.refuse(w, r, http.StatusRequestTimeout, "The request's body did not arrive.")
	}
	return data, done, err == nil
}

// Verdict is the answer to a record.
type Verdict struct {
	guard.Response
	Action string `json:"action"` // Allow or Block
}

// Actions.
const (
	Allow = "allow"
	Block = "block" // only if the server blocks
)

// judge judges a record and counts it.
func (s *server) judge(r *http.Request, record guard.Request) (Verdict, error) {
	if len(record.Text) > mostText {
		return Verdict{}, fmt.Errorf("the text is longer than %d KiB", mostText>>10)
	}
	weight := s.weight(len(record.Text))
	if err := s.working.Acquire(r.Context(), weight); err != nil {
		return Verdict{}, err
	}
	defer s.working.Release(weight)
	start := time.Now()
	response, err := record.Check(s.Checker)
	if err != nil {
		return Verdict{}, err
	}
	s.judged(response, time.Since(start))
	return Verdict{response, s.action(response.Verdict)}, nil
}

// weight is the share of the work that a text of n bytes takes: a long one is judged alone.
func (s *server) weight(n int) int64 {
	if n > mostText/8 {
		return s.cores
	}
	return 1
}

func (s *server) action(v guard.Verdict) string {
	if s.Block && v == guard.Wrong {
		return Block
	}
	return Allow
}

func respond(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.Encode(v) // a client that is gone needs no answer
}

// check judges a record, or each of a list.
func (s *server) check(w http.ResponseWriter, r *http.Request) {
	data, done, ok := s.read(w, r)
	if !ok {
		return
	}
	defer done()
	records, many, err := split(data)
	if err != nil {
		s.refuse(w, r, http.StatusBadRequest, err.Error())
		return
	}
	verdicts := make([]Verdict, len(records))
	for i, one := range records {
		record, err := guard.ParseRequest(one, s.Language)
		if err == nil {
			verdicts[i], err = s.judge(r, record)
		}
		if err != nil {
			s.refuse(w, r, http.StatusBadRequest, place(i, many)+err.Error())
			return
		}
	}
	if many {
		respond(w, verdicts)
		return
	}
	respond(w, verdicts[0])
}
