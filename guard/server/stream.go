package server

import (
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
// object with more text. It answers with a line for each alarm and, at the end, with the verdict. It ends when the
// client is gone.
func (s *server) stream(w http.ResponseWriter, r *http.Request) {
	control := http.NewResponseController(w)
	control.EnableFullDuplex() // HTTP/1.1 would not answer while it reads; other versions do
	// A stream that ends early may leave input unread. Then the connection cannot be used again, and a client must
	// learn so from the header.
	w.Header().Set("Connection", "close")
	s.count(func() { s.streams++ })
	defer s.count(func() { s.streams-- })
	ctx, gone := context.WithCancel(r.Context())
	defer gone()
	lines := newLines(http.MaxBytesReader(nil, r.Body, mostStream), control, s.bodies, gone)
	defer lines.end()
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	started := false
	fail := func(err error) {
		if ctx.Err() == context.Canceled {
			return // nobody reads it
		}
		if !started {
			s.fail(w, r, err)
			return
		}
		f := &refusal{status: http.StatusBadRequest}
		errors.As(err, &f)
		s.count(func() { s.refusals[f.status]++ })
		out.Encode(map[string]string{"error": err.Error()})
		control.Flush()
	}
	total := 0 // bytes of the text
	var first guard.Request
	var of *guard.Stream
	for n := 1; ; n++ {
		line, err := lines.next()
		if err == io.EOF {
			break
		} else if err != nil {
			fail(err)
			return
		}
		if n == 1 {
			line = bytes.TrimPrefix(line, byteOrderMark)
		}
		if len(line) == 0 {
			continue
		}
		control.SetWriteDeadline(time.Now().Add(idleStream))
		var alarms []guard.Span
		err = s.work(ctx, len(line), func() error {
			if err := valid(line); err != nil {
				return fmt.Errorf("line %d: %w", n, err)
			}
			text := ""
			if of == nil {
				if first, of, err = s.open(line); err != nil {
					return fmt.Errorf("line %d: %w", n, err)
				}
				text = first.Text
				first = guard.Request{ID: first.ID, Language: first.Language}
			} else {
				var more struct {
					Text *string `json:"text"`
				}
				if err := json.Unmarshal(line, &more); err != nil || more.Text == nil {
					return fmt.Errorf(`line %d: expected an object with more text, {"text":"..."}`, n)
				}
				text = *more.Text
			}
			if total += len(text); total > mostText {
				return tooLarge("The text is longer than %d KiB.", mostText>>10)
			}
			alarms = of.Write(text)
			return nil
		})
		if of != nil && !started {
			w.Header().Set("Content-Type", "application/x-ndjson")
			w.WriteHeader(http.StatusOK)
			control.Flush()
			started = true
		}
		if err != nil {
			fail(err)
			return
		}
		for _, a := range alarms {
			s.count(func() { s.alarms[base(first.Language)]++ })
			if out.Encode(Alarm{a}) != nil {
				return
			}
		}
		if alarms != nil && control.Flush() != nil {
			return
		}
	}
	if of == nil {
		fail(errors.New(`the stream is empty; expected lines of JSON, the first with a "language"`))
		return
	}
	response := guard.Response{ID: first.ID, Expected: first.Language}
	err := s.work(ctx, total, func() error {
		start := time.Now()
		response.Judgement = of.Close()
		s.took(time.Since(start))
		return nil
	})
	if err != nil {
		fail(err)
		return
	}
	s.judged(response.Expected, response.Verdict)
	control.SetWriteDeadline(time.Now().Add(idleStream))
	out.Encode(Verdict{response, s.action(response.Verdict)})
}

// open begins the stream that its first line describes. The record's language becomes the one that is judged by.
func (s *server) open(line []byte) (guard.Request, *guard.Stream, error) {
	if _, _, err := split(line); err != nil {
		return guard.Request{}, nil, err
	}
	record, err := guard.ParseStream(line, s.Language)
	if err == nil {
		err = fits(&record)
	}
	if err != nil {
		return record, nil, err
	}
	record.Language = record.Tag(s.Checker)
	of, err := s.Checker.Stream(record.Language)
	return record, of, err
}
