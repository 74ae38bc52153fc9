// Calibrate measures reference models whose true values are known, through the whole pipeline. It prints the true
// value, the measured value with its interval, and the share of seeds whose 95 % interval covers the true value:
//
//	go -C tools run ./bench/calibrate [-seeds 200] [-rates 0.3,0.6] [-suite S] [-similarity S] [INSTRUMENT...]
//
// A rate is the probability of a fault: a leak (0.6 unless -rates says so), a line in another language (0.1), or an
// answer in another sense with another class (0.2). -suite and -similarity are those of leakage. The exit status is
// 1 if a share is significantly outside 93 to 97 %.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
)

func main() {
	if err := command(context.Background(), os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "calibrate:", err)
		os.Exit(1)
	}
}

func command(ctx context.Context, w io.Writer, args []string) error {
	flags := flag.NewFlagSet("calibrate", flag.ContinueOnError)
	s := Settings{Samples: 1}
	flags.IntVar(&s.Seeds, "seeds", 200, "measurements of each model")
	flags.StringVar(&s.Suite, "suite", "leakage-en", "leakage: an embedded suite, or a file with leaks and neutral texts")
	flags.StringVar(&s.Similarity, "similarity", "gloss", "leakage: how to compare concept and answer")
	flags.Func("rates", "probabilities of a fault, separated by commas", func(list string) error {
		for text := range strings.SplitSeq(list, ",") {
			rate, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return err
			}
			s.Rates = append(s.Rates, rate)
		}
		return nil
	})
	if err := flags.Parse(args); err != nil {
		return err
	}
	if s.Seeds < 1 {
		return fmt.Errorf("-seeds is %d; expected a number above 0", s.Seeds)
	}
	names := []string{"leakage", "confusion", "consistency"}
	for _, name := range flags.Args() {
		if _, err := crosstalk.Chosen("instrument", name, names); err != nil {
			return err
		}
	}
	var results []Result
	for i, of := range []func(context.Context, Settings) ([]Result, error){Leakage, Confusion, Consistency} {
		if flags.NArg() > 0 && !slices.Contains(flags.Args(), names[i]) {
			continue
		}
		found, err := of(ctx, s)
		if err != nil {
			return err
		}
		results = append(results, found...)
	}
	if err := write(w, results); err != nil {
		return err
	}
	return Verdict(results)
}
