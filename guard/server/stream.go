package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

	"crosstalk/guard"

	"golang.org/x/sync/semaphore"
)

// stream judges a text as it arrives: lines of JSON, first a record whose text may be empty unless the URL names the
// language, then objects with more text, or events that a model streams. It responds with a line for each alarm and, at
// the end, with the verdict. It ends when the client is gone.
func (s *server) stream(w http.ResponseWriter, r *http.Request) {
	control := http.NewResponseController(w)
	control.EnableFullDuplex() // otherwise HTTP/1.1 would not respond while it reads; other versions do
	// A stream that ends early may leave input unread: the connection cannot be reused, and the header announces that.
	w.Header().Set("Connection", "close")
	s.count(func() { s.streams++ })
	defer s.count(func() { s.streams-- })
	ctx, gone := context.WithCancel(r.Context())
	defer gone()
	lines := newLines(http.MaxBytesReader(nil, r.Body, mostStream), control, s.bodies, gone)
	defer lines.end()
	defer context.AfterFunc(ctx, func() { lines.stop(context.Cause(ctx)) })()
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	started := false
	fail := func(err error) {
		if context.Cause(ctx) == context.Canceled {
			return // nobody reads it
		}
		if !started {
			s.fail(w, r, err)
			return
		}
		f := &refusal{status: http.StatusBadRequest}
		errors.As(err, &f)
		s.refused(f)
		out.Encode(map[string]string{"error": err.Error()})
		control.Flush()
	}
	total := 0 // bytes of the text
	var first guard.Request
	var of *guard.Stream
	var in pieces
	who := from(r, nil)
	first.Language = r.URL.Query().Get("language") // so that a model's stream can be forwarded unchanged
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
		if line = payload(line); len(line) == 0 {
			continue
		}
		control.SetWriteDeadline(time.Now().Add(idleStream))
		var alarms []guard.Span
		err = s.work(ctx, len(line), func() (err error) {
			text := ""
			if of == nil && first.Language == "" {
				first, of, err = s.open(line)
				who = from(r, line)
				text, first.Text = first.Text, ""
			} else {
				if of == nil {
					of, err = s.Checker.Stream(first.Language)
				}
				if err == nil {
					text, err = in.next(line)
				}
			}
			if err != nil {
				return fmt.Errorf("line %d: %w", n, err)
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
			if out.Encode(map[string]guard.Span{"alarm": a}) != nil {
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
	var v Verdict
	err := s.work(ctx, total, func() error {
		start := time.Now()
		response.Judgement = of.Close()
		v = Verdict{response, s.action(response.Verdict), time.Since(start)}
		s.took(v.took)
		return nil
	})
	if err != nil {
		fail(err)
		return
	}
	s.record(who.of("stream", "", v))
	control.SetWriteDeadline(time.Now().Add(idleStream))
	out.Encode(v)
}

// open begins the stream that its first line describes. It sets the record's language to the one to judge by.
func (s *server) open(line []byte) (record guard.Request, of *guard.Stream, err error) {
	if err = valid(line); err == nil {
		_, _, err = split(line)
	}
	if err == nil {
		record, err = guard.ParseStream(line, s.Language)
	}
	if err == nil {
		err = fits(&record)
	}
	if err != nil {
		return record, nil, err
	}
	checker := record.Of(s.Checker)
	record.Language = record.Tag(s.Checker)
	of, err = checker.Stream(record.Language)
	return guard.Request{ID: record.ID, Language: record.Language, Text: record.Text}, of, err
}

// payload returns the JSON of a stream's line, plain or in a server-sent event; nothing for other fields of events, and
// for the mark at the end of OpenAI's streams.
func payload(line []byte) []byte {
	if data, found := bytes.CutPrefix(line, []byte("data:")); found {
		line = bytes.TrimSpace(data)
	} else if len(line) > 0 && line[0] != '{' && (line[0] == ':' || bytes.HasPrefix(line, []byte("event:")) ||
		bytes.HasPrefix(line, []byte("id:")) || bytes.HasPrefix(line, []byte("retry:"))) {
		return nil
	}
	if string(line) == "[DONE]" {
		return nil
	}
	return line
}

// pieces decodes the texts of a stream's lines. A character may be divided between two of them: its bytes, or the
// surrogates by which JSON writes it.
type pieces struct{ torn []byte } // the beginning of a character, in JSON notation

// next returns the text of a line: an object with a text, or a chunk as OpenAI or Anthropic stream it.
func (p *pieces) next(line []byte) (string, error) {
	var in struct {
		Text    json.RawMessage
		Choices []struct {
			Index int
			Delta struct{ Content, Refusal json.RawMessage }
		}
		Type  string
		Delta json.RawMessage
	}
	err := json.Unmarshal(line, &in)
	literal, known := in.Text, in.Text != nil
	switch {
	case err != nil:
	case in.Choices != nil: // OpenAI's chat completions; the last one has usage and no choice
		known = true
		if len(in.Choices) > 0 && in.Choices[0].Index == 0 { // each choice is sent in separate chunks
			literal = in.Choices[0].Delta.Content
			if refusal := in.Choices[0].Delta.Refusal; len(refusal) > 0 && refusal[0] == '"' {
				literal = refusal
			}
		}
	case in.Type == "response.output_text.delta", in.Type == "response.refusal.delta": // OpenAI's responses
		literal, known = in.Delta, true
	case in.Type == "content_block_delta": // Anthropic's messages; deltas of thoughts and tools have no text
		var delta struct{ Text json.RawMessage }
		err = json.Unmarshal(in.Delta, &delta)
		literal, known = delta.Text, true
	case in.Type != "": // other events of both APIs
		known = true
	}
	if err != nil || !known || len(literal) > 0 && literal[0] != '"' && string(literal) != "null" {
		return "", errors.New(`expected an object with more text, {"text":"..."}, or a chunk of OpenAI or Anthropic`)
	}
	if len(literal) == 0 || literal[0] != '"' {
		return "", nil
	}
	all := append(p.torn, literal[1:len(literal)-1]...)
	whole := len(all) - torn(all)
	p.torn = bytes.Clone(all[whole:])
	if err := valid(all[:whole]); err != nil {
		return "", err
	}
	var text string
	err = json.Unmarshal(append(append([]byte{'"'}, all[:whole]...), '"'), &text)
	return text, err
}

// torn returns the length of an incomplete character at the end of a text, in JSON notation.
func torn(text []byte) int {
	for n := 1; n <= min(3, len(text)); n++ {
		if at := text[len(text)-n:]; utf8.RuneStart(at[0]) {
			if !utf8.FullRune(at) {
				return n
			}
			break
		}
	}
	const escape = len(`\ud83d`)
	if n := len(text) - escape; n >= 0 && text[n] == '\\' && text[n+1] == 'u' {
		before := len(text[:n]) - len(bytes.TrimRight(text[:n], `\`))
		if code, err := strconv.ParseUint(string(text[n+2:]), 16, 16); err == nil && before%2 == 0 &&
			code >= 0xd800 && code < 0xdc00 {
			return escape
		}
	}
	return 0
}

// lines reads the lines of a stream ahead of the caller, to notice at once when the client is gone.
type lines struct {
	control *http.ResponseController
	room    room
	read    chan struct{} // closed to stop reading

	mu      sync.Mutex
	more    *sync.Cond
	data    []byte // not requested yet
	scanned int    // bytes of data without a line end, so a long line in small pieces is searched once
	err     error  // io.EOF at the end
	ended   bool   // nobody requests more
}

// newLines begins to read a body. It calls gone when the body ends too early.
func newLines(body io.Reader, control *http.ResponseController, bodies *semaphore.Weighted, gone func()) *lines {
	l := &lines{control: control, room: room{of: bodies}, read: make(chan struct{})}
	l.more = sync.NewCond(&l.mu)
	go l.fill(body, gone)
	return l
}

func (l *lines) fill(body io.Reader, gone func()) {
	defer close(l.read)
	end := time.Now().Add(longStream)
	extend := func() {
		deadline := time.Now().Add(idleStream)
		if deadline.After(end) {
			deadline = end
		}
		l.control.SetReadDeadline(deadline)
		l.control.SetWriteDeadline(deadline)
	}
	extend()
	chunk, read := make([]byte, 4<<10), 0
	for {
		n, err := body.Read(chunk)
		if err == nil && bytes.IndexByte(chunk[:n], '\n') >= 0 {
			extend() // not after the end: then the server itself waits for the client to leave
		}
		read += n
		l.mu.Lock()
		l.data = append(l.data, chunk[:n]...)
		for len(l.data) > keptStream && err == nil && !l.ended {
			if bytes.IndexByte(l.data, '\n') < 0 {
				err = tooLarge("A line of the stream is larger than %d MiB.", keptStream>>20)
				l.data, l.scanned = nil, 0
				io.Copy(io.Discard, body) // the sender reads the response only then
				break
			}
			l.more.Wait() // until there is less
		}
		if full := l.room.take(min(read, keptStream)); err == nil {
			err = full
		}
		switch large := (*http.MaxBytesError)(nil); {
		case err == nil, err == io.EOF, errors.As(err, new(*refusal)):
		case errors.As(err, &large):
			err = tooLarge("The stream is larger than %d MiB.", mostStream>>20)
		case errors.Is(err, os.ErrDeadlineExceeded):
			err = &refusal{http.StatusRequestTimeout, late,
				"The stream's next line did not arrive within 30 seconds, or it took longer than 10 minutes."}
		default:
			gone()
		}
		if l.err == nil { // not stopped
			l.err = err
		}
		l.more.Broadcast()
		l.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// next returns the next line without surrounding white space, and io.EOF after the last.
func (l *lines) next() (line []byte, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		if before, after, found := bytes.Cut(l.data[l.scanned:], []byte("\n")); found || l.err == io.EOF && len(l.data) > 0 {
			line, l.data, l.scanned = l.data[:l.scanned+len(before)], after, 0
			break
		}
		if l.err != nil {
			return nil, l.err
		}
		l.scanned = len(l.data)
		l.more.Wait()
	}
	l.more.Broadcast()
	return bytes.TrimSpace(line), nil
}

// stop ends a wait for the next line with an error.
func (l *lines) stop(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = err
	}
	l.more.Broadcast()
}

func (l *lines) end() {
	select {
	case <-l.read:
	default:
		l.mu.Lock()
		l.ended = true
		l.more.Broadcast()
		l.mu.Unlock()
		l.control.SetReadDeadline(time.Unix(1, 0))
		<-l.read
	}
	l.room.leave()
}
