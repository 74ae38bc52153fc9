package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"crosstalk"
	"crosstalk/instrument/confusion"
	"crosstalk/instrument/consistency"
	"crosstalk/instrument/leakage"
	"crosstalk/internal/ordered"
	"crosstalk/measure/langid"
	"crosstalk/measure/similarity"
	"crosstalk/model/reference"
)

// coverLeakage calibrates the Leak-Rate on items with reference:leaky, over seeds. The model leaks with probability
// rate and copies the text around the prompt with probability copying; in has one similarity. If in's protocol scores
// sentences, their Leak-Rates are calibrated too, and for context leakage the copying rates, unless they are 0 and so
// in every interval. Each seed is a complete measurement: asks, journal (in memory), scores, estimate.
//
// The suite's controls are a fixed set, but the interval is for controls drawn from a population. So each seed draws as
// many controls as the suite has, with replacement, and the truth is the expectation over the suite.
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
		if i == 0 || t.sum != 0 { // the interval of an impossible event always covers it
			results = append(results, Result{Measure: t.measure, Model: name, Truth: t.sum / t.n})
		}
	}
	c := calibration{in: &in, rules: in.Rules(), results: results, sittings: func(seed uint64) (s []sitting, err error) {
		// Each list of copies gets a model with another seed, so a control drawn twice is answered twice.
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

// draw draws as many controls, each with all its tests, as items has, with replacement. It returns the first copies,
// the second copies, and so on. Copies have distinct names.
func draw(items []crosstalk.Item, seed uint64) [][]crosstalk.Item {
	clusters := ordered.Groups(items, func(item crosstalk.Item) string { return item.Cluster })
	r := rand.New(rand.NewPCG(seed, 0))
	var copies [][]crosstalk.Item
	times := make([]int, len(clusters))
	for range clusters {
		drawn := r.IntN(len(clusters))
		k := times[drawn]
		times[drawn]++
		if k == len(copies) {
			copies = append(copies, nil)
		}
		for _, item := range clusters[drawn] {
			item.ID = fmt.Sprintf("%s#%d", item.ID, k)
			item.Cluster = fmt.Sprintf("%s#%d", item.Cluster, k)
			copies[k] = append(copies[k], item)
		}
	}
	return copies
}

// truth is the expected value of a measure.
type truth struct {
	measure string
	mean
}

// leakageTruths returns the expected values of the measures, the Leak-Rate first: for each item the value over all
// answers to its two prompts, weighted by their probabilities. Pairs that cannot be scored have no weight, as in a
// measurement.
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

// coverConfusion calibrates LPR and WPR of each task on items with reference:confused over seeds. Each seed is a
// complete measurement: asks, journal (in memory), scores, averages over languages and sources.
//
// The model answers all prompts in a language alike, so the suite's prompts can be treated as a sample of a population.
// The truth is the mean over its languages of the instrument's verdicts on the model's lines and short replies.
func coverConfusion(ctx context.Context, in confusion.Instrument, items []crosstalk.Item, of reference.Confusion,
	seeds int) ([]Result, error) {
	in.Identifier = &memo{Identifier: in.Identifier}
	in.Prompting.API = crosstalk.Chat
	model, err := reference.NewConfused(items, of, 1)
	if err != nil {
		return nil, err
	}
	results := confusionTruth(&in, items, model)
	name := fmt.Sprintf("%s:confused?%s", reference.Provider, of)
	for i := range results {
		results[i].Model = name
	}
	c := calibration{in: &in, rules: in.Rules(), results: results, sittings: func(seed uint64) ([]sitting, error) {
		m, err := reference.NewConfused(items, of, seed)
		return []sitting{{m, items}}, err
	}}
	return c.run(ctx, seeds)
}

// confusionTruth returns the expected LPR and WPR of each task of the items, averaged over its languages, as results
// whose estimates have only the task. Languages in which nothing can be measured are excluded, as in a measurement.
func confusionTruth(in *confusion.Instrument, items []crosstalk.Item, m *reference.Confused) (results []Result) {
	for _, of := range ordered.Groups(items, func(item crosstalk.Item) string { return item.Labels["task"] }) {
		languages := ordered.Distinct(of, func(item crosstalk.Item) string { return item.Prompt.Language })
		slices.Sort(languages)
		var lpr, wpr mean
		for _, language := range languages {
			ofLines, ofWords := answerRates(in, m, language)
			lpr.add(ofLines, 1)
			wpr.add(ofWords, 1)
		}
		for _, figure := range []struct {
			measure string
			mean
		}{{confusion.LPR, lpr}, {confusion.WPR, wpr}} {
			if figure.n > 0 {
				results = append(results, Result{Measure: figure.measure, Truth: figure.sum / figure.n,
					Estimate: crosstalk.Estimate{By: map[string]string{"task": of[0].Labels["task"]}}})
			}
		}
	}
	return results
}

// mean is the weighted mean of the defined numbers.
type mean struct{ sum, n float64 }

func (m *mean) add(v, weight float64) {
	if !math.IsNaN(v) {
		m.sum += weight * v
		m.n += weight
	}
}

// faults are the probabilities that a text cannot be identified, has a wrong line, and has wrong words but no wrong
// line.
type faults struct{ unclear, line, word float64 }

func ratesOf(in *confusion.Instrument, language string, outcomes []reference.Line) (r faults, hasWords bool) {
	item := crosstalk.Item{ID: language, Prompt: &crosstalk.Prompt{Language: language}}
	for _, text := range outcomes {
		observed := map[string]crosstalk.Observation{}
		for _, o := range in.Score(item, 0, crosstalk.Answer{Status: crosstalk.Text, Text: text.Text}) {
			observed[o.Measure] = o
		}
		words, has := observed[confusion.WPR]
		hasWords = hasWords || has
		switch lines := observed[confusion.LPR]; {
		case lines.NotScored != "":
			r.unclear += text.P
		case lines.Value == 0:
			r.line += text.P
		case has && words.Value == 0:
			r.word += text.P
		}
	}
	return r, hasWords
}

// answerRates returns the probabilities that an answer in the language has no wrong line, given that it can be
// identified, and that it has no wrong word, given no wrong line; NaN if undefined. Lines are judged one by one and are
// independent, so the lines' rates determine them.
func answerRates(in *confusion.Instrument, m *reference.Confused, language string) (lpr, wpr float64) {
	short, hasWords := ratesOf(in, language, m.Replies(language))
	// Shares of answers that can be identified, that also have no wrong line, and that also have no wrong word.
	checked, passed, clean := m.Short*(1-short.unclear), m.Short*(1-short.unclear-short.line),
		m.Short*(1-short.unclear-short.line-short.word)
	notWrong, notFaulty, unclear := 1.0, 1.0, 1.0
	for place := range reference.MaxLines {
		line, _ := ratesOf(in, language, m.Lines(language, place))
		notWrong *= 1 - line.line
		notFaulty *= 1 - line.line - line.word
		unclear *= line.unclear
		share := (1 - m.Short) / reference.MaxLines
		checked += share * (1 - unclear)
		passed += share * (notWrong - unclear)
		clean += share * (notFaulty - unclear)
	}
	lpr, wpr = math.NaN(), math.NaN()
	const rounding = 1e-9
	if checked > rounding {
		lpr = passed / checked
	}
	if hasWords && passed > rounding {
		wpr = clean / passed
	}
	return lpr, wpr
}

// memo caches the identification of each text.
type memo struct {
	langid.Identifier
	guesses sync.Map
}

func (m *memo) Identify(text string) langid.Guess {
	if guess, known := m.guesses.Load(text); known {
		return guess.(langid.Guess)
	}
	guess := m.Identifier.Identify(text)
	m.guesses.Store(text, guess)
	return guess
}

// coverConsistency calibrates the consistency of whole tasks (T), their accuracy in the new sense, and its change, on
// items with reference:inconsistent, over seeds. Each seed is a complete measurement: rewriting, answering in both
// senses, journal (in memory), reading, figures.
//
// The model answers all items alike, so the suite's items can be treated as a sample of a population. in has one source
// language and one sense.
func coverConsistency(ctx context.Context, in consistency.Instrument, items []crosstalk.Item,
	truth reference.Inconsistency, seeds int) ([]Result, error) {
	in.Senses.Parts = []consistency.Part{consistency.Both}
	in.Prompting.API, in.Rewriting.Prompting.API = crosstalk.Chat, crosstalk.Chat
	sense := consistency.Sense(in.Senses.From[0]).To(in.Senses.To[0])
	name := fmt.Sprintf("%s:inconsistent?flip=%g&invalid=%g&wrong=%g", reference.Provider, truth.Flip, truth.Invalid,
		truth.Wrong)
	valid, same := 1-truth.Invalid, 1-truth.Flip
	consistent := same
	if in.Protocol.InvalidIsClass {
		consistent = truth.Invalid*truth.Invalid + valid*valid*same
	}
	source := valid * (1 - truth.Wrong)
	var results []Result
	for _, task := range in.Tasks {
		by := map[string]string{"task": task.Name, "pair": string(sense), "part": string(consistency.Both)}
		// A wrong answer that flips becomes correct by chance.
		right := valid * ((1-truth.Wrong)*same + truth.Wrong*truth.Flip/float64(len(task.Classes)-1))
		for _, r := range []Result{{Measure: consistency.Consistency, Truth: consistent},
			{Measure: consistency.Accuracy, Truth: right}, {Measure: consistency.AccuracyChange, Truth: right - source}} {
			r.Model, r.Estimate.By = name, by
			results = append(results, r)
		}
	}
	c := calibration{in: &in, rules: in.Rules(), results: results,
		sittings: func(seed uint64) ([]sitting, error) {
			m, err := reference.NewInconsistent(in.Tasks, items, truth, seed)
			return []sitting{{m, items}}, err
		}}
	return c.run(ctx, seeds)
}
