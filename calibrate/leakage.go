// Package calibrate measures models whose truth is known, as a phantom shows
// what a scanner sees: the figures beside the truth, and how often the
// intervals hold it.
package calibrate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/instrument/leakage"
	"crosstalk/measure/similarity"
	"crosstalk/measure/stats"
	"crosstalk/model/reference"
	"crosstalk/run"

	"golang.org/x/sync/errgroup"
)

// Result is a calibration of one figure at one setting of the reference model.
type Result struct {
	Measure   string             `json:"measure"`
	Model     string             `json:"model"`
	Truth     float64            `json:"truth"`    // expectation under the model and the measure, by enumeration
	Estimate  crosstalk.Estimate `json:"estimate"` // of the first seed
	Seeds     int                `json:"seeds"`
	Mean      float64            `json:"mean"`     // of the figure over the seeds that have one
	Coverage  float64            `json:"coverage"` // share of seeds whose interval holds the truth; one without an interval does not
	Certainty stats.Interval     `json:"certainty"`
	Width     float64            `json:"width"` // mean width of the intervals
}

// Leakage calibrates the Leak-Rate on items with reference:leaky at a rate,
// over seeds; in has one similarity. Each seed runs the whole way of a measurement: asks,
// journal (in memory), scores, estimate.
//
// The suite's controls are a fixed set, while the interval speaks of controls
// drawn from a population. So each seed draws as many controls as the suite
// has, with replacement, and the truth is the expectation over the suite: the
// suite plays the population.
func Leakage(ctx context.Context, in leakage.Instrument, items []crosstalk.Item, rate float64, seeds int) (Result, error) {
	if seeds < 1 || len(in.Similarities) != 1 {
		return Result{}, fmt.Errorf("a calibration needs a seed and one similarity, not %d and %d", seeds, len(in.Similarities))
	}
	in.Similarities = []similarity.Similarity{similarity.Memo(in.Similarities[0])}
	in.Prompting.API = crosstalk.Completions
	model, err := reference.NewLeaky(items, rate, 1)
	if err != nil {
		return Result{}, err
	}
	result := Result{Measure: leakage.Measure, Model: fmt.Sprintf("%s:leaky?rate=%g", reference.Provider, rate), Seeds: seeds}
	if result.Truth, err = leakageTruth(ctx, in, items, model); err != nil {
		return result, err
	}
	if math.IsNaN(result.Truth) {
		return result, fmt.Errorf("%s can score no pair of the suite: it may be made for another language", in.Similarities[0].Name())
	}
	estimates := make([]crosstalk.Estimate, seeds)
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for seed := range seeds {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			var err error
			estimates[seed], err = measure(ctx, &in, draw(items, uint64(seed)), rate, uint64(seed))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return result, err
	}
	covered, defined, intervals := 0, 0, 0
	for _, e := range estimates {
		if e.Value.Defined() {
			result.Mean += float64(e.Value)
			defined++
		}
		if i := e.Interval; i != nil {
			result.Width += i.High - i.Low
			intervals++
			if i.Low <= result.Truth && result.Truth <= i.High {
				covered++
			}
		}
	}
	result.Mean /= float64(max(defined, 1))
	result.Width /= float64(max(intervals, 1))
	result.Estimate = estimates[0]
	result.Coverage = float64(covered) / float64(seeds)
	result.Certainty = stats.ClopperPearson(float64(covered), float64(seeds), 0.99)
	return result, nil
}

// draw draws as many controls, with all their tests, as items have, with
// replacement, and returns the first copies, the second copies, and so on.
// Copies have names of their own.
func draw(items []crosstalk.Item, seed uint64) [][]crosstalk.Item {
	clusters := map[string][]crosstalk.Item{}
	var names []string
	for _, item := range items {
		if clusters[item.Cluster] == nil {
			names = append(names, item.Cluster)
		}
		clusters[item.Cluster] = append(clusters[item.Cluster], item)
	}
	r := rand.New(rand.NewPCG(seed, 0))
	var copies [][]crosstalk.Item
	times := map[string]int{}
	for range names {
		name := names[r.IntN(len(names))]
		k := times[name]
		times[name]++
		if k == len(copies) {
			copies = append(copies, nil)
		}
		for _, item := range clusters[name] {
			item.ID = fmt.Sprintf("%s#%d", item.ID, k)
			item.Cluster = fmt.Sprintf("%s#%d", item.Cluster, k)
			copies[k] = append(copies[k], item)
		}
	}
	return copies
}

// measure measures items; each list of copies is answered by a model of its
// own seed, so that a control drawn twice is answered twice.
func measure(ctx context.Context, in *leakage.Instrument, copies [][]crosstalk.Item, rate float64, seed uint64) (crosstalk.Estimate, error) {
	var failed error
	observe := func(yield func(crosstalk.Observation) bool) {
		for k, items := range copies {
			m, err := reference.NewLeaky(items, rate, seed<<8+uint64(k))
			if err != nil {
				failed = err
				return
			}
			session := ask.NewSession(&ask.Memory{}, ask.Options{})
			for measured := range run.Measure(ctx, []run.Arm{{Instrument: in, Ask: session.For(m)}}, items, 4) {
				if failed = measured.Err; failed != nil {
					return
				}
				for _, o := range measured.Observations {
					if !yield(o) {
						return
					}
				}
			}
		}
	}
	estimates := in.Estimate(observe, nil)
	if failed != nil || len(estimates) == 0 {
		return crosstalk.Estimate{Value: crosstalk.Undefined}, failed
	}
	return estimates[0], nil
}

// leakageTruth is the expected Leak-Rate: for each item the leak value over
// all answers to its two prompts, weighted by their probabilities. Pairs that
// the similarity cannot score weigh nothing, as in a measurement.
func leakageTruth(ctx context.Context, in leakage.Instrument, items []crosstalk.Item, m *reference.Leaky) (float64, error) {
	var sum, weight float64
	for _, item := range items {
		for _, test := range m.Outcomes(item.Pair.Test) {
			for _, control := range m.Outcomes(item.Pair.Control) {
				observations, err := in.Score(ctx, item, 0, answer(test.Text), answer(control.Text))
				if err != nil {
					return 0, err
				}
				if o := observations[0]; o.NotScored == "" {
					sum += test.P * control.P * float64(o.Value)
					weight += test.P * control.P
				}
			}
		}
	}
	if weight == 0 {
		return math.NaN(), nil
	}
	return sum / weight, nil
}

func answer(text string) []crosstalk.Answer {
	return []crosstalk.Answer{{Status: crosstalk.Text, Text: text}}
}
