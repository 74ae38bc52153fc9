package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"crosstalk/internal/config"
	"crosstalk/web"
	"crosstalk/web/access"

	"github.com/spf13/cobra"
)

func serveCommand() *cobra.Command {
	var addr string
	var hosts []string
	c := &cobra.Command{
		Use:   "serve [DIR]",
		Short: "Browse runs in a web browser",
		Long: `Browse the runs below a directory (default: runs) in a web browser: figures,
tables, every answer behind them, two runs side by side, what was measured and
how, and the progress of unfinished runs. The address to open is printed on
stderr. Without any run yet, the page says how to make one.

Notes that you write on answers are kept in the run; nothing else changes. By
default, only this machine has access; with any other --addr, access needs the
token in the printed address.`,
		Example: `  crosstalk serve
  crosstalk serve results --addr 127.0.0.1:0          on any free port
  crosstalk serve --addr :8020 --host lab.example     for others, under this name`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			dir := "runs" // which need not exist yet
			if len(args) > 0 {
				dir = args[0]
				if err := web.CheckDir(dir); err != nil {
					return err
				}
			}
			ctx, stop := untilSignal(c.Context(), os.Exit)
			defer stop()
			return serve(ctx, c.ErrOrStderr(), dir, addr, hosts)
		},
	}
	c.Flags().StringVar(&addr, "addr", "127.0.0.1:8020", "address and port to listen on; port 0 is any free port")
	c.Flags().StringSliceVar(&hosts, "host", nil, "host names to accept besides localhost and IP addresses")
	config.Sensitive(c.Flags(), "addr", config.Access)
	config.Sensitive(c.Flags(), "host", config.Access)
	return c
}

// untilSignal returns a context that ends with the first interrupt. The second
// one ends the process through exit, whatever it waits for: a slow client, or a
// file that cannot be read. Nothing that is written there is lost: indexes are
// made anew.
func untilSignal(ctx context.Context, exit func(code int)) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	signals, stopped := make(chan os.Signal, 2), make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		for n := 0; ; n++ {
			select {
			case <-signals:
				if n > 0 {
					exit(exitInterrupted)
				}
				cancel()
			case <-stopped:
				return
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(stopped)
		cancel()
	}
}

// serve shows the runs below dir until ctx ends.
func serve(ctx context.Context, stderr io.Writer, dir, addr string, hosts []string) error {
	at, err := listen(addr, hosts)
	if err != nil {
		return err
	}
	defer at.Close()
	o := web.Options{Hosts: at.hosts}
	where := at.url
	if !at.loopback() {
		o.Token = access.NewToken()
		where += "?token=" + o.Token
	}
	server, err := web.New(dir, o)
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "Runs below %s: %s\n", dir, where)
	if o.Token != "" {
		fmt.Fprintln(stderr, "Anyone with this address can read everything there and write notes. The connection is not encrypted.")
	}
	return errors.Join(at.serve(ctx, server), server.Close())
}

// listening is where a server listens.
type listening struct {
	net.Listener
	hosts []string // names that it goes by
	url   string   // by which others can reach it
}

// listen begins to listen on an address of --addr, under the names of --host.
func listen(addr string, hosts []string) (*listening, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("--addr %s: %w; expected HOST:PORT, such as 127.0.0.1:8020", addr, err)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w; name another address with --addr (port 0 is any free port)", addr, err)
	}
	at := l.Addr().(*net.TCPAddr)
	url := "http://" + net.JoinHostPort(reachedBy(host, at, hosts), fmt.Sprint(at.Port)) + "/"
	if _, err := netip.ParseAddr(host); err != nil && host != "" {
		hosts = append(slices.Clip(hosts), host)
	}
	return &listening{l, hosts, url}, nil
}

// loopback reports whether only this machine can connect.
func (l *listening) loopback() bool { return l.Addr().(*net.TCPAddr).IP.IsLoopback() }

// serve answers requests until ctx ends, and those in progress for at most a
// second longer.
func (l *listening) serve(ctx context.Context, handler http.Handler) error {
	return l.serveUntil(ctx, access.NewServer(handler), time.Second)
}

// serveUntil is serve with another server and time for requests in progress.
func (l *listening) serveUntil(ctx context.Context, h *http.Server, grace time.Duration) error {
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
