package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"crosstalk"
	"crosstalk/calibrate"
	"crosstalk/instrument/confusion"
	"crosstalk/instrument/consistency"
	"crosstalk/instrument/leakage"
	"crosstalk/internal/config"
	"crosstalk/measure/similarity"
	"crosstalk/measure/wordlist"
	"crosstalk/model/reference"
	"crosstalk/report"
	"crosstalk/study"
	"crosstalk/study/similarities"
	"crosstalk/suite"

	"github.com/spf13/cobra"
)

// calibrated is the range that a 95 % interval's coverage must lie in, as far
// as the seeds can tell.
var calibrated = [2]float64{0.93, 0.97}

// calibrating are the flags of all calibrations.
type calibrating struct {
	seeds, samples int
	format         string
}

// calibration is the part of an instrument.
type calibration interface {
	flags(c *cobra.Command)
	calibrate(c *cobra.Command, all calibrating) ([]calibrate.Result, error)
}

func calibrateCommand() *cobra.Command {
	all := calibrating{}
	var parts []calibration
	var names []string
	for _, in := range instruments() {
		parts, names = append(parts, in.calibrate()), append(names, in.name)
	}
	c := &cobra.Command{
		Use:   "calibrate [INSTRUMENT...]",
		Short: "Measure the reference models, whose truth is known",
		Long: `Measure the reference models, whose truth is known, through the whole pipeline:
print the truth beside the measurement and its interval, and the share of
seeds whose 95 % interval covers the truth. Exit code 1 if that share is, beyond
chance, outside 93 to 97 %. Instruments: ` + strings.Join(names, ", ") + `; all if none is named.`,
		Example: "  crosstalk calibrate\n  crosstalk calibrate --seeds 2000\n  crosstalk calibrate leakage --rate 0.3,0.6,0.9",
		RunE: func(c *cobra.Command, chosen []string) error {
			for _, name := range chosen {
				if !slices.Contains(names, name) {
					return fmt.Errorf("there is no instrument %q to calibrate: choose of %s", name, strings.Join(names, ", "))
				}
			}
			if all.format != "table" && all.format != "json" {
				return fmt.Errorf("format %q is unknown: choose table or json", all.format)
			}
			if all.seeds < 1 || all.samples < 1 {
				return fmt.Errorf("--seeds and --samples need a number above 0")
			}
			var results []calibrate.Result
			for i, p := range parts {
				if len(chosen) == 0 || slices.Contains(chosen, names[i]) {
					of, err := p.calibrate(c, all)
					if err != nil {
						return err
					}
					results = append(results, of...)
				}
			}
			if err := printCalibration(c.OutOrStdout(), all.format, results); err != nil {
				return err
			}
			return verdict(results)
		},
	}
	c.Flags().IntVar(&all.seeds, "seeds", 200, "how many measurements to make of each model")
	c.Flags().IntVar(&all.samples, "samples", 1, "answers to each prompt")
	for _, p := range parts {
		p.flags(c)
	}
	c.Flags().StringVar(&all.format, "format", "table", "table or json")
	config.Choices(c.Flags(), "format", "table", "json")
	c.Flags().SortFlags = false
	return c
}

// leakageCalibration is that of the Leak-Rate.
type leakageCalibration struct {
	leakageFlags
	suite string
	rates []float64
}

func (l *leakageCalibration) flags(c *cobra.Command) {
	c.Flags().Float64SliceVar(&l.rates, "rate", []float64{0.6}, "leakage: how often the model leaks, 0 to 1")
	c.Flags().StringVar(&l.suite, "suite", "leakage-en", "leakage: an embedded suite or a file that lists leaks and neutral continuations")
	l.leakageFlags.add(c)
	c.Flags().MarkHidden("by")
	config.Path(c.Flags(), "suite")
}

func (l *leakageCalibration) calibrate(c *cobra.Command, all calibrating) (results []calibrate.Result, err error) {
	if len(l.rates) == 0 {
		return nil, fmt.Errorf("--rate names no rate; expected numbers from 0 to 1")
	}
	options := l.study(c).Options
	rules, err := options.Resolve()
	if err != nil {
		return nil, err
	}
	if len(rules) > 1 {
		return nil, crosstalk.BadOption("protocol", " names %d protocols; a calibration is of one", len(rules))
	}
	s, err := suite.LoadFor("leakage", l.suite)
	if err != nil {
		return nil, err
	}
	env := similarities.NewEnv()
	env.Programs("", l.execEnv)
	list, err := similarities.OpenAll(l.similarities, study.LanguageOf(s.Items), env)
	if err != nil {
		return nil, err
	}
	for _, sim := range list {
		in := leakage.Instrument{Protocol: rules[0], Similarities: []similarity.Similarity{sim}, Samples: all.samples,
			Condition: map[string]string{}}
		for _, rate := range l.rates {
			r, err := calibrate.Leakage(c.Context(), in, s.Items, rate, all.seeds)
			if err != nil {
				return nil, err
			}
			results = append(results, r)
		}
	}
	return results, nil
}

// confusionCalibration is that of LPR and WPR, under the default protocol.
type confusionCalibration struct {
	lines, words []float64
	lid          string
}

// crosslingualLanguages are those that cross-lingual prompts are asked in to
// calibrate. Five show as well as all that a prompt asked in several languages
// is a cluster, in half the time.
var crosslingualLanguages = []string{"de", "fr", "ko", "ru", "zh"}

func (f *confusionCalibration) flags(c *cobra.Command) {
	c.Flags().Float64SliceVar(&f.lines, "line", []float64{0.1}, "confusion: how often a line is in another language, 0 to 1")
	c.Flags().Float64SliceVar(&f.words, "word", []float64{0.05}, "confusion: how often a right line has an English word, 0 to 1")
	c.Flags().StringVar(&f.lid, "lid", "", "confusion: a fastText model that identifies languages (default: a small embedded one)")
	config.Path(c.Flags(), "lid")
}

func (f *confusionCalibration) calibrate(c *cobra.Command, all calibrating) (results []calibrate.Result, err error) {
	if len(f.lines) == 0 || len(f.words) == 0 {
		return nil, fmt.Errorf("--line or --word names no rate; expected numbers from 0 to 1")
	}
	s, err := suite.Load("confusion")
	if err != nil {
		return nil, err
	}
	lid, err := study.OpenIdentifier(f.lid)
	if err != nil {
		return nil, err
	}
	items := slices.DeleteFunc(s.Items, func(item crosstalk.Item) bool {
		return item.Labels["task"] == "crosslingual" && !slices.Contains(crosslingualLanguages, item.Prompt.Language)
	})
	in := confusion.Instrument{Protocol: confusion.Protocols[0], Identifier: lid, Words: wordlist.English(), Samples: all.samples,
		Condition: map[string]string{}}
	for _, line := range f.lines {
		for _, word := range f.words {
			of, err := calibrate.Confusion(c.Context(), in, items, line, word, all.seeds)
			if err != nil {
				return nil, err
			}
			results = append(results, of...)
		}
	}
	return results, nil
}

// consistencyCalibration is that of consistency and accuracy, under the default
// protocol.
type consistencyCalibration struct {
	flips   []float64
	invalid float64
}

func (s *consistencyCalibration) flags(c *cobra.Command) {
	c.Flags().Float64SliceVar(&s.flips, "flip", []float64{0.2}, "consistency: how often an answer in another sense is of another class, 0 to 1")
	c.Flags().Float64Var(&s.invalid, "invalid", 0.01, "consistency: how often an answer has no label, 0 to 1")
}

func (s *consistencyCalibration) calibrate(c *cobra.Command, all calibrating) (results []calibrate.Result, err error) {
	if len(s.flips) == 0 {
		return nil, fmt.Errorf("--flip names no rate; expected numbers from 0 to 1")
	}
	tasks, err := suite.Load("consistency")
	if err != nil {
		return nil, err
	}
	tasks.Tasks = tasks.Tasks[:1] // the model answers all alike
	tasks.Items = slices.DeleteFunc(tasks.Items, func(item crosstalk.Item) bool { return item.Input.Task != tasks.Tasks[0].Name })
	in := consistency.Instrument{Protocol: consistency.Protocols[0], Tasks: tasks.Tasks, Samples: all.samples, Condition: map[string]string{},
		Senses: consistency.Senses{From: []string{tasks.Language}, To: []string{"de"}}}
	for _, flip := range s.flips {
		of, err := calibrate.Consistency(c.Context(), in, tasks.Items, reference.Inconsistency{Flip: flip, Invalid: s.invalid, Wrong: 0.2}, all.seeds)
		if err != nil {
			return nil, err
		}
		results = append(results, of...)
	}
	return results, nil
}

// verdict is an error with exit code 1 if some interval covers the truth too
// seldom or too often to be chance.
func verdict(results []calibrate.Result) error {
	for _, r := range results {
		if r.Certainty.High < calibrated[0] || r.Certainty.Low > calibrated[1] {
			return &exitError{exitGate, fmt.Errorf("%s: the 95 %% interval of %s covers the truth in %.1f %% of %d seeds; expected 93 to 97 %%", r.Model, r.Measure, 100*r.Coverage, r.Seeds)}
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
	fmt.Fprintln(t, "model\tmeasure\tof\ttruth %\tmeasured %\t95 % interval\tmean %\tseeds\tcoverage %\tmean width")
	for _, r := range results {
		e := r.Estimate
		interval := "-"
		if e.Interval != nil {
			interval = report.Percent(crosstalk.Value(e.Interval.Low)) + " to " + report.Percent(crosstalk.Value(e.Interval.High))
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\n", r.Model, r.Measure, cmp.Or(e.By["similarity"], e.By["task"], "-"),
			report.Percent(crosstalk.Value(r.Truth)), report.Percent(e.Value), interval,
			report.Percent(crosstalk.Value(r.Mean)), r.Seeds, report.Percent(crosstalk.Value(r.Coverage)), report.Percent(crosstalk.Value(r.Width)))
	}
	return t.Flush()
}
