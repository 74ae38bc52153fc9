package endpoint

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"net"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"crosstalk"
)

// Body is a JSON object under construction, with parameters that override fields. Equal requests give equal bytes.
type Body struct {
	json  []byte
	extra map[string]any
}

// NewBody returns an object that will contain extra unchanged.
func NewBody(extra map[string]any) *Body {
	return &Body{append(make([]byte, 0, 512), '{'), extra}
}

// Set adds a field, unless it is in extra.
func (b *Body) Set(name string, value any) {
	if _, overridden := b.extra[name]; !overridden {
		b.add(name, crosstalk.Canonical(value))
	}
}

// SetGiven adds a field unless its value is zero or has no elements.
func (b *Body) SetGiven(name string, value any) {
	if v := reflect.ValueOf(value); !v.IsZero() && (v.Kind() != reflect.Slice || v.Len() > 0) {
		b.Set(name, value)
	}
}

// Apart separates system messages from the other turns, which are never nil.
func Apart(messages []crosstalk.Message) (system []string, turns []crosstalk.Message) {
	turns = make([]crosstalk.Message, 0, len(messages))
	for _, m := range messages {
		if m.Role == "system" {
			system = append(system, m.Content)
		} else {
			turns = append(turns, m)
		}
	}
	return system, turns
}

// IsNull reports whether a field of an answer is null or missing.
func IsNull(field json.RawMessage) bool { return len(field) == 0 || string(field) == "null" }

// Budget is a placeholder in parameters for the number of tokens for thoughts.
const Budget = "$budget"

// SetAll adds fields sorted by name, with tokens in place of Budget.
func (b *Body) SetAll(params map[string]any, tokens int) {
	const least = 1024 // Claude's minimum; little for any model
	for _, name := range slices.Sorted(maps.Keys(params)) {
		b.Set(name, fill(params[name], max(tokens, least)))
	}
}

func fill(value any, tokens int) any {
	switch v := value.(type) {
	case string:
		if v == Budget {
			return tokens
		}
	case map[string]any:
		filled := make(map[string]any, len(v))
		for name, inner := range v {
			filled[name] = fill(inner, tokens)
		}
		return filled
	}
	return value
}

// Bytes returns the whole object. It fails if extra cannot be encoded as JSON.
func (b *Body) Bytes() ([]byte, error) {
	for _, name := range slices.Sorted(maps.Keys(b.extra)) {
		value, err := json.Marshal(b.extra[name])
		if err != nil {
			return nil, err
		}
		b.add(name, value)
	}
	return append(b.json, '}'), nil
}

func (b *Body) add(name string, value []byte) {
	if len(b.json) > 1 {
		b.json = append(b.json, ',')
	}
	b.json = append(append(append(b.json, crosstalk.Canonical(name)...), ':'), value...)
}

// Count is a number of tokens or requests, also as a string (Gemini). Anything else is 0: no answer is lost over it.
type Count int

func (c *Count) UnmarshalJSON(b []byte) error {
	var f float64
	*c = 0
	if json.Unmarshal(bytes.Trim(b, `"`), &f) == nil && f > 0 && f <= math.MaxInt32 {
		*c = Count(f)
	}
	return nil
}

// Fits returns how many of the first asks fit in a batch of at most most asks and so many bytes; at least one.
func Fits(asks []crosstalk.BatchAsk, most, bytes int, size func(crosstalk.BatchAsk) int) int {
	total := 0
	for i, a := range asks[:min(len(asks), most)] {
		if total += size(a); total > bytes && i > 0 {
			return i
		}
	}
	return min(len(asks), most)
}

// Results reads the lines at a path of the API with result, and yields the results and the error that ends them.
func (e *Endpoint) Results(ctx context.Context, path string,
	result func([]byte) crosstalk.BatchResult) iter.Seq2[crosstalk.BatchResult, error] {
	return func(yield func(crosstalk.BatchResult, error) bool) {
		for line, err := range e.Lines(ctx, path) {
			if err != nil {
				yield(crosstalk.BatchResult{}, err)
				return
			}
			if !yield(result(line), nil) {
				return
			}
		}
	}
}

// NoResults yields only an error.
func NoResults(err error) iter.Seq2[crosstalk.BatchResult, error] {
	return func(yield func(crosstalk.BatchResult, error) bool) { yield(crosstalk.BatchResult{}, err) }
}

// Make posts a call that creates a batch, decodes the reply into batch, and returns the batch's name, *id.
func (e *Endpoint) Make(ctx context.Context, path string, call, batch any, id *string) (string, error) {
	raw, err := e.Post(ctx, path, jsonType, crosstalk.Canonical(call))
	if err = e.Account(raw, err, batch, id); err != nil {
		return "", Unclear(err)
	}
	return *id, nil
}

// Unread returns the error for an unreadable reply about batches.
func (e *Endpoint) Unread(what string, cause error) error {
	return e.fault(crosstalk.Transient, http.StatusOK, nil, "%s cannot be read: %v", what, cause)
}

// Account decodes the server's state of a batch, unless err tells why there is none. id points to its name in batch.
func (e *Endpoint) Account(raw []byte, err error, batch any, id *string) error {
	if err != nil {
		return err
	}
	if err = json.Unmarshal(raw, batch); err == nil && *id == "" {
		err = errors.New("it has no id")
	}
	if err != nil {
		return e.Unread("what "+e.identity.Endpoint+" says of a batch", err)
	}
	return nil
}

// BatchResult decodes a line with the result of a batch's request into line; id points to the request's key in it.
// read then reads the answer from line; an error of a request that was answered has a 2xx status.
func BatchResult(text []byte, line any, id *string, requests map[crosstalk.Key]crosstalk.Request,
	read func(crosstalk.Request) (crosstalk.Answer, error)) (r crosstalk.BatchResult) {
	if len(text) >= MaxNumbers {
		return crosstalk.BatchResult{Err: fmt.Errorf("a line is longer than %d MiB", MaxNumbers>>20)}
	}
	if err := json.Unmarshal(text, line); err != nil {
		return crosstalk.BatchResult{Err: fmt.Errorf("a line is not JSON of the right form: %w", err)}
	}
	if r.Err = r.Key.UnmarshalText([]byte(*id)); r.Err != nil {
		return r
	}
	req, asked := requests[r.Key]
	if !asked {
		return crosstalk.BatchResult{Err: errors.New("a line is of no request of the batch")}
	}
	r.Answer, r.Err = read(req)
	if e := (*crosstalk.AskError)(nil); errors.As(r.Err, &e) && e.Status/100 == 2 {
		r.Key = crosstalk.Key{} // it was answered
	}
	return r
}

// Lines yields the lines at a path of the API, without empty ones, and truncated at MaxNumbers bytes. A line is valid
// until the next one is read. Errors are those of Get; they come last, even if the lines break off.
func (e *Endpoint) Lines(ctx context.Context, path string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		body, err := e.Open(ctx, path)
		if err != nil {
			yield(nil, err)
			return
		}
		defer body.Close()
		lines := bufio.NewScanner(body)
		lines.Buffer(make([]byte, 0, 64<<10), MaxNumbers)
		lines.Split(cutLines())
		for lines.Scan() {
			if line := bytes.TrimSpace(lines.Bytes()); len(line) > 0 && !yield(line, nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(nil, e.Broken(ctx, err))
		}
	}
}

// cutLines is like bufio.ScanLines, but skips the rest of a line after MaxNumbers bytes.
func cutLines() bufio.SplitFunc {
	within := false // in a truncated line
	return func(data []byte, end bool) (advance int, token []byte, err error) {
		advance, token, err = bufio.ScanLines(data, end)
		if advance == 0 && len(data) >= MaxNumbers {
			advance, token = len(data), data
		}
		if advance == 0 {
			return 0, nil, err
		}
		if within {
			token = token[:0] // nil would end the lines here
		}
		within = data[advance-1] != '\n'
		return advance, token, err
	}
}

// Open opens the content at a path of the API, whatever its length. The caller closes it. Errors are those of Get.
func (e *Endpoint) Open(ctx context.Context, path string) (io.ReadCloser, error) {
	resp, key, err := e.exchange(ctx, http.MethodGet, path, jsonType, nil)
	if err != nil {
		return nil, err
	}
	page := strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html")
	if resp.StatusCode/100 == 2 && !page {
		return resp.Body, nil
	}
	defer resp.Body.Close()
	raw, _ := io.ReadAll(io.LimitReader(resp.Body, maxProblem))
	switch status := resp.StatusCode; {
	case status == 404, status == 410:
		return nil, e.fault(crosstalk.Denied, status, nil, "%s does not have %s (HTTP %d, %s)", e.identity.Endpoint, path,
			status, e.quote(readProblem(raw)))
	case status/100 != 2:
		return nil, e.refused(resp, raw, key)
	}
	return nil, e.page(resp.StatusCode, problem{message: title(raw), page: true})
}

// Broken returns the error for unreadable content that is longer than an answer.
func (e *Endpoint) Broken(ctx context.Context, err error) error {
	return e.unreachable(ctx, cutOff{err})
}

// Unclear marks the error of a request that creates something, unless the server refused it or was unreachable.
func Unclear(err error) error {
	var e *crosstalk.AskError
	said := errors.As(err, &e) && (e.Fault == crosstalk.Rejected || e.Fault == crosstalk.Denied || e.Status == 429 ||
		e.Status == 503 || e.Status == 529)
	var op *net.OpError
	if said || errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect") {
		return err
	}
	return &crosstalk.UnclearError{Err: err}
}
