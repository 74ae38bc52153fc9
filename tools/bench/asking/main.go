//go:build unix

// Asking measures what it costs to ask a model many prompts: wall
// time, CPU time and memory of crosstalk beside promptfoo, on the same prompts
// against the same local server. See README.md.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"crosstalk/internal/testserver"
	"crosstalk/tools/internal/bench"
)

func main() {
	if err := run(os.Stdout, os.Stderr, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "asking:", err)
		os.Exit(1)
	}
}

// setting is what all contenders share.
type setting struct {
	dir         string // scratch
	items       []item
	latency     time.Duration
	concurrency int
}

func run(stdout, stderr io.Writer, args []string) error {
	f := flag.NewFlagSet("asking", flag.ContinueOnError)
	f.SetOutput(stderr)
	rounds := f.Int("rounds", 3, "runs of each contender, interleaved")
	items := f.Int("items", 1000, "items of two prompts each")
	var b setting
	f.DurationVar(&b.latency, "latency", 20*time.Millisecond, "the server's time for an answer")
	f.IntVar(&b.concurrency, "concurrency", 32, "requests in flight")
	crosstalk := f.String("crosstalk", crosstalkCommand, "crosstalk's `command`; {suite}, {url}, {concurrency} and {out} are filled in; crosstalk itself is built from ./cmd/crosstalk")
	promptfoo := f.String("promptfoo", "", "`folder` in which npm installed promptfoo, or its executable")
	if err := f.Parse(args); err != nil {
		return err
	}
	if *rounds < 1 {
		return fmt.Errorf("-rounds %d: want at least 1", *rounds)
	}
	var err error
	if b.items, err = makeItems(*items); err != nil {
		return err
	}
	if b.dir, err = os.MkdirTemp("", "asking"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	if err := os.WriteFile(b.path("bench.yaml"), suite(b.items), 0o644); err != nil {
		return err
	}

	var contenders []*contender
	add := func(name, missing string, c ...*contender) {
		if missing != "" {
			fmt.Fprintf(stderr, "%s is not measured: %s\n", name, missing)
			return
		}
		contenders = append(contenders, c...)
	}
	c, missing := newCrosstalk(&b, *crosstalk)
	add("crosstalk", missing, c)
	stored, unstored, missing := newPromptfoo(&b, *promptfoo)
	add("promptfoo", missing, stored, unstored)
	for round := range *rounds {
		for _, c := range contenders {
			u, err := b.measure(c, round)
			if err != nil {
				return fmt.Errorf("%s, round %d: %w", c.name, round+1, err)
			}
			c.runs = append(c.runs, u)
			fmt.Fprintf(stderr, "round %d: %s: wall %.2f s, CPU %.2f s, memory %.0f MB\n", round+1, c.name, u.Wall, u.CPU, u.Peak)
		}
	}
	b.print(stdout, *rounds, contenders)
	return nil
}

func (b *setting) path(elem ...string) string {
	return filepath.Join(append([]string{b.dir}, elem...)...)
}

// measure runs a contender against a fresh server and checks that it asked
// what it should.
func (b *setting) measure(c *contender, round int) (usage, error) {
	s := testserver.New(testserver.Options{Latency: b.latency, Key: "test"})
	defer s.Close()
	scratch := b.path(fmt.Sprint(c.name, round))
	if err := os.Mkdir(scratch, 0o755); err != nil {
		return usage{}, err
	}
	u, err := c.run(s.URL, scratch)
	if err != nil {
		return u, err
	}
	st, answered, distinct := s.Stats(), 0, 0
	for _, r := range st.Requests {
		if r.Path == "/v1/chat/completions" {
			answered += r.Answered
			distinct++
		}
	}
	if want := 2 * len(b.items); answered != want || distinct != want || st.MaxInFlight > b.concurrency {
		return u, fmt.Errorf("the server gave %d answers to %d distinct requests, up to %d at a time: want %d to as many, at most %d at a time",
			answered, distinct, st.MaxInFlight, want, b.concurrency)
	}
	u.inFlight = st.MaxInFlight
	return u, nil
}

// print shows medians, the range of the runs, and each contender's median over
// crosstalk's.
func (b *setting) print(w io.Writer, rounds int, contenders []*contender) {
	n := 2 * len(b.items)
	fmt.Fprintf(w, "%d prompts, %v an answer, concurrency %d: no less than %.2f s; median of %d runs (lowest-highest)\n\n",
		n, b.latency, b.concurrency, b.latency.Seconds()*float64((n+b.concurrency-1)/b.concurrency), rounds)
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(t, "\twall s\tCPU s\tmemory MB\tmost in flight")
	for _, c := range contenders {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%.0f\n", c.name, c.spread(wall, "%.2f"), c.spread(cpu, "%.2f"), c.spread(memory, "%.0f"),
			c.median(func(u usage) float64 { return float64(u.inFlight) }))
	}
	if len(contenders) > 1 && contenders[0].name == "crosstalk" {
		base := contenders[0]
		for _, c := range contenders[1:] {
			fmt.Fprintf(t, "%s / crosstalk\t%.1f\t%.1f\t%.1f\n", c.name,
				c.median(wall)/base.median(wall), c.median(cpu)/base.median(cpu), c.median(memory)/base.median(memory))
		}
	}
	t.Flush()
}

// usage is what one run took; a contender's children count.
type usage struct {
	bench.Cost
	inFlight int
}

func wall(u usage) float64   { return u.Wall }
func cpu(u usage) float64    { return u.CPU }
func memory(u usage) float64 { return u.Peak }

func (c *contender) sorted(get func(usage) float64) []float64 {
	var v []float64
	for _, u := range c.runs {
		v = append(v, get(u))
	}
	slices.Sort(v)
	return v
}

func (c *contender) median(get func(usage) float64) float64 {
	return bench.Median(c.sorted(get))
}

func (c *contender) spread(get func(usage) float64, format string) string {
	v := c.sorted(get)
	return fmt.Sprintf(strings.ReplaceAll("F (F-F)", "F", format), c.median(get), v[0], v[len(v)-1])
}
