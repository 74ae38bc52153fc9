package annotate

import (
	"context"
	"fmt"
	"io"

	"crosstalk/web/access"
)

// OpenError is the error for an address that lets others connect without a token.
type OpenError struct{ Addr string }

func (e *OpenError) Error() string {
	return "--addr " + e.Addr + " lets others connect; name those who may with --annotator"
}

// Serve asks about a run at an address until ctx ends. It prints the address to w, with
// the token of each annotator, and which questions are left out. The error is an *OpenError if
// others than this machine have access and there are no annotators.
func Serve(ctx context.Context, w io.Writer, addr, run string, o Options) error {
	at, err := access.Listen(addr, o.Hosts)
	if err != nil {
		return err
	}
	defer at.Close()
	if !at.Loopback() && len(o.Annotators) == 0 {
		return &OpenError{addr}
	}
	o.Hosts = at.Hosts
	s, err := New(run, o)
	if err != nil {
		return err
	}
	for _, reason := range s.LeftOut {
		fmt.Fprintf(w, "Not asked: %v\n", reason)
	}
	if len(o.Annotators) == 0 {
		fmt.Fprintf(w, "%s: %s\n", s.Count(), at.URL)
	}
	for _, name := range s.options.Annotators {
		fmt.Fprintf(w, "%s for %s: %s?token=%s\n", s.Count(), name, at.URL, s.Token(name))
	}
	if !at.Loopback() {
		fmt.Fprintln(w, "Whoever has such an address can answer under that name. The connection is not encrypted.")
	}
	return at.Serve(ctx, s)
}
