// Package server judges answers over HTTP: one or many, as they arrive, and in the formats of gateways (LiteLLM) and a
// test runner (promptfoo). Texts are neither logged nor kept.
package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"crosstalk/guard"
	"crosstalk/web/access"

	"golang.org/x/sync/semaphore"
)

// Limits of requests.
const (
	mostBody    = 8 << 20   // bytes in a request
	mostSkipped = 64 << 20  // bytes read of a larger one, so that its sender receives the response
	mostBodies  = 64 << 20  // bytes of all concurrent requests and responses
	freeBody    = 64 << 10  // bytes of each that are not counted
	mostText    = 256 << 10 // bytes in a text: judging needs some hundred times as much memory
	mostReply   = 16 << 20  // bytes in a response
	mostStream  = 16 << 20  // bytes in a stream: models send some hundred for each token
	keptStream  = 1 << 20   // bytes of a stream kept at a time
	mostRecords = 1000      // records in a request; also texts
	mostValues  = 100_000   // JSON values in a request: an empty one may need a hundred times its size in memory
	concurrent  = 512       // concurrent requests
	longest     = 20 * time.Second
	idleStream  = 30 * time.Second
	longStream  = 10 * time.Minute
)

// Options of a server.
type Options struct {
	Checker  guard.Checker
	Hosts    []string // host names besides localhost and loopback addresses
	Token    string   // required from requests; empty: none
	Language string   // a tag, or guard.User, for records without one; empty: they are refused
	Block    bool     // refuse answers in another language, if a caller acts on that

	LogVerdicts string    // file for verdicts, without texts; empty: none
	Log         io.Writer // what gateways sent that could not be checked, once for each reason; nil: nowhere
}

// New returns a handler for all requests.
func New(o Options) http.Handler { return newServer(o).handler() }

func newServer(o Options) *server {
	s := &server{Options: o, metrics: newMetrics(), bodies: semaphore.NewWeighted(mostBodies),
		turns: newTurns(runtime.GOMAXPROCS(0))}
	s.calls.count = s.record
	s.log = verdicts{path: o.LogVerdicts, most: mostLog, report: o.Log}
	s.Checker.Check("Das ist ein kurzer Satz.", "de") // loads the models, so that the first request need not wait
	return s
}

func (s *server) handler() http.Handler {
	paths := http.NewServeMux()
	for _, e := range []struct {
		method, path string
		handle       http.HandlerFunc
	}{
		{"POST", "/v1/check", s.reading(s.check)},
		{"POST", "/v1/check/stream", s.stream},
		{"POST", litellmPath, s.reading(s.litellm)},
		{"POST", promptfooPath, s.gateway(s.promptfoo)},
		{"POST", portkeyPath, s.gateway(s.portkey)},
		{"GET", "/metrics", s.writeMetrics},
		{"GET", "/{$}", s.page},
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
	rules := access.Rules{Hosts: s.Hosts, Anyhow: s.Token != "", Body: mostSkipped, Time: longStream,
		Concurrent: concurrent, Command: "crosstalk guard", Refuse: s.refuse, Admit: s.admit}
	all := http.NewServeMux()
	all.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok\n") })
	all.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if s.ending.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			io.WriteString(w, "ending\n")
			return
		}
		io.WriteString(w, "ok\n")
	})
	all.HandleFunc("GET /guard.css", access.Static("text/css; charset=utf-8", pageStyle))
	all.HandleFunc("GET /icon.svg", access.Static("image/svg+xml", access.Icon))
	guarded := rules.Guard(paths)
	all.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if !crowded(r) {
			guarded.ServeHTTP(w, r)
			return
		}
		io.CopyN(io.Discard, r.Body, mostSkipped) // its sender receives the response
		w.Header().Set("Connection", "close")
		s.refuse(w, r, http.StatusServiceUnavailable, "Too many connections. Try again soon.")
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		all.ServeHTTP(&parting{ResponseWriter: w, ending: &s.ending}, r)
	})
}

type server struct {
	Options
	*metrics
	bodies *semaphore.Weighted // bytes
	turns  *turns
	calls  calls
	log    verdicts
	ending atomic.Bool // still responds, but a load balancer should send no more
}

// admit passes a request with the token.
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

// Verdict is the answer to a record.
type Verdict struct {
	guard.Response
	Action string `json:"action"` // Allow or Block

	took time.Duration
}

// Actions.
const (
	Allow = "allow"
	Block = "block" // only if the server blocks
)

// work runs f, which works on n bytes, when it is their turn.
func (s *server) work(ctx context.Context, n int, f func() error) error {
	if err := s.turns.take(ctx, n); err != nil {
		return err
	}
	defer s.turns.leave(n)
	return f()
}

// judge judges a record. It must run within work.
func (s *server) judge(record guard.Request) (Verdict, error) {
	if err := fits(&record); err != nil {
		return Verdict{}, err
	}
	start := time.Now()
	response, err := record.Check(s.Checker)
	if err != nil {
		return Verdict{}, &refusal{http.StatusBadRequest, badLanguage, err.Error()}
	}
	took := time.Since(start)
	s.took(took)
	return Verdict{response, s.action(response.Verdict), took}, nil
}

// fits returns an error for a record whose texts are too long, and drops the oldest messages of long conversations.
func fits(record *guard.Request) error {
	const limit = mostText >> 10
	if len(record.Text) > mostText {
		return tooLarge("the text is longer than %d KiB", limit)
	}
	if record.Language != guard.User {
		return nil
	}
	if len(record.Prompt) > mostText {
		return tooLarge("the prompt is longer than %d KiB", limit)
	}
	size := 0
	for i, m := range slices.Backward(record.Messages) {
		if m.Role != "user" {
			continue
		}
		if len(m.Content) > mostText && size == 0 {
			return tooLarge("the user's message is longer than %d KiB", limit)
		}
		if size += len(m.Content); size > mostText {
			record.Messages = record.Messages[i+1:]
			break
		}
	}
	return nil
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
	encoder.Encode(v) // a client that is gone needs no response
}

// from returns what a record, or else the URL, states about its answer besides the text.
func from(r *http.Request, record []byte) (who sent) {
	if bytes.Contains(record, []byte(`"model"`)) || bytes.Contains(record, []byte(`"team"`)) {
		json.Unmarshal(record, &who) // values that are not text are left out
	}
	q := r.URL.Query()
	return sent{cmp.Or(who.Model, q.Get("model")), cmp.Or(who.Team, q.Get("team"))}
}

// check judges a record, or each record of a list.
func (s *server) check(w http.ResponseWriter, r *http.Request, data []byte) error {
	records, many, err := split(data)
	if err != nil {
		return err
	}
	offsets, err := offsetsOf(r)
	if err != nil {
		return err
	}
	out := answer{room: room{of: s.bodies}}
	defer out.leave()
	for i, one := range records {
		if many {
			out.WriteByte("[,"[min(i, 1)])
		}
		err := s.work(r.Context(), len(one), func() error {
			record, err := guard.ParseRequest(one, s.Language)
			if err != nil {
				return err
			}
			v, err := s.judge(record)
			if err != nil {
				return err
			}
			s.record(from(r, one).of("check", "", v))
			if offsets != nil {
				v.in(offsets, record.Text)
			}
			return out.add(v)
		})
		if err != nil && many {
			err = fmt.Errorf("record %d: %w", i+1, err)
		}
		if err != nil {
			return err
		}
	}
	if many {
		if len(records) == 0 {
			out.WriteByte('[')
		}
		out.WriteByte(']')
	}
	out.WriteByte('\n')
	w.Header().Set("Content-Type", "application/json")
	w.Write(out.Bytes())
	return nil
}

// TokenVar is the environment variable with the token required from requests.
const TokenVar = "CROSSTALK_GUARD_TOKEN"

// Serve judges answers at an address until ctx ends. Then it accepts requests for another second, so a load balancer
// that asks /readyz can stop sending, and as long as clients are connecting, at most a second more. It lets requests in
// progress run for at most five seconds, and refuses those that still wait. It writes to w where it listens and which
// token requests need: from the options, TokenVar or, if other machines have access, a new one.
func Serve(ctx context.Context, w io.Writer, addr string, o Options) error {
	at, err := access.Listen(addr, o.Hosts)
	if err != nil {
		return err
	}
	defer at.Close()
	o.Hosts, o.Token, o.Log = at.Hosts, cmp.Or(o.Token, os.Getenv(TokenVar)), w
	made := o.Token == "" && !at.Loopback()
	if made {
		o.Token = access.NewToken()
	}
	s := newServer(o) // loads the models
	if err := s.log.write(nil); err != nil {
		return fmt.Errorf("--log-verdicts: %w", err)
	}
	defer s.calls.settle(-1)
	fmt.Fprintf(w, "Checking answers at %s\n", at.URL)
	switch {
	case made:
		fmt.Fprintf(w, "Requests need the header 'Authorization: Bearer %s'. The connection is not encrypted.\n",
			o.Token)
	case o.Token != "":
		fmt.Fprintf(w, "Requests need the token of %s.\n", TokenVar)
	}
	if !o.Block {
		fmt.Fprintln(w, "It observes: no answer is blocked (--block).")
	}
	listener := &draining{TCPListener: at.Listener.(*net.TCPListener), empty: make(chan struct{}),
		closed: make(chan struct{})}
	at.Listener = listener
	connected := newAdmission(connections, ofOneAddress, mostCrowded)
	requests, abandon := context.WithCancelCause(context.WithoutCancel(ctx))
	defer abandon(nil)
	end, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	go func() {
		for ticker := time.NewTicker(quiet / 3); ; {
			select {
			case <-ticker.C:
				s.calls.settle(quiet)
			case <-end.Done():
				return
			}
		}
	}()
	defer context.AfterFunc(ctx, func() {
		s.ending.Store(true)
		time.Sleep(lameDuck)
		late := time.After(lameDuck)
		listener.drain()
		select {
		case <-listener.empty:
		case <-late:
		}
		for last := time.Now().Add(lameDuck); connected.silent() > 0 && time.Now().Before(last); {
			time.Sleep(accepting)
		}
		stop()
		time.Sleep(finishing)
		abandon(errEnding)
	})()
	service := limited(s.handler(), connected)
	service.BaseContext = func(net.Listener) context.Context { return requests }
	return at.ServeUntil(end, service, finishing+lameDuck)
}
