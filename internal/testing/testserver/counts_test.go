package testserver

import (
	"io"
	"net/http"
	"strconv"
	"testing"
)

// lastByte calls a function just before the last byte of the body is written.
type lastByte struct {
	http.ResponseWriter
	size int
	call func()
}

func (w *lastByte) Write(b []byte) (int, error) {
	w.size += len(b)
	if strconv.Itoa(w.size) == w.Header().Get("Content-Length") {
		w.call()
	}
	return w.ResponseWriter.Write(b)
}

func (w *lastByte) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func TestCountsAreSettledBeforeTheLastByte(t *testing.T) {
	s := start(t, Options{})
	var st Stats
	handler := s.http.Handler
	s.http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(&lastByte{w, 0, func() { st = s.Stats() }}, r)
	})
	post(s, chatPath, chat("x"))
	if st.InFlight != 0 || st.Answered != 1 {
		t.Errorf("before the last byte: %+v", st)
	}
}

// brokenPipe fails when flushed, as a connection does whose client is gone.
type brokenPipe struct{ http.ResponseWriter }

func (brokenPipe) FlushError() error { return io.ErrClosedPipe }

func TestAnswerThatDoesNotGetThroughIsTakenBack(t *testing.T) {
	s := start(t, Options{})
	handler := s.http.Handler
	s.http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(brokenPipe{w}, r)
	})
	post(s, chatPath, chat("x"))
	if st := s.Stats(); st.Answered != 0 {
		t.Errorf("answered %d, want 0", st.Answered)
	}
}
