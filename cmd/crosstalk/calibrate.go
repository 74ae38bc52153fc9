package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"crosstalk"
	"crosstalk/calibrate"
	"crosstalk/instrument/confusion"
	"crosstalk/instrument/consistency"
	"crosstalk/instrument/leakage"
	"crosstalk/internal/config"
	"crosstalk/internal/statusline"
	"crosstalk/measure/similarity"
	"crosstalk/measure/wordlist"
	"crosstalk/model/reference"
	"crosstalk/study"
	"crosstalk/study/similarities"
	"crosstalk/suite"

	"github.com/spf13/cobra"
)

// calibrating are the flags of all calibrations.
type calibrating struct {
	seeds, samples int
	format         string
}

// calibration is an instrument's part of the command.
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
		Short: "Check the instruments on reference models with known values",
		Long: `Check the instruments on reference models whose true values are known: run the
whole pipeline on them and print the true value, the measured value with its
interval, and the share of seeds whose 95 % interval covers the true value. The
exit code is 1 if that share is significantly outside 93 to 97 %.

INSTRUMENT is one of: ` + strings.Join(names, ", ") + ` (default: all).`,
		Example: "  crosstalk calibrate\n  crosstalk calibrate --seeds 2000\n  crosstalk calibrate leakage --rate 0.3,0.6,0.9",
		RunE: func(c *cobra.Command, chosen []string) error {
			for _, name := range chosen {
				if !slices.Contains(names, name) {
					return fmt.Errorf("unknown instrument %q; choose one of: %s", name, strings.Join(names, ", "))
				}
			}
			if all.format != "table" && all.format != "json" {
				return fmt.Errorf("unknown format %q; choose one of: table, json", all.format)
			}
			if all.seeds < 1 || all.samples < 1 {
				return fmt.Errorf("--seeds and --samples: expected a number above 0")
			}
			var results []calibrate.Result
			for i, p := range parts {
				if len(chosen) == 0 || slices.Contains(chosen, names[i]) {
					stop := showSeeds(c, names[i], all.seeds)
					of, err := p.calibrate(c, all)
					if stop(); err != nil {
						return err
					}
					results = append(results, of...)
				}
			}
			if err := calibrate.Write(c.OutOrStdout(), all.format, results); err != nil {
				return err
			}
			if err := calibrate.Verdict(results); err != nil {
				return &exitError{exitGate, err}
			}
			return nil
		},
	}
	c.Flags().IntVar(&all.seeds, "seeds", 200, "measurements of each model")
	c.Flags().IntVar(&all.samples, "samples", 1, "answers per prompt")
	for _, p := range parts {
		p.flags(c)
	}
	c.Flags().StringVar(&all.format, "format", "table", "table or json")
	config.Choices(c.Flags(), "format", "table", "json")
	c.Flags().SortFlags = false
	return c
}

// showSeeds shows on a terminal which seed is measured, until stop.
func showSeeds(c *cobra.Command, name string, seeds int) (stop func()) {
	line := statusline.New(c.ErrOrStderr())
	if !line.Terminal() {
		return func() {}
	}
	var lock sync.Mutex
	before, n, shown := c.Context(), 0, time.Time{}
	c.SetContext(calibrate.OnSeed(before, func() {
		lock.Lock()
		defer lock.Unlock()
		if n++; time.Since(shown) > line.Every() {
			shown = time.Now()
			line.Show(fmt.Sprintf("%s: seed %d of %d", name, (n-1)%seeds+1, seeds))
		}
	}))
	return func() {
		line.Clear()
		c.SetContext(before)
	}
}

// leakageCalibration calibrates the leak rate.
type leakageCalibration struct {
	leakageFlags
	suite string
	rates []float64
	copy  float64
}

func (l *leakageCalibration) flags(c *cobra.Command) {
	c.Flags().Float64SliceVar(&l.rates, "rate", []float64{0.6}, "leakage: probability of a leak, 0 to 1")
	c.Flags().Float64Var(&l.copy, "copy", 0.2, "leakage: probability that an answer copies the text around the prompt, if the suite has such texts; 0 to 1")
	c.Flags().StringVar(&l.suite, "suite", "leakage-en",
		"leakage: an embedded suite, or a file that lists leaks and neutral continuations")
	l.leakageFlags.add(c)
	c.Flags().MarkHidden("by")
	config.Path(c.Flags(), "suite")
}

func (l *leakageCalibration) calibrate(c *cobra.Command, all calibrating) (results []calibrate.Result, err error) {
	if len(l.rates) == 0 {
		return nil, fmt.Errorf("--rate is empty; expected numbers from 0 to 1")
	}
	s, err := suite.LoadFor("leakage", l.suite)
	if err != nil {
		return nil, err
	}
	rules, err := study.Suited(l.study(c).Options, s).Resolve()
	if err != nil {
		return nil, err
	}
	if len(rules) > 1 {
		return nil, crosstalk.BadOption("protocol", " names %d protocols; expected one", len(rules))
	}
	copying := l.copy
	if !s.InContext() {
		copying = 0
	}
	if err := similarities.CheckGloss(l.similarities, s.Name, s.Languages()); err != nil {
		return nil, err
	}
	env := similarities.NewEnv()
	env.Programs(nil, l.execEnv)
	list, err := similarities.OpenAll(l.similarities, study.LanguageOf(s.Items), env)
	if err != nil {
		return nil, err
	}
	for _, sim := range list {
		in := leakage.Instrument{Protocol: rules[0], Similarities: []similarity.Similarity{sim}, Samples: all.samples,
			Condition: map[string]string{}}
		for _, rate := range l.rates {
			of, err := calibrate.Leakage(c.Context(), in, s.Items.List(), calibrate.Leaky{Rate: rate, Copying: copying}, all.seeds)
			if err != nil {
				return nil, err
			}
			results = append(results, of...)
		}
	}
	return results, nil
}

// confusionCalibration calibrates LPR and WPR under the default protocol.
type confusionCalibration struct {
	lines, words []float64
	mask, short  float64
	lid          string
}

// crosslingualLanguages are the languages of the cross-lingual prompts. Five
// are enough to check that a prompt asked in several languages is one cluster,
// and take half the time of all.
var crosslingualLanguages = []string{"de", "fr", "ko", "ru", "zh"}

func (f *confusionCalibration) flags(c *cobra.Command) {
	c.Flags().Float64SliceVar(&f.lines, "line", []float64{0.1}, "confusion: probability that a line is in another language, 0 to 1")
	c.Flags().Float64SliceVar(&f.words, "word", []float64{0.05},
		"confusion: probability that a line in the right language has words of another one, 0 to 1")
	c.Flags().Float64Var(&f.mask, "mask", 0.1,
		"confusion: probability that a line without a fault has code, a quotation or a name, 0 to 1")
	c.Flags().Float64Var(&f.short, "short", 0.1, "confusion: probability that an answer is a short reply, 0 to 1")
	c.Flags().StringVar(&f.lid, "lid", "",
		"confusion: a fastText language identification model (default: a small embedded one)")
	config.Path(c.Flags(), "lid")
}

func (f *confusionCalibration) calibrate(c *cobra.Command, all calibrating) (results []calibrate.Result, err error) {
	if len(f.lines) == 0 || len(f.words) == 0 {
		return nil, fmt.Errorf("--line or --word is empty; expected numbers from 0 to 1")
	}
	s, err := suite.Load("confusion")
	if err != nil {
		return nil, err
	}
	lid, err := study.OpenIdentifier(f.lid)
	if err != nil {
		return nil, err
	}
	items := slices.DeleteFunc(s.Items.List(), func(item crosstalk.Item) bool {
		return item.Labels["task"] == "crosslingual" && !slices.Contains(crosslingualLanguages, item.Prompt.Language)
	})
	in := confusion.Instrument{Protocol: confusion.Protocols[0], Identifier: lid, Words: wordlist.English(),
		Samples: all.samples, Condition: map[string]string{}}
	for _, line := range f.lines {
		for _, word := range f.words {
			of, err := calibrate.Confusion(c.Context(), in, items,
				reference.Confusion{Line: line, Word: word, Mask: f.mask, Short: f.short}, all.seeds)
			if err != nil {
				return nil, err
			}
			results = append(results, of...)
		}
	}
	return results, nil
}

// consistencyCalibration calibrates consistency and accuracy under the default
// protocol.
type consistencyCalibration struct {
	flips   []float64
	invalid float64
}

func (s *consistencyCalibration) flags(c *cobra.Command) {
	c.Flags().Float64SliceVar(&s.flips, "flip", []float64{0.2},
		"consistency: probability that the answer in another sense has another class, 0 to 1")
	c.Flags().Float64Var(&s.invalid, "invalid", 0.01, "consistency: probability that an answer is invalid, 0 to 1")
}

func (s *consistencyCalibration) calibrate(c *cobra.Command, all calibrating) (results []calibrate.Result, err error) {
	if len(s.flips) == 0 {
		return nil, fmt.Errorf("--flip is empty; expected numbers from 0 to 1")
	}
	tasks, err := suite.Load("consistency")
	if err != nil {
		return nil, err
	}
	tasks.Tasks = tasks.Tasks[:1] // the model answers every task in the same way
	items := slices.DeleteFunc(tasks.Items.List(), func(item crosstalk.Item) bool { return item.Input.Task != tasks.Tasks[0].Name })
	in := consistency.Instrument{Protocol: consistency.Protocols[0], Tasks: tasks.Tasks, Samples: all.samples, Condition: map[string]string{},
		Senses: consistency.Senses{From: []string{tasks.Language}, To: []string{"de"}}}
	for _, flip := range s.flips {
		of, err := calibrate.Consistency(c.Context(), in, items, reference.Inconsistency{Flip: flip, Invalid: s.invalid, Wrong: 0.2}, all.seeds)
		if err != nil {
			return nil, err
		}
		results = append(results, of...)
	}
	return results, nil
}
