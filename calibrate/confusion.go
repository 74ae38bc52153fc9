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

// coverConfusion calibrates LPR and WPR of each task on items with reference:confused over seeds. Each seed is a
// complete measurement: asks, journal (in memory), scores, averages over languages and sources.
//
// The model answers all prompts in a language alike, so the suite's prompts can be treated as a sample of a population.
// The truth is the mean over its languages of what the instrument says of the model's lines and short replies.
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

// confusionTruth returns the expected LPR and WPR of each task of the items, as results whose estimates have only the
// task: the mean over its languages. Languages in which nothing can be measured are excluded, as in a measurement.
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
					Estimate: crosstalk.Estimate{By: map[string]string{"task": task}}})
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

// faults are the probabilities that a text cannot be told, that it has a wrong line,
// and that it has wrong words but no wrong line.
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

// answerRates returns the probabilities that an answer in the language has no wrong line, given that it can be told,
// and that it has no wrong word, given no wrong line; NaN if undefined. Lines are judged one by one and are
// independent, so the lines' rates determine them.
func answerRates(in *confusion.Instrument, m *reference.Confused, language string) (lpr, wpr float64) {
	short, hasWords := ratesOf(in, language, m.Replies(language))
	// Of answers: those that can be told, of them without a wrong line, of them without a wrong word.
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
