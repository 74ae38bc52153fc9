package server

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"crosstalk/web/access"
)

// TokenVar is the environment variable with the token that requests must have.
const TokenVar = "CROSSTALK_GUARD_TOKEN"

// Serve judges answers at an address until ctx ends, and then those in progress for at most five seconds longer. It
// writes to w where it listens and which token requests need: that of the options, that of TokenVar, or, if other
// machines have access, a new one.
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
	handler := New(o) // reads the models
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
	return at.ServeUntil(ctx, HTTP(handler), 5*time.Second)
}
