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
	c := command("serve", cobra.MaximumNArgs(1), func(c *cobra.Command, args []string) error {
		dir := "runs" // which need not exist yet
		if len(args) > 0 {
			dir = args[0]
			if err := web.CheckDir(dir, true); err != nil {
				return err
			}
		}
		ctx, stop := untilSignal(c.Context())
		defer stop()
		return web.Serve(ctx, c.ErrOrStderr(), dir, addr, hosts)
	})
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

// untilSignal returns a context that ends with the first interrupt. The second one ends the process, whatever it waits
// for: a slow client, or a file that cannot be read. Nothing that is written there is lost: indexes are made anew.
func untilSignal(ctx context.Context) (_ context.Context, stop func()) {
	return interrupt.Context(ctx, func() { os.Exit(exitInterrupted) })
}
