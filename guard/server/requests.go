package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/sync/semaphore"
)

// room is a request's share of the memory for all bodies and responses.
type room struct {
	of    *semaphore.Weighted
	taken int64
}

// take raises the share to a total of n bytes. It fails if there is not enough memory left.
func (r *room) take(n int) error {
	if more := int64(n) - freeBody - r.taken; more > 0 {
		if !r.of.TryAcquire(more) {
			return errBusy
		}
		r.taken += more
	}
	return nil
}

func (r *room) leave() {
	r.of.Release(r.taken)
	r.taken = 0
}

// body reads the request's whole body, charged to its share of memory.
func (s *server) body(r *http.Request, in *room) (data []byte, err error) {
	buffer := make([]byte, 0, min(max(r.ContentLength, 0), freeBody)+512)
	for {
		if len(buffer) == cap(buffer) {
			if err := in.take(2 * cap(buffer)); err != nil {
				return nil, err
			}
			buffer = append(make([]byte, 0, min(2*cap(buffer), mostBody+512)), buffer...)
		}
		n, err := r.Body.Read(buffer[len(buffer):cap(buffer)])
		buffer = buffer[:len(buffer)+n]
		switch {
		case len(buffer) > mostBody:
			buffer = nil
			in.leave()
			io.Copy(io.Discard, r.Body)
			return nil, tooLarge("The request is larger than %d MiB.", mostBody>>20)
		case err == io.EOF:
			return buffer, nil
		case context.Cause(r.Context()) == error(errEnding):
			return nil, errEnding
		case err != nil:
			return nil, &refusal{http.StatusRequestTimeout, late, "The request's body did not arrive."}
		}
	}
}

// byteOrderMark begins files of some Windows programs.
var byteOrderMark = []byte("\ufeff")

// reading reads a request's JSON body, in time, and responds with the result of handle, or its error.
func (s *server) reading(handle func(w http.ResponseWriter, r *http.Request, data []byte) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), longest)
		defer cancel()
		defer context.AfterFunc(r.Context(), func() { // do not wait for more of the body
			http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0))
		})()
		in := room{of: s.bodies}
		defer in.leave()
		data, err := s.body(r, &in)
		if err == nil {
			err = valid(data)
		}
		if err == nil {
			err = handle(w, r.WithContext(ctx), bytes.TrimSpace(bytes.TrimPrefix(data, byteOrderMark)))
		}
		if err != nil {
			s.fail(w, r, err)
		}
	}
}

// valid returns an error for invalid UTF-8: offsets into the text would not match the bytes sent.
func valid(data []byte) error {
	if utf8.Valid(data) {
		return nil
	}
	at := 0
	for r, n := utf8.DecodeRune(data); r != utf8.RuneError || n > 1; r, n = utf8.DecodeRune(data[at:]) {
		at += n
	}
	return fmt.Errorf("expected JSON in UTF-8; byte %d is not valid", at)
}

// split returns the records of a body: one JSON object, or a list of them. It counts the JSON values before anything is
// built from them. Invalid JSON may be split anywhere.
func split(data []byte) (records [][]byte, many bool, err error) {
	values, depth, found, start := 1, 0, 1, 1
	many = bytes.HasPrefix(data, []byte("["))
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			for i++; i < len(data) && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
		case '[', '{':
			depth++
			values++
		case ']', '}':
			if depth--; depth == 0 && many && (data[i] != ']' || i != len(data)-1) {
				return nil, true, errors.New("expected a list of JSON objects, and nothing after it")
			}
		case ':':
			values++
		case ',':
			if values++; many && depth == 1 {
				if found++; found <= mostRecords {
					records = append(records, data[start:i])
				}
				start = i + 1
			}
		}
	}
	switch {
	case values > mostValues:
		return nil, many, tooLarge("expected at most %d values of JSON, found %d", mostValues, values)
	case !many:
		return [][]byte{data}, false, nil
	case depth != 0:
		return nil, true, errors.New("expected a list of JSON objects; its end is missing")
	case found > mostRecords:
		return nil, true, tooLarge("expected at most %d records, found %d", mostRecords, found)
	}
	if last := data[start : len(data)-1]; found > 1 || len(bytes.TrimSpace(last)) > 0 {
		records = append(records, last)
	}
	return records, true, nil
}

func decode(data []byte, to any) error {
	if _, _, err := split(data); err != nil {
		return err
	}
	return json.Unmarshal(data, to)
}

// answer is JSON that is charged to memory as bodies are.
type answer struct {
	bytes.Buffer
	room
}

func (a *answer) add(v any) error {
	encoder := json.NewEncoder(a)
	encoder.SetEscapeHTML(false)
	encoder.Encode(v)
	a.Truncate(a.Len() - len("\n"))
	if a.Len() > mostReply {
		return tooLarge("the answer would be larger than %d MiB; send less at a time", mostReply>>20)
	}
	return a.take(a.Cap())
}

// A refusal explains why a request is not answered as asked.
type refusal struct {
	status  int
	reason  string // one of the constants below; empty if it concerns the sender, not the request
	message string
}

func (e *refusal) Error() string { return e.message }

// Reasons.
const (
	noJSON      = "input"
	badLanguage = "language"
	large       = "size"
	late        = "time"
	busy        = "busy"
	mixed       = "thoughts"
)

var said = map[string]string{
	noJSON:      "it is not the JSON that was expected",
	badLanguage: "its language cannot be judged",
	large:       "it is too large",
	late:        "it took too long",
	busy:        "there were too many requests at a time",
	mixed:       "it cannot be told from the model's thoughts",
}

// errBusy reports that there is no memory for a request's body, or its response, at the moment.
var errBusy = &refusal{http.StatusServiceUnavailable, busy, "Too many large requests at a time. Try again soon."}

// errEnding reports that the service ends before it has worked on a request.
var errEnding = &refusal{http.StatusServiceUnavailable, busy, "The service is ending. Send the request again."}

func tooLarge(format string, args ...any) error {
	return &refusal{http.StatusRequestEntityTooLarge, large, fmt.Sprintf(format, args...)}
}

// fail responds with an error, or passes what a gateway sent if the service only observes.
func (s *server) fail(w http.ResponseWriter, r *http.Request, err error) {
	f := &refusal{http.StatusBadRequest, noJSON, ""}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		err = &refusal{http.StatusServiceUnavailable, late,
			fmt.Sprintf("The request took longer than %v. Send less at a time.", longest)}
	}
	errors.As(err, &f)
	message := err.Error()
	passing := map[string]any{ // responses that let a gateway's text pass, by path
		litellmPath:   none,
		portkeyPath:   map[string]any{"verdict": true, "data": map[string]string{"reason": "not checked: " + message}},
		promptfooPath: map[string]any{"pass": true, "score": 0, "reason": "not checked: " + message},
	}[r.URL.Path]
	if !s.Block && f.reason != "" && passing != nil {
		s.unchecked(s.Log, f.reason)
		s.log.add(event{Time: time.Now(), Route: strings.Trim(r.URL.Path, "/"), Verdict: unchecked, Reason: f.reason,
			Action: Allow})
		respond(w, passing)
		return
	}
	s.refused(f)
	if f.status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(f.status)
	json.NewEncoder(w).Encode(map[string]string{"error": message})
}

// refuse is fail with a status.
func (s *server) refuse(w http.ResponseWriter, r *http.Request, status int, message string) {
	s.fail(w, r, &refusal{status, map[int]string{
		http.StatusRequestTimeout:        late,
		http.StatusRequestEntityTooLarge: large,
		http.StatusRequestURITooLong:     large,
		http.StatusServiceUnavailable:    busy,
	}[status], message})
}

// offsetsOf returns a function for a character's length in the unit that the URL requests for offsets; nil for bytes.
func offsetsOf(r *http.Request) (func(rune) int, error) {
	switch kind := r.URL.Query().Get("offsets"); kind {
	case "", "bytes":
		return nil, nil
	case "utf16": // JavaScript, Java, C#
		return func(c rune) int { return max(1, utf16.RuneLen(c)) }, nil
	case "characters": // Python
		return func(rune) int { return 1 }, nil
	default:
		return nil, fmt.Errorf("offsets=%.50q: expected bytes, utf16 or characters", kind)
	}
}

// in converts the offsets of a verdict on a text from bytes to another unit.
func (v *Verdict) in(length func(rune) int, text string) {
	at, n := 0, 0
	to := func(offset *int) {
		if *offset < at {
			at, n = 0, 0
		}
		for at < *offset {
			c, size := utf8.DecodeRuneInString(text[at:])
			at += size
			n += length(c)
		}
		*offset = n
	}
	for i := range v.Spans {
		to(&v.Spans[i].Start)
		to(&v.Spans[i].End)
	}
	for i := range v.Masked {
		to(&v.Masked[i].Start)
		to(&v.Masked[i].End)
	}
}
