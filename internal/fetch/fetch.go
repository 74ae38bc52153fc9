// Package fetch downloads files over HTTP: it resumes, retries, and gives a file its name once its checksum is right.
package fetch

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"crosstalk"
	"crosstalk/internal/atomicfile"
	"crosstalk/internal/duration"
	"crosstalk/internal/statusline"

	"github.com/gofrs/flock"
)

// Stall is the time without data after which a connection is considered dead. Tests change it.
var Stall = 60 * time.Second

// Progress is called with the number of bytes present of a file, including bytes of an earlier download.
type Progress func(name string, done, total int64)

// File is a file to fetch.
type File struct {
	Path string // the target; the download grows in Path.incomplete
	Name string // for errors and progress
	URL  string
	Size int64  // bytes
	Sum  string // checksum, hexadecimal: SHA-256, or SHA-1 as git computes it

	Client *http.Client // with a Transport of this package
	Header http.Header  // sent with each request; may be nil

	// Refused explains a response that is neither a success nor Busy, as a Passing error if a retry may help. It may be
	// nil.
	Refused func(*http.Response) error

	Progress Progress // may be nil
}

// Fetch downloads the file unless it exists. Everyone else who fetches it, in any program, waits for the lock.
func (d File) Fetch(ctx context.Context, lock string) error {
	unlock, err := takeLock(ctx, lock)
	if err != nil {
		return err
	}
	defer unlock()
	if info, err := os.Stat(d.Path); err == nil && info.Size() == d.Size { // it was verified before it got its name
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(d.Path), 0o755); err != nil {
		return err
	}
	part := d.Path + ".incomplete"
	f, err := os.OpenFile(part, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := d.fill(ctx, f); err != nil {
		return err
	}
	return atomicfile.Rename(f, d.Path)
}

func takeLock(ctx context.Context, path string) (unlock func() error, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	l := flock.New(path, flock.SetPermissions(0o664)) // a group may share the cache
	if _, err := l.TryLockContext(ctx, 100*time.Millisecond); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return l.Unlock, nil
}

// fill completes the file f, starting from its content.
func (d File) fill(ctx context.Context, f *os.File) error {
	for {
		have, err := f.Seek(0, io.SeekEnd)
		if err != nil {
			return err
		}
		if have > d.Size { // not the start of this file
			have = 0
		}
		fresh := have == 0
		farthest := have
		err = Again(ctx, func() (bool, error) {
			have, err = d.append(ctx, f, have)
			moved := have > farthest
			farthest = max(have, farthest)
			return moved, err
		})
		if err != nil {
			return err
		}
		err = d.verify(f)
		if err == nil {
			return nil
		}
		if err := f.Truncate(0); err != nil {
			return err
		}
		if fresh {
			return fmt.Errorf("%s: %w; the download was discarded", d.Name, err)
		}
	}
}

// append appends to f, which holds the first have bytes, until it is complete, and returns its size.
func (d File) append(ctx context.Context, f *os.File, have int64) (int64, error) {
	if err := f.Truncate(have); err != nil {
		return have, err
	}
	if have == d.Size {
		return have, nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	resp, err := d.get(ctx, have)
	if err != nil {
		return have, err
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusPartialContent && strings.HasPrefix(resp.Header.Get("Content-Range"),
		fmt.Sprintf("bytes %d-", have)):
	case resp.StatusCode == http.StatusOK: // the whole file, even if a part was requested
		have = 0
	default:
		return 0, Pass(fmt.Errorf("%s: the server cannot resume at byte %d", d.Name, have))
	}
	if n := resp.ContentLength; n >= 0 && have+n != d.Size {
		return have, fmt.Errorf("%s: the server's file has %d bytes, expected %d", d.Name, have+n, d.Size)
	}
	if err := f.Truncate(have); err != nil {
		return have, err
	}
	if _, err := f.Seek(have, io.SeekStart); err != nil {
		return have, err
	}
	stalled := fmt.Errorf("%s: nothing arrived for %s", d.Name, duration.Text(Stall))
	watch := time.AfterFunc(Stall, func() { cancel(Pass(stalled)) })
	defer watch.Stop()
	buffer := make([]byte, 256<<10)
	for d.tell(have); have < d.Size; d.tell(have) {
		n, err := resp.Body.Read(buffer[:min(int64(len(buffer)), d.Size-have)])
		watch.Reset(Stall)
		if _, err := f.Write(buffer[:n]); err != nil {
			return have, fmt.Errorf("%w; run the same command again to resume the download of %s", err, d.Name)
		}
		have += int64(n)
		if err != nil && have < d.Size {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return have, Unreached(ctx, Server(d.URL), err)
		}
	}
	return have, nil
}

func (d File) tell(done int64) {
	if d.Progress != nil {
		d.Progress(d.Name, done, d.Size)
	}
}

func (d File) get(ctx context.Context, from int64) (*http.Response, error) {
	req, err := Request(ctx, http.MethodGet, d.URL, d.Header)
	if err != nil {
		return nil, err
	}
	if from > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", from))
	}
	resp, err := d.Client.Do(req)
	if err != nil {
		return nil, Unreached(ctx, Server(d.URL), err)
	}
	switch resp.StatusCode {
	case http.StatusOK, http.StatusPartialContent, http.StatusRequestedRangeNotSatisfiable:
		return resp, nil
	}
	resp.Body.Close()
	if err, busy := Busy(resp, Server(resp.Request.URL.String())); busy {
		return nil, err
	}
	if d.Refused != nil {
		return nil, d.Refused(resp)
	}
	return nil, fmt.Errorf("cannot fetch %s (%s)", d.URL, StatusText(resp.StatusCode))
}

// Check compares the file at Path with the checksum.
func (d File) Check() error {
	f, err := os.Open(d.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := d.verify(f); err != nil {
		return fmt.Errorf("%s: %w", d.Path, err)
	}
	return nil
}

func (d File) verify(f *os.File) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	h := sha256.New()
	if len(d.Sum) == 2*sha1.Size {
		h = sha1.New()
		fmt.Fprintf(h, "blob %d\x00", d.Size)
	}
	if _, err := io.Copy(h, f); err != nil {
		return err
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != d.Sum {
		return fmt.Errorf("its checksum is %s, expected %s", got, d.Sum)
	}
	return nil
}

// Request is a request for a file without compression, with these headers.
func Request(ctx context.Context, method, address string, header http.Header) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, nil)
	if err != nil {
		return nil, bare(err)
	}
	maps.Copy(req.Header, header)
	req.Header.Set("User-Agent", "crosstalk/"+crosstalk.Version)
	req.Header.Set("Accept-Encoding", "identity") // sizes must be the files' sizes
	return req, nil
}

// Server returns the part of a URL that errors may show: the rest may be secret.
func Server(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "the server"
	}
	return u.Scheme + "://" + u.Host
}

// Transport returns the transport for clients of this package. It times out without a response.
func Transport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.ResponseHeaderTimeout = Stall
	return t
}

const (
	Attempts = 6 // failures in a row
	dials    = 3 // failures in a row to reach the server at all
	maxWait  = 5 * time.Minute
)

// FirstWait is the wait before the second attempt; it doubles. Tests change it.
var FirstWait = time.Second

// Passing is a transient error: a retry may succeed.
type Passing struct {
	error
	after time.Duration // requested by the server
}

// Pass marks an error as transient.
func Pass(err error) error { return Passing{err, 0} }

func (p Passing) Unwrap() error { return p.error }

// Unreachable is a network error before any response.
type Unreachable struct{ error }

func (u Unreachable) Unwrap() error { return u.error }

// Again retries after transient errors, with growing random waits. Attempts that made progress do not count.
func Again(ctx context.Context, attempt func() (moved bool, err error)) error {
	for failed := 0; ; {
		moved, err := attempt()
		var p Passing
		if !errors.As(err, &p) {
			return err
		}
		if moved {
			failed = 0
		}
		limit := Attempts
		if errors.As(err, new(Unreachable)) {
			limit = dials
		}
		if failed++; failed >= limit {
			return fmt.Errorf("%w, after %d attempts", p.error, failed)
		}
		wait := FirstWait << (failed - 1)
		wait = max(p.after, wait/2+rand.N(wait/2+1))
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(wait):
		}
	}
}

// Unreached explains why a server sent no complete response.
func Unreached(ctx context.Context, server string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var certificate *tls.CertificateVerificationError
	var dns *net.DNSError
	var op *net.OpError
	err = bare(err)
	if errors.As(err, &certificate) {
		return fmt.Errorf("the certificate of %s is not trusted on this machine (%w)", server, err)
	}
	if errors.As(err, &dns) || errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect") {
		return Pass(Unreachable{fmt.Errorf("%s cannot be reached (%w)", server, err)})
	}
	return Pass(fmt.Errorf("the connection to %s failed (%w)", server, err))
}

// Busy returns the transient error of a response that asks for a retry; ok is false for other responses.
func Busy(resp *http.Response, server string) (err error, ok bool) {
	switch status := resp.StatusCode; {
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly, status == http.StatusTooManyRequests,
		status >= 500:
		after, _ := strconv.ParseFloat(resp.Header.Get("Retry-After"), 64)
		return Passing{fmt.Errorf("%s failed (%s)", server, StatusText(status)),
			time.Duration(min(max(after, 0), maxWait.Seconds()) * float64(time.Second))}, true
	}
	return nil, false
}

// StatusText formats a status for errors.
func StatusText(status int) string {
	return strings.TrimSpace(fmt.Sprintf("HTTP %d %s", status, http.StatusText(status)))
}

// bare removes the URL from an error, because a signed URL is secret.
func bare(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

// Show displays the progress of downloads: as a line rewritten on a terminal, else as a few lines. done removes it.
func Show(w io.Writer) (progress Progress, done func()) {
	s := &shown{line: statusline.New(w)}
	return s.file, s.line.Clear
}

type shown struct {
	line    *statusline.Line
	name    string
	first   int64 // bytes of an earlier download
	started time.Time
	last    time.Time // when it was shown
}

func (s *shown) file(name string, done, total int64) {
	now := time.Now()
	if name != s.name {
		s.name, s.first, s.started, s.last = name, done, now, now
		if !s.line.Terminal() {
			s.line.Note(name + ", " + Size(total))
		}
		return
	}
	if now.Sub(s.last) < s.line.Every() {
		return
	}
	s.last = now
	text := fmt.Sprintf("%s, %s of %s", name, Size(done), Size(total))
	if rate := float64(done-s.first) / now.Sub(s.started).Seconds(); rate > 0 {
		left := time.Duration(float64(total-done) / rate * float64(time.Second))
		text += fmt.Sprintf(", %s/s, %s left", Size(int64(rate)), duration.Text(left.Round(time.Second)))
	}
	s.line.Show(text)
}

// Size formats a number of bytes in kB or MB.
func Size(n int64) string {
	if n < 1e6 {
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}
