package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/guard"
	"crosstalk/instrument/confusion"
	"crosstalk/instrument/consistency"
	"crosstalk/instrument/leakage"
	"crosstalk/internal/numbers"
	"crosstalk/measure/langid/embedded"
	"crosstalk/measure/stats"
	"crosstalk/measure/wordlist"
	"crosstalk/model/reference"
	"crosstalk/report"
	"crosstalk/study"
	"crosstalk/study/similarities"
	"crosstalk/suite"

	"golang.org/x/sync/errgroup"
)

// Result is a calibration of one figure at one setting of the reference model.
type Result struct {
	Measure   string
	Model     string
	Truth     float64            // expectation under the model and the measure, by enumeration
	Estimate  crosstalk.Estimate // for the first seed
	Seeds     int
	Mean      float64 // mean of the figure over the seeds where it is defined
	Coverage  float64 // share of seeds with an interval that covers the truth
	Certainty stats.Interval
	Width     float64 // mean width of the intervals
}

// calibration defines how the figures of an instrument are compared with the truth.
type calibration struct {
	in      crosstalk.Instrument
	rules   crosstalk.Rules
	results []Result // with measure, model and truth, and an estimate that has only the figure's columns

	// sittings returns the models for a seed, each with its items.
	sittings func(seed uint64) ([]sitting, error)
}

// sitting is a part of a measurement: one model with its items.
type sitting struct {
	model crosstalk.Model
	items []crosstalk.Item
}

// run makes one measurement for each seed and fills in the results.
func (c calibration) run(ctx context.Context, seeds int) ([]Result, error) {
	estimates := make([][]crosstalk.Estimate, seeds)
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for seed := range seeds {
		group.Go(func() (err error) {
			if err = ctx.Err(); err == nil {
				estimates[seed], err = c.measure(ctx, uint64(seed))
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for i := range c.results {
		of := make([]crosstalk.Estimate, seeds)
		for seed := range seeds {
			of[seed] = estimates[seed][i]
		}
		c.results[i].sum(of)
	}
	return c.results, nil
}

// measure measures the sittings of a seed as one run, with the journal in memory. It returns a figure for each result;
// missing figures are undefined.
func (c calibration) measure(ctx context.Context, seed uint64) ([]crosstalk.Estimate, error) {
	sittings, err := c.sittings(seed)
	if err != nil {
		return nil, err
	}
	estimator := c.rules.Estimator(nil)
	for _, s := range sittings {
		arm := study.Arm{Instrument: c.in, Ask: ask.NewSession(&ask.Memory{}, ask.Options{}).For(s.model)}
		for measured := range study.Measure(ctx, []study.Arm{arm}, suite.ItemsOf(s.items...), 4) {
			if measured.Err != nil {
				return nil, measured.Err
			}
			for _, o := range measured.Observations {
				estimator.Add(o)
			}
		}
	}
	ordered := make([]crosstalk.Estimate, len(c.results))
	estimates := estimator.Estimates(crosstalk.SuiteIDs{})
	for i, r := range c.results {
		ordered[i].Value = crosstalk.Undefined
		for _, e := range estimates {
			if e.Measure == r.Measure && crosstalk.HasAll(e.By, r.Estimate.By) {
				ordered[i] = e
			}
		}
	}
	return ordered, nil
}

func (r *Result) sum(estimates []crosstalk.Estimate) {
	covered, defined, intervals := 0, 0, 0
	for _, e := range estimates {
		if e.Value.Defined() {
			r.Mean += float64(e.Value)
			defined++
		}
		if i := e.Interval; i != nil {
			r.Width += i.Width()
			intervals++
			if i.Contains(r.Truth) {
				covered++
			}
		}
	}
	r.Mean /= float64(max(defined, 1))
	r.Width /= float64(max(intervals, 1))
	r.Estimate, r.Seeds = estimates[0], len(estimates)
	r.Coverage = float64(covered) / float64(r.Seeds)
	r.Certainty = stats.ClopperPearson(float64(covered), float64(r.Seeds), 0.99)
}

// Settings sets up a calibration: of each reference model, once for each seed.
type Settings struct {
	Rates          []float64 // probabilities of a fault, 0 to 1; nil: the instrument's default
	Suite          string    // leakage: an embedded suite or a file
	Similarity     string    // leakage: as in similarities.Open
	Seeds, Samples int       // Samples are the answers per prompt; both are at least 1
}

func (s Settings) each(byDefault float64, one func(rate float64) ([]Result, error)) (results []Result, err error) {
	switch {
	case s.Rates == nil:
		s.Rates = []float64{byDefault}
	case len(s.Rates) == 0:
		return nil, crosstalk.BadOption("rate", " is empty; expected numbers from 0 to 1")
	}
	for _, rate := range s.Rates {
		of, err := one(rate)
		if err != nil {
			return nil, err
		}
		results = append(results, of...)
	}
	return results, nil
}

// Leakage calibrates the default protocol of leakage. A rate is the probability of a leak.
func Leakage(ctx context.Context, s Settings) ([]Result, error) {
	of, err := suite.LoadFor("leakage", s.Suite)
	if err != nil {
		return nil, err
	}
	rules, err := study.Suited(leakage.Options{}, of).Resolve()
	if err != nil {
		return nil, err
	}
	names := []string{s.Similarity}
	if err := similarities.CheckGloss(names, of.Name, of.Languages()); err != nil {
		return nil, err
	}
	list, err := similarities.OpenAll(names, study.LanguageOf(of), similarities.NewEnv())
	if err != nil {
		return nil, err
	}
	in := leakage.Instrument{Protocol: rules[0], Similarities: list, Samples: s.Samples, Condition: map[string]string{}}
	copying := 0.0
	if of.InContext() {
		copying = 0.2
	}
	return s.each(0.6, func(rate float64) ([]Result, error) {
		return coverLeakage(ctx, in, of.Items.List(), rate, copying, s.Seeds)
	})
}

// crosslingualLanguages are languages of the cross-lingual prompts. Five are enough to check that a prompt in several
// languages is one cluster, and take half as long as all of them.
var crosslingualLanguages = []string{"de", "fr", "ko", "ru", "zh"}

// Confusion calibrates the default protocol of confusion. A rate is the probability that a line is in another language.
func Confusion(ctx context.Context, s Settings) ([]Result, error) {
	prompts, err := suite.Load("confusion")
	if err != nil {
		return nil, err
	}
	items := slices.DeleteFunc(prompts.Items.List(), func(item crosstalk.Item) bool {
		return item.Labels["task"] == "crosslingual" && !slices.Contains(crosslingualLanguages, item.Prompt.Language)
	})
	in := confusion.Instrument{Protocol: confusion.Protocols[0], Identifier: embedded.Identifier(), Judge: guard.Checker{},
		Words: wordlist.English(), Samples: s.Samples, Condition: map[string]string{}}
	return s.each(0.1, func(rate float64) ([]Result, error) {
		return coverConfusion(ctx, in, items, reference.Confusion{Line: rate, Word: 0.05, Mask: 0.1, Short: 0.1}, s.Seeds)
	})
}

// Consistency calibrates the default protocol of consistency. A rate is the probability
// that the answer in another sense has another class.
func Consistency(ctx context.Context, s Settings) ([]Result, error) {
	tasks, err := suite.Load("consistency")
	if err != nil {
		return nil, err
	}
	tasks.Tasks = tasks.Tasks[:1] // the model answers every task in the same way
	items := slices.DeleteFunc(tasks.Items.List(), func(item crosstalk.Item) bool {
		return item.Input.Task != tasks.Tasks[0].Name
	})
	in := consistency.Instrument{Protocol: consistency.Protocols[0], Tasks: tasks.Tasks, Samples: s.Samples,
		Condition: map[string]string{},
		Senses:    consistency.Senses{From: []string{tasks.Language}, To: []string{"de"}}}
	return s.each(0.2, func(rate float64) ([]Result, error) {
		return coverConsistency(ctx, in, items, reference.Inconsistency{Flip: rate, Invalid: 0.01, Wrong: 0.2}, s.Seeds)
	})
}

// calibrated is the range required of a 95 % interval's coverage, within the seeds' random error.
var calibrated = [2]float64{0.93, 0.97}

// Verdict returns an error if an interval's coverage is significantly too low or too high.
func Verdict(results []Result) error {
	for _, r := range results {
		if r.Certainty.High < calibrated[0] || r.Certainty.Low > calibrated[1] {
			return fmt.Errorf("%s: the 95 %% interval of %s covers the truth in %.1f %% of %d seeds; expected 93 to 97 %%",
				r.Model, r.Measure, 100*r.Coverage, r.Seeds)
		}
	}
	return nil
}

// write writes results as a table.
func write(w io.Writer, results []Result) error {
	rows := [][]string{{"model", "measure", "of", "truth %", "measured %", "95 % interval", "mean %", "seeds",
		"coverage %",
		"mean width"}}
	for _, r := range results {
		e := r.Estimate
		interval := "-"
		if e.Interval != nil {
			low, high := crosstalk.Value(e.Interval.Low), crosstalk.Value(e.Interval.High)
			interval = numbers.Percent(low) + " to " + numbers.Percent(high)
		}
		rows = append(rows, []string{r.Model, r.Measure, cmp.Or(e.By["similarity"], e.By["task"], "-"),
			numbers.Percent(crosstalk.Value(r.Truth)), numbers.Percent(e.Value), interval,
			numbers.Percent(crosstalk.Value(r.Mean)), strconv.Itoa(r.Seeds), numbers.Percent(crosstalk.Value(r.Coverage)),
			numbers.Percent(crosstalk.Value(r.Width))})
	}
	return report.WriteRows(w, rows, 3)
}
