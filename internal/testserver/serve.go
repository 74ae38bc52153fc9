package testserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
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
	tally    *tally
	left     bool
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/_stats" {
		w.Header().Set("Content-Type", "application/json")
		w.Write(encode(s.Stats()))
		return
	}
	if s.down.Load() {
		panic(http.ErrAbortHandler)
	}
	if rest, found := strings.CutPrefix(r.URL.Path, "/v1beta/openai/"); found {
		r.URL.Path = "/v1/" + rest
	}
	most := int64(maxBody)
	if strings.HasPrefix(r.URL.Path, "/v1/files") || strings.Contains(r.URL.Path, "atch") {
		most = 256 << 20
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if err != nil && !errors.As(err, new(*http.MaxBytesError)) {
		return // the client went away
	}
	if s.opts.Record {
		s.ledger.record(Record{r.Method, r.URL.Path, r.URL.RawQuery, r.Header.Clone(), body})
	}
	if err == nil && s.serveBatch(w, r, body) {
		return
	}
	x := &exchange{Server: s, w: w, r: r, protocol: protocolOf(r), hash: Hash(r.Method, r.URL.Path, body)}
	tally, inFlight := s.ledger.arrive(x.hash, r.Method, r.URL.Path)
	x.tally = tally
	defer x.leave()
	if err != nil {
		x.fail(&problem{413, "request_too_large", "Request exceeds the maximum size", "", "", nil})
		return
	}
	q, p := x.accept(body)
	if p != nil {
		x.fail(p)
		return
	}
	a := s.ledger.admit(x.tally, inFlight)
	x.limitHeaders(a)
	if a.attempt == 0 {
		x.turnAway(a)
		return
	}
	x.meet(q, a, s.opts.fate(x.hash, a.attempt))
}

// leave frees the request's place. It comes before the last byte of an answer,
// so a client that has read it can ask again without exceeding the limit.
func (x *exchange) leave() {
	if !x.left {
		x.left = true
		x.ledger.leave()
	}
}

// accept checks all that is wrong with the request itself. The query is nil
// for the list of models.
func (x *exchange) accept(body []byte) (*query, *problem) {
	if p := x.authorize(x.r); p != nil {
		return nil, p
	}
	method, path := http.MethodPost, x.r.URL.Path
	if path == modelsPath && x.opts.NoList {
		path = ""
	}
	switch path {
	case modelsPath:
		method = http.MethodGet
	case chatPath, completionsPath, embeddingsPath, messagesPath, responsesPath:
	default:
		if x.protocol == Anthropic {
			return nil, &problem{404, "not_found_error", "Not Found", "", "", nil}
		}
		return nil, &problem{404, "invalid_request_error", fmt.Sprintf("Invalid URL (%s %s)", x.r.Method, x.r.URL.Path), "", "", nil}
	}
	if x.r.Method != method {
		return nil, &problem{405, "invalid_request_error", fmt.Sprintf("Not allowed to %s on %s.", x.r.Method, x.r.URL.Path), "", "method_not_supported", nil}
	}
	if method == http.MethodGet {
		return nil, nil
	}
	return x.parse(x.r, body)
}

// limitHeaders reports the RPM limit as the protocol does on every answer.
func (x *exchange) limitHeaders(a admission) {
	if x.opts.RPM == 0 {
		return
	}
	h := x.w.Header()
	if x.protocol == Anthropic {
		h.Set("anthropic-ratelimit-requests-limit", strconv.Itoa(x.opts.RPM))
		h.Set("anthropic-ratelimit-requests-remaining", strconv.Itoa(a.remaining))
		h.Set("anthropic-ratelimit-requests-reset", time.Now().Add(a.wait).UTC().Format(time.RFC3339))
		return
	}
	h.Set("x-ratelimit-limit-requests", strconv.Itoa(x.opts.RPM))
	h.Set("x-ratelimit-remaining-requests", strconv.Itoa(a.remaining))
	h.Set("x-ratelimit-reset-requests", a.wait.Round(time.Millisecond).String())
}

func (x *exchange) turnAway(a admission) {
	p := failed(x.protocol, 429)
	if a.crowded {
		p.message = "Number of concurrent requests has exceeded your rate limit. Please try again later."
	} else {
		p.message = fmt.Sprintf("Rate limit reached on requests per min (RPM): Limit %d, Used %d, Requested 1. Please try again in %v.",
			x.opts.RPM, x.opts.RPM, a.wait.Round(time.Millisecond))
		x.retryAfter(a.wait)
	}
	x.fail(p)
}

// retryAfter sets Retry-After in whole seconds, and the milliseconds that
// OpenAI sends along.
func (x *exchange) retryAfter(d time.Duration) {
	x.w.Header().Set("Retry-After", strconv.FormatInt(ceilSeconds(d), 10))
	if x.protocol == OpenAI {
		x.w.Header().Set("retry-after-ms", strconv.FormatInt(d.Milliseconds(), 10))
	}
}

func ceilSeconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

// meet lets the request meet its fate.
func (x *exchange) meet(q *query, a admission, f fate) {
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
	if f.failure == "" && q != nil && q.profile != nil && f.outcome == Filtered && q.profile.filtered != nil {
		x.ledger.fault(f.outcome)
		x.fail(q.profile.filtered)
		return
	}
	switch f.failure {
	case "":
		body := x.answer(q, a, f.outcome)
		if q != nil && q.strictly(body) {
			x.fail(badRequest("Could not finish the message because max_tokens or model output limit was reached. Please try again with higher max_tokens.", "", ""))
			return
		}
		x.send(200, "application/json", body, spread, true)
	case Hang:
		x.sleep(x.r.Context(), 1<<62)
		panic(http.ErrAbortHandler)
	case Drop:
		panic(http.ErrAbortHandler)
	case Cut:
		b := x.answer(q, a, "")
		x.head(200, "application/json", len(b))
		x.w.Write(b[:len(b)/2])
		http.NewResponseController(x.w).Flush()
		panic(http.ErrAbortHandler)
	case InvalidJSON:
		b := x.answer(q, a, "")
		x.send(200, "application/json", b[:len(b)/2], spread, false)
	case WrongShape:
		i := int(uniform(o.Seed, "shape", x.hash, a.attempt) * float64(len(wrongShapes)))
		x.send(200, "application/json", []byte(wrongShapes[i]), spread, false)
	case HTML:
		x.send(502, "text/html", htmlPage(502), spread, false)
	case HTMLOK:
		x.send(200, "text/html", htmlPage(200), spread, false)
	case RateLimitedSeconds:
		x.w.Header().Set("Retry-After", strconv.FormatInt(ceilSeconds(o.RetryAfter), 10))
		x.fail(failed(x.protocol, 429))
	case RateLimitedDate:
		at := time.Now().Add(o.RetryAfter + time.Second - 1) // an HTTP date has no fractions
		x.w.Header().Set("Retry-After", at.UTC().Format(http.TimeFormat))
		x.fail(failed(x.protocol, 429))
	case RateLimitedMillis:
		x.w.Header().Set("retry-after-ms", strconv.FormatInt(o.RetryAfter.Milliseconds(), 10))
		x.w.Header().Set("Retry-After", strconv.FormatInt(ceilSeconds(o.RetryAfter), 10))
		x.fail(failed(x.protocol, 429))
	default:
		status, _ := strconv.Atoi(string(f.failure))
		x.fail(failed(x.protocol, status))
	}
}

// answer is the JSON of a full answer.
func (x *exchange) answer(q *query, a admission, o Fault) []byte {
	if q == nil {
		return encode(x.models(x.protocol, x.r.URL.Query()))
	}
	if q.Path == embeddingsPath {
		return encode(x.embeddings(q))
	}
	if o != "" {
		x.ledger.fault(o)
	}
	q.Attempt = a.attempt
	prompts := q.prompts
	if q.Path != completionsPath {
		prompts = []string{q.Prompt}
	}
	first := 0
	if x.opts.Vary {
		first = a.answered * q.n
	}
	var choices []choice
	for _, prompt := range prompts {
		for k := range q.n {
			r := q.Request
			r.Prompt, r.Sample = prompt, first+k
			choices = append(choices, x.choose(r, q, o))
		}
	}
	switch q.Path {
	case chatPath:
		return encode(chatCompletion(q, choices))
	case completionsPath:
		return encode(textCompletion(q, choices))
	case responsesPath:
		return encode(response(q, choices[0]))
	}
	return encode(message(q, choices[0]))
}

// strictly reports whether an answer is one that the model's provider makes an
// error of: nothing but thoughts.
func (q *query) strictly(body []byte) bool {
	return q.profile != nil && q.profile.strict && q.Path == chatPath && bytes.Contains(body, []byte(`"content":"",`)) && bytes.Contains(body, []byte(`"finish_reason":"length"`))
}

func (x *exchange) requestID() string { return "req_" + x.hash[:24] }

func (x *exchange) fail(p *problem) {
	if x.protocol == Anthropic {
		retry := p.status == 408 || p.status == 409 || p.status == 429 || p.status >= 500
		x.w.Header().Set("x-should-retry", strconv.FormatBool(retry))
	}
	x.send(p.status, "application/json", encode(p.body(x.protocol, x.requestID())), 0, false)
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

// send writes a whole response, its body spread over a time. Counts are
// settled before the last byte leaves; an answer that does not get through is
// taken back.
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
	x.ledger.status(status)
	if full {
		x.ledger.answered(x.tally, 1)
	}
	x.leave()
	x.w.Write(body[last:])
	if flush() != nil && full {
		x.ledger.answered(x.tally, -1)
	}
}

func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // a NaN from Options.Embed, and nothing else
	}
	return b.Bytes()
}
