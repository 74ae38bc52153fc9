package main

import (
	"context"
	"os"

	"crosstalk/internal/config"
	"crosstalk/internal/interrupt"
	"crosstalk/web"

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
			return web.Serve(ctx, c.ErrOrStderr(), dir, addr, hosts)
		},
	}
	addAddress(c, &addr, "127.0.0.1:8020", &hosts)
	return c
}

// addAddress adds the flags of a service's address.
func addAddress(c *cobra.Command, addr *string, standard string, hosts *[]string) {
	*addr = standard
	config.Declare(c, "", []config.Flag{
		{Name: "addr", To: addr, Reach: config.Access, Help: "address and port to listen on; port 0 is any free port"},
		{Name: "host", To: hosts, Reach: config.Access,
			Help: "host names to accept besides localhost and IP addresses"},
	})
}

// untilSignal returns a context that ends with the first interrupt. The second one
// ends the process, whatever it waits for: a slow client, or a file that cannot be
// read. Nothing that is written there is lost: indexes are made anew.
func untilSignal(ctx context.Context) (_ context.Context, stop func()) {
	return interrupt.Context(ctx, func() { os.Exit(exitInterrupted) })
}
