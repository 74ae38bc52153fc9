package calibrate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"crosstalk"
	"crosstalk/instrument/leakage"
	"crosstalk/measure/similarity"
	"crosstalk/model/reference"
)

// coverLeakage calibrates the Leak-Rate on items with reference:leaky, over seeds, whose probabilities of a leak
// and of copying the text around the prompt are rate and copying; in has one similarity. If in's
// protocol scores sentences, it calibrates their Leak-Rates too, and for context leakage the copying rates, unless they
// are 0 and so in every interval. Each seed is a complete measurement: asks, journal (in memory), scores, estimate.
//
// The suite's controls are a fixed set, but the interval is about controls drawn from a population. Each seed therefore
// draws as many controls as the suite has, with replacement, and the truth is the expectation over the suite: the suite
// acts as the population.
func coverLeakage(ctx context.Context, in leakage.Instrument, items []crosstalk.Item, rate, copying float64,
	seeds int) ([]Result, error) {
	in.Similarities = []similarity.Similarity{similarity.Cached(in.Similarities[0], similarity.NewMemoryCache(256<<20))}
	in.Prompting.API = crosstalk.Completions
	model, err := reference.NewLeaky(items, rate, copying, 1)
	if err != nil {
		return nil, err
	}
	truths, err := leakageTruths(ctx, in, items, model)
	if err != nil {
		return nil, err
	}
	if truths[0].n == 0 {
		return nil, fmt.Errorf("%s cannot score any pair of the suite; it may be for another language",
			in.Similarities[0].Name())
	}
	name := fmt.Sprintf("%s:leaky?rate=%g", reference.Provider, rate)
	if copying > 0 {
		name += fmt.Sprintf("&copy=%g", copying)
	}
	var results []Result
	for i, t := range truths {
		if i == 0 || t.sum != 0 { // what never happens always lies in its interval
			results = append(results, Result{Measure: t.measure, Model: name, Truth: t.sum / t.n})
		}
	}
	c := calibration{in: &in, rules: in.Rules(), results: results, sittings: func(seed uint64) (s []sitting, err error) {
		// Each list of copies gets a model with another seed, so that a control drawn twice is answered twice.
		for k, copies := range draw(items, seed) {
			m, err := reference.NewLeaky(copies, rate, copying, seed<<8+uint64(k))
			if err != nil {
				return nil, err
			}
			s = append(s, sitting{m, copies})
		}
		return s, nil
	}}
	return c.run(ctx, seeds)
}

// draw draws as many controls, with all their tests, as items have, with replacement, and returns the first copies, the
// second copies, and so on. Copies have distinct names.
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

// truth is the expectation of a measure.
type truth struct {
	measure string
	mean
}

// leakageTruths are the expectations of the measures, the Leak-Rate first: for each item the value over all answers to
// its two prompts, weighted by their probabilities. Pairs that cannot be scored have no weight, as in a measurement.
func leakageTruths(ctx context.Context, in leakage.Instrument, items []crosstalk.Item,
	m *reference.Leaky) ([]truth, error) {
	truths := []truth{{measure: leakage.Measure}}
	for _, item := range items {
		var tests, controls []crosstalk.Answer
		var weights []float64
		for _, test := range m.Outcomes(item.Pair.Test) {
			for _, control := range m.Outcomes(item.Pair.Control) {
				tests, controls = append(tests, answer(test.Text)), append(controls, answer(control.Text))
				weights = append(weights, test.P*control.P)
			}
		}
		observations, err := in.Score(ctx, item, 0, tests, controls)
		if err != nil {
			return nil, err
		}
		for _, o := range observations {
			i := slices.IndexFunc(truths, func(t truth) bool { return t.measure == o.Measure })
			if i < 0 {
				i = len(truths)
				truths = append(truths, truth{measure: o.Measure})
			}
			truths[i].add(float64(o.Value), weights[o.Sample])
		}
	}
	return truths, nil
}

func answer(text string) crosstalk.Answer {
	return crosstalk.Answer{Status: crosstalk.Text, Text: text}
}
