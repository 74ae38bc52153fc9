// Package testserver is a local server that speaks the APIs of OpenAI, Anthropic and Gemini, and misbehaves on
// demand, for tests.
//
// It answers
//
//	POST /v1/chat/completions, /v1/responses, /v1/completions, /v1/embeddings   OpenAI
//	POST /v1/messages                                                           Anthropic
//	GET  /v1/models           both; Anthropic when x-api-key or anthropic-version is sent
//	POST /v1/files, GET /v1/files/ID[/content], /v1/batches[/ID]                OpenAI's batches
//	/v1/messages/batches[/ID[/results]]                                         Anthropic's
//	POST /v1beta/models/NAME:batchGenerateContent, GET /v1beta/batches[/ID]     Gemini's
//
// Paths below /v1beta/openai, Gemini's compatible endpoint, are the same as those below /v1. Streaming and tools get
// a 400.
//
// Everything it does is a function of options, request and attempt: requests with the same method, path and body
// are the same, and the n-th attempt of one meets the same fate in every run, in whatever order they arrive.
//
//	s := testserver.New(testserver.Options{FailFirst: 1})
//	defer s.Close()
//	client.BaseURL = s.URL + "/v1"
package testserver

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Options specifies how the server behaves; the zero value answers at once and correctly. Scripts write options in
// YAML.
type Options struct {
	Seed int64 // changes all draws of faults and jitter, but not the answers

	// Faults maps each fault to its probability in [0, 1]. Failures are drawn once per attempt, outcomes once per
	// request, and each delay separately, once per attempt (see [Fault]). The probabilities of all failures add up to at
	// most 1, and so do those of all outcomes.
	Faults map[Fault]float64
	// FailFirst, if positive, makes the first FailFirst attempts of each request fail with 500; all later ones succeed.
	FailFirst int
	// RetryAfter is the wait that the faults 429-seconds, 429-date and 429-ms ask for. Default one second.
	RetryAfter      time.Duration
	Latency, Jitter time.Duration // wait before the headers of every answer: Latency plus a draw from [0, Jitter)
	// Stall is the delay that slow adds before the headers (1 s), and the time that dribble takes for the body.
	Stall time.Duration

	Key         string   // the API key required; "" accepts any key and none
	Models      []string // the models that exist; empty accepts any name and lists "test"
	Unsupported []string // request parameters that are refused with 400

	// Profile is the family whose refusals and thoughts every model has; "" chooses by the model's name (gpt-5-mini
	// refuses what GPT-5 refuses), [NoProfile] has none. A profile thinks 390 tokens before it answers.
	Profile string

	// Losses that a client has to notice by itself. Context is the number of tokens to which prompts are truncated, as
	// Ollama does: usage counts the remaining ones (0: no limit). System is a message that the server puts before those
	// of chats. Serves is the model that answers, and that answers name. Ignores lists parameters that are ignored.
	Context int
	System  string
	Serves  string
	Ignores []string
	NoList  bool // makes /v1/models unknown, as on servers without a list

	// Answer returns the reply to a request for text; default [Continue].
	Answer  func(Request) Reply `yaml:"-"`
	Batches Batches
	Record  bool // keeps every request, headers and body, for [Server.Records]
}

// NoProfile is the [Options.Profile] of a server that treats all models alike.
const NoProfile = "none"

// Server is a running test server. Its methods may be called concurrently.
type Server struct {
	URL string // http://host:port, without a trailing slash

	opts   Options
	http   *http.Server
	cancel context.CancelFunc
	book   book
	down   atomic.Bool
	healed atomic.Bool
}

// New starts a server on a free port of 127.0.0.1. It panics if it cannot, as httptest.NewServer does.
func New(o Options) *Server {
	s, err := Listen("127.0.0.1:0", o)
	if err != nil {
		panic(err)
	}
	return s
}

// Listen starts a server on addr, a loopback address and a port ("127.0.0.1:0" takes a free one).
func Listen(addr string, o Options) (*Server, error) {
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("testserver: %w", err)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("testserver: %w", err)
	}
	o.RetryAfter = cmp.Or(o.RetryAfter, time.Second)
	o.Stall = cmp.Or(o.Stall, time.Second)
	if o.Answer == nil {
		o.Answer = Continue
	}
	s := &Server{URL: "http://" + l.Addr().String(), opts: o}
	s.book.stats = Stats{Faults: map[Fault]int{}, Requests: map[string]Count{}, Paid: map[string]int{}}
	s.book.files = map[string]*file{}
	open, cancel := context.WithCancel(context.Background())
	s.http = &http.Server{Handler: s.newHandler(), BaseContext: func(net.Listener) context.Context { return open }}
	s.cancel = cancel
	go s.http.Serve(l)
	return s, nil
}

// Close drops every connection, lets hanging requests go, and stops the server. Counts and records remain readable.
func (s *Server) Close() {
	s.cancel()
	s.http.Close()
}

func (o *Options) check() error {
	for f := range o.Faults {
		if kindOf(f) == "" {
			return fmt.Errorf("unknown fault %q: want one of %v", f, data().Kinds)
		}
	}
	profiles := append([]string{NoProfile}, Profiles()...)
	if o.Profile != "" && !slices.Contains(profiles, o.Profile) {
		return fmt.Errorf("unknown profile %q: want one of %s", o.Profile, strings.Join(profiles, ", "))
	}
	if f := o.Batches.Results; f != "" && data().Batches[f] == nil {
		return fmt.Errorf("unknown fault of batches %q", f)
	}
	return nil
}

func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

const maxBody = 32 << 20 // the limit of Anthropic's /v1/messages

type exchange struct {
	*Server
	w        http.ResponseWriter
	r        *http.Request
	body     []byte
	protocol Protocol
	hash     string
	leave    func()        // ends the request's time in flight
	over     time.Duration // the time over which to send the answer
}

func (s *Server) newHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/", s.reading(maxBody, (*exchange).serve))
	for pattern, handle := range batchRoutes {
		mux.HandleFunc(pattern, s.reading(256<<20, func(x *exchange) {
			x.book.do(func(k *book) { k.stats.BatchCalls++ })
			if p := x.authorize(); p != nil {
				x.fail(p)
				return
			}
			handle(x)
		}))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.down.Load() {
			panic(http.ErrAbortHandler)
		}
		if rest, found := strings.CutPrefix(r.URL.Path, "/v1beta/openai/"); found {
			r.URL.Path = "/v1/" + rest
		}
		mux.ServeHTTP(w, r)
	})
}

func (s *Server) reading(most int64, serve func(*exchange)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
		if err != nil { // the client went away or sent too much
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		if s.opts.Record {
			record := Record{r.Method, r.URL.Path, r.URL.RawQuery, r.Header.Clone(), body}
			s.book.do(func(k *book) { k.records = append(k.records, record) })
		}
		serve(s.exchange(w, r, body))
	}
}

func (s *Server) exchange(w http.ResponseWriter, r *http.Request, body []byte) *exchange {
	protocol := OpenAI
	if r.URL.Path == messagesPath || r.Header.Get("x-api-key") != "" || r.Header.Get("anthropic-version") != "" {
		protocol = Anthropic
	}
	return &exchange{Server: s, w: w, r: r, body: body, protocol: protocol, hash: hashOf(r.Method, r.URL.Path, body),
		leave: func() {}}
}

func (x *exchange) serve() {
	attempt := 0
	x.leave = sync.OnceFunc(func() { x.book.do(func(k *book) { k.stats.InFlight-- }) })
	x.book.do(func(k *book) {
		c := k.stats.Requests[x.hash]
		attempt = c.Attempts + 1
		k.stats.Requests[x.hash] = Count{attempt, c.Answered}
		k.stats.Attempts++
		k.stats.InFlight++
	})
	defer x.leave()
	var q *query // nil for the list of models
	p := x.authorize()
	if p == nil {
		switch path := x.r.URL.Path; {
		case methods[path] != x.r.Method || path == modelsPath && x.opts.NoList:
			p = said("no address", x.r.Method, path)
		case path != modelsPath:
			q, p = x.parse()
		}
	}
	if p != nil {
		x.fail(p)
		return
	}
	x.meet(q, attempt, x.opts.fate(x.hash, attempt))
}

func (x *exchange) meet(q *query, attempt int, f fate) {
	o := &x.opts
	wait := o.Latency + time.Duration(f.jitter*float64(o.Jitter))
	if f.slow {
		x.book.fault("slow")
		wait += o.Stall
	}
	if f.dribble {
		x.book.fault("dribble")
		x.over = o.Stall
	}
	if !sleep(x.r.Context(), wait) {
		panic(http.ErrAbortHandler)
	}
	if f.failure != "" {
		x.book.fault(f.failure)
	}
	if f.failure == "" && q != nil && f.outcome == "filtered" && q.Profile.Filtered != nil {
		x.book.fault(f.outcome)
		x.fail(q.Profile.Filtered)
		return
	}
	switch f.failure {
	case "":
		body := x.answer(q, attempt, f.outcome)
		if q != nil && q.Profile.Strict && q.Path == chatPath &&
			bytes.Contains(body, []byte(`"content":"",`)) && bytes.Contains(body, []byte(`"finish_reason":"length"`)) {
			x.fail(said("nothing but thoughts"))
			return
		}
		x.send(200, jsonType, body, true)
	case "hang":
		<-x.r.Context().Done()
		panic(http.ErrAbortHandler)
	case "drop":
		instead["hang up"](x, nil)
	case "cut":
		instead["break off"](x, x.answer(q, attempt, ""))
	case "invalid-json":
		b := x.answer(q, attempt, "")
		x.send(200, jsonType, b[:len(b)/2], false)
	case "wrong-shape":
		shapes := data().Wrong
		i := int(uniform(o.Seed, "shape", x.hash, attempt) * float64(len(shapes)))
		x.send(200, jsonType, []byte(shapes[i]), false)
	case "html", "html-200":
		status := map[Fault]int{"html": 502, "html-200": 200}[f.failure]
		x.send(status, "text/html", htmlPage(status), false)
	default:
		wait, h := o.RetryAfter, x.w.Header()
		up := wait + time.Second - 1 // rounded up to whole seconds, the precision of an HTTP date
		switch f.failure {
		case "429-date":
			h.Set("Retry-After", time.Now().Add(up).UTC().Format(http.TimeFormat))
		case "429-ms":
			h.Set("retry-after-ms", strconv.FormatInt(wait.Milliseconds(), 10))
			fallthrough
		case "429-seconds":
			h.Set("Retry-After", strconv.Itoa(int(up/time.Second)))
		}
		status, _ := strconv.Atoi(string(f.failure[:3]))
		x.fail(failed(x.protocol, status))
	}
}

func (x *exchange) answer(q *query, attempt int, o Fault) []byte {
	if q == nil { // a page of models
		names, asked := x.opts.Models, x.r.URL.Query()
		if len(names) == 0 {
			names = []string{"test"}
		}
		if x.protocol != Anthropic {
			return render("models", names)
		}
		names = names[slices.Index(names, asked.Get("after_id"))+1:]
		shown := names[:min(number(asked, "limit", 20), len(names))]
		return render("models anthropic", map[string]any{"Names": shown, "More": len(names) > len(shown)})
	}
	if q.Path == embeddingsPath {
		return q.body(q.Path, choice{})
	}
	if o != "" {
		x.book.fault(o)
	}
	q.Attempt = attempt
	return q.body(q.Path, x.choose(q, o))
}

func (x *exchange) fail(p *problem) {
	x.send(p.status(), jsonType, p.body(x.protocol), false)
}

// send writes a whole response. It updates the counts before it sends the last byte; a lost answer is uncounted.
func (x *exchange) send(status int, contentType string, body []byte, full bool) {
	h := x.w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	x.w.WriteHeader(status)
	last := len(body) - 1
	step := len(body)
	if x.over > 0 {
		step = 1
	}
	for part := range slices.Chunk(body[:last], step) {
		x.w.Write(part)
		if x.over > 0 {
			http.NewResponseController(x.w).Flush()
			sleep(x.r.Context(), x.over/time.Duration(len(body)))
		}
	}
	if x.r.Context().Err() != nil {
		panic(http.ErrAbortHandler)
	}
	if full {
		x.book.answered(x.hash, 1)
	}
	x.leave()
	x.w.Write(body[last:])
	if http.NewResponseController(x.w).Flush() != nil && full {
		x.book.answered(x.hash, -1)
	}
}

// Stats counts the requests to the server and the answers it sent so far.
type Stats struct {
	Attempts int // requests that arrived, whatever their outcome
	Answered int // full answers sent, including outcomes such as a refusal
	InFlight int
	Faults   map[Fault]int    // faults applied
	Requests map[string]Count // by a hash of method, path and body

	BatchCalls int            // of the batch APIs
	Creates    int            // of BatchCalls, those that create a batch
	Batches    int            // created and run
	Paid       map[string]int // how often each request in a batch was paid for, by its ID in the batch
}

// Count describes the outcomes of one distinct request.
type Count struct{ Attempts, Answered int }

// Record is a request as it arrived.
type Record struct {
	Method, Path, Query string
	Header              http.Header
	Body                []byte
}

// Stats returns a copy of the counts. An answer is counted before its last byte is sent, so its reader finds it
// counted.
func (s *Server) Stats() (st Stats) {
	s.book.do(func(k *book) {
		st = k.stats
		st.Faults, st.Requests, st.Paid = maps.Clone(st.Faults), maps.Clone(st.Requests), maps.Clone(st.Paid)
	})
	return st
}

// Records returns the requests seen so far in order of arrival if [Options.Record] is set.
func (s *Server) Records() (records []Record) {
	s.book.do(func(k *book) { records = slices.Clone(k.records) })
	return records
}

type book struct {
	mu      sync.Mutex
	stats   Stats
	records []Record
	batches []*batch // in the order of creation
	files   map[string]*file
	shown   int // calls that showed Batches.Results
}

func (k *book) do(f func(*book)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f(k)
}

func (k *book) answered(hash string, by int) {
	k.do(func(k *book) {
		c := k.stats.Requests[hash]
		c.Answered += by
		k.stats.Requests[hash] = c
		k.stats.Answered += by
	})
}

func (k *book) fault(f Fault) { k.do(func(k *book) { k.stats.Faults[f]++ }) }
