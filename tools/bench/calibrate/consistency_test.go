package main

import (
	"fmt"
	"math"
	"testing"

	"crosstalk"
	"crosstalk/instrument/consistency"
	"crosstalk/model/reference"
)

func consistencyInstrument(protocol int) consistency.Instrument {
	task := func(name string, classes ...string) crosstalk.Task {
		in := crosstalk.Instruction{Parts: map[string]string{"ask": "Which is it?", "say": " Say "}}
		for i, class := range classes {
			in.Parts["say"] += fmt.Sprintf("%q ", class)
			in.Words = append(in.Words, crosstalk.AnswerWord{Word: class, Class: classes[i]})
		}
		return crosstalk.Task{Name: name, Classes: classes, Fields: []string{"text"}, Layout: "{ask} {text}{say}",
			Instructions: map[string]crosstalk.Instruction{"en": in}}
	}
	return consistency.Instrument{Protocol: consistency.Protocols[protocol],
		Tasks:   []crosstalk.Task{task("two", "no", "yes"), task("three", "one", "two", "three")},
		Samples: 1, Senses: consistency.Senses{From: []string{"en"}, To: []string{"de"}}}
}

func inputs(n int) (list []crosstalk.Item) {
	for i := range n {
		for task, gold := range map[string]string{"two": "yes", "three": "two"} {
			id := fmt.Sprint(task, i)
			list = append(list, crosstalk.Item{ID: id,
				Input: &crosstalk.Input{Task: task, Texts: map[string][]string{"en": {"Thing " + id}}, Gold: map[string]string{"en": gold}}})
		}
	}
	return list
}

func TestConsistency(t *testing.T) {
	const seeds = 60
	truth := reference.Inconsistency{Flip: 0.3, Invalid: 0.1, Wrong: 0.2}
	for protocol, same := range []float64{0.7, 0.01 + 0.81*0.7} {
		results, err := coverConsistency(bg, consistencyInstrument(protocol), inputs(40), truth, seeds)
		if err != nil {
			t.Fatal(err)
		}
		want := []float64{same, 0.9 * (0.8*0.7 + 0.2*0.3), 0.9 * (0.8*0.7 + 0.2*0.3 - 0.8), same, 0.9 * (0.8*0.7 + 0.2*0.15),
			0.9 * (0.8*0.7 + 0.2*0.15 - 0.8)}
		if len(results) != len(want) {
			t.Fatalf("%d results", len(results))
		}
		for i, r := range results {
			// the rest has an invalid answer
			if math.Abs(r.Truth-want[i]) > 1e-12 || math.Abs(r.Mean-r.Truth) > 0.03 || r.Coverage < 0.88 || r.Seeds != seeds ||
				r.Estimate.N < 25 || r.Estimate.N > 40 {
				t.Errorf("%s of %s: truth %g (want %g), mean %g, coverage %g, n %d", r.Measure, r.Estimate.By["task"], r.Truth, want[i], r.Mean, r.Coverage, r.Estimate.N)
			}
		}
	}
	if _, err := coverConsistency(bg, consistencyInstrument(0), inputs(3), reference.Inconsistency{Flip: 2},
		1); err == nil {
		t.Error("calibrated what is no probability")
	}
}
