// Stats shows that the intervals and tests of measure/stats keep their word.
//
//	go -C tools run ./bench/stats [-sets 2000] [-seeds 200] [coverage] [null] [speed]
//
// coverage prints how often each 95 % interval holds the truth over simulated
// data sets shaped like the three instruments, and of the differences that
// crosstalk compare prints; null prints false positives of
// crosstalk compare after Holm; speed times 10,000 bootstrap draws over one
// million observations, each shape in a process of its own for its peak
// memory. Without arguments all three run. A line that must hold is marked
// with *; the command exits with status 1 when one does not.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "stats:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, args []string) error {
	flags := flag.NewFlagSet("stats", flag.ContinueOnError)
	sets := flags.Int("sets", 2000, "simulated data sets per line of the coverage table")
	seeds := flags.Int("seeds", 200, "families of 100 null comparisons")
	shape := flags.Int("shape", -1, "time this shape only, in this process (used by speed)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *shape >= 0 {
		return timeShape(out, *shape)
	}
	parts := flags.Args()
	if len(parts) == 0 {
		parts = []string{"coverage", "null", "speed"}
	}
	ok := true
	for _, part := range parts {
		switch part {
		case "coverage":
			ok = coverage(out, *sets) && ok
		case "null":
			quiet, err := null(out, *seeds)
			if err != nil {
				return err
			}
			ok = quiet && ok
		case "speed":
			fast, err := speed(out)
			if err != nil {
				return err
			}
			ok = fast && ok
		default:
			return fmt.Errorf("unknown part %q, expected coverage, null or speed", part)
		}
	}
	if !ok {
		return errors.New("a line marked * missed its bound")
	}
	return nil
}
