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
	"strings"
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
	faults := f.String("fault", "", "`name=probability,...`, such as 500=0.1,cut=0.05; a wrong name lists them all")
	models := f.String("models", "", "`names` of the models that exist, separated by commas (default any)")
	unsupported := f.String("unsupported", "", "parameters to refuse: `name[=instead],...`, such as max_tokens=max_completion_tokens")
	f.StringVar(&o.Profile, "profile", "", "`family` whose refusals and thoughts every model has (default by the model's name; none: no model has any)")
	f.Int64Var(&o.Seed, "seed", 0, "seed of the draws of faults and jitter")
	f.IntVar(&o.FailFirst, "fail-first", 0, "fail the first `n` attempts of each request and none later")
	f.DurationVar(&o.RetryAfter, "retry-after", 0, "wait that the 429 faults with a header ask for (default 1s)")
	f.DurationVar(&o.Latency, "latency", 0, "time before every answer")
	f.DurationVar(&o.Jitter, "jitter", 0, "upper end of the random time added to the latency")
	f.DurationVar(&o.Stall, "stall", 0, "what slow and slow-body add (default 1s)")
	f.IntVar(&o.MaxConcurrency, "max-concurrency", 0, "requests in flight above which the answer is 429 (0: no limit)")
	f.IntVar(&o.RPM, "rpm", 0, "requests per minute above which the answer is 429 (0: no limit)")
	f.StringVar(&o.Key, "key", "", "API key asked for (default any)")
	f.BoolVar(&o.Vary, "vary", false, "answer a repeated request with another sample")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return fmt.Errorf("testserver: unexpected argument %q: it takes flags only", f.Arg(0))
	}
	var err error
	if o.Faults, err = testserver.ParseFaults(*faults); err != nil {
		return fmt.Errorf("testserver: -fault: %w", err)
	}
	if *models != "" {
		o.Models = strings.Split(*models, ",")
	}
	if *unsupported != "" {
		o.Unsupported = map[string]string{}
		for part := range strings.SplitSeq(*unsupported, ",") {
			name, instead, _ := strings.Cut(part, "=")
			o.Unsupported[name] = instead
		}
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
