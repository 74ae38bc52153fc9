package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"crosstalk/internal/config"
	"crosstalk/internal/interrupt"
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
			ctx, stop := untilSignal(c.Context())
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

// untilSignal returns a context that ends with the first interrupt. The second one
// ends the process, whatever it waits for: a slow client, or a file that cannot be
// read. Nothing that is written there is lost: indexes are made anew.
func untilSignal(ctx context.Context) (_ context.Context, stop func()) {
	return interrupt.Context(ctx, func() { os.Exit(exitInterrupted) })
}

// serve shows the runs below dir until ctx ends.
func serve(ctx context.Context, stderr io.Writer, dir, addr string, hosts []string) error {
	at, err := access.Listen(addr, hosts)
	if err != nil {
		return err
	}
	defer at.Close()
	o := web.Options{Hosts: at.Hosts}
	where := at.URL
	if !at.Loopback() {
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
	return errors.Join(at.Serve(ctx, server), server.Close())
}
