package server

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"crosstalk/web/access"
)

// Limits of connections.
const (
	connections  = 2048        // at a time; 512 of them may have requests in progress
	ofOneAddress = 1536        // prevents one address from taking all; a gateway is one address
	mostCrowded  = 512         // more connections, whose requests are refused
	settled      = time.Second // after which a connection that is silent or idle may be replaced
	lameDuck     = time.Second
	finishing    = 5 * time.Second
	handshake    = 200 * time.Millisecond // for connections that clients have begun to make before the end
	accepting    = 5 * time.Millisecond   // for connections that are made
)

// draining is a listener that can stop before its server, which ignores new connections when it ends.
type draining struct {
	*net.TCPListener
	empty  chan struct{} // closed when it has stopped
	once   sync.Once
	closed chan struct{}
}

// drain lets the listener stop once no client is connecting.
func (d *draining) drain() {
	turnAway(d.TCPListener)
	time.Sleep(handshake)
	d.SetDeadline(time.Now())
}

func (d *draining) Accept() (net.Conn, error) {
	for looked := 0; ; looked++ {
		c, err := d.TCPListener.Accept()
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return c, err
		}
		if looked == 3 { // no connection is waiting; a busy machine may wake it too late to look, but not each time
			d.TCPListener.Close()
			close(d.empty)
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

// parting closes the connection with a response that begins while the service ends: the client is to send its next
// request to another replica.
type parting struct {
	http.ResponseWriter
	ending *atomic.Bool
}

func (p *parting) announce() {
	if p.ending.Load() {
		p.Header().Set("Connection", "close") // without effect once the response has begun
	}
}

// WriteHeader implements http.ResponseWriter.
func (p *parting) WriteHeader(status int) {
	p.announce()
	p.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (p *parting) Write(data []byte) (int, error) {
	p.announce()
	return p.ResponseWriter.Write(data)
}

// Unwrap lets http.ResponseController use the writer.
func (p *parting) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// limited returns an HTTP server with time-outs and limits. If there are too many connections, a new one replaces one
// that for a second has been idle or has not sent a request's header; a client may be about to use a younger one. If
// there is none, the new one is crowded: its requests are to be refused.
func limited(h http.Handler, of *admission) *http.Server {
	s := access.NewServer(h)
	s.IdleTimeout, s.ConnState = idleStream, of.change
	s.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, crowd{}, of.enter(c))
	}
	return s
}

type crowd struct{} // the key of a connection's context: whether it is crowded

func crowded(r *http.Request) bool { return r.Context().Value(crowd{}) == true }

type admission struct {
	all, own, crowded int // most connections: of all addresses, of one, and crowded ones
	mu                sync.Mutex
	open              map[net.Conn]*visitor
}

type visitor struct {
	address string
	crowded bool
	state   http.ConnState // StateActive: a header has arrived
	since   time.Time
}

func newAdmission(all, own, crowded int) *admission {
	return &admission{all: all, own: own, crowded: crowded, open: map[net.Conn]*visitor{}}
}

// silent returns the number of connections that have not sent their first header.
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

// enter admits a new connection, and reports whether it is crowded. If there are too many of those, it closes it.
func (a *admission) enter(c net.Conn) (crowded bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	address, _, _ := net.SplitHostPort(c.RemoteAddr().String())
	same, all, more := 0, 0, 0
	for _, other := range a.open {
		switch {
		case other.crowded:
			more++
			continue
		case other.address == address:
			same++
		}
		all++
	}
	if own := same >= a.own; own || all >= a.all {
		if victim := a.longest(address, own); victim != nil {
			victim.Close()
			delete(a.open, victim)
		} else if crowded = true; more >= a.crowded {
			c.Close()
			return true
		}
	}
	a.open[c] = &visitor{address, crowded, http.StateNew, time.Now()}
	return crowded
}

func (a *admission) change(c net.Conn, state http.ConnState) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch v := a.open[c]; {
	case v == nil, state == http.StateNew:
	case state == http.StateClosed, state == http.StateHijacked:
		delete(a.open, c)
	default:
		v.state, v.since = state, time.Now()
	}
}

// longest returns the connection that has kept the service waiting longest, and for a second, from one address or from
// all: a connection without its first header comes before an idle one; nil if there is none.
func (a *admission) longest(address string, only bool) (found net.Conn) {
	for c, v := range a.open {
		if v.state == http.StateActive || v.crowded || only && v.address != address || time.Since(v.since) < settled {
			continue
		}
		if best := a.open[found]; best == nil || v.state < best.state ||
			v.state == best.state && v.since.Before(best.since) {
			found = c
		}
	}
	return found
}
