package calibrate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"crosstalk"
	"crosstalk/instrument/leakage"
	"crosstalk/measure/similarity"
	"crosstalk/model/reference"
)

// Leakage calibrates the Leak-Rate on items with reference:leaky at a rate,
// over seeds; in has one similarity. Each seed is a complete measurement: asks,
// journal (in memory), scores, estimate.
//
// The suite's controls are a fixed set, but the interval is about controls
// drawn from a population. Each seed therefore draws as many controls as the
// suite has, with replacement, and the truth is the expectation over the suite:
// the suite acts as the population.
func Leakage(ctx context.Context, in leakage.Instrument, items []crosstalk.Item, rate float64, seeds int) (Result, error) {
	if seeds < 1 || len(in.Similarities) != 1 {
		return Result{}, fmt.Errorf("expected at least one seed and exactly one similarity, got %d and %d", seeds, len(in.Similarities))
	}
	in.Similarities = []similarity.Similarity{similarity.Cached(in.Similarities[0], similarity.NewMemoryCache(256<<20))}
	in.Prompting.API = crosstalk.Completions
	model, err := reference.NewLeaky(items, rate, 1)
	if err != nil {
		return Result{}, err
	}
	result := Result{Measure: leakage.Measure, Model: fmt.Sprintf("%s:leaky?rate=%g", reference.Provider, rate)}
	if result.Truth, err = leakageTruth(ctx, in, items, model); err != nil {
		return result, err
	}
	if math.IsNaN(result.Truth) {
		return result, fmt.Errorf("%s cannot score any pair of the suite; it may be for another language", in.Similarities[0].Name())
	}
	results := []Result{result}
	err = cover(ctx, results, seeds, func(seed uint64) ([]crosstalk.Estimate, error) {
		// Each list of copies gets a model with another seed, so that a
		// control drawn twice is answered twice.
		var sittings []sitting
		for k, copies := range draw(items, seed) {
			m, err := reference.NewLeaky(copies, rate, seed<<8+uint64(k))
			if err != nil {
				return nil, err
			}
			sittings = append(sittings, sitting{m, copies})
		}
		estimates, err := observe(ctx, &in, in.Rules(), sittings)
		if len(estimates) == 0 {
			estimates = []crosstalk.Estimate{{Value: crosstalk.Undefined}}
		}
		return estimates, err
	})
	return results[0], err
}

// draw draws as many controls, with all their tests, as items have, with
// replacement, and returns the first copies, the second copies, and so on.
// Copies have distinct names.
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

// leakageTruth is the expected Leak-Rate: for each item the leak value over all
// answers to its two prompts, weighted by their probabilities. Pairs that the
// similarity cannot score have no weight, as in a measurement.
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
