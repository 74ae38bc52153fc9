// Stats shows that the intervals and tests of measure/stats keep their word.
//
//	go -C tools run ./bench/stats [-sets 2000] [-seeds 200] [accept] [coverage] [corrected] [margins] [nights] [null]
//
// accept prints how often crosstalk accept is wrong, and how much of a suite it reads; coverage how often each 95 %
// interval holds the truth over simulated data sets shaped like the three instruments, and of the differences that
// crosstalk compare prints; corrected does so for figures that people's labels correct (* marks a shape outside 93 to
// 97 %, ! one that is more than 15 % wider than labels alone); margins prints the passes of crosstalk gate, nights the
// alarms of gates of every night; null prints false positives of crosstalk compare after Holm. Without arguments all
// run. A line that must hold is marked with *; the command exits with status 1 when one does not.
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
	if err := flags.Parse(args); err != nil {
		return err
	}
	parts := flags.Args()
	if len(parts) == 0 {
		parts = []string{"accept", "coverage", "corrected", "margins", "nights", "null"}
	}
	ok := true
	for _, part := range parts {
		switch part {
		case "accept":
			ok = accept(out, *sets) && ok
		case "coverage":
			ok = coverage(out, *sets) && ok
		case "corrected":
			ok = corrected(out, *sets) && ok
		case "margins":
			ok = margins(out, *sets) && ok
		case "nights":
			ok = nights(out, *sets) && ok
		case "null":
			quiet, err := null(out, *seeds)
			if err != nil {
				return err
			}
			ok = quiet && ok
		default:
			return fmt.Errorf("unknown part %q, expected accept, coverage, corrected, margins, nights or null", part)
		}
	}
	if !ok {
		return errors.New("a line marked * missed its bound")
	}
	return nil
}
