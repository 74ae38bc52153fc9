package server

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"golang.org/x/sync/semaphore"
)

// deadlines is a response that notes the deadlines for reading.
type deadlines struct {
	*httptest.ResponseRecorder
	mu      sync.Mutex
	reading []time.Time
}

func (d *deadlines) SetReadDeadline(t time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
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
	lines := func(body io.Reader) *lines {
		w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
		return newLines(body, http.NewResponseController(w), semaphore.NewWeighted(keptStream), func() {})
	}
	var read atomic.Int64
	rest := strings.NewReader(many)
	long := lines(readerFunc(func(p []byte) (int, error) {
		n, err := rest.Read(p)
		read.Add(int64(n))
		return n, err
	}))
	for i := range keptStream {
		line, err := long.next()
		if got := read.Load(); string(line) != "x" || err != nil || got > int64(2*i+keptStream+8<<10) {
			t.Fatalf("line %d is %q, %v, with %d bytes read", i, line, err, got)
		}
	}
	if line, err := long.next(); err != io.EOF {
		t.Error(line, err)
	}
	long.end()
	wide := lines(strings.NewReader(strings.Repeat("x", keptStream+1)))
	if line, err := wide.next(); fmt.Sprint(err) != "A line of the stream is larger than 1 MiB." {
		t.Error(len(line), err)
	}
	wide.end()
	full := lines(strings.NewReader(many))
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
