package main

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/instrument/confusion"
	"crosstalk/measure/langid"
	"crosstalk/measure/wordlist"
	"crosstalk/model/reference"
)

// byScript is an identifier that tells scripts apart and nothing else, so
// that some foreign lines are not found: the truth has to say so.
type byScript struct{}

func (byScript) Name() string { return "script" }
func (byScript) Identify(text string) langid.Guess {
	counts := map[string]int{}
	for _, r := range text {
		switch {
		case r >= 'а' && r <= 'я':
			counts["ru"]++
		case r >= 'ऀ' && r <= 'ॿ':
			counts["hi"]++
		default:
			counts["?"]++
		}
	}
	for _, language := range []string{"ru", "hi"} {
		if counts[language] > counts["?"] {
			return langid.Guess{Language: language, Probability: 1}
		}
	}
	return langid.Guess{Language: "it", Probability: 1}
}

func confusionInstrument() confusion.Instrument {
	return confusion.Instrument{Protocol: plain(), Identifier: byScript{}, Words: wordlist.English(), Samples: 1}
}

// plain are the rules of lines, with unchecked lines left out.
func plain() confusion.Protocol {
	p, _ := confusion.ProtocolNamed("lcb-script")
	p.EmptyIsOne = false
	return p
}

// asked are n prompts in Russian and in Italian.
func asked(n int) (list []crosstalk.Item) {
	for i := range n {
		for _, language := range []string{"ru", "it"} {
			id := fmt.Sprint(language, i)
			list = append(list, crosstalk.Item{ID: id, Labels: map[string]string{"task": "monolingual"},
				Prompt: &crosstalk.Prompt{Text: id, Language: language}})
		}
	}
	return list
}

// A Russian line is wrong if it is not Russian; an Italian one if it is in
// Russian or Hindi. Chinese and Japanese lines, which have no spaces, are too
// few words to be checked in either.
func TestConfusion(t *testing.T) {
	const line, seeds = 0.2, 100
	results, err := coverConfusion(bg, confusionInstrument(), asked(30), reference.Confusion{Line: line}, 1)
	if err != nil {
		t.Fatal(err)
	}
	const short = line * 2 / 14
	answers := func(line float64) float64 { // of one, two and three lines that are this, one of them checked at least
		return line + line*line + line*line*line - short - short*short - short*short*short
	}
	russian, italian := answers(1-line*12/14), answers(1-line*2/14)
	lpr := (russian + italian) / answers(1) / 2
	if len(results) != 2 || results[0].Measure != "lpr" || results[1].Measure != "wpr" ||
		math.Abs(results[0].Truth-lpr) > 1e-12 || math.Abs(results[1].Truth-1) > 1e-12 {
		t.Fatalf("results %+v, want the truths %g and 1", results, lpr)
	}
	of := reference.Confusion{Line: line, Word: 0.1, Mask: 0.1, Short: 0.1}
	if results, err = coverConfusion(bg, confusionInstrument(), asked(40), of, seeds); err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if math.Abs(r.Mean-r.Truth) > 0.02 || r.Coverage < 0.90 || r.Coverage > 0.99 ||
			!(r.Certainty.Low < r.Coverage && r.Coverage < r.Certainty.High) {
			t.Errorf("%s: truth %g, mean %g, coverage %g, certainty %v", r.Measure, r.Truth, r.Mean, r.Coverage, r.Certainty)
		}
		if !(r.Width > 0.05 && r.Width < 0.5) || r.Seeds != seeds ||
			r.Model != "reference:confused?line=0.2&word=0.1&mask=0.1&short=0.1" || r.Estimate.By["task"] != "monolingual" || r.Estimate.Clusters < 20 {
			t.Errorf("%+v", r)
		}
	}
}

// Under the paper's rules answers without a checked line pass.
func TestTruthOfUncheckedLines(t *testing.T) {
	in := confusionInstrument()
	paper, err := confusion.ProtocolNamed("lcb-paper")
	if err != nil {
		t.Fatal(err)
	}
	for p, want := range map[confusion.Protocol]float64{plain(): math.NaN(), paper: 1} {
		protocol := p.Name
		p.MinWords = 100 // no line has so many
		in.Protocol = p
		results, err := coverConfusion(bg, in, asked(2), reference.Confusion{Line: 0.2, Word: 0.1}, 1)
		if err != nil {
			t.Fatal(err)
		}
		if math.IsNaN(want) && len(results) != 0 || !math.IsNaN(want) &&
			(len(results) != 2 || results[0].Truth != want || results[1].Truth != want) {
			t.Errorf("%s: %+v", protocol, results)
		}
	}
}

func TestConfusionIsDeterministic(t *testing.T) {
	one, err := coverConfusion(bg, confusionInstrument(), asked(5),
		reference.Confusion{Line: 0.2, Word: 0.1, Mask: 0.3, Short: 0.2}, 5)
	if err != nil {
		t.Fatal(err)
	}
	two, err := coverConfusion(bg, confusionInstrument(), asked(5),
		reference.Confusion{Line: 0.2, Word: 0.1, Mask: 0.3, Short: 0.2}, 5)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := crosstalk.Canonical(one), crosstalk.Canonical(two); string(a) != string(b) {
		t.Errorf("%s\n%s", a, b)
	}
}

func TestConfusionErrors(t *testing.T) {
	stopped, stop := context.WithCancel(bg)
	stop()
	in := confusionInstrument()
	for want, f := range map[string]func() ([]Result, error){
		"reference:confused: line is 2; expected a probability":       func() ([]Result, error) { return coverConfusion(bg, in, asked(2), reference.Confusion{Line: 2}, 1) },
		"item x0x0x has no prompt that reference:confused can answer": func() ([]Result, error) { return coverConfusion(bg, in, items(1), reference.Confusion{}, 1) },
		"context canceled": func() ([]Result, error) { return coverConfusion(stopped, in, asked(2), reference.Confusion{}, 1) },
	} {
		if _, err := f(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
