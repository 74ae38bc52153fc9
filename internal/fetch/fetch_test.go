package fetch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func quick(t *testing.T) {
	wait, stall := FirstWait, Stall
	FirstWait = time.Millisecond
	t.Cleanup(func() { FirstWait, Stall = wait, stall })
}

// file is one of this content that get serves.
func file(t *testing.T, content []byte, get func(from int64) *http.Response) File {
	sum := sha256.Sum256(content)
	return File{Path: filepath.Join(t.TempDir(), "new", "a.bin"), Name: "a.bin", URL: "http://server/a.bin", Size: int64(len(content)),
		Sum: hex.EncodeToString(sum[:]), Client: &http.Client{Transport: serving(get)}}
}

// serving answers requests from the first byte that they ask for.
type serving func(from int64) *http.Response

func (s serving) RoundTrip(r *http.Request) (*http.Response, error) {
	var from int64
	if asked := r.Header.Get("Range"); asked != "" {
		if _, err := fmt.Sscanf(asked, "bytes=%d-", &from); err != nil {
			return nil, err
		}
	}
	resp := s(from)
	resp.Request = r
	return resp, nil
}

func response(status int, body []byte, length int64) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(body)),
		ContentLength: length}
}

// What a server sends in pieces becomes a file; until then there is none.
func TestFetchInPieces(t *testing.T) {
	quick(t)
	content := []byte(strings.Repeat("abc", 1000))
	var f File
	f = file(t, content, func(from int64) *http.Response {
		if _, err := os.Stat(f.Path); err == nil {
			t.Error("the file is there before it is whole")
		}
		r := response(http.StatusOK, content[from:min(from+700, 3000)], 3000-from)
		if from > 0 {
			r.StatusCode = http.StatusPartialContent
			r.Header.Set("Content-Range", fmt.Sprintf("bytes %d-2999/3000", from))
		}
		return r
	})
	if err := f.Fetch(t.Context(), f.Path+".lock"); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(f.Path); err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func TestFetchRefuses(t *testing.T) {
	quick(t)
	content := []byte("abc")
	for want, r := range map[string]func(int64) *http.Response{
		"a.bin: its checksum is 3608bca1e44ea6c4d268eb6db02260269892c0b42b86bbf1e77a6fa16c3c9282, expected ba7816bf": func(int64) *http.Response { return response(200, []byte("xyz"), 3) },
		"a.bin: the server's file has 4 bytes, expected 3": func(int64) *http.Response {
			return response(200,
				[]byte("abcd"), 4)
		},
		"the connection to http://server failed (unexpected EOF), after 6 attempts": func(int64) *http.Response { return response(200, nil, -1) },
		"a.bin: the server cannot resume at byte 0, after 6 attempts":               func(int64) *http.Response { return response(416, nil, -1) },
	} {
		f := file(t, content, r)
		if err := f.Fetch(t.Context(), f.Path+".lock"); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v\nwant %s", err, want)
		}
		if _, err := os.Stat(f.Path); err == nil {
			t.Errorf("%s: the file is there", want)
		}
	}
}

func TestAgain(t *testing.T) {
	quick(t)
	fault := errors.New("fault")
	for _, c := range []struct {
		err   error
		moved int // attempts that moved things on
		want  int // attempts
	}{{fault, 0, 1}, {Pass(fault), 0, Attempts}, {Pass(Unreachable{fault}), 0, dials}, {Pass(fault), 3, Attempts + 2},
		{nil, 0, 1}} {
		n := 0
		err := Again(t.Context(), func() (bool, error) {
			n++
			return n <= c.moved, c.err
		})
		if n != c.want || (c.err != nil) != errors.Is(err, fault) {
			t.Errorf("%v: %d attempts, want %d; %v", c.err, n, c.want, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	FirstWait = time.Hour
	if err := Again(ctx, func() (bool, error) { cancel(); return false, Pass(fault) }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Errors name the server and not the address, which may hold a signature.
func TestUnreached(t *testing.T) {
	s := httptest.NewServer(nil)
	s.Close()
	_, refused := http.Get(s.URL + "/?signature=secret")
	for _, c := range []struct {
		err  error
		dead bool
		want string
	}{{refused, true, "http://server cannot be reached ("}, {&url.Error{Op: "Get", URL: "http://x/?secret", Err: io.ErrUnexpectedEOF}, false, "the connection to http://server failed (unexpected EOF)"}} {
		err := Unreached(t.Context(), "http://server", c.err)
		if !errors.As(err, new(Passing)) || errors.As(err, new(Unreachable)) != c.dead ||
			!strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

func TestBusy(t *testing.T) {
	for status, want := range map[int]bool{200: false, 404: false, 408: true, 425: true, 429: true, 500: true, 503: true} {
		if err, busy := Busy(response(status, nil, 0), "http://server"); busy != want || (err != nil) != want {
			t.Errorf("%d: %v %v", status, err, busy)
		}
	}
	for header, want := range map[string]time.Duration{"": 0, "7": 7 * time.Second, "-1": 0, "soon": 0, "1e9": maxWait} {
		r := response(429, nil, 0)
		r.Header.Set("Retry-After", header)
		err, _ := Busy(r, "http://server")
		var p Passing
		if !errors.As(err, &p) || p.after != want {
			t.Errorf("Retry-After %q: %v, want %v", header, p.after, want)
		}
	}
}
