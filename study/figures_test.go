package study

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/instrument/leakage"
	"crosstalk/run/figures"
	"crosstalk/run/view"
)

// scoredRun scores recorded answers of two models in four languages, three samples
// of each item, and returns the run.
func scoredRun(t *testing.T) string {
	t.Helper()
	sentences := map[string]string{"de": "Das Wetter ist heute wirklich sehr schön.", "fr": "Le temps est vraiment très beau aujourd'hui.",
		"ru": "Сегодня действительно очень хорошая погода здесь.", "ko": "오늘은 날씨가 정말로 매우 좋습니다."}
	var b strings.Builder
	b.WriteString("model,language,source,id,sample,completion\n")
	for m, model := range []string{"small", "large"} {
		for _, language := range []string{"de", "fr", "ru", "ko"} {
			for item := range 6 {
				for sample := range 3 {
					text := sentences[language]
					if (item+sample+m)%3 == 0 {
						text = "The weather is really very nice today."
					}
					fmt.Fprintf(&b, "%s,%s,s%d,%d,%d,%s\n", model, language, item%2, item, sample, text)
				}
			}
		}
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "answers.csv")
	if err := os.WriteFile(file, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	s, err := Confusion{}.Recorded([]string{file}, "")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "run")
	if _, err := s.Run(t.Context(), path, ask.Options{}); err != nil {
		t.Fatal(err)
	}
	return path
}

// show lists figures by the columns that are not for all values.
func show(estimates []crosstalk.Estimate) (list []string) {
	for _, e := range estimates {
		by := maps.Clone(e.By)
		maps.DeleteFunc(by, func(_, value string) bool { return value == crosstalk.All })
		list = append(list, fmt.Sprintf("%s %v %.3f n %d of %d", e.Measure, by, e.Value, e.N, e.Observations))
	}
	return list
}

func TestFigures(t *testing.T) {
	run := scoredRun(t)
	for _, c := range []struct {
		name string
		of   figures.Set
		want []string
	}{
		{"as measured, pooled", figures.Set{View: view.View{Pool: []string{"model"}}, By: []string{}, Measures: []string{"lpr"}},
			[]string{"lpr map[] 0.667 n 24 of 144"}},
		{"every combination, with margins", figures.Set{Cross: []string{"source", "language"}, Measures: []string{"lpr"},
			View: view.View{Only: []view.Choice{{Column: "model", Values: []string{"small"}}, {Column: "language", Values: []string{"de", "ru"}}}}},
			[]string{"lpr map[model:small] 0.667 n 12 of 36",
				"lpr map[model:small source:s0] 0.667 n 6 of 18", "lpr map[model:small source:s1] 0.667 n 6 of 18",
				"lpr map[language:de model:small] 0.667 n 6 of 18", "lpr map[language:ru model:small] 0.667 n 6 of 18",
				"lpr map[language:de model:small source:s0] 0.667 n 3 of 9", "lpr map[language:ru model:small source:s0] 0.667 n 3 of 9",
				"lpr map[language:de model:small source:s1] 0.667 n 3 of 9", "lpr map[language:ru model:small source:s1] 0.667 n 3 of 9"}},
		{"overlapping groups are not in the total twice", figures.Set{Cross: []string{"group"}, Measures: []string{"lpr"},
			View: view.View{Pool: []string{"model"},
				Groups: []view.Group{{Name: "European", Choice: view.Choice{Column: "language", Values: []string{"de", "fr", "ru"}}},
					{Name: "Latin", Choice: view.Choice{Column: "latin", Values: []string{"yes"}}}}}},
			[]string{"lpr map[] 0.667 n 24 of 144", "lpr map[group:European] 0.667 n 18 of 108", "lpr map[group:Latin] 0.667 n 12 of 72"}},
		{"samples", figures.Set{Cross: []string{"sample"}, Measures: []string{"lpr"},
			View: view.View{Pool: []string{"model"}, Only: []view.Choice{{Column: "language", Values: []string{"de"}}}}},
			[]string{"lpr map[] 0.667 n 6 of 36", "lpr map[sample:1] 0.667 n 6 of 12", "lpr map[sample:2] 0.667 n 6 of 12", "lpr map[sample:3] 0.667 n 6 of 12"}},
	} {
		got, err := c.of.Of(run)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if list := show(got); !slices.Equal(list, c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, strings.Join(list, "\n"), strings.Join(c.want, "\n"))
		}
	}
	for want, of := range map[string]figures.Set{
		`unknown column "colour"; choose one of: `:                {Cross: []string{"colour"}},
		`unknown column "temperature"; choose one of: `:           {View: view.View{Pool: []string{"temperature"}}},
		`no language is "xx"; choose from: de, fr, ko, ru`:        {View: view.View{Only: []view.Choice{{Column: "language", Values: []string{"xx"}}}}},
		`unknown measure "lrp"; choose one of: faults, lcpr, lin`: {Measures: []string{"lrp"}},
	} {
		if _, err := of.Of(run); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// What is done to observations is in the signature; figures of several runs that
// differ in nothing else name their run.
func TestFiguresOfRuns(t *testing.T) {
	run := scoredRun(t)
	f := figures.Set{View: view.View{Pool: []string{"model"}}, Cross: []string{"latin"}, Measures: []string{"lpr"}}
	one, err := f.OfRuns([]string{run}, []string{"a"})
	if err != nil {
		t.Fatal(err)
	}
	if s := one[0].Signature; !strings.Contains(s, "|pool:model|v") {
		t.Error(s)
	}
	if _, named := one[0].By[figures.RunColumn]; named {
		t.Errorf("%v", one[0].By)
	}
	two, err := f.OfRuns([]string{run, run}, []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	if len(two) != 6 || two[0].By[figures.RunColumn] != "a" || two[5].By[figures.RunColumn] != "b" {
		t.Errorf("%v", show(two))
	}
}

// Pooled intervals cover the truth: answers of an item under four temperatures
// depend on the item, so they are one cluster. As independent observations they
// would cover it in less than 80 %.
func TestPooledCoverage(t *testing.T) {
	const runs, items, rate = 300, 60, 0.7
	random := rand.New(rand.NewPCG(7, 7))
	covered := 0
	for range runs {
		reader := view.View{Pool: []string{"temperature"}}.Reader(view.SampleColumn)
		e := leakage.Rules{Protocol: leakage.Protocols[0]}.Estimator(nil)
		for item := range items {
			// The rate of an item is 0.4 or 1, on average 0.7.
			of := 0.4
			if random.IntN(2) == 0 {
				of = 2*rate - 0.4
			}
			for _, temperature := range []string{"0", "0.5", "1", "1.5"} {
				o := crosstalk.Observation{Measure: leakage.Measure, Item: fmt.Sprint(item), Cluster: fmt.Sprint(item),
					Condition: map[string]string{"model": "m", "temperature": temperature}}
				if random.Float64() < of {
					o.Value = 1
				}
				if o, in := reader.Read(o); in {
					e.Add(o)
				}
			}
		}
		figures := e.Estimates(crosstalk.SuiteIDs{})
		if len(figures) != 2 || figures[0].N != items || figures[0].Clusters != items || figures[0].Observations != 4*items {
			t.Fatalf("%v", show(figures))
		}
		if figures[0].Interval.Contains(rate) {
			covered++
		}
	}
	if share := float64(covered) / runs; math.Abs(share-0.95) > 0.03 {
		t.Errorf("%.3f of the intervals cover the truth", share)
	} else {
		t.Logf("coverage %.3f", share)
	}
}
