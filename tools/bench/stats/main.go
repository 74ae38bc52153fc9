// Stats shows that the intervals and tests of measure/stats keep their word.
//
//	go -C tools run ./bench/stats [-sets 2000] [-seeds 200] [PART...]
//
// accept prints how often crosstalk accept is wrong, and how much of a suite it reads; program does so through the
// whole program; coverage how often the 95 % intervals of crosstalk compare contain the true difference
// (bench/calibrate is for those of single figures); corrected does so for figures that labels correct (* marks a shape
// outside 93 to 97 %, ! one that is more than 12 % wider than labels alone); agreement does so for sensitivity and
// specificity of labelled runs; margins and clusters print the passes of crosstalk gate, nights the alarms of gates
// of every night;
// null prints false positives of crosstalk compare after Holm. Without parts all run. A line that must hold is marked
// with *; the command exits with status 1 when one does not.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

func main() {
	if err := command(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "stats:", err)
		os.Exit(1)
	}
}

func command(out io.Writer, args []string) error {
	flags := flag.NewFlagSet("stats", flag.ContinueOnError)
	sets := flags.Int("sets", 2000, "simulated data sets per line of the coverage table")
	seeds := flags.Int("seeds", 200, "families of 100 null comparisons")
	if err := flags.Parse(args); err != nil {
		return err
	}
	parts := map[string]func() (bool, error){"null": func() (bool, error) { return null(out, *seeds) },
		"program":   func() (bool, error) { return program(out, *sets) },
		"agreement": func() (bool, error) { return agreement(out, max(1, *sets/10)) }}
	for name, part := range map[string]func(io.Writer, int) bool{"accept": sequential, "clusters": clusters,
		"coverage": coverage, "corrected": corrected, "margins": margins, "nights": nights} {
		parts[name] = func() (bool, error) { return part(out, *sets), nil }
	}
	names, ok := flags.Args(), true
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(parts))
	}
	for _, name := range names {
		part, known := parts[name]
		if !known {
			return fmt.Errorf("unknown part %q; choose from: %s", name, strings.Join(slices.Sorted(maps.Keys(parts)), ", "))
		}
		good, err := part()
		if err != nil {
			return err
		}
		ok = good && ok
	}
	if !ok {
		return errors.New("a line marked * missed its bound")
	}
	return nil
}
