package main

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/instrument/leakage"
	"crosstalk/measure/similarity"
)

var bg = context.Background()

// contains is 1 for an answer that holds a word of the concept's own, 0
// otherwise, and undefined for "?".
var contains = similarity.Func("contains", func(concept, answer string) (float64, bool) {
	if answer == "?" {
		return 0, false
	}
	if strings.Contains(answer, concept) {
		return 1, true
	}
	return 0, true
})

// items are n controls of three tests each, whose leaks hold the concept and
// whose neutral continuations do not.
func items(n int) []crosstalk.Item {
	var list []crosstalk.Item
	for c := range n {
		for i := range 3 {
			concept := fmt.Sprintf("x%dx%dx", c, i)
			list = append(list, crosstalk.Item{ID: concept, Cluster: fmt.Sprint("control ", c), Pair: &crosstalk.Pair{Concept: concept,
				Test: concept + fmt.Sprint(" control ", c), Control: fmt.Sprint("control ", c),
				Leaks: []string{concept, concept + " too"}, Neutral: []string{"a", "b", "c"}}})
		}
	}
	return list
}

func instrument(s similarity.Similarity) leakage.Instrument {
	return leakage.Instrument{Protocol: leakage.Protocols[0], Similarities: []similarity.Similarity{s}, Samples: 1}
}

// leakRate calibrates the Leak-Rate alone.
func leakRate(items []crosstalk.Item, rate float64, seeds int) (Result, error) {
	results, err := coverLeakage(bg, instrument(contains), items, rate, 0, seeds)
	if err != nil || len(results) != 1 {
		return Result{}, fmt.Errorf("%d results: %w", len(results), err)
	}
	return results[0], nil
}

// A pair is 1 when the model leaked and a tie otherwise, so the truth is
// (1 + rate) / 2; the figures lie around it and the intervals hold it.
func TestLeakage(t *testing.T) {
	for _, rate := range []float64{0.2, 0.6} {
		r, err := leakRate(items(20), rate, 100)
		if err != nil {
			t.Fatal(err)
		}
		if want := (1 + rate) / 2; math.Abs(r.Truth-want) > 1e-12 {
			t.Errorf("rate %g: truth %g, want %g", rate, r.Truth, want)
		}
		if math.Abs(r.Mean-r.Truth) > 0.01 {
			t.Errorf("rate %g: mean %g, truth %g", rate, r.Mean, r.Truth)
		}
		if r.Coverage < 0.90 || r.Coverage > 0.99 || !(r.Certainty.Low < r.Coverage && r.Coverage < r.Certainty.High) {
			t.Errorf("rate %g: coverage %g, certainty %v", rate, r.Coverage, r.Certainty)
		}
		if !(r.Width > 0.05 && r.Width < 0.3) || r.Seeds != 100 || r.Estimate.N != 60 || r.Estimate.Clusters != 20 ||
			r.Model != fmt.Sprintf("reference:leaky?rate=%g", rate) {
			t.Errorf("rate %g: %+v", rate, r)
		}
	}
}

// The seeds make the result, and nothing else.
func TestLeakageIsDeterministic(t *testing.T) {
	one, err := leakRate(items(5), 0.5, 5)
	if err != nil {
		t.Fatal(err)
	}
	two, err := leakRate(items(5), 0.5, 5)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := crosstalk.Canonical(one), crosstalk.Canonical(two); string(a) != string(b) {
		t.Errorf("%s\n%s", a, b)
	}
}

// Pairs that cannot be scored weigh nothing in the truth, as in a measurement.
func TestTruthOfUnscoredPairs(t *testing.T) {
	list := items(1)[:1]
	list[0].Pair.Leaks = []string{"?", list[0].Pair.Concept}
	r, err := leakRate(list, 0.5, 1)
	if err != nil {
		t.Fatal(err)
	}
	// Scored: leak 0.25 -> 1, neutral 0.5 -> 0.5.
	if want := (0.25 + 0.5*0.5) / 0.75; math.Abs(r.Truth-want) > 1e-12 {
		t.Errorf("truth %g, want %g", r.Truth, want)
	}
}

func TestLeakageErrors(t *testing.T) {
	nothing := similarity.Func("nothing", func(string, string) (float64, bool) { return 0, false })
	bare := items(1)
	bare[0].Pair.Leaks = nil
	stopped, stop := context.WithCancel(bg)
	stop()
	for want, f := range map[string]func() ([]Result, error){
		"nothing cannot score any pair of the suite; it may be for another language": func() ([]Result, error) { return coverLeakage(bg, instrument(nothing), items(2), 0.5, 0, 2) },
		"reference:leaky: rate is 2; expected a probability, 0 to 1": func() ([]Result,
			error) {
			return coverLeakage(bg, instrument(contains), items(2), 2, 0, 1)
		},
		"item x0x0x lists no leaks": func() ([]Result, error) { return coverLeakage(bg, instrument(contains), bare, 0.5, 0, 1) },
		"context canceled": func() ([]Result, error) {
			return coverLeakage(stopped, instrument(contains), items(2), 0.5, 0, 1)
		},
	} {
		if _, err := f(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Sentences and copies have truths of their own, which the figures lie around
// and the intervals contain.
func TestLeakageOfAllMeasures(t *testing.T) {
	list := items(20)
	for i := range list {
		p := list[i].Pair
		p.Leaks = []string{"a. " + p.Concept + ". b", p.Concept}
		p.Context = &crosstalk.Context{Carrier: crosstalk.Note, Prompt: "Why?",
			Test: crosstalk.Carried{Text: "keeps many noisy"}, Control: crosstalk.Carried{Text: fmt.Sprint("works ", list[i].Cluster)}}
		p.Context.Test.Text += " " + p.Concept
		p.Test, p.Control = crosstalk.Note.Whole(p.Context.Test, "Why?"), crosstalk.Note.Whole(p.Context.Control, "Why?")
		list[i].Cluster = p.Control
	}
	in := instrument(contains)
	in.Protocol.Post, in.Protocol.Windows = leakage.None, leakage.Sentences
	results, err := coverLeakage(bg, in, list, 0.6, 0.2, 200)
	if err != nil {
		t.Fatal(err)
	}
	var measures []string
	for _, r := range results {
		measures = append(measures, r.Measure)
		want := map[string]float64{leakage.MeasureCopied: 0.2, leakage.MeasureCopying: 0.2}[r.Measure]
		if strings.HasPrefix(r.Measure, leakage.Measure) {
			want = 0.84 // a copy of the text has the concept: (1 + 0.6 + 0.4 * 0.2) / 2
		}
		if math.Abs(r.Truth-want) > 1e-9 || math.Abs(r.Mean-want) > 0.01 || r.Model != "reference:leaky?rate=0.6&copy=0.2" {
			t.Errorf("%s: truth %g, mean %g, want %g; %s", r.Measure, r.Truth, r.Mean, want, r.Model)
		}
		if r.Coverage < 0.9 {
			t.Errorf("%s: coverage %g", r.Measure, r.Coverage)
		}
	}
	if want := "leak_rate leak_rate_max leak_rate_mean copied copied_difference"; strings.Join(measures, " ") != want {
		t.Errorf("%q", measures)
	}
}

// A draw has as many controls as there are, each with all its tests, and names
// of its own for copies.
func TestDraw(t *testing.T) {
	again := 0
	for seed := range uint64(20) {
		names, clusters := map[string]bool{}, map[string]int{}
		for k, list := range draw(items(6), seed) {
			if len(list) == 0 {
				t.Errorf("seed %d: nothing in copy %d", seed, k)
			}
			for _, i := range list {
				if names[i.ID] || !strings.HasSuffix(i.Cluster, fmt.Sprint("#", k)) {
					t.Errorf("seed %d: item %+v in copy %d", seed, i, k)
				}
				names[i.ID] = true
				clusters[i.Cluster]++
				again += k
			}
		}
		if len(clusters) != 6 || len(names) != 18 {
			t.Errorf("seed %d: %v", seed, clusters)
		}
		for c, n := range clusters {
			if n != 3 {
				t.Errorf("seed %d: %d tests of %s", seed, n, c)
			}
		}
	}
	if again == 0 {
		t.Error("no control was drawn twice")
	}
}
