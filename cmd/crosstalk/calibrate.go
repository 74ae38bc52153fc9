package main

import (
	"fmt"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/calibrate"
	"crosstalk/internal/config"

	"github.com/spf13/cobra"
)

func calibrateCommand() *cobra.Command {
	var seeds, samples int
	var format string
	names := namesOf(instruments(), func(in instrument) string { return in.name })
	var settings []func() calibrate.Settings // by instrument
	c := &cobra.Command{
		Use:   "calibrate [INSTRUMENT...]",
		Short: "Check the instruments on reference models with known values",
		Long: `Check the instruments on reference models whose true values are known: run the
whole pipeline on them and print the true value, the measured value with its
interval, and the share of seeds whose 95 % interval covers the true value. The
exit code is 1 if that share is significantly outside 93 to 97 %.

INSTRUMENT is one of: ` + strings.Join(names, ", ") + ` (default: all).`,
		Example: "  crosstalk calibrate\n  crosstalk calibrate --seeds 2000\n  crosstalk calibrate leakage --rate 0.3,0.6,0.9",
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
			for i, of := range settings {
				if len(chosen) == 0 || slices.Contains(chosen, names[i]) {
					ctx, stop := calibrate.Show(c.Context(), c.ErrOrStderr(), names[i], seeds)
					found, err := of().Calibrate(ctx, seeds, samples)
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
	c.Flags().IntVar(&seeds, "seeds", 200, "measurements of each model")
	c.Flags().IntVar(&samples, "samples", 1, "answers per prompt")
	for _, in := range instruments() {
		settings = append(settings, in.calibrate(c))
	}
	c.Flags().StringVar(&format, "format", calibrate.Formats[0], strings.Join(calibrate.Formats, " or "))
	config.Choices(c.Flags(), "format", calibrate.Formats...)
	c.Flags().SortFlags = false
	return c
}

// calibrateLeakage adds the flags of the calibration of the leak rate, and returns what
// reads them.
func calibrateLeakage(c *cobra.Command) func() calibrate.Settings {
	var s calibrate.LeakageSettings
	var l leakageFlags
	f := c.Flags()
	f.Float64SliceVar(&s.Rates, "rate", []float64{0.6}, "leakage: probability of a leak, 0 to 1")
	f.Float64Var(&s.Copying, "copy", 0.2, "leakage: probability that an answer copies the text around the prompt, if the suite has such texts; 0 to 1")
	suite := f.String("suite", "leakage-en", "leakage: an embedded suite, or a file that lists leaks and neutral continuations")
	l.add(c)
	f.MarkHidden("by")
	config.Path(f, "suite")
	return func() calibrate.Settings {
		s.Leakage = l.study(c)
		s.Suite = *suite
		return s
	}
}

// calibrateConfusion is the same for LPR and WPR under the default protocol.
func calibrateConfusion(c *cobra.Command) func() calibrate.Settings {
	var s calibrate.ConfusionSettings
	f := c.Flags()
	f.Float64SliceVar(&s.Lines, "line", []float64{0.1}, "confusion: probability that a line is in another language, 0 to 1")
	f.Float64SliceVar(&s.Words, "word", []float64{0.05},
		"confusion: probability that a line in the right language has words of another one, 0 to 1")
	f.Float64Var(&s.Mask, "mask", 0.1, "confusion: probability that a line without a fault has code, a quotation or a name, 0 to 1")
	f.Float64Var(&s.Short, "short", 0.1, "confusion: probability that an answer is a short reply, 0 to 1")
	f.StringVar(&s.Identifier, "lid", "", "confusion: a fastText language identification model (default: a small embedded one)")
	config.Path(f, "lid")
	return func() calibrate.Settings { return s }
}

// calibrateConsistency is the same for consistency and accuracy under the default
// protocol.
func calibrateConsistency(c *cobra.Command) func() calibrate.Settings {
	var s calibrate.ConsistencySettings
	c.Flags().Float64SliceVar(&s.Flips, "flip", []float64{0.2},
		"consistency: probability that the answer in another sense has another class, 0 to 1")
	c.Flags().Float64Var(&s.Invalid, "invalid", 0.01, "consistency: probability that an answer is invalid, 0 to 1")
	return func() calibrate.Settings { return s }
}
