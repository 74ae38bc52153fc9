package server

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"golang.org/x/sync/semaphore"
)

// deadlines is a response that notes the deadlines for reading.
type deadlines struct {
	*httptest.ResponseRecorder
	reading []time.Time
}

func (d *deadlines) SetReadDeadline(t time.Time) error {
	d.reading = append(d.reading, t)
	return nil
}

func TestLines(t *testing.T) {
	for _, c := range []struct {
		name     string
		body     io.Reader
		want     string
		extended int // number of deadlines
		gone     bool
	}{
		{"lines", strings.NewReader("a\n\n b \nc"), "a,,b,c; EOF", 2, false},
		{"a line break at the end", iotest.DataErrReader(strings.NewReader("a\nb\n")), "a,b; EOF", 1, false},
		{"byte by byte", iotest.OneByteReader(strings.NewReader("ab\ncd\n\n")), "ab,cd,; EOF", 4, false},
		{"nothing", strings.NewReader(""), "; EOF", 1, false},
		{"a client that leaves", io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(io.ErrUnexpectedEOF)), "a; unexpected EOF", 2, true},
		{"a client that says nothing", io.MultiReader(strings.NewReader("a\n"), iotest.ErrReader(os.ErrDeadlineExceeded)), "a; The stream's next line did not arrive within 30 seconds, or it took longer than 10 minutes.", 2, false},
		{"too much", http.MaxBytesReader(nil, io.NopCloser(strings.NewReader("a\nbcd\n")), 4), "a; The stream is larger than 16 MiB.", 1, false},
	} {
		w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
		gone := false
		l := newLines(c.body, http.NewResponseController(w), semaphore.NewWeighted(0), func() { gone = true })
		var got []string
		var err error
		for {
			var line []byte
			if line, err = l.next(); err != nil {
				break
			}
			got = append(got, string(line))
		}
		<-l.read
		l.end()
		if got := fmt.Sprintf("%s; %v", strings.Join(got, ","), err); got != c.want || gone != c.gone || len(w.reading) != c.extended {
			t.Errorf("%s: %s, gone %v, %d deadlines; want %s, %v, %d", c.name, got, gone, len(w.reading), c.want, c.gone, c.extended)
		}
	}
	// No more than a MiB is kept, however fast it arrives; a line has no more either.
	many := strings.Repeat("x\n", keptStream)
	read := 0
	rest := strings.NewReader(many)
	long := newLines(readerFunc(func(p []byte) (int, error) {
		n, err := rest.Read(p)
		read += n
		return n, err
	}), http.NewResponseController(&deadlines{ResponseRecorder: httptest.NewRecorder()}), semaphore.NewWeighted(keptStream), func() {})
	for i := range keptStream {
		line, err := long.next()
		if long.mu.Lock(); string(line) != "x" || err != nil || read > 2*i+keptStream+8<<10 {
			t.Fatalf("line %d is %q, %v, with %d bytes read", i, line, err, read)
		}
		long.mu.Unlock()
	}
	if line, err := long.next(); err != io.EOF {
		t.Error(line, err)
	}
	long.end()
	wide := newLines(strings.NewReader(strings.Repeat("x", keptStream+1)),
		http.NewResponseController(&deadlines{ResponseRecorder: httptest.NewRecorder()}), semaphore.NewWeighted(keptStream), func() {})
	if line, err := wide.next(); fmt.Sprint(err) != "A line of the stream is larger than 1 MiB." {
		t.Error(len(line), err)
	}
	wide.end()
	full := newLines(strings.NewReader(many),
		http.NewResponseController(&deadlines{ResponseRecorder: httptest.NewRecorder()}), semaphore.NewWeighted(keptStream), func() {})
	full.end() // although it waits for room
	// Who wants no more lines need not wait for them.
	w := &unblocked{deadlines{ResponseRecorder: httptest.NewRecorder()}, make(chan bool)}
	l := newLines(readerFunc(func([]byte) (int, error) { <-w.end; return 0, errors.New("closed") }),
		http.NewResponseController(w), semaphore.NewWeighted(0), func() {})
	l.end()
}

// unblocked ends reading when its deadline is over.
type unblocked struct {
	deadlines
	end chan bool
}

func (u *unblocked) SetReadDeadline(t time.Time) error {
	if t.Before(time.Now()) {
		close(u.end)
	}
	return nil
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
