package endpoint

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"crosstalk"
	"crosstalk/internal/inflight"
)

// endless writes block until the client has gone away.
func endless(w io.Writer, block string) {
	for block := []byte(strings.Repeat(block, 1<<20/len(block))); ; {
		if _, err := w.Write(block); err != nil {
			return
		}
	}
}

const tooLong = "openai:gpt: the answer is longer than 8192 KiB: check the server, or lower --max-tokens or --logprobs"

// Whatever has no end is given up early, and is not asked again.
func TestEndless(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		fault  crosstalk.Fault
		want   string
	}{
		"body":   {func(w http.ResponseWriter, _ *http.Request) { endless(w, `{"ok": "`) }, crosstalk.Rejected, tooLong},
		"events": {func(w http.ResponseWriter, _ *http.Request) { endless(w, "data: {}\n\n") }, crosstalk.Rejected, tooLong},
		"compressed": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			endless(gzip.NewWriter(w), `{"ok": "`)
		}, crosstalk.Rejected, tooLong},
		"error": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(500)
			endless(w, "no ")
		}, crosstalk.Transient, `openai:gpt: URL failed (HTTP 500, "` + strings.Repeat("no ", 100) + `…")`},
		"header": {func(w http.ResponseWriter, _ *http.Request) {
			c, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				return
			}
			defer c.Close()
			io.WriteString(c, "HTTP/1.1 200 OK\r\n")
			endless(c, "X-A: b\r\n")
		}, crosstalk.Transient, `openai:gpt: URL cannot be reached ("net/http: HTTP/1.x transport connection broken: ` +
			`net/http: server response headers exceeded 262144 bytes; aborted")`},
	} {
		s := httptest.NewServer(c.answer)
		_, err := askAt(t, Config{BaseURL: s.URL})
		s.CloseClientConnections()
		if err == nil || err.Fault != c.fault || strings.ReplaceAll(err.Message, s.URL, "URL") != c.want {
			t.Errorf("%s: %v\nwant %v %s", name, err, c.fault, c.want)
		}
		s.Close()
	}
}

// A length that is too long is believed; the body is not waited for.
func TestClaimedLength(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(maxText+1))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	defer s.Close()
	if _, err := askAt(t, Config{BaseURL: s.URL}); err == nil || err.Fault != crosstalk.Rejected ||
		err.Message != tooLong {
		t.Error(err)
	}
}

// A server that ignores a limit of tokens may not fill the memory.
func TestMostText(t *testing.T) {
	for limit, want := range map[int]int{0: maxText, 1: 256<<10 + 64, 100: 256<<10 + 6400, 1 << 20: maxText,
		1 << 62: maxText} {
		if got := MostText(crosstalk.Decoding{MaxTokens: limit}); got != want {
			t.Errorf("%d tokens: %d bytes; want %d", limit, got, want)
		}
	}
	if got := MostText(crosstalk.Decoding{MaxTokens: 100, ReasoningTokens: 4000}); got != 256<<10+64*4100 {
		t.Errorf("%d bytes for thoughts too", got)
	}
}

// Bodies of every length near a limit arrive whole.
func TestLengths(t *testing.T) {
	for _, n := range []int{20, 8<<10 - 1, 8 << 10, 8<<10 + 1, inflight.Free - 1, inflight.Free, inflight.Free + 1,
		1 << 20, maxText - 1, maxText} {
		for _, flush := range []bool{false, true} { // with a length, and in chunks
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if flush {
					w.(http.Flusher).Flush()
				}
				io.WriteString(w, `{"ok":"`+strings.Repeat("a", n-9)+`"}`)
			}))
			if a, err := askAt(t, Config{BaseURL: s.URL}); err != nil || len(a.Raw) != n {
				t.Errorf("%d bytes: %d, %v", n, len(a.Raw), err)
			}
			s.Close()
		}
	}
}

// Small JSON values take far more memory than text.
func TestTooManyValues(t *testing.T) {
	_, err := ask(t, Config{}, 200, nil, `{"ok":[`+strings.Repeat("{},", maxValues/2)+`{}]}`)
	if err == nil || err.Fault != crosstalk.Rejected || !strings.Contains(err.Message, "the answer has more than 1048576 JSON values") {
		t.Error(err)
	}
	if _, err := ask(t, Config{}, 200, nil, `{"ok":"`+strings.Repeat(`{\",[`, maxValues)+`"}`); err != nil { // in a text
		t.Error(err)
	}
}

// counted is a body that tells how many bytes all bodies that are open have given.
type counted struct {
	io.Reader
	n         int64
	now, most *atomic.Int64
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.n += int64(n)
	now := c.now.Add(int64(n))
	for old := c.most.Load(); now > old && !c.most.CompareAndSwap(old, now); old = c.most.Load() {
	}
	return n, err
}

func (c *counted) Close() error {
	c.now.Add(-c.n)
	return nil
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// However many asks are in flight, their bodies have one budget of memory.
func TestManyBombs(t *testing.T) {
	var now, most atomic.Int64
	client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		body := &counted{Reader: io.MultiReader(strings.NewReader(`{"ok":"`), bomb{}), now: &now, most: &most}
		return &http.Response{StatusCode: 200, ContentLength: -1, Body: body, Request: r}, nil
	})}
	var group sync.WaitGroup
	for range 64 {
		group.Go(func() {
			if _, err := askAt(t, Config{BaseURL: "http://h", Client: client}); err == nil || err.Message != tooLong {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if bound := int64(inflight.Total + 64*(inflight.Free+1)); most.Load() > bound {
		t.Errorf("%d bytes in flight; want at most %d", most.Load(), bound)
	}
}

// bomb is letters without end.
type bomb struct{}

func (bomb) Read(b []byte) (int, error) {
	return copy(b, bytes.Repeat([]byte("a"), len(b))), nil
}

// An answer keeps its share until whoever asked has saved it; an error does not.
func TestShareOfAnAnswer(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/long" {
			endless(w, "a")
		}
		io.WriteString(w, `{"ok":"`+strings.Repeat("a", 1<<20)+`"}`)
	}))
	defer s.Close()
	e, err := New(Config{Provider: "p", Model: "m", BaseURL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	read := func([]byte) (crosstalk.Answer, error) { return crosstalk.Answer{}, nil }
	ctx, share := inflight.With(t.Context())
	if _, err := e.Ask(ctx, "/short", nil, maxText, read); err != nil || inflight.Used() == 0 {
		t.Errorf("an answer has no share (%v)", err)
	}
	if _, err := e.Ask(ctx, "/long", nil, maxText, read); err == nil || inflight.Used() != 0 {
		t.Errorf("an error has a share (%v)", err)
	}
	if _, err := e.Ask(ctx, "/short", nil, maxText, read); err != nil || inflight.Used() == 0 {
		t.Errorf("the second answer has no share (%v)", err)
	}
	share.Release()
	if _, err := e.Ask(t.Context(), "/short", nil, maxText, read); err != nil || inflight.Used() != 0 {
		t.Errorf("an answer that nobody saves has a share (%v)", err)
	}
	for range 3 * inflight.Total / maxText { // would wait for ever
		if _, err := e.Get(t.Context(), "/short"); err != nil {
			t.Fatal(err)
		}
	}
}
