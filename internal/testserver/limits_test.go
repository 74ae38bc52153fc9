package testserver

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"sync"
	"testing"
	"time"
)

func TestMaxConcurrency(t *testing.T) {
	s := start(t, Options{MaxConcurrency: 2, Faults: map[Fault]float64{Hang: 1}})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for i := range 2 {
		go do(ctx, s, "POST", chatPath, chat(fmt.Sprint(i)))
	}
	await(t, func() bool { return s.Stats().InFlight == 2 })
	r := post(s, chatPath, chat("third"))
	if r.status != 429 || r.header.Get("Retry-After") != "" {
		t.Errorf("third: %d %v", r.status, r.header)
	}
	wantPath(t, r.json(t), "rate_limit_exceeded", "error", "code")
	if st := s.Stats(); st.MaxInFlight != 3 || st.Limited != 1 {
		t.Errorf("stats %+v", st)
	}
}

// A client that keeps to the limit is never turned away: a place is free
// before the client can have read the answer.
func TestMaxConcurrencyIsExact(t *testing.T) {
	const workers = 4
	s := start(t, Options{MaxConcurrency: workers})
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range 200 {
				if r := post(s, chatPath, chat(fmt.Sprint(w, i))); r.status != 200 {
					t.Errorf("status %d %v", r.status, r.err)
				}
			}
		})
	}
	wg.Wait()
	if st := s.Stats(); st.MaxInFlight > workers || st.Limited != 0 || st.Answered != 800 || len(st.Requests) != 800 {
		t.Errorf("in flight %d, limited %d, answered %d", st.MaxInFlight, st.Limited, st.Answered)
	}
}

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
	if st.InFlight != 0 || st.Answered != 1 || st.MaxInFlight != 1 {
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

func TestRequestsPerMinute(t *testing.T) {
	s := start(t, Options{RPM: 2, Window: 300 * time.Millisecond})
	r := post(s, chatPath, chat("a"))
	if r.status != 200 || r.header.Get("x-ratelimit-limit-requests") != "2" || r.header.Get("x-ratelimit-remaining-requests") != "1" {
		t.Errorf("first: %d %v", r.status, r.header)
	}
	r = post(s, messagesPath, msg("b"))
	if r.status != 200 || r.header.Get("anthropic-ratelimit-requests-remaining") != "0" {
		t.Errorf("second: %d %v", r.status, r.header)
	}
	if _, err := time.Parse(time.RFC3339, r.header.Get("anthropic-ratelimit-requests-reset")); err != nil {
		t.Error(err)
	}
	r = post(s, chatPath, chat("c"))
	ms, _ := strconv.Atoi(r.header.Get("retry-after-ms"))
	if r.status != 429 || r.header.Get("Retry-After") != "1" || ms <= 0 || ms > 300 {
		t.Errorf("third: %d %v", r.status, r.header)
	}
	if d, err := time.ParseDuration(r.header.Get("x-ratelimit-reset-requests")); err != nil || d <= 0 {
		t.Errorf("reset %v %v", d, err)
	}
	time.Sleep(300 * time.Millisecond)
	if r = post(s, chatPath, chat("c")); r.status != 200 {
		t.Errorf("after the window: %d", r.status)
	}
	c := s.Stats().Requests[Hash("POST", chatPath, []byte(chat("c")))]
	if c.Attempts != 2 || c.Limited != 1 || c.Answered != 1 {
		t.Errorf("count %+v", c)
	}
}

// An attempt that a limit turned away does not use up an attempt of the
// request, or faults would depend on the order of arrival.
func TestLimitedAttemptsAreNotDrawn(t *testing.T) {
	s := start(t, Options{RPM: 1, Window: 50 * time.Millisecond, FailFirst: 1})
	post(s, chatPath, chat("other"))
	statuses := []int{post(s, chatPath, chat("x")).status}
	for range 2 {
		time.Sleep(50 * time.Millisecond)
		statuses = append(statuses, post(s, chatPath, chat("x")).status)
	}
	if !reflect.DeepEqual(statuses, []int{429, 500, 200}) {
		t.Errorf("statuses %v, want 429 500 200", statuses)
	}
}
