package main

import (
	"fmt"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/calibrate"
	"crosstalk/internal/config"
	"crosstalk/study/similarities"

	"github.com/spf13/cobra"
)

func calibrateCommand() *cobra.Command {
	var seeds, samples int
	var format string
	var flags calibrateFlags
	names := namesOf(instruments(), func(in instrument) string { return in.name })
	c := &cobra.Command{
		Use:   "calibrate [INSTRUMENT...]",
		Short: "Check the instruments on reference models with known values",
		Long: `Check the instruments on reference models whose true values are known: run the
whole pipeline on them and print the true value, the measured value with its
interval, and the share of seeds whose 95 % interval covers the true value. The
exit code is 1 if that share is significantly outside 93 to 97 %.

INSTRUMENT is one of: ` + strings.Join(names, ", ") + ` (default: all).`,
		Example: `  crosstalk calibrate
  crosstalk calibrate --seeds 2000
  crosstalk calibrate leakage --rate 0.3,0.6,0.9`,
		RunE: func(c *cobra.Command, chosen []string) error {
			for _, name := range chosen {
				if _, err := crosstalk.Chosen("instrument", name, names); err != nil {
					return err
				}
			}
			if seeds < 1 || samples < 1 {
				return fmt.Errorf("--seeds and --samples: expected a number above 0")
			}
			var results []calibrate.Result
			for _, in := range instruments() {
				if len(chosen) == 0 || slices.Contains(chosen, in.name) {
					ctx, stop := calibrate.Show(c.Context(), c.ErrOrStderr(), in.name, seeds)
					found, err := in.calibrate(ctx, calibrate.Settings{Rates: flags.rates, Suite: flags.suite,
						Similarity: flags.similarity, Seeds: seeds, Samples: samples})
					if stop(); err != nil {
						return err
					}
					results = append(results, found...)
				}
			}
			if err := calibrate.Write(c.OutOrStdout(), format, results); err != nil {
				return err
			}
			if err := calibrate.Verdict(results); err != nil {
				return &exitError{exitGate, err}
			}
			return nil
		},
	}
	seeds, samples, flags.suite, flags.similarity = 200, 1, "leakage-en", "gloss"
	config.Declare(c, "", []config.Flag{
		{Name: "seeds", To: &seeds, Help: "measurements of each model"},
		{Name: "samples", To: &samples, Help: "answers per prompt"},
		{Name: "rate", To: &flags.rates, Help: "probabilities of a fault: a leak (default 0.6), a line in another language " +
			"(default 0.1), or an answer in another sense with another class (default 0.2)"},
		{Name: "suite", To: &flags.suite, Values: "suites", Reach: config.Path,
			Help: "leakage: an embedded suite, or a file that lists leaks and neutral continuations"},
		{Name: "similarity", To: &flags.similarity, Values: "similarities", Reach: similarityReach(),
			Help: "leakage: how to compare concept and answer: " + similarities.Usage()},
		formatFlag(&format, calibrate.Formats),
	})
	return c
}

// calibrateFlags are what the instruments' calibrations share.
type calibrateFlags struct {
	rates             []float64
	suite, similarity string
}
