package fetch

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"crosstalk"

	"github.com/gofrs/flock"
)

// answered is a response of a server: a status, the range that it names, and how the body comes.
type answered struct {
	status int
	bytes  string // Content-Range
	body   string
	length int64 // Content-Length; 0: of the body
}

// script answers one request after the other, the last answer again and again, and notes what was asked.
type script struct {
	answers []answered
	asked   []string
	open    int // bodies
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	a := s.answers[min(len(s.asked), len(s.answers)-1)]
	s.asked = append(s.asked, r.Header.Get("Range"))
	if a.status == 0 {
		return nil, errors.New(a.body)
	}
	if a.length == 0 {
		a.length = int64(len(a.body))
	}
	resp := response(a.status, []byte(a.body), a.length)
	resp.Body = body{iotest.DataErrReader(resp.Body), s} // the last bytes come together with the EOF
	s.open++
	resp.Header.Set("Content-Range", a.bytes)
	resp.Request = r
	return resp, nil
}

type body struct {
	io.Reader
	of *script
}

func (b body) Close() error { b.of.open--; return nil }

// put writes a file and its folder.
func put(t *testing.T, path, text string) {
	t.Helper()
	err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644))
	if err != nil {
		t.Fatal(err)
	}
}

// leftOpen reports files below a folder that are open.
func leftOpen(t *testing.T, dir string) {
	t.Helper()
	open, _ := os.ReadDir("/proc/self/fd") // none on other systems
	for _, f := range open {
		if to, _ := os.Readlink("/proc/self/fd/" + f.Name()); strings.HasPrefix(to, dir) {
			t.Errorf("%s was left open", to)
		}
	}
}

// What is on the disk, what the server sends, what is asked of it, and what comes of it.
func TestFetchTable(t *testing.T) {
	quick(t)
	const content = "0123456789"
	whole := answered{status: 200, body: content}
	rest := answered{status: 206, bytes: "bytes 4-9/10", body: "456789"}
	const sum, ofTen = "84d89877f0d4041efb6bf91a16f0248f2fd573e6af05c19f96bedb9f882f7882",
		"fc11d6f28e59d3cc33c0b14ceb644bf0902ebd63d61218dffe9e7dac7c254542" // of ten x
	for _, c := range []struct {
		name       string
		file, part string // on the disk
		answers    []answered
		asked      string
		want       string // of the error
	}{
		{"nothing", "", "", []answered{whole}, `[""]`, ""},
		{"the file", content, "", []answered{whole}, `[]`, ""},
		{"another file", "12345", "", []answered{whole}, `[""]`, ""},
		{"a part", "", "0123", []answered{rest}, `["bytes=4-"]`, ""},
		{"all of it", "", content, []answered{whole}, `[]`, ""},
		{"too much", "", content + "x", []answered{whole}, `[""]`, ""},
		{"a wrong part", "", "xxxx", []answered{rest, whole}, `["bytes=4-" ""]`, ""},
		{"all wrong", "", "xxxxxxxxxx", []answered{whole}, `[""]`, ""},
		{"the whole instead of the rest", "", "0123", []answered{whole}, `["bytes=4-"]`, ""},
		{"another range", "", "0123", []answered{{206, "bytes 5-9/10", "56789", 0}, whole}, `["bytes=4-" ""]`, ""},
		{"a range that is none", "", "0123", []answered{{416, "bytes 4-9/10", "456789", 0}, whole}, `["bytes=4-" ""]`, ""},
		{"no range", "", "0123", []answered{{416, "", "", 0}, whole}, `["bytes=4-" ""]`, ""},
		{"no length", "", "", []answered{{200, "", content, -1}}, `[""]`, ""},
		{"pieces", "", "", []answered{{200, "", "0123", 10}, rest}, `["" "bytes=4-"]`, ""},
		{"no length, too long", "", "", []answered{{200, "", content + "xyz", -1}}, `[""]`, ""},
		{"too short", "", "", []answered{{200, "", "012345678", 0}}, `[""]`, "a.bin: the server's file has 9 bytes, expected 10"},
		{"too long", "", "", []answered{{200, "", "0123456789x", 0}}, `[""]`, "a.bin: the server's file has 11 bytes, expected 10"},
		{"rest too long", "", "0123", []answered{{206, "bytes 4-9/10", "456789x", 0}}, `["bytes=4-"]`, "a.bin: the server's file has 11 bytes, expected 10"},
		{"wrong", "", "", []answered{{200, "", "xxxxxxxxxx", 0}}, `[""]`, "a.bin: its checksum is " + ofTen + ", expected " + sum + "; the download was discarded"},
		{"never the rest", "", "0123", []answered{{416, "", "", 0}}, `["bytes=4-" "" "" "" "" ""]`, "a.bin: the server cannot resume at byte 0, after 6 attempts"},
		{"stuck", "", "", []answered{{200, "", "0123", 10}}, `["" "bytes=4-" "bytes=4-" "bytes=4-" "bytes=4-" "bytes=4-"]`,
			"the connection to http://server failed (unexpected EOF), after 6 attempts"},
		{"broken", "", "", []answered{{body: "reset"}}, `["" "" "" "" "" ""]`, "the connection to http://server failed (reset), after 6 attempts"},
		{"broken once", "", "", []answered{{body: "reset"}, whole}, `["" ""]`, ""},
		{"empty", "", "", []answered{{200, "", "", 0}}, `[""]`, "a.bin: the server's file has 0 bytes, expected 10"},
		{"a byte", "", "0", []answered{{206, "bytes 1-9/10", "123456789", 0}}, `["bytes=1-"]`, ""},
		{"absent", "", "", []answered{{404, "", "", 0}}, `[""]`, "cannot fetch http://server/a.bin (HTTP 404 Not Found)"},
		{"busy", "", "", []answered{{503, "", "", 0}}, `["" "" "" "" "" ""]`, "http://server failed (HTTP 503 Service Unavailable), after 6 attempts"},
		{"busy once", "", "0123", []answered{{429, "", "", 0}, rest}, `["bytes=4-" "bytes=4-"]`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := file(t, []byte(content), nil)
			server := &script{answers: c.answers}
			f.Client.Transport = server
			for path, text := range map[string]string{f.Path: c.file, f.Path + ".incomplete": c.part} {
				if text != "" {
					put(t, path, text)
				}
			}
			err := f.Fetch(t.Context(), f.Path+".lock")
			asked := fmt.Sprintf("%q", server.asked)
			if asked != c.asked {
				t.Errorf("asked %s, want %s", asked, c.asked)
			}
			leftOpen(t, filepath.Dir(f.Path))
			if server.open != 0 {
				t.Errorf("%d bodies were left open", server.open)
			}
			got, _ := os.ReadFile(f.Path)
			if c.want == "" {
				if err != nil || string(got) != content {
					t.Errorf("%q, %v", got, err)
				}
				if _, err := os.Stat(f.Path + ".incomplete"); c.file != content && err == nil {
					t.Error("a part was left")
				}
				return
			}
			if err == nil || err.Error() != c.want {
				t.Errorf("%v, want %s", err, c.want)
			}
			if part, err := os.ReadFile(f.Path + ".incomplete"); err != nil || strings.HasSuffix(c.want, "discarded") && len(part) > 0 {
				t.Errorf("left: %q, %v", part, err)
			}
		})
	}
}

// slowly is a body whose pieces come after waits.
type slowly struct {
	ctx    context.Context
	pieces int
	wait   time.Duration
}

func (s *slowly) Read(b []byte) (int, error) {
	select {
	case <-s.ctx.Done():
		return 0, s.ctx.Err()
	case <-time.After(s.wait):
	}
	if s.pieces--; s.pieces < 0 {
		return 0, io.EOF
	}
	return copy(b, "x"), nil
}

func (s *slowly) Close() error { return nil }

type roundTrip func(r *http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A connection may be slow, but must not be silent.
func TestStall(t *testing.T) {
	for wait, want := range map[time.Duration]string{59 * time.Second: "", 61 * time.Second: "a.bin: nothing arrived for 1m, after 6 attempts"} {
		synctest.Test(t, func(t *testing.T) {
			f := file(t, []byte("xxxxx"), nil)
			var seen []int64
			f.Progress = func(name string, done, total int64) {
				if name != "a.bin" || total != 5 {
					t.Errorf("progress of %s, of %d", name, total)
				}
				seen = append(seen, done)
			}
			f.Client.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
				resp := response(http.StatusOK, nil, 5)
				resp.Body, resp.Request = &slowly{r.Context(), 5, wait}, r
				return resp, nil
			})
			err := f.Fetch(t.Context(), f.Path+".lock")
			whole := err == nil && slices.Equal(seen, []int64{0, 1, 2, 3, 4, 5})
			if want == "" && !whole || want != "" && fmt.Sprint(err) != want {
				t.Errorf("%v: %v, progress %v; want %s", wait, err, seen, want)
			}
		})
	}
}

// Waits double, by chance up to a half shorter, unless the server asks for longer ones.
func TestWaits(t *testing.T) {
	for after, want := range map[time.Duration][]time.Duration{0: {1, 2, 4, 8, 16}, 5 * time.Second: {5, 5, 5, 8, 16}} {
		synctest.Test(t, func(t *testing.T) {
			var at []time.Time
			err := Again(t.Context(), func() (bool, error) {
				at = append(at, time.Now())
				return false, Passing{errors.New("busy"), after}
			})
			if fmt.Sprint(err) != "busy, after 6 attempts" || len(at) != Attempts || time.Since(at[5]) != 0 {
				t.Errorf("%v after %d attempts", err, len(at))
			}
			for i, longest := range want {
				longest *= time.Second
				least := max(longest/2, after)
				if gap := at[i+1].Sub(at[i]); gap < least || gap > longest {
					t.Errorf("wait %d took %v, want %v to %v", i, gap, least, longest)
				}
			}
		})
	}
}

func TestRequest(t *testing.T) {
	own := http.Header{"Authorization": {"Bearer x"}, "User-Agent": {"y"}}
	r, err := Request(t.Context(), http.MethodHead, "http://server/a", own)
	if err != nil || r.Method != http.MethodHead || r.Header.Get("Authorization") != "Bearer x" ||
		r.Header.Get("User-Agent") != "crosstalk/"+crosstalk.Version || r.Header.Get("Accept-Encoding") != "identity" || len(own) != 2 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := Request(t.Context(), http.MethodGet, "http://secret\x7f", nil); err == nil || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
	f := file(t, []byte("x"), nil)
	f.URL = "http://secret\x7f"
	if err := f.Fetch(t.Context(), f.Path+".lock"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
	refused := errors.New("refused")
	f.URL, f.Refused = "http://server/a", func(resp *http.Response) error {
		if resp.StatusCode != 403 {
			t.Errorf("status %d", resp.StatusCode)
		}
		return refused
	}
	f.Client.Transport = &script{answers: []answered{{status: 403}}}
	if err := f.Fetch(t.Context(), f.Path+".lock"); err != refused {
		t.Error(err)
	}
	if Transport().ResponseHeaderTimeout != Stall {
		t.Error("a server may be silent for ever")
	}
	for address, want := range map[string]string{"https://a:1/b?c": "https://a:1", "http://a\x7f": "the server"} {
		if got := Server(address); got != want {
			t.Errorf("%q: %s, want %s", address, got, want)
		}
	}
	for status, want := range map[int]string{404: "HTTP 404 Not Found", 299: "HTTP 299"} {
		if got := StatusText(status); got != want {
			t.Errorf("%d: %s", status, got)
		}
	}
	for n, want := range map[int64]string{0: "0.0 kB", 1234: "1.2 kB", 999999: "1000.0 kB", 1e6: "1.0 MB", 1e9: "1000.0 MB"} {
		if got := Size(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
	if err, _ := Busy(response(503, nil, 0), "http://server"); err.Error() != "http://server failed (HTTP 503 Service Unavailable)" {
		t.Error(err)
	}
}

func TestUnreachedKinds(t *testing.T) {
	fault := errors.New("fault")
	cause := errors.New("cause")
	dead, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	certificate := &tls.CertificateVerificationError{Err: fault}
	for _, c := range []struct {
		ctx              context.Context
		err              error
		passing, unreach bool
		want             string
	}{
		{dead, fault, false, false, "cause"},
		{t.Context(), &url.Error{Err: certificate}, false, false, "the certificate of S is not trusted on this machine (" + certificate.Error() + ")"},
		{t.Context(), &net.DNSError{Err: "no such host", Name: "a"}, true, true, "S cannot be reached (lookup a: no such host)"},
		{t.Context(), &net.OpError{Op: "dial", Err: fault}, true, true, "S cannot be reached (dial: fault)"},
		{t.Context(), &net.OpError{Op: "proxyconnect", Err: fault}, true, true, "S cannot be reached (proxyconnect: fault)"},
		{t.Context(), &net.OpError{Op: "read", Err: fault}, true, false, "the connection to S failed (read: fault)"},
		{t.Context(), fault, true, false, "the connection to S failed (fault)"},
	} {
		err := Unreached(c.ctx, "S", c.err)
		passing, unreach := errors.As(err, new(Passing)), errors.As(err, new(Unreachable))
		if err.Error() != c.want || passing != c.passing || unreach != c.unreach {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

func TestCheck(t *testing.T) {
	const content = "0123456789"
	f := file(t, []byte(content), nil)
	if err := f.Check(); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	put(t, f.Path, content)
	if err := f.Check(); err != nil {
		t.Error(err)
	}
	leftOpen(t, filepath.Dir(f.Path))
	git := sha1.Sum([]byte("blob 10\x00" + content))
	f.Sum = hex.EncodeToString(git[:])
	if err := f.Check(); err != nil {
		t.Error(err)
	}
	f.Size = 11
	wrong := sha1.Sum([]byte("blob 11\x00" + content))
	if err := f.Check(); err == nil || err.Error() != f.Path+": its checksum is "+hex.EncodeToString(wrong[:])+", expected "+f.Sum {
		t.Error(err)
	}
}

func TestLock(t *testing.T) {
	f := file(t, []byte("x"), nil)
	lock := filepath.Join(t.TempDir(), "a", "b.lock")
	if unlock, err := takeLock(t.Context(), lock); err != nil || unlock() != nil {
		t.Fatal(err)
	}
	held := flock.New(lock)
	if ok, err := held.TryLock(); !ok || err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("cause")
	time.AfterFunc(time.Millisecond, func() { cancel(cause) })
	if err := f.Fetch(ctx, lock); err != cause {
		t.Error(err)
	}
	if err := held.Unlock(); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Dir(lock), filepath.Join(lock, "c")} { // a folder, below a file
		text := fmt.Sprint(f.Fetch(t.Context(), path))
		if !strings.Contains(text, lock) && !strings.HasPrefix(text, path+": ") {
			t.Errorf("%s: %s", path, text)
		}
	}
	for _, path := range []string{lock, filepath.Join(lock, "c")} { // the file's folder is a file
		f.Path = filepath.Join(path, "d")
		if err := f.Fetch(t.Context(), filepath.Join(t.TempDir(), "l")); err == nil || !strings.Contains(err.Error(), lock) {
			t.Error(err)
		}
	}
	f.Path = filepath.Join(t.TempDir(), "e")
	if err := os.Mkdir(f.Path+".incomplete", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := f.Fetch(t.Context(), f.Path+".lock"); err == nil || !strings.Contains(err.Error(), f.Path+".incomplete") {
		t.Error(err)
	}
}

// Downloads that have no rate yet, or were whole before, are shown without one.
func TestShowWithoutRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		show, done := Show(&b)
		show("a", 1000, 2000)
		time.Sleep(9999 * time.Millisecond)
		show("a", 1500, 2000) // too soon
		time.Sleep(time.Millisecond)
		show("a", 1000, 2000)
		time.Sleep(10 * time.Second)
		show("a", 1500, 2000)
		show("a", 1600, 2000) // too soon
		done()
		if want := "a, 2.0 kB\na, 1.0 kB of 2.0 kB\na, 1.5 kB of 2.0 kB, 0.0 kB/s, 20s left\n"; b.String() != want {
			t.Errorf("%q, want %q", b.String(), want)
		}
	})
}

// closing closes a file on its first read.
type closing struct{ file *os.File }

func (c closing) Read([]byte) (int, error) { return 0, errors.Join(c.file.Close(), io.EOF) }

// An error of the disk says which step failed.
func TestDiskFaults(t *testing.T) {
	const content = "0123456789"
	f := file(t, []byte(content), nil)
	server := &script{answers: []answered{{status: 200, body: content}}}
	f.Client.Transport = server
	put(t, f.Path+".part", "0123")
	open := func(how int) *os.File {
		part, err := os.OpenFile(f.Path+".part", how, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { part.Close() })
		return part
	}
	check := func(err error, want string, asked int) {
		t.Helper()
		if err == nil || !strings.HasPrefix(err.Error(), want) || len(server.asked) != asked {
			t.Errorf("%v, %d requests; want %s, %d", err, len(server.asked), want, asked)
		}
	}
	closed := open(os.O_RDWR)
	closed.Close()
	check(f.fill(t.Context(), closed), "seek ", 0)
	check(f.verify(closed), "seek ", 0)
	check(f.verify(open(os.O_WRONLY)), "read ", 0)
	_, err := f.append(t.Context(), open(os.O_RDONLY), 4)
	check(err, "truncate ", 0)
	part := open(os.O_RDWR)
	f.Client.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
		part.Close()
		return server.RoundTrip(r)
	})
	_, err = f.append(t.Context(), part, 4)
	check(err, "truncate ", 1)
	part = open(os.O_RDWR)
	f.Client.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
		resp, err := server.RoundTrip(r)
		resp.Body = io.NopCloser(iotest.DataErrReader(io.MultiReader(closing{part}, resp.Body)))
		return resp, err
	})
	_, err = f.append(t.Context(), part, 4)
	check(err, "write ", 2)
	if !strings.HasSuffix(err.Error(), "; run the same command again to resume the download of a.bin") {
		t.Error(err)
	}
	f.Client.Transport = server
	put(t, filepath.Join(f.Path, "in", "the", "way"), "x")
	if err := f.Fetch(t.Context(), f.Path+".lock"); err == nil || len(server.asked) != 3 {
		t.Errorf("%v, %d requests; a folder has the name of the file", err, len(server.asked))
	}
}
