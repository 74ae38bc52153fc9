package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"crosstalk"
	"crosstalk/measure/stats"
)

// macro is the average of confusion's figures.
var macro = &crosstalk.Average{Over: []string{"language", "source"}}

// cells are a number of answers in each of some languages and sources, with
// the weight that an answer has in the average.
func cells(use func(item, cluster string, labels columns, cell int, weight float64)) {
	cell := 0
	for _, language := range []struct {
		code    string
		sources []int
	}{{"ar", []int{30, 10}}, {"de", []int{25}}, {"ko", []int{40, 15, 20}}} {
		for source, n := range language.sources {
			for i := range n {
				use(fmt.Sprint(language.code, source, i), fmt.Sprint("prompt", source, i), columns{"language": language.code, "source": fmt.Sprint(source)},
					cell, 1/3.0/float64(len(language.sources)*n))
			}
			cell++
		}
	}
}

// A figure that is a mean over languages of means over sources is compared in
// the same averaging, over prompts that languages share.
func TestMacro(t *testing.T) {
	r := &recorded{by: []string{"language"}, average: map[string]*crosstalk.Average{"lpr": macro}}
	rng := rand.New(rand.NewPCG(2, 2))
	diffs := map[string][]*stats.Clusters{} // by language
	var names stats.ClusterNames
	at := map[int]*stats.Clusters{}
	weighted := &stats.Clusters{} // each cell's differences with the weight they have in the figure
	cells(func(item, cluster string, labels columns, cell int, weight float64) {
		a, b := math.Round(rng.Float64()), math.Round(0.1+rng.Float64()*0.9)
		r.add("lpr", item, cluster, a, first, labels)
		r.add("lpr", item, cluster, b, second, labels)
		if at[cell] == nil {
			at[cell] = &stats.Clusters{}
			diffs[labels["language"]] = append(diffs[labels["language"]], at[cell])
		}
		at[cell].Add(names.Number(cluster), b-a)
		weighted.Add(names.Number(cluster), weight*(b-a))
	})
	var all []*stats.Clusters
	for _, language := range []string{"ar", "de", "ko"} {
		all = append(all, diffs[language]...)
	}
	weights := []float64{1 / 6.0, 1 / 6.0, 1 / 3.0, 1 / 9.0, 1 / 9.0, 1 / 9.0}
	want := stats.Combine(all, func(m []float64) float64 {
		return ((m[0]+m[1])/2 + m[2] + (m[3]+m[4]+m[5])/3) / 3
	}, stats.Difference, 0.95)
	interval := stats.DiscordanceOf(all, weights).Interval(stats.EffectiveCounts(all, weights, want.SE), 0.95)
	result := runs(t, Options{Groups: true}, r)
	if len(result.Comparisons) != 4 || result.Family != 4 {
		t.Fatalf("%d comparisons in a family of %d", len(result.Comparisons), result.Family)
	}
	for _, c := range result.Comparisons {
		switch c.By["language"] {
		case "all":
			near(t, "difference", float64(c.Difference), want.Value, 1e-12)
			near(t, "low", c.Interval.Low, interval.Low, 1e-9)
			near(t, "high", c.Interval.High, interval.High, 1e-9)
			near(t, "value - reference", float64(c.Value-c.ReferenceValue), want.Value, 1e-12)
			near(t, "p", float64(c.P), stats.SignFlip(weighted, 100_000, 1), 0.02)
			near(t, "detectable", float64(c.Detectable), want.MinDetectable(0.05/4, 0.8), 1e-9)
			if c.N != 140 || c.Clusters != 75 {
				t.Errorf("n %d, clusters %d", c.N, c.Clusters)
			}
		case "de":
			near(t, "de", float64(c.Difference), diffs["de"][0].Mean(), 1e-12)
			if c.Method != "mcnemar" {
				t.Errorf("de: %s", c.Method)
			}
		case "ko":
			near(t, "ko", float64(c.Difference), (diffs["ko"][0].Mean()+diffs["ko"][1].Mean()+diffs["ko"][2].Mean())/3, 1e-12)
		}
	}
}

// LCPR is compared as the mean over languages of the harmonic mean of two
// rates, of which the second leaves out the answers that fail the first.
func TestHarmonic(t *testing.T) {
	lcpr := &crosstalk.Average{Over: []string{"language", "source"}, HarmonicOf: []string{"lpr", "wpr"}}
	r := &recorded{average: map[string]*crosstalk.Average{"lpr": macro, "wpr": macro, "lcpr": lcpr}}
	rng := rand.New(rand.NewPCG(3, 3))
	type rates struct{ line, lines, word, words float64 }
	sums := [2]map[string]*rates{{}, {}} // by language, of one source each
	for _, language := range []string{"ar", "ko", "de"} {
		for side, condition := range []columns{first, second} {
			x := &rates{}
			sums[side][language] = x
			for i := range 60 {
				item, labels := fmt.Sprint(language, i), columns{"language": language, "source": "s"}
				line := rng.Float64() < 0.9-0.2*float64(side)
				if language == "ar" && side == 1 {
					line = false // every answer is in another language
				}
				r.add("lpr", item, fmt.Sprint(i), map[bool]float64{true: 1}[line], condition, labels)
				x.lines++
				if language == "de" {
					continue // has no word check, and is in no LCPR
				}
				if !line {
					r.miss("wpr", item, "line error", condition, labels)
					continue
				}
				x.line++
				x.words++
				word := math.Ceil(rng.Float64() - 0.2)
				x.word += word
				r.add("wpr", item, fmt.Sprint(i), word, condition, labels)
			}
		}
	}
	figure := func(side int) float64 {
		var sum float64
		for _, language := range []string{"ar", "ko"} {
			x := sums[side][language]
			if x.line > 0 {
				l, w := x.line/x.lines, x.word/x.words
				sum += 2 * l * w / (l + w) / 2
			}
		}
		return sum
	}
	c := only(t, runs(t, Options{Measures: []string{"lcpr"}}, r))
	near(t, "reference", float64(c.ReferenceValue), figure(0), 1e-12)
	near(t, "value", float64(c.Value), figure(1), 1e-12)
	near(t, "difference", float64(c.Difference), figure(1)-figure(0), 1e-12)
	if c.Method != "exchange" || c.N != 120 || !c.Shown || c.Interval == nil || !(c.Interval.High < 0) {
		t.Errorf("%+v", c)
	}
}

// LCPR is compared on the answers that both sides have a line check of.
func TestHarmonicPairs(t *testing.T) {
	r := &recorded{average: map[string]*crosstalk.Average{"lcpr": {HarmonicOf: []string{"lpr", "wpr"}}}}
	for i := range 40 {
		for side, condition := range []columns{first, second} {
			if side == 1 && i >= 30 { // the first alone has them, and fails
				continue
			}
			item, value := fmt.Sprint(i), float64(min(1, (40-i)/11))
			r.add("lpr", item, "", 1, condition, nil)
			r.add("wpr", item, "", value, condition, nil)
		}
	}
	c := only(t, runs(t, Options{Measures: []string{"lcpr"}}, r))
	near(t, "reference", float64(c.ReferenceValue), 1, 1e-12)
	if c.N != 30 || c.LeftOut["unpaired"] != 10 {
		t.Errorf("%+v", c)
	}
}

// Two runs that do not differ have an interval for composite figures too: so few
// items could hide a difference.
func TestHarmonicUnchanged(t *testing.T) {
	for _, fails := range []int{0, 7} { // with failures, sums are rounded
		testHarmonicUnchanged(t, fails)
	}
}

func testHarmonicUnchanged(t *testing.T, fails int) {
	r := &recorded{average: map[string]*crosstalk.Average{"lcpr": {Over: []string{"language"}, HarmonicOf: []string{"lpr", "wpr"}},
		"wpr": {Over: []string{"language"}}}}
	for i := range 60 {
		for _, condition := range []columns{first, second} {
			item, labels := fmt.Sprint(i), columns{"language": []string{"ar", "ko", "ja"}[i%3]}
			value := func(k int) float64 { return map[bool]float64{false: 1}[i%10 < k && fails > 0] }
			r.add("lpr", item, item, value(fails/2), condition, labels)
			if i < 40 {
				r.add("wpr", item, item, value(fails), condition, labels)
			}
		}
	}
	c := only(t, runs(t, Options{Measures: []string{"lcpr"}}, r))
	words := only(t, runs(t, Options{Measures: []string{"wpr"}}, r)) // the one of fewer items
	if c.Difference != 0 || c.Interval == nil || c.Interval.Low != -c.Interval.High ||
		math.Abs(c.Interval.High-words.Interval.High) > 0.001 || c.Interval.High < 0.08 {
		t.Errorf("the interval is %+v, that of wpr %+v", c.Interval, words.Interval)
	}
}
