package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"crosstalk/guard"
)

// Alarm is a line of a stream's response: a part in another language that has become certain.
type Alarm struct {
	Alarm guard.Span `json:"alarm"`
}

// stream judges a text as it arrives: lines of JSON, the first a record whose text may be empty, each of the others an
// object with more text. It answers with a line for each alarm and, at the end, with the verdict.
func (s *server) stream(w http.ResponseWriter, r *http.Request) {
	control := http.NewResponseController(w)
	control.EnableFullDuplex() // HTTP/1.1 would not answer while it reads; other versions do
	// A stream that ends early may leave input unread. Then the connection
	// cannot be used again, and a client must learn so from the header.
	w.Header().Set("Connection", "close")
	end := time.Now().Add(longStream)
	extend := func() {
		deadline := time.Now().Add(idleStream)
		if deadline.After(end) {
			deadline = end
		}
		control.SetReadDeadline(deadline)
		control.SetWriteDeadline(deadline)
	}
	extend()
	s.streaming(1)
	defer s.streaming(-1)
	lines := bufio.NewScanner(http.MaxBytesReader(w, r.Body, mostStream))
	lines.Buffer(nil, mostStream)
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	started := false
	fail := func(status int, message string) {
		if !started {
			s.refuse(w, r, status, message)
			return
		}
		s.refused(status)
		out.Encode(map[string]string{"error": message})
		control.Flush()
	}
	total := 0 // bytes of the text
	var first guard.Request
	var of *guard.Stream
	for n := 1; lines.Scan(); n++ {
		extend()
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		text := ""
		if of == nil {
			var err error
			if first, of, err = s.open(line); err != nil {
				fail(http.StatusBadRequest, fmt.Sprintf("line %d: %v", n, err))
				return
			}
			text = first.Text
			w.Header().Set("Content-Type", "application/x-ndjson")
			w.WriteHeader(http.StatusOK)
			control.Flush()
			started = true
		} else {
			var more struct {
				Text *string `json:"text"`
			}
			if err := json.Unmarshal(line, &more); err != nil || more.Text == nil {
				if lines.Err() != nil {
					break // the line is not complete
				}
				fail(http.StatusBadRequest, fmt.Sprintf(`line %d: expected an object with more text, {"text":"..."}`, n))
				return
			}
			text = *more.Text
		}
		if total += len(text); total > mostText {
			fail(http.StatusRequestEntityTooLarge, fmt.Sprintf("The text is longer than %d KiB.", mostText>>10))
			return
		}
		s.working.Acquire(context.Background(), 1) // others work for milliseconds
		alarms := of.Write(text)
		s.working.Release(1)
		for _, a := range alarms {
			s.alarmed(first.Language)
			if out.Encode(Alarm{a}) != nil {
				return
			}
		}
		if alarms != nil && control.Flush() != nil {
			return
		}
	}
	if err := lines.Err(); err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) || errors.Is(err, bufio.ErrTooLong) {
			fail(http.StatusRequestEntityTooLarge, "The stream is larger than 1 MiB.")
		} else if !errors.Is(err, io.ErrUnexpectedEOF) {
			fail(http.StatusRequestTimeout, "The stream's next line did not arrive within 30 seconds, or it took longer than 10 minutes.")
		}
		return
	}
	if of == nil {
		fail(http.StatusBadRequest, `The stream is empty; expected lines of JSON, the first with a "language".`)
		return
	}
	weight := s.weight(total)
	s.working.Acquire(context.Background(), weight)
	defer s.working.Release(weight)
	start := time.Now()
	response := guard.Response{ID: first.ID, Judgement: of.Close(), Expected: first.Language}
	s.judged(response, time.Since(start))
	out.Encode(Verdict{response, s.action(response.Verdict)})
}

// open begins the stream that its first line describes. The record's language becomes the one that is judged by.
func (s *server) open(line []byte) (guard.Request, *guard.Stream, error) {
	record, err := guard.ParseStream(line, s.Language)
	if err != nil {
		return record, nil, err
	}
	if record.Language = record.Tag(); record.Language == "" {
		return record, nil, errors.New("the language of the user cannot be told; name one")
	}
	of, err := s.Checker.Stream(record.Language)
	return record, of, err
}
