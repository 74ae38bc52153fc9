// Package testserver is a local server that speaks as OpenAI and Anthropic, and misbehaves on demand, for tests.
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
// Paths below /v1beta/openai, Gemini's compatible endpoint, are those below /v1. Streaming and tools get a 400.
//
// Everything it does is a function of options, request and attempt: requests with the same method, path and body
// are the same, and the n-th attempt of one meets the same fate in every run, in whatever order they arrive.
//
//	s := testserver.New(testserver.Options{FailFirst: 1})
//	defer s.Close()
//	client.BaseURL = s.URL + "/v1"
package testserver

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// Options say how the server behaves; the zero value answers at once and correctly. Scripts write them in YAML.
type Options struct {
	Seed int64 // moves all draws of faults and jitter, and no answers

	// Faults gives each fault its probability in [0, 1]. Failures are drawn once per attempt, outcomes once per
	// request, delays each for itself once per attempt (see [Fault]). Failures, and outcomes, add up to at most 1.
	Faults map[Fault]float64
	// FailFirst, if positive, makes the first FailFirst attempts of each request fail with 500; all later ones succeed.
	FailFirst int
	// RetryAfter is the wait that the faults 429-seconds, 429-date and 429-ms ask for. Default one second.
	RetryAfter      time.Duration
	Latency, Jitter time.Duration // before the headers of every answer: Latency, and a draw from [0, Jitter)
	// Stall is the delay that slow adds before the headers (1 s), and the time that dribble takes for the body.
	Stall time.Duration

	Key         string   // the API key asked for; "" accepts any key and none
	Models      []string // the models that exist; empty accepts any name and lists "test"
	Unsupported []string // names request parameters that are refused with 400

	// Profile is the family whose refusals and thoughts every model has; "" chooses by the model's name (gpt-5-mini
	// refuses what GPT-5 refuses), [NoProfile] has none. A profile thinks 390 tokens before it answers.
	Profile string

	// Losses that a client has to notice by itself. Context is the number of tokens to which prompts are cut, as
	// Ollama does: usage counts the rest (0: no limit). System is a message that the server puts before those of
	// chats. Serves is the model that answers, and says so. Ignores names parameters that are passed over.
	Context int
	System  string
	Serves  string
	Ignores []string
	NoList  bool // makes /v1/models unknown, as at servers that have no list

	// Answer gives the reply to a request for text; default [Continue].
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

// sleep waits for d. It reports false if the client or the server went away.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}
