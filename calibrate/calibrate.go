// Package calibrate measures models whose truth is known, as a phantom calibrates a scanner: it compares figures with
// the truth and counts how often the intervals cover it.
package calibrate

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"sync/atomic"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/internal/statusline"
	"crosstalk/measure/stats"
	"crosstalk/study"
	"crosstalk/suite"

	"golang.org/x/sync/errgroup"
)

// Result is a calibration of one figure at one setting of the reference model.
type Result struct {
	Measure   string             `json:"measure"`
	Model     string             `json:"model"`
	Truth     float64            `json:"truth"`    // expectation under the model and the measure, by enumeration
	Estimate  crosstalk.Estimate `json:"estimate"` // of the first seed
	Seeds     int                `json:"seeds"`
	Mean      float64            `json:"mean"`     // of the figure over the seeds with a defined figure
	Coverage  float64            `json:"coverage"` // share of seeds with an interval that covers the truth
	Certainty stats.Interval     `json:"certainty"`
	Width     float64            `json:"width"` // mean width of the intervals
}

// seedKey is the key of a function in a context, which calibrations call after the
// measurement of each seed, from several goroutines.
type seedKey struct{}

// Show returns a context with which calibrations show on w, if it is a terminal,
// which of the seeds of each model is measured, until stop.
func Show(ctx context.Context, w io.Writer, instrument string, seeds int) (_ context.Context, stop func()) {
	line := statusline.New(w)
	if !line.Terminal() {
		return ctx, func() {}
	}
	var n atomic.Int64
	return context.WithValue(ctx, seedKey{}, func() { n.Add(1) }), line.Repeat(func() {
		if n := int(n.Load()); n > 0 {
			line.Show(fmt.Sprintf("%s: seed %d of %d", instrument, (n-1)%seeds+1, seeds))
		}
	})
}

// calibration is how the figures of an instrument are compared with the truth.
type calibration struct {
	in      crosstalk.Instrument
	rules   crosstalk.Rules
	results []Result // with measure, model and truth, and in the estimate the figure's columns

	// sittings are the models of a seed, each with its items.
	sittings func(seed uint64) ([]sitting, error)
}

// sitting is a part of a measurement: the items for one model.
type sitting struct {
	model crosstalk.Model
	items []crosstalk.Item
}

// run measures once for each seed and fills in the results.
func (c calibration) run(ctx context.Context, seeds int) ([]Result, error) {
	estimates := make([][]crosstalk.Estimate, seeds)
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for seed := range seeds {
		group.Go(func() (err error) {
			if err = ctx.Err(); err == nil {
				estimates[seed], err = c.measure(ctx, uint64(seed))
			}
			if done, ok := ctx.Value(seedKey{}).(func()); ok {
				done()
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

// measure measures the sittings of a seed as one run, with the journal in memory. It
// returns a figure for each result; what is missing is undefined.
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
			r.Width += i.High - i.Low
			intervals++
			if i.Low <= r.Truth && r.Truth <= i.High {
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
