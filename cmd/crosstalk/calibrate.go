package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"crosstalk"
	"crosstalk/calibrate"
	"crosstalk/instrument/leakage"
	"crosstalk/internal/config"
	"crosstalk/measure/similarity"
	"crosstalk/report"
	"crosstalk/suite"

	"github.com/spf13/cobra"
)

// calibrated is the range that a 95 % interval's coverage must lie in, as far
// as the seeds can tell.
var calibrated = [2]float64{0.93, 0.97}

func calibrateCommand() *cobra.Command {
	var scoring leakageScoring
	var suiteName, format string
	var seeds, samples int
	var rates []float64
	c := &cobra.Command{
		Use:   "calibrate",
		Short: "Measure the reference models, whose truth is known",
		Long: `Measure the reference models, whose truth is known, through the whole pipeline:
print the truth beside the measurement and its interval, and the share of
seeds whose 95 % interval covers the truth. Exit code 1 if that share is, beyond
chance, outside 93 to 97 %.`,
		Example: "  crosstalk calibrate\n  crosstalk calibrate --seeds 2000 --rate 0.3,0.6,0.9",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if format != "table" && format != "json" {
				return fmt.Errorf("format %q is unknown: choose table or json", format)
			}
			if len(rates) == 0 {
				return fmt.Errorf("--rate names no rate; expected numbers from 0 to 1")
			}
			if seeds < 1 || samples < 1 {
				return fmt.Errorf("--seeds and --samples need a number above 0")
			}
			rules, err := scoring.rules(c)
			if err != nil {
				return err
			}
			if len(rules) > 1 {
				return fmt.Errorf("--protocol names %d protocols; a calibration is of one", len(rules))
			}
			s, err := suite.LoadFor("leakage", suiteName)
			if err != nil {
				return err
			}
			similarities, err := openSimilarities(scoring.similarities, suiteLanguage(s))
			if err != nil {
				return err
			}
			var results []calibrate.Result
			for _, sim := range place(similarities, alone()) {
				in := leakage.Instrument{Protocol: rules[0], Similarities: []similarity.Similarity{sim}, Samples: samples,
					Condition: map[string]string{}, SuiteOf: func(map[string]string) string { return s.ID() }}
				for _, rate := range rates {
					r, err := calibrate.Leakage(c.Context(), in, s.Items, rate, seeds)
					if err != nil {
						return err
					}
					results = append(results, r)
				}
			}
			if err := printCalibration(c.OutOrStdout(), format, results); err != nil {
				return err
			}
			return verdict(results)
		},
	}
	c.Flags().IntVar(&seeds, "seeds", 200, "how many measurements to make of each model")
	c.Flags().Float64SliceVar(&rates, "rate", []float64{0.6}, "how often the model leaks, 0 to 1")
	c.Flags().IntVar(&samples, "samples", 1, "answers to each prompt")
	c.Flags().StringVar(&suiteName, "suite", "leakage-en", "an embedded suite or a file that lists leaks and neutral continuations")
	scoring.flags(c)
	c.Flags().MarkHidden("by")
	c.Flags().StringVar(&format, "format", "table", "table or json")
	config.Choices(c.Flags(), "format", "table", "json")
	c.Flags().SortFlags = false
	return c
}

// verdict is an error with exit code 1 if some interval covers the truth too
// seldom or too often to be chance.
func verdict(results []calibrate.Result) error {
	for _, r := range results {
		if r.Certainty.High < calibrated[0] || r.Certainty.Low > calibrated[1] {
			return &exitError{exitGate, fmt.Errorf("%s: the 95 %% interval covers the truth in %.1f %% of %d seeds; expected 93 to 97 %%", r.Model, 100*r.Coverage, r.Seeds)}
		}
	}
	return nil
}

func printCalibration(w io.Writer, format string, results []calibrate.Result) error {
	if format == "json" {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(struct {
			Schema  string             `json:"schema"`
			Results []calibrate.Result `json:"results"`
		}{"crosstalk/calibration/v1", results})
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "model\tmeasure\tsimilarity\ttruth %\tmeasured %\t95 % interval\tmean %\tseeds\tcoverage %\tmean width")
	for _, r := range results {
		e := r.Estimate
		interval := "-"
		if e.Interval != nil {
			interval = report.Percent(crosstalk.Figure(e.Interval.Low)) + " to " + report.Percent(crosstalk.Figure(e.Interval.High))
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\n", r.Model, r.Measure, e.By["similarity"],
			report.Percent(crosstalk.Figure(r.Truth)), report.Percent(e.Value), interval,
			report.Percent(crosstalk.Figure(r.Mean)), r.Seeds, report.Percent(crosstalk.Figure(r.Coverage)), report.Percent(crosstalk.Figure(r.Width)))
	}
	return t.Flush()
}
