package testserver

import (
	"bytes"
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

type exchange struct {
	*Server
	w        http.ResponseWriter
	r        *http.Request
	protocol Protocol
	hash     string
	spread   time.Duration // over which the body is sent
	leave    func()        // the request is in flight no more
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

// read reads the body of a request, and records it. It reports false if the client went away, or sent too much.
func (s *Server) read(w http.ResponseWriter, r *http.Request, most int64) ([]byte, bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if s.opts.Record && err == nil {
		record := Record{r.Method, r.URL.Path, r.URL.RawQuery, r.Header.Clone(), body}
		s.ledger.do(func(l *ledger) { l.records = append(l.records, record) })
	}
	if err != nil {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
	}
	return body, err == nil
}

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
	x := &exchange{Server: s, w: w, r: r, protocol: protocolOf(r), hash: hashOf(r.Method, r.URL.Path, body)}
	attempt := 0
	x.leave = sync.OnceFunc(func() { s.ledger.do(func(l *ledger) { l.stats.InFlight-- }) })
	s.ledger.do(func(l *ledger) {
		c := l.stats.Requests[x.hash]
		attempt = c.Attempts + 1
		l.stats.Requests[x.hash] = Count{attempt, c.Answered}
		l.stats.Attempts++
		l.stats.InFlight++
	})
	defer x.leave()
	q, p := x.accept(body)
	if p != nil {
		x.fail(p)
		return
	}
	x.meet(q, attempt, s.opts.fate(x.hash, attempt))
}

// accept checks all that is wrong with the request itself. The query is nil for the list of models.
func (x *exchange) accept(body []byte) (*query, *problem) {
	if p := x.authorize(x.r); p != nil {
		return nil, p
	}
	path, method := x.r.URL.Path, http.MethodPost
	if path == modelsPath {
		method = http.MethodGet
	}
	known := []string{modelsPath, chatPath, completionsPath, embeddingsPath, messagesPath, responsesPath}
	if !slices.Contains(known, path) || x.r.Method != method || path == modelsPath && x.opts.NoList {
		return nil, &problem{Status: 404, Message: fmt.Sprintf("Invalid URL (%s %s)", x.r.Method, path)}
	}
	if path == modelsPath {
		return nil, nil
	}
	return x.parse(x.r, body)
}

func (x *exchange) meet(q *query, attempt int, f fate) {
	o := &x.opts
	wait := o.Latency + time.Duration(f.jitter*float64(o.Jitter))
	if f.slow {
		x.ledger.fault(Slow)
		wait += o.Stall
	}
	if !sleep(x.r.Context(), wait) {
		panic(http.ErrAbortHandler)
	}
	if f.failure != "" {
		x.ledger.fault(f.failure)
	}
	if f.slowBody {
		x.ledger.fault(SlowBody)
		x.spread = o.Stall
	}
	if f.failure == "" && q != nil && f.outcome == Filtered && q.Profile.Filtered != nil {
		x.ledger.fault(f.outcome)
		x.fail(q.Profile.Filtered)
		return
	}
	switch f.failure {
	case "":
		body := x.answer(q, attempt, f.outcome)
		if q != nil && q.strictly(body) {
			x.fail(badRequest("Could not finish the message because max_tokens or model output limit was reached. "+
				"Please try again with higher max_tokens.", "", ""))
			return
		}
		x.send(200, jsonType, body, true)
	case Hang:
		<-x.r.Context().Done()
		panic(http.ErrAbortHandler)
	case Drop:
		panic(http.ErrAbortHandler)
	case Cut:
		b := x.answer(q, attempt, "")
		x.head(200, jsonType, len(b))
		x.w.Write(b[:len(b)/2])
		http.NewResponseController(x.w).Flush()
		panic(http.ErrAbortHandler)
	case InvalidJSON:
		b := x.answer(q, attempt, "")
		x.send(200, jsonType, b[:len(b)/2], false)
	case WrongShape:
		shapes := data().Wrong
		i := int(uniform(o.Seed, "shape", x.hash, attempt) * float64(len(shapes)))
		x.send(200, jsonType, []byte(shapes[i]), false)
	case HTML, HTMLOK:
		status := map[Fault]int{HTML: 502, HTMLOK: 200}[f.failure]
		x.send(status, "text/html", htmlPage(status), false)
	default:
		x.setRetry(f.failure)
		status, _ := strconv.Atoi(string(f.failure[:3]))
		x.fail(failed(x.protocol, status))
	}
}

// setRetry sets the headers by which a failure asks for a wait.
func (x *exchange) setRetry(failure Fault) {
	wait, h := x.opts.RetryAfter, x.w.Header()
	up := wait + time.Second - 1 // in whole seconds, as an HTTP date is
	switch failure {
	case RateLimitedDate:
		h.Set("Retry-After", time.Now().Add(up).UTC().Format(http.TimeFormat))
	case RateLimitedMillis:
		h.Set("retry-after-ms", strconv.FormatInt(wait.Milliseconds(), 10))
		fallthrough
	case RateLimitedSeconds:
		h.Set("Retry-After", strconv.Itoa(int(up/time.Second)))
	}
}

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
	return q.body(q.Path, x.choose(q, o))
}

// strictly reports whether an answer is one that the model's provider makes an error of: nothing but thoughts.
func (q *query) strictly(body []byte) bool {
	return q.Profile.Strict && q.Path == chatPath &&
		bytes.Contains(body, []byte(`"content":"",`)) && bytes.Contains(body, []byte(`"finish_reason":"length"`))
}

func (x *exchange) fail(p *problem) {
	x.spread = 0
	x.send(p.status(), jsonType, p.body(x.protocol), false)
}

func (x *exchange) head(status int, contentType string, size int) {
	h := x.w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(size))
	x.w.WriteHeader(status)
}

// send writes a whole response, its body spread over a time. Counts are settled before the last byte leaves; an answer
// that does not get through is taken back.
func (x *exchange) send(status int, contentType string, body []byte, full bool) {
	const pieces = 8
	x.head(status, contentType, len(body))
	flush := http.NewResponseController(x.w).Flush
	last := len(body) - 1
	for piece := range slices.Chunk(body[:last], last/pieces+1) {
		x.w.Write(piece)
		if x.spread > 0 && (flush() != nil || !sleep(x.r.Context(), x.spread/pieces)) {
			panic(http.ErrAbortHandler)
		}
	}
	if x.r.Context().Err() != nil {
		panic(http.ErrAbortHandler)
	}
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
	Attempts int // requests that arrived, whatever became of them
	Answered int // full answers sent, outcomes such as a refusal included
	InFlight int
	Faults   map[Fault]int    // faults dealt
	Requests map[string]Count // by a hash of method, path and body
}

// Count describes the outcomes of one distinct request.
type Count struct{ Attempts, Answered int }

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
		st.Faults, st.Requests = maps.Clone(st.Faults), maps.Clone(st.Requests)
	})
	return st
}

// Records returns the requests seen so far in order of arrival, if [Options.Record] is set.
func (s *Server) Records() (records []Record) {
	s.ledger.do(func(l *ledger) { records = slices.Clone(l.records) })
	return records
}

type ledger struct {
	mu      sync.Mutex
	stats   Stats
	records []Record
}

func (l *ledger) do(f func(*ledger)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f(l)
}

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
