package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// lines reads the lines of a stream ahead of the caller, so that it notices at once that the client is gone.
type lines struct {
	control *http.ResponseController
	room    room
	read    chan struct{} // closed when nothing more is read

	mu      sync.Mutex
	more    *sync.Cond
	data    []byte // that was not asked for yet
	scanned int    // of data: no line ends before. A long line that comes in small pieces is searched once
	err     error  // io.EOF at the end
	ended   bool   // nobody asks for more
}

// newLines begins to read a body. It calls gone when the body ends too early.
func newLines(
	body io.Reader, control *http.ResponseController, bodies *semaphore.Weighted, gone context.CancelFunc,
) *lines {
	l := &lines{control: control, room: room{of: bodies}, read: make(chan struct{})}
	l.more = sync.NewCond(&l.mu)
	go l.fill(body, gone)
	return l
}

func (l *lines) fill(body io.Reader, gone context.CancelFunc) {
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
			extend() // not after the end: then the server itself waits for the client to go
		}
		read += n
		l.mu.Lock()
		l.data = append(l.data, chunk[:n]...)
		for len(l.data) > keptStream && err == nil && !l.ended {
			if bytes.IndexByte(l.data, '\n') < 0 {
				err = tooLarge("A line of the stream is larger than %d MiB.", keptStream>>20)
				l.data, l.scanned = nil, 0
				io.Copy(io.Discard, body) // its sender reads the answer only then
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
		l.err = err
		l.more.Broadcast()
		l.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// next returns the next line without white space around it, and io.EOF after the last.
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

// end stops reading.
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
