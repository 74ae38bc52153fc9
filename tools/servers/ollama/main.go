//go:build unix

// Ollama runs crosstalk against a real server. It builds Ollama from its Go module (once, into the user's cache
// folder), gives it a tiny model whose probabilities are known, and checks the three instruments, log probabilities,
// what crosstalk says of mistakes, kills, restarts and an outage; and the main ones again through a gateway that wants
// headers.
//
//	go -C tools run ./servers/ollama
//
// It prints a table and exits with 1 if something is wrong. Where Ollama cannot be built or started, it says why and
// exits with 0.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"crosstalk/tools/internal/bench"
)

func main() {
	wrong, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "ollama:", err)
		os.Exit(1)
	}
	if wrong > 0 {
		os.Exit(1)
	}
}

const (
	items  = 20 // of each run; with far fewer, too few answers of a model that babbles can be scored
	outage = 100 * time.Second
)

// run returns how many checks failed.
func run() (wrong int, err error) {
	only := flag.String("only", "", "run only the checks whose names match this `expression`")
	flag.Parse()
	wanted, err := regexp.Compile(*only)
	if err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "ollama")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)

	program, err := build()
	if err != nil {
		fmt.Println("skipped: Ollama cannot be built here:", err)
		return 0, nil
	}
	s, err := newServer(program, dir)
	if err != nil {
		return 0, err
	}
	if err := s.start(); err != nil {
		fmt.Println("skipped: Ollama cannot be started here:", err)
		return 0, nil
	}
	defer s.kill()
	stopped := make(chan os.Signal, 1)
	signal.Notify(stopped, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-stopped
		s.kill() // has a process group of its own
		os.RemoveAll(dir)
		os.Exit(130)
	}()
	b := &trials{server: s, dir: dir, chain: newChain(1)}
	models := map[string][]byte{"tiny": b.chain.gguf(false), "twin": newChain(2).gguf(false), "broken": b.chain.gguf(true)}
	for name, gguf := range models {
		if err := s.create(name, gguf); err != nil {
			return 0, err
		}
	}
	gateway := newGateway(s.address)
	defer gateway.Close()
	b.gateway = gateway.URL
	if b.program, err = bench.Program(dir); err != nil {
		return 0, err
	}

	fmt.Printf("Ollama %s; at least %d items in a run, an outage of %v\n\n", version, items, outage)
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "CHECK\tTOOK\tRESULT")
	for i, c := range checks() {
		if !wanted.MatchString(c.name) {
			continue
		}
		start := time.Now()
		one := &trial{trials: b, out: filepath.Join(dir, fmt.Sprint("run", i)), gated: c.gated}
		c.check(one)
		result := strings.Join(append(one.notes, one.complaints...), "; ")
		if len(one.complaints) > 0 {
			wrong++
			result = "WRONG: " + result
		}
		fmt.Fprintf(t, "%s\t%.0f s\t%s\n", c.name, time.Since(start).Seconds(), strings.ReplaceAll(result, "\n", " "))
		fmt.Fprintf(os.Stderr, "%s: %s\n", c.name, result)
		if s.command == nil { // a check left it killed
			if err := s.start(); err != nil {
				return wrong, err
			}
		}
	}
	t.Flush()
	fmt.Printf("\n%d wrong\n", wrong)
	return wrong, nil
}
