package access

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"time"
)

// Listener is where a server listens.
type Listener struct {
	net.Listener
	Hosts []string // names that it goes by, for Rules
	URL   string   // by which others can reach it
}

// Listen begins to listen on an address, HOST:PORT, of a server that goes by these
// names. Its errors speak of the flag --addr.
func Listen(addr string, hosts []string) (*Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("--addr %s: %w; expected HOST:PORT, such as 127.0.0.1:8020", addr, err)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w; "+
			"name another address with --addr (port 0 is any free port)", addr, err)
	}
	at := l.Addr().(*net.TCPAddr)
	url := "http://" + net.JoinHostPort(reachedBy(host, at, hosts), fmt.Sprint(at.Port)) + "/"
	if _, err := netip.ParseAddr(host); err != nil && host != "" {
		hosts = append(slices.Clip(hosts), host)
	}
	return &Listener{l, hosts, url}, nil
}

// Loopback reports whether only this machine can connect.
func (l *Listener) Loopback() bool { return l.Addr().(*net.TCPAddr).IP.IsLoopback() }

// Serve answers requests until ctx ends, and those in progress for at most a second
// longer.
func (l *Listener) Serve(ctx context.Context, handler http.Handler) error {
	return l.ServeUntil(ctx, NewServer(handler), time.Second)
}

// ServeUntil is Serve with another server and time for requests in progress.
func (l *Listener) ServeUntil(ctx context.Context, h *http.Server, grace time.Duration) error {
	ended := make(chan error, 1)
	go func() { ended <- h.Serve(l) }()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		gently, cancel := context.WithTimeout(context.Background(), grace)
		defer cancel()
		if h.Shutdown(gently) != nil {
			h.Close()
		}
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// reachedBy is a host name by which others can reach an address.
func reachedBy(host string, at *net.TCPAddr, hosts []string) string {
	switch {
	case len(hosts) > 0:
		return hosts[0]
	case host != "" && !at.IP.IsUnspecified():
		return host
	}
	addresses, _ := net.InterfaceAddrs()
	for _, a := range addresses {
		if ip, ok := a.(*net.IPNet); ok && ip.IP.IsGlobalUnicast() && ip.IP.To4() != nil {
			return ip.IP.String()
		}
	}
	return cmp.Or(host, "localhost")
}
