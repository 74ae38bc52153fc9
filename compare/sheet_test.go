package compare

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"crosstalk"
	"crosstalk/internal/testing/golden"
)

// measured is a run as instruments leave them: three models under two settings, two measures and their harmonic mean,
// languages, clusters, samples, and items that some miss. Each has a rate of its own.
func measured(name string, seed uint64, better float64) *recorded {
	r := &recorded{name: name, by: []string{"language"}, average: map[string]*crosstalk.Average{
		"lpr": {Over: []string{"language"}}, "lcpr": {Over: []string{"language"}, HarmonicOf: []string{"lpr", "wpr"}}}}
	rng := rand.New(rand.NewPCG(seed, 7))
	for m, model := range []string{"a", "b", "c"} {
		for k, temperature := range []string{"0", "1"} {
			condition := columns{"model": model, "temperature": temperature}
			for i := range 36 {
				language := []string{"de", "ko", "tr"}[i%3]
				labels, item, cluster := columns{"language": language}, fmt.Sprint(language, i), fmt.Sprint(i/4)
				if i%5 == 0 {
					cluster = ""
				}
				for sample := range 2 {
					before := len(r.observations)
					rate := .55 + .1*float64(m) - .1*float64(k) + better
					right := rng.Float64() < rate
					switch {
					case rng.Float64() < .06:
						r.miss("lpr", item, "empty", condition, labels)
					case !right:
						r.add("lpr", item, cluster, 0, condition, labels)
						r.miss("wpr", item, "line error", condition, labels)
					default:
						r.add("lpr", item, cluster, 1, condition, labels)
						r.add("wpr", item, cluster, math.Round(rng.Float64()+.4), condition, labels)
					}
					if language != "tr" {
						r.add("score", item, cluster, 10*rng.Float64()+float64(m), condition, labels)
					}
					for o := range r.observations[before:] {
						r.observations[before+o].Sample = sample
					}
				}
			}
		}
	}
	return r
}

// valued is a run that has figures with values, as instruments compute them.
func (r *recorded) valued(t *testing.T) Run {
	run := r.run(t)
	for i := range run.Estimates {
		e := &run.Estimates[i]
		e.Value, e.N = crosstalk.Value(.4+.01*float64(i%50)), 30
		if e.Measure == "score" {
			e.Unit = "points"
		}
	}
	return run
}

// Comparisons, plans and shares of variance read, to the letter, as they did when simulations had confirmed them. With
// -update the sheet is written anew: look at what differs.
func TestSheet(t *testing.T) {
	var sheet bytes.Buffer
	old, now := measured("runs/old", 1, 0), measured("runs/new", 2, .1)
	alone := &recorded{name: "alone", by: now.by, average: now.average}
	for _, o := range now.observations {
		if o.Condition["model"] == "a" && o.Condition["temperature"] == "0" && o.Labels["language"] != "de" {
			o.Condition = columns{"model": "a", "temperature": "0"}
			alone.observations = append(alone.observations, o)
		}
	}
	for i, c := range []struct {
		runs    []*recorded
		options Options
	}{
		{[]*recorded{old}, Options{}},
		{[]*recorded{old}, Options{Groups: true, Measures: []string{"lpr"}, Reference: columns{"model": "b", "temperature": "0"}}},
		{[]*recorded{old}, Options{Measures: []string{"lcpr"}, AllPairs: true, Level: .9, Adjust: BH}},
		{[]*recorded{old}, Options{Measures: []string{"score", "wpr"}, Reference: columns{"model": "a"}, Seed: 9}},
		{[]*recorded{old, now}, Options{Measures: []string{"lpr", "lcpr"}}},
		{[]*recorded{old, now}, Options{Groups: true, Measures: []string{"wpr"}, Apart: 5, Unpaired: true}},
		{[]*recorded{old, alone}, Options{Unpaired: true}},
		{[]*recorded{alone, old, now}, Options{Measures: []string{"lpr"}}},
		{[]*recorded{old}, Options{Measures: []string{"bleu"}}},
		{[]*recorded{old}, Options{Reference: columns{"model": "z"}}},
	} {
		var all []Run
		for _, r := range c.runs {
			run := r.run(t)
			if i == 0 {
				run = r.valued(t)
			}
			all = append(all, run)
		}
		result, err := Runs(all, c.options)
		fmt.Fprintf(&sheet, "\n== %d runs, %+v: %v\n", len(all), c.options, err)
		if err == nil {
			Write(&sheet, "table", result)
			Write(&sheet, "csv", result)
		}
		studies, refused, err := Pilots(all, c.options)
		fmt.Fprintf(&sheet, "plans: %d refused, %v\n", len(refused), err)
		if err != nil || len(studies) > 6 {
			continue
		}
		p, err := Goal{Level: .95, Samples: []int{1, 3}, Differences: []float64{.05}, Items: []int{200},
			Margins: []float64{.04}}.Plan(studies)
		fmt.Fprintln(&sheet, err)
		WritePower(&sheet, "table", p)
		WritePower(&sheet, "csv", p)
	}
	golden.Check(t, "testdata/sheet.txt", golden.Rounded(sheet.String()))
}
