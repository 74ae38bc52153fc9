package web

import (
	"context"
	"errors"
	"fmt"
	"io"

	"crosstalk/web/access"
)

// Serve shows the runs below dir at an address, HOST:PORT, and under these host names,
// until ctx ends. It prints the URL to open; one that others can reach has a token.
func Serve(ctx context.Context, stderr io.Writer, dir, addr string, hosts []string) error {
	at, err := access.Listen(addr, hosts)
	if err != nil {
		return err
	}
	defer at.Close()
	o := Options{Hosts: at.Hosts}
	where := at.URL
	if !at.Loopback() {
		o.Token = access.NewToken()
		where += "?token=" + o.Token
	}
	server, err := New(dir, o)
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "Runs below %s: %s\n", dir, where)
	if o.Token != "" {
		fmt.Fprintln(stderr, "Anyone with this address can read everything there and write notes. "+
			"The connection is not encrypted.")
	}
	return errors.Join(at.Serve(ctx, server), server.Close())
}
