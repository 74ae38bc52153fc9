package calibrate

import (
	"context"
	"slices"

	"crosstalk"
	"crosstalk/instrument/confusion"
	"crosstalk/instrument/consistency"
	"crosstalk/instrument/leakage"
	"crosstalk/measure/similarity"
	"crosstalk/measure/wordlist"
	"crosstalk/model/reference"
	"crosstalk/study"
	"crosstalk/study/similarities"
	"crosstalk/suite"
)

// Settings are those of the calibration of an instrument.
type Settings interface {
	// Calibrate measures each of the reference models that the settings describe once
	// for each seed, with this many answers per prompt. Both are at least 1.
	Calibrate(ctx context.Context, seeds, samples int) ([]Result, error)
}

// LeakageSettings are those of Leakage, for all pairs of a similarity and a rate. Of the
// study, one protocol, the similarities and the suite count.
type LeakageSettings struct {
	study.Leakage
	Rates   []float64 // probabilities of a leak, 0 to 1
	Copying float64   // probability of copying the text around the prompt, 0 to 1; only for suites with such texts
}

// Calibrate implements Settings.
func (l LeakageSettings) Calibrate(ctx context.Context, seeds, samples int) (results []Result, err error) {
	if len(l.Rates) == 0 {
		return nil, crosstalk.BadOption("rate", " is empty; expected numbers from 0 to 1")
	}
	s, err := suite.LoadFor("leakage", l.Suite)
	if err != nil {
		return nil, err
	}
	rules, err := study.Suited(l.Options, s).Resolve()
	if err != nil {
		return nil, err
	}
	if len(rules) > 1 {
		return nil, crosstalk.BadOption("protocol", " names %d protocols; expected one", len(rules))
	}
	if !s.InContext() {
		l.Copying = 0
	}
	if err := similarities.CheckGloss(l.Similarities, s.Name, s.Languages()); err != nil {
		return nil, err
	}
	env := similarities.NewEnv()
	env.Programs(nil, l.ExecEnv)
	list, err := similarities.OpenAll(similarities.ForProtocol(rules[0].Name, l.Similarities), study.LanguageOf(s.Items),
		env)
	if err != nil {
		return nil, err
	}
	for _, sim := range list {
		in := leakage.Instrument{Protocol: rules[0], Similarities: []similarity.Similarity{sim}, Samples: samples,
			Condition: map[string]string{}}
		for _, rate := range l.Rates {
			of, err := Leakage(ctx, in, s.Items.List(), Leaky{Rate: rate, Copying: l.Copying}, seeds)
			if err != nil {
				return nil, err
			}
			results = append(results, of...)
		}
	}
	return results, nil
}

// ConfusionSettings are those of Confusion under the default protocol, for all pairs of
// probabilities that a line is in another language and that it has words of one.
type ConfusionSettings struct {
	Lines, Words []float64 // 0 to 1
	Mask, Short  float64   // as in reference.Confusion
	Identifier   string    // as in study.OpenIdentifier
}

// crosslingualLanguages are the languages of the cross-lingual prompts. Five
// are enough to check that a prompt asked in several languages is one cluster,
// and take half the time of all.
var crosslingualLanguages = []string{"de", "fr", "ko", "ru", "zh"}

// Calibrate implements Settings.
func (c ConfusionSettings) Calibrate(ctx context.Context, seeds, samples int) (results []Result, err error) {
	for option, values := range map[string][]float64{"line": c.Lines, "word": c.Words} {
		if len(values) == 0 {
			return nil, crosstalk.BadOption(option, " is empty; expected numbers from 0 to 1")
		}
	}
	s, err := suite.Load("confusion")
	if err != nil {
		return nil, err
	}
	identifier, err := study.OpenIdentifier(c.Identifier)
	if err != nil {
		return nil, err
	}
	items := slices.DeleteFunc(s.Items.List(), func(item crosstalk.Item) bool {
		return item.Labels["task"] == "crosslingual" && !slices.Contains(crosslingualLanguages, item.Prompt.Language)
	})
	in := confusion.Instrument{Protocol: confusion.Protocols[0], Identifier: identifier, Words: wordlist.English(),
		Samples: samples, Condition: map[string]string{}}
	for _, line := range c.Lines {
		for _, word := range c.Words {
			of, err := Confusion(ctx, in, items, reference.Confusion{Line: line, Word: word, Mask: c.Mask, Short: c.Short},
				seeds)
			if err != nil {
				return nil, err
			}
			results = append(results, of...)
		}
	}
	return results, nil
}

// ConsistencySettings are those of Consistency under the default protocol.
type ConsistencySettings struct {
	Flips   []float64 // probabilities that the answer in another sense has another class, 0 to 1
	Invalid float64   // probability that an answer is invalid, 0 to 1
}

// Calibrate implements Settings.
func (c ConsistencySettings) Calibrate(ctx context.Context, seeds, samples int) (results []Result, err error) {
	if len(c.Flips) == 0 {
		return nil, crosstalk.BadOption("flip", " is empty; expected numbers from 0 to 1")
	}
	tasks, err := suite.Load("consistency")
	if err != nil {
		return nil, err
	}
	tasks.Tasks = tasks.Tasks[:1] // the model answers every task in the same way
	items := slices.DeleteFunc(tasks.Items.List(),
		func(item crosstalk.Item) bool { return item.Input.Task != tasks.Tasks[0].Name })
	in := consistency.Instrument{Protocol: consistency.Protocols[0], Tasks: tasks.Tasks, Samples: samples,
		Condition: map[string]string{},
		Senses:    consistency.Senses{From: []string{tasks.Language}, To: []string{"de"}}}
	for _, flip := range c.Flips {
		of, err := Consistency(ctx, in, items, reference.Inconsistency{Flip: flip, Invalid: c.Invalid, Wrong: 0.2}, seeds)
		if err != nil {
			return nil, err
		}
		results = append(results, of...)
	}
	return results, nil
}
