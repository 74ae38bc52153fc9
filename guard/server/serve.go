package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"crosstalk/web/access"
)

// TokenVar is the environment variable with the token that requests must have.
const TokenVar = "CROSSTALK_GUARD_TOKEN"

// Serve judges answers at an address until ctx ends. Then it answers for a second longer, so that a load balancer that
// asks /readyz can send no more, and those in progress for at most five seconds. It writes to w where it listens and
// which token requests need: the options', TokenVar's, or, if other machines have access, a new one.
func Serve(ctx context.Context, w io.Writer, addr string, o Options) error {
	at, err := access.Listen(addr, o.Hosts)
	if err != nil {
		return err
	}
	defer at.Close()
	o.Hosts, o.Token, o.Log = at.Hosts, cmp.Or(o.Token, os.Getenv(TokenVar)), w
	made := o.Token == "" && !at.Loopback()
	if made {
		o.Token = access.NewToken()
	}
	s := newServer(o) // reads the models
	if err := s.log.write(nil); err != nil {
		return fmt.Errorf("--log-verdicts: %w", err)
	}
	defer s.calls.settle(-1)
	fmt.Fprintf(w, "Checking answers at %s\n", at.URL)
	switch {
	case made:
		fmt.Fprintf(w, "Requests need the header 'Authorization: Bearer %s'. The connection is not encrypted.\n",
			o.Token)
	case o.Token != "":
		fmt.Fprintf(w, "Requests need the token of %s.\n", TokenVar)
	}
	if !o.Block {
		fmt.Fprintln(w, "It observes: no answer is blocked (--block).")
	}
	connected := newAdmission()
	listener := &draining{TCPListener: at.Listener.(*net.TCPListener), closed: make(chan struct{})}
	at.Listener = listener
	end, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	go func() {
		for ticker := time.NewTicker(quiet / 3); ; {
			select {
			case <-ticker.C:
				s.calls.settle(quiet)
			case <-end.Done():
				return
			}
		}
	}()
	defer context.AfterFunc(ctx, func() {
		s.ending.Store(true)
		time.Sleep(lameDuck)
		listener.drain(connected)
		stop()
	})()
	return at.ServeUntil(end, limited(s.handler(), connected), 5*time.Second)
}

// draining is a listener that can stop to listen before its server ends: the server reads no request on a connection
// that is new when it ends.
type draining struct {
	*net.TCPListener
	once   sync.Once
	closed chan struct{}
}

func (d *draining) Accept() (net.Conn, error) {
	for looked := false; ; looked = true {
		c, err := d.TCPListener.Accept()
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return c, err
		}
		if looked { // nothing is left to accept
			d.TCPListener.Close()
			<-d.closed
			return nil, net.ErrClosed
		}
		d.SetDeadline(time.Now().Add(accepting)) // after its deadline it does not look
	}
}

// Close implements net.Listener.
func (d *draining) Close() error {
	d.once.Do(func() { close(d.closed) })
	return d.TCPListener.Close()
}

// drain accepts the connections that clients have made already, lets the server read their requests, and no more.
func (d *draining) drain(a *admission) {
	d.SetDeadline(time.Now())
	time.Sleep(3 * accepting)
	for end := time.Now().Add(2 * lameDuck); a.silent() > 0 && time.Now().Before(end); {
		time.Sleep(accepting)
	}
}

// Limits of connections.
const (
	connections  = 640 // at a time; 512 have requests that are worked on
	ofOneAddress = 512 // so that no address takes all
	lameDuck     = time.Second
	accepting    = 50 * time.Millisecond // what was connected before the end
)

// limited returns an HTTP server with time-outs and limits. Where there are too many connections, a new one takes the
// place of one that has not sent the header of a request yet, or that is idle; if there is none, it is closed.
func limited(h http.Handler, of *admission) *http.Server {
	s := access.NewServer(h)
	s.IdleTimeout, s.ConnState = idleStream, of.change
	return s
}

// admission knows all connections.
type admission struct {
	mu   sync.Mutex
	open map[net.Conn]*visitor
}

// visitor is a connection.
type visitor struct {
	address string
	state   http.ConnState // StateActive: a header has come
	since   time.Time
}

func newAdmission() *admission { return &admission{open: map[net.Conn]*visitor{}} }

// silent is the number of connections whose first header has not come.
func (a *admission) silent() (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, v := range a.open {
		if v.state == http.StateNew {
			n++
		}
	}
	return n
}

func (a *admission) change(c net.Conn, state http.ConnState) {
	a.mu.Lock()
	defer a.mu.Unlock()
	v := a.open[c]
	switch state {
	case http.StateNew:
		address, _, _ := net.SplitHostPort(c.RemoteAddr().String())
		same := 0
		for _, other := range a.open {
			if other.address == address {
				same++
			}
		}
		if crowded := same >= ofOneAddress; crowded || len(a.open) >= connections {
			victim := a.longest(address, crowded)
			if victim == nil {
				c.Close()
				return
			}
			victim.Close()
			delete(a.open, victim)
		}
		a.open[c] = &visitor{address, state, time.Now()}
	case http.StateClosed, http.StateHijacked:
		delete(a.open, c)
	default:
		if v != nil {
			v.state, v.since = state, time.Now()
		}
	}
}

// longest returns the connection that has kept the service waiting longest, of an address or of all: one whose first
// header has not come before one that is idle; nil if there is none.
func (a *admission) longest(address string, only bool) (found net.Conn) {
	for c, v := range a.open {
		if v.state == http.StateActive || only && v.address != address {
			continue
		}
		if best := a.open[found]; best == nil || v.state < best.state ||
			v.state == best.state && v.since.Before(best.since) {
			found = c
		}
	}
	return found
}
