package testserver

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const maxBody = 32 << 20 // Anthropic's limit for /v1/messages

// exchange is one request being served.
type exchange struct {
	*Server
	w        http.ResponseWriter
	r        *http.Request
	protocol Protocol
	hash     string
	left     bool
}

// newHandler is the routes: calls of the batch APIs, and all others.
func (s *Server) newHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/", s.serve)
	for pattern, handle := range batchRoutes {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.serveBatch(w, r, handle) })
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

// read reads the body of a request, and records it. It reports false if the client went away, or is answered.
func (s *Server) read(w http.ResponseWriter, r *http.Request, most int64) ([]byte, bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if err != nil && !errors.As(err, new(*http.MaxBytesError)) {
		return nil, false
	}
	if s.opts.Record {
		record := Record{r.Method, r.URL.Path, r.URL.RawQuery, r.Header.Clone(), body}
		s.ledger.do(func(l *ledger) { l.records = append(l.records, record) })
	}
	if err != nil {
		p := problem{Status: 413, Type: "request_too_large", Message: "Request exceeds the maximum size"}
		reply(w, p.Status, p.body(protocolOf(r), "req_large"))
	}
	return body, err == nil
}

// reply sends JSON.
func reply(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(body)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, ok := s.read(w, r, maxBody)
	if !ok {
		return
	}
	x := &exchange{Server: s, w: w, r: r, protocol: protocolOf(r), hash: Hash(r.Method, r.URL.Path, body)}
	s.ledger.arrive(x.hash, r.URL.Path)
	defer x.leave()
	q, p := x.accept(body)
	if p != nil {
		x.fail(p)
		return
	}
	attempt := s.ledger.admit(x.hash)
	x.meet(q, attempt, s.opts.fate(x.hash, attempt))
}

// leave ends the request. It comes before the last byte of an answer, so to a
// client that has read it the request is in flight no more.
func (x *exchange) leave() {
	if !x.left {
		x.left = true
		x.ledger.leave()
	}
}

// accept checks all that is wrong with the request itself. The query is nil for the list of models.
func (x *exchange) accept(body []byte) (*query, *problem) {
	if p := x.authorize(x.r); p != nil {
		return nil, p
	}
	path := x.r.URL.Path
	method, known := map[string]string{
		modelsPath: "GET",
		chatPath:   "POST", completionsPath: "POST", embeddingsPath: "POST", messagesPath: "POST", responsesPath: "POST",
	}[path]
	switch {
	case known && !(path == modelsPath && x.opts.NoList):
	case x.protocol == Anthropic:
		return nil, &problem{Status: 404, Type: "not_found_error", Message: "Not Found"}
	default:
		return nil, &problem{Status: 404, Message: fmt.Sprintf("Invalid URL (%s %s)", x.r.Method, path)}
	}
	if x.r.Method != method {
		message := fmt.Sprintf("Not allowed to %s on %s.", x.r.Method, path)
		return nil, &problem{Status: 405, Message: message, Code: "method_not_supported"}
	}
	if path == modelsPath {
		return nil, nil
	}
	return x.parse(x.r, body)
}

// retryAfter sets Retry-After in whole seconds.
func (x *exchange) retryAfter(d time.Duration) {
	seconds := (d + time.Second - 1) / time.Second
	x.w.Header().Set("Retry-After", strconv.Itoa(int(seconds)))
}

// meet lets the request meet its fate.
func (x *exchange) meet(q *query, attempt int, f fate) {
	o := &x.opts
	wait := o.Latency + time.Duration(f.jitter*float64(o.Jitter))
	if f.slow {
		x.ledger.fault(Slow)
		wait += o.Stall
	}
	if !x.sleep(x.r.Context(), wait) {
		panic(http.ErrAbortHandler)
	}
	if f.failure != "" {
		x.ledger.fault(f.failure)
	}
	spread := time.Duration(0)
	if f.slowBody {
		x.ledger.fault(SlowBody)
		spread = o.Stall
	}
	if f.failure == "" && q != nil && f.outcome == Filtered && q.Profile.Filtered != nil {
		x.ledger.fault(f.outcome)
		x.fail(q.Profile.Filtered)
		return
	}
	const asJSON, asHTML = "application/json", "text/html"
	switch f.failure {
	case "":
		body := x.answer(q, attempt, f.outcome)
		if q != nil && q.strictly(body) {
			x.fail(badRequest("Could not finish the message because max_tokens or model output limit was reached. "+
				"Please try again with higher max_tokens.", "", ""))
			return
		}
		x.send(200, asJSON, body, spread, true)
	case Hang:
		x.sleep(x.r.Context(), 1<<62)
		panic(http.ErrAbortHandler)
	case Drop:
		panic(http.ErrAbortHandler)
	case Cut:
		b := x.answer(q, attempt, "")
		x.head(200, asJSON, len(b))
		x.w.Write(b[:len(b)/2])
		http.NewResponseController(x.w).Flush()
		panic(http.ErrAbortHandler)
	case InvalidJSON:
		b := x.answer(q, attempt, "")
		x.send(200, asJSON, b[:len(b)/2], spread, false)
	case WrongShape:
		shapes := data().Wrong
		i := int(uniform(o.Seed, "shape", x.hash, attempt) * float64(len(shapes)))
		x.send(200, asJSON, []byte(shapes[i]), spread, false)
	case HTML:
		x.send(502, asHTML, htmlPage(502), spread, false)
	case HTMLOK:
		x.send(200, asHTML, htmlPage(200), spread, false)
	case RateLimitedSeconds:
		x.retryAfter(o.RetryAfter)
		x.fail(failed(x.protocol, 429))
	case RateLimitedDate:
		at := time.Now().Add(o.RetryAfter + time.Second - 1) // an HTTP date has no fractions
		x.w.Header().Set("Retry-After", at.UTC().Format(http.TimeFormat))
		x.fail(failed(x.protocol, 429))
	case RateLimitedMillis:
		x.retryAfter(o.RetryAfter)
		x.w.Header().Set("retry-after-ms", strconv.FormatInt(o.RetryAfter.Milliseconds(), 10))
		x.fail(failed(x.protocol, 429))
	default:
		status, _ := strconv.Atoi(string(f.failure))
		x.fail(failed(x.protocol, status))
	}
}

// answer is the JSON of a full answer.
func (x *exchange) answer(q *query, attempt int, o Fault) []byte {
	if q == nil {
		return x.models(x.protocol, x.r.URL.Query())
	}
	if q.Path == embeddingsPath {
		return x.embeddings(q)
	}
	if o != "" {
		x.ledger.fault(o)
	}
	q.Attempt = attempt
	prompts := q.Prompts
	if q.Path != completionsPath {
		prompts = []string{q.Prompt}
	}
	var choices []choice
	for _, prompt := range prompts {
		for k := range q.N {
			r := q.Request
			r.Prompt, r.Sample = prompt, k
			choices = append(choices, x.choose(r, q, o))
		}
	}
	if q.Path == messagesPath || q.Path == responsesPath {
		choices = choices[:1]
	}
	return q.body(q.Path, choices...)
}

// strictly reports whether an answer is one that the model's provider makes an error of: nothing but thoughts.
func (q *query) strictly(body []byte) bool {
	return q.Profile.Strict && q.Path == chatPath &&
		bytes.Contains(body, []byte(`"content":"",`)) && bytes.Contains(body, []byte(`"finish_reason":"length"`))
}

func (x *exchange) requestID() string { return "req_" + x.hash[:24] }

func (x *exchange) fail(p *problem) {
	if x.protocol == Anthropic {
		retry := slices.Contains([]int{408, 409, 429}, p.Status) || p.Status >= 500
		x.w.Header().Set("x-should-retry", strconv.FormatBool(retry))
	}
	x.send(p.status(), "application/json", p.body(x.protocol, x.requestID()), 0, false)
}

func (x *exchange) head(status int, contentType string, size int) {
	h := x.w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(size))
	if x.protocol == Anthropic {
		h.Set("request-id", x.requestID())
	} else {
		h.Set("x-request-id", x.requestID())
		h.Set("openai-version", "2020-10-01")
	}
	x.w.WriteHeader(status)
}

// send writes a whole response, its body spread over a time. Counts are settled before the last byte leaves; an answer
// that does not get through is taken back.
func (x *exchange) send(status int, contentType string, body []byte, spread time.Duration, full bool) {
	const pieces = 8
	x.head(status, contentType, len(body))
	flush := http.NewResponseController(x.w).Flush
	last := len(body) - 1
	for i := range pieces {
		if spread > 0 {
			x.w.Write(body[last*i/pieces : last*(i+1)/pieces])
			if flush() != nil || !x.sleep(x.r.Context(), spread/pieces) {
				panic(http.ErrAbortHandler)
			}
		}
	}
	if spread == 0 {
		x.w.Write(body[:last])
	}
	if x.r.Context().Err() != nil {
		panic(http.ErrAbortHandler)
	}
	x.ledger.do(func(l *ledger) { l.stats.Status[status]++ })
	if full {
		x.ledger.answered(x.hash, 1)
	}
	x.leave()
	x.w.Write(body[last:])
	if flush() != nil && full {
		x.ledger.answered(x.hash, -1)
	}
}

// Stats counts what the server was asked and what it sent, as of now.
type Stats struct {
	Attempts    int // requests that arrived, whatever became of them
	Answered    int // full answers sent, outcomes such as a refusal included
	InFlight    int
	MaxInFlight int
	Status      map[int]int      // answers by HTTP status; those cut short are in Faults only
	Faults      map[Fault]int    // faults dealt
	Requests    map[string]Count // by [Hash]
}

// Count describes the outcomes of one distinct request.
type Count struct {
	Path               string
	Attempts, Answered int
}

// Record is a request as it arrived.
type Record struct {
	Method, Path, Query string
	Header              http.Header
	Body                []byte
}

// Stats returns a copy of the counts. An answer is counted before its last byte
// leaves, so whoever has read an answer finds it here.
func (s *Server) Stats() (st Stats) {
	s.ledger.do(func(l *ledger) {
		st = l.stats
		st.Status, st.Faults, st.Requests = maps.Clone(st.Status), maps.Clone(st.Faults), maps.Clone(st.Requests)
	})
	return st
}

// Records returns the requests seen so far in order of arrival, if [Options.Record] is set.
func (s *Server) Records() (records []Record) {
	s.ledger.do(func(l *ledger) { records = slices.Clone(l.records) })
	return records
}

// ledger keeps the counts.
type ledger struct {
	mu       sync.Mutex
	stats    Stats
	admitted map[string]int // attempts of a request that were well-formed
	records  []Record
}

func (l *ledger) do(f func(*ledger)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f(l)
}

// arrive notes a request; leave must follow once.
func (l *ledger) arrive(hash, path string) {
	l.do(func(l *ledger) {
		c := l.stats.Requests[hash]
		l.stats.Requests[hash] = Count{path, c.Attempts + 1, c.Answered}
		l.stats.Attempts++
		l.stats.InFlight++
		l.stats.MaxInFlight = max(l.stats.MaxInFlight, l.stats.InFlight)
	})
}

// admit is the number of this attempt among the well-formed ones of the request, from 1.
func (l *ledger) admit(hash string) (attempt int) {
	l.do(func(l *ledger) {
		l.admitted[hash]++
		attempt = l.admitted[hash]
	})
	return attempt
}

func (l *ledger) leave() { l.do(func(l *ledger) { l.stats.InFlight-- }) }

// answered adds by to the full answers sent; -1 takes one back that did not get through.
func (l *ledger) answered(hash string, by int) {
	l.do(func(l *ledger) {
		c := l.stats.Requests[hash]
		c.Answered += by
		l.stats.Requests[hash] = c
		l.stats.Answered += by
	})
}

func (l *ledger) fault(f Fault) { l.do(func(l *ledger) { l.stats.Faults[f]++ }) }
