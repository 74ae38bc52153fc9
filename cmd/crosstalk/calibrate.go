package main

import (
	"fmt"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/calibrate"
	"crosstalk/internal/config"
	"crosstalk/internal/ordered"
	"crosstalk/study/similarities"

	"github.com/spf13/cobra"
)

func calibrateCommand() *cobra.Command {
	of := calibrate.Settings{Seeds: 200, Samples: 1, Suite: "leakage-en", Similarity: "gloss"}
	var format string
	names := ordered.Distinct(instruments(), func(in instrument) string { return in.name })
	c := command("calibrate", nil, func(c *cobra.Command, chosen []string) error {
		for _, name := range chosen {
			if _, err := crosstalk.Chosen("instrument", name, names); err != nil {
				return err
			}
		}
		if of.Seeds < 1 || of.Samples < 1 {
			return fmt.Errorf("--seeds and --samples: expected a number above 0")
		}
		var results []calibrate.Result
		for _, in := range instruments() {
			if len(chosen) == 0 || slices.Contains(chosen, in.name) {
				ctx, stop := calibrate.Show(c.Context(), c.ErrOrStderr(), in.name, of.Seeds)
				found, err := in.calibrate(ctx, of)
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
	})
	c.Long = strings.ReplaceAll(c.Long, "{names}", strings.Join(names, ", "))
	config.Declare(c, "", []config.Flag{
		{Name: "seeds", To: &of.Seeds, Help: "measurements of each model"},
		{Name: "samples", To: &of.Samples, Help: "answers per prompt"},
		{Name: "rate", To: &of.Rates, Help: "probabilities of a fault: a leak (default 0.6), a line in another language " +
			"(default 0.1), or an answer in another sense with another class (default 0.2)"},
		{Name: "suite", To: &of.Suite, Values: "suites", Reach: config.Path,
			Help: "leakage: an embedded suite, or a file that lists leaks and neutral continuations"},
		{Name: "similarity", To: &of.Similarity, Values: "similarities", Reach: similarityReach(),
			Help: "leakage: how to compare concept and answer: " + similarities.Usage()},
		formatFlag(&format, calibrate.Formats),
	})
	return c
}
