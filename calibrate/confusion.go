package calibrate

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"crosstalk"
	"crosstalk/instrument/confusion"
	"crosstalk/measure/langid"
	"crosstalk/model/reference"
)

// Confusion calibrates LPR and WPR of each task on items with
// reference:confused at the rates of wrong lines and words, over seeds. Each
// seed is a complete measurement: asks, journal (in memory), scores, averages
// over languages and sources.
//
// The model answers all prompts in a language alike, so the suite's prompts can
// be treated as a sample of a population. The truth is the mean over its
// languages of the result of the identifier and the word list for the model's
// lines.
func Confusion(ctx context.Context, in confusion.Instrument, items []crosstalk.Item, line, word float64, seeds int) ([]Result, error) {
	if seeds < 1 || in.Samples < 1 {
		return nil, fmt.Errorf("expected at least one seed and one sample, got %d and %d", seeds, in.Samples)
	}
	in.Identifier = &memo{Identifier: in.Identifier}
	in.Prompting.API = crosstalk.Chat
	model, err := reference.NewConfused(items, line, word, 1)
	if err != nil {
		return nil, err
	}
	results := confusionTruth(&in, items, model)
	name := fmt.Sprintf("%s:confused?line=%g&word=%g", reference.Provider, line, word)
	for i := range results {
		results[i].Model = name
	}
	err = cover(ctx, results, seeds, func(seed uint64) ([]crosstalk.Estimate, error) {
		m, err := reference.NewConfused(items, line, word, seed)
		if err != nil {
			return nil, err
		}
		estimates, err := observe(ctx, &in, in.Rules(), []sitting{{m, items}})
		ordered := make([]crosstalk.Estimate, len(results))
		for i, r := range results {
			ordered[i].Value = crosstalk.Undefined
			for _, e := range estimates {
				if e.Measure == r.Measure && e.By["task"] == r.Estimate.By["task"] {
					ordered[i] = e
				}
			}
		}
		return ordered, err
	})
	return results, err
}

// confusionTruth returns the expected LPR and WPR of each task of the items, as
// results whose estimates have only the task: the mean over its languages.
// Languages in which nothing can be measured are excluded, as in a measurement.
func confusionTruth(in *confusion.Instrument, items []crosstalk.Item, m *reference.Confused) (results []Result) {
	languages := map[string]map[string]bool{} // by task
	var tasks []string
	for _, item := range items {
		task := item.Labels["task"]
		if languages[task] == nil {
			languages[task] = map[string]bool{}
			tasks = append(tasks, task)
		}
		languages[task][item.Prompt.Language] = true
	}
	for _, task := range tasks {
		var lpr, wpr mean
		for _, language := range slices.Sorted(maps.Keys(languages[task])) {
			l, w := answerRates(in, m, language)
			lpr.add(l)
			wpr.add(w)
		}
		by := map[string]string{}
		if task != "" {
			by["task"] = task
		}
		for _, figure := range []struct {
			measure string
			mean
		}{{confusion.LPR, lpr}, {confusion.WPR, wpr}} {
			if figure.n > 0 {
				results = append(results, Result{Measure: figure.measure, Truth: figure.sum / figure.n, Estimate: crosstalk.Estimate{By: by}})
			}
		}
	}
	return results
}

// mean is the mean of the defined numbers.
type mean struct{ sum, n float64 }

func (m *mean) add(v float64) {
	if !math.IsNaN(v) {
		m.sum += v
		m.n++
	}
}

// answerRates returns the probabilities that an answer in the language has no
// wrong line, given a checked line, and that it has no wrong word, given no
// wrong line; NaN if undefined. Lines are judged one by one and are
// independent, so the rates follow from the shares of lines that are wrong,
// have wrong words, or are not checked.
func answerRates(in *confusion.Instrument, m *reference.Confused, language string) (lpr, wpr float64) {
	var checked, passed, clean float64 // answers with a checked line, of them without a wrong line, of them without a wrong word
	notWrong, notFaulty, unchecked := 1.0, 1.0, 1.0
	hasWords := false
	for place := range reference.MaxLines {
		var wrong, words, short float64 // of lines
		for _, line := range m.Lines(language, place) {
			if line.P == 0 {
				continue
			}
			item := crosstalk.Item{ID: language, Prompt: &crosstalk.Prompt{Language: language}}
			observed := map[string]crosstalk.Observation{}
			for _, o := range in.Score(item, 0, crosstalk.Answer{Status: crosstalk.Text, Text: line.Text}) {
				observed[o.Measure] = o
			}
			_, has := observed[confusion.WPR]
			hasWords = hasWords || has
			switch {
			case observed[confusion.LPR].NotScored == confusion.Unchecked:
				short += line.P
			case observed[confusion.LPR].Value == 0:
				wrong += line.P
			case has && observed[confusion.WPR].Value == 0:
				words += line.P
			}
		}
		notWrong *= 1 - wrong
		notFaulty *= 1 - wrong - words
		unchecked *= short
		checked += 1 - unchecked
		passed += notWrong - unchecked
		clean += notFaulty - unchecked
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

// memo identifies each text once.
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
