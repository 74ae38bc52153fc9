//go:build unix

// Equal tells whether two builds of crosstalk find the same figures, and what scoring costs each:
//
//	go build -o /tmp/new ./cmd/crosstalk
//	go -C tools run ./bench/equal [-shared DIR] [-rounds 5] [-only TEXT] [-renamed OLD=NEW,...] /tmp/old /tmp/new
//
// Both programs make every run that the reference data allow, and the three runs of reference models. Each field of
// each estimate in estimates.json has to be the same, number by number as it is written, and the estimates in the same
// order. -renamed names fields that are called otherwise in the new file: value=point; without a new name (value=) the
// field was dropped, without an old one (=point) it is new.
//
// Then the two take turns in scoring, each in a process of its own; medians and ratios are printed, new over old.
//
// The command exits with status 1 on a difference, and with status 2 if it cannot compare.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"crosstalk/tools/internal/bench"
)

func main() {
	same, err := run(os.Stdout, os.Stderr, os.Args[1:])
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "equal:", err)
		os.Exit(2)
	case !same:
		os.Exit(1)
	}
}

func run(stdout, stderr io.Writer, args []string) (same bool, err error) {
	f := flag.NewFlagSet("equal", flag.ContinueOnError)
	f.SetOutput(stderr)
	shared := f.String("shared", "../../shared", "`folder` of the reference data")
	rounds := f.Int("rounds", 5, "timings of each program; 0 for none")
	only := f.String("only", "", "make only the runs whose name contains this `text`")
	names := f.String("renamed", "", "fields that may differ in name: `old=new,...`")
	if err := f.Parse(args); err != nil {
		return false, err
	}
	if f.NArg() != 2 {
		return false, fmt.Errorf("%d arguments, expected the old program and the new one", f.NArg())
	}
	renamed, err := parseRenames(*names)
	if err != nil {
		return false, err
	}
	var programs [2]string
	for i := range programs {
		if programs[i], err = filepath.Abs(f.Arg(i)); err != nil {
			return false, err
		}
		if _, err := exec.LookPath(programs[i]); err != nil {
			return false, err
		}
	}
	dir, err := os.MkdirTemp("", "equal")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	studies, err := studies(*shared, dir)
	if err != nil {
		return false, err
	}
	var chosen []study
	for _, s := range studies {
		if strings.Contains(s.name(), *only) {
			chosen = append(chosen, s)
		}
	}
	if len(chosen) == 0 {
		return false, fmt.Errorf("no run's name contains %q", *only)
	}
	same, err = compareAll(stdout, stderr, programs, chosen, dir, renamed)
	if err != nil || *rounds < 1 {
		return same, err
	}
	return same, timeAll(stdout, stderr, programs, chosen, dir, *rounds)
}

// compareAll prints a line for each run, and tells whether all figures are equal.
func compareAll(stdout, stderr io.Writer, programs [2]string, studies []study, dir string,
	renamed renames) (same bool, err error) {
	t := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "run\testimates\tequal\tfields that differ\tfirst difference")
	estimates, equal := 0, 0
	same = true
	for i, s := range studies {
		fmt.Fprintf(stderr, "%d of %d: %s\n", i+1, len(studies), s.name())
		var files [2][]byte
		difference := ""
		for side, program := range programs {
			out := filepath.Join(dir, fmt.Sprint("run-", i, "-", side))
			if _, err := s.run(program, dir, out); err != nil {
				difference = fmt.Sprintf("the %s program: %v", [2]string{"old", "new"}[side], err)
				break
			}
			if files[side], err = os.ReadFile(filepath.Join(out, "estimates.json")); err != nil {
				return false, err
			}
			if err := os.RemoveAll(out); err != nil {
				return false, err
			}
		}
		var r result
		if difference == "" {
			if r, err = compare(files[0], files[1], renamed); err != nil {
				return false, fmt.Errorf("%s: %w", s.name(), err)
			}
			difference = r.first
		}
		same = same && difference == ""
		estimates, equal = estimates+r.estimates, equal+r.equal
		fmt.Fprintf(t, "%s\t%d\t%d\t%s\t%s\n", s.name(), r.estimates, r.equal, r.differing(), difference)
	}
	fmt.Fprintf(t, "%d runs\t%d\t%d\t\t\n", len(studies), estimates, equal)
	return same, t.Flush()
}

// timeAll prints what the timed runs cost.
func timeAll(stdout, stderr io.Writer, programs [2]string, studies []study, dir string, rounds int) error {
	var timed []study
	for _, s := range studies {
		if s.timed {
			timed = append(timed, s)
		}
	}
	if len(timed) == 0 {
		return nil
	}
	costs := make([][2][]bench.Cost, len(timed))
	for round := range rounds {
		fmt.Fprintf(stderr, "timing, round %d of %d\n", round+1, rounds)
		for i, s := range timed {
			for side, program := range programs {
				c, err := s.run(program, dir, "")
				if err != nil {
					return fmt.Errorf("%s: %w", s.name(), err)
				}
				costs[i][side] = append(costs[i][side], c)
			}
		}
	}
	fmt.Fprintf(stdout, "\nmedians of %d runs each, by turns\n\n", rounds)
	t := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "run\told CPU s\tnew CPU s\tratio\told peak MB\tnew peak MB\tratio")
	for i, s := range timed {
		before, after := bench.MedianCost(costs[i][0]), bench.MedianCost(costs[i][1])
		fmt.Fprintf(t, "%s\t%.2f\t%.2f\t%.3f\t%.0f\t%.0f\t%.3f\n", s.name(),
			before.CPU, after.CPU, after.CPU/before.CPU, before.Peak, after.Peak, after.Peak/before.Peak)
	}
	return t.Flush()
}
