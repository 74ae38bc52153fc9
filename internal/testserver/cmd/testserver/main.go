// Command testserver runs the misbehaving test server until it is interrupted.
// It prints its URL, alone on the first line, once it listens.
//
//	testserver -latency 20ms -fault 429-seconds=0.1,cut=0.05 -max-concurrency 32
//	curl URL/_stats
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"crosstalk/internal/testserver"
)

func main() {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	if err := run(os.Stdout, os.Stderr, os.Args[1:], stop); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func run(stdout, stderr io.Writer, args []string, stop <-chan os.Signal) error {
	var o testserver.Options
	f := flag.NewFlagSet("testserver", flag.ContinueOnError)
	f.SetOutput(stderr)
	addr := f.String("addr", "127.0.0.1:0", "loopback `address` and port to listen on; port 0 takes a free one")
	o.Flags(f)
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return fmt.Errorf("testserver: unexpected argument %q: it takes flags only", f.Arg(0))
	}
	s, err := testserver.Listen(*addr, o)
	if err != nil {
		return err
	}
	defer s.Close()
	fmt.Fprintln(stdout, s.URL)
	<-stop
	return nil
}
