package calibrate

import (
	"context"
	"slices"

	"crosstalk"
	"crosstalk/instrument/confusion"
	"crosstalk/instrument/consistency"
	"crosstalk/instrument/leakage"
	"crosstalk/measure/langid/embedded"
	"crosstalk/measure/wordlist"
	"crosstalk/model/reference"
	"crosstalk/study"
	"crosstalk/study/similarities"
	"crosstalk/suite"
)

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

// crosslingualLanguages are the languages of the cross-lingual prompts. Five are enough to check that a prompt asked in
// several languages is one cluster, and take half the time of all.
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
	in := confusion.Instrument{Protocol: confusion.Protocols[0], Identifier: embedded.Identifier(),
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
