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
	"syscall"
	"time"

	"crosstalk/internal/config"
	"crosstalk/web"

	"github.com/spf13/cobra"
)

func serveCommand() *cobra.Command {
	var addr string
	var hosts []string
	c := &cobra.Command{
		Use:   "serve [DIR]",
		Short: "Browse runs in a web browser",
		Long: `Browse the runs below a directory (default: runs) in a web browser: what was
measured and how, figures, tables, every answer behind them, and how far a run
is that is under way. The address to open is printed on stderr.

Nothing can be changed there. Without --addr only this machine can look; any
other address needs the token that is in the printed address.`,
		Example: `  crosstalk serve
  crosstalk serve results --addr 127.0.0.1:0                 any free port
  crosstalk serve --addr :8020 --host lab.example            others, by a name`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			dir := "runs"
			if len(args) > 0 {
				dir = args[0]
			}
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return serve(ctx, c.ErrOrStderr(), dir, addr, hosts)
		},
	}
	c.Flags().StringVar(&addr, "addr", "127.0.0.1:8020", "address and port to listen at; a port of 0 is any that is free")
	c.Flags().StringSliceVar(&hosts, "host", nil, "names that the server may be asked for by, beside localhost and IP addresses")
	config.Sensitive(c.Flags(), "addr", config.Access)
	config.Sensitive(c.Flags(), "host", config.Access)
	return c
}

// serve shows the runs below dir until ctx ends.
func serve(ctx context.Context, stderr io.Writer, dir, addr string, hosts []string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("--addr %s: %w; expected HOST:PORT, such as 127.0.0.1:8020", addr, err)
	}
	if err := web.CheckDir(dir); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("cannot listen at %s: %w; --addr names another, and port 0 is any that is free", addr, err)
	}
	defer listener.Close()
	at := listener.Addr().(*net.TCPAddr)
	o := web.Options{Hosts: hosts}
	if _, err := netip.ParseAddr(host); err != nil && host != "" {
		o.Hosts = append(o.Hosts, host)
	}
	where := "http://" + net.JoinHostPort(reachedBy(host, at, hosts), fmt.Sprint(at.Port)) + "/"
	if !at.IP.IsLoopback() {
		o.Token = web.NewToken()
		where += "?token=" + o.Token
	}
	server, err := web.New(dir, o)
	if err != nil {
		return err
	}
	h := server.NewServer()
	fmt.Fprintf(stderr, "Runs below %s: %s\n", dir, where)
	if o.Token != "" {
		fmt.Fprintln(stderr, "Who has this address can read everything there. It is not encrypted on the way.")
	}
	ended := make(chan error, 1)
	go func() { ended <- h.Serve(listener) }()
	select {
	case err = <-ended:
	case <-ctx.Done():
		gently, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if h.Shutdown(gently) != nil {
			h.Close()
		}
	}
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return errors.Join(err, server.Close())
}

// reachedBy is a name by which others reach an address.
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
