package compare

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/measure/stats"
)

// Items are paired by name, an item's value is the mean over its samples, and
// what has no pair is counted with its reason.
func TestPairs(t *testing.T) {
	r := &recorded{}
	var diffs stats.Clusters
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range 40 {
		id, cluster := fmt.Sprint("item", i), fmt.Sprint("cluster", i/3)
		var sum [2]float64
		for k := range 3 {
			for side, condition := range []columns{first, second} {
				v := math.Round(2*rng.Float64()) / 2
				sum[side] += v / 3
				r.add("leak_rate", id, cluster, v, condition, nil)
				r.observations[len(r.observations)-1].Sample = k
			}
		}
		diffs.Add(cluster, sum[1]-sum[0])
	}
	r.add("leak_rate", "only here", "", 1, first, nil)
	r.add("leak_rate", "refused there", "", 1, first, nil)
	r.miss("leak_rate", "refused there", "refused", second, nil)
	r.miss("leak_rate", "no text here", "no text", first, nil)
	r.add("leak_rate", "no text here", "", 1, second, nil)
	r.miss("leak_rate", "nowhere", "empty", first, nil)
	r.miss("leak_rate", "nowhere", "failed", second, nil)
	r.miss("leak_rate", "item0", "failed", second, nil) // one sample of several

	c := only(t, runs(t, Options{Seed: 1}, r))
	want := stats.Compare(&diffs, stats.Difference, 0.95, 0, 1)
	near(t, "difference", float64(c.Difference), want.Value, 1e-12)
	near(t, "value - reference", float64(c.Value-c.ReferenceValue), want.Value, 1e-12)
	near(t, "low", c.Interval.Low, want.Interval.Low, 1e-12)
	near(t, "high", c.Interval.High, want.Interval.High, 1e-12)
	near(t, "p", float64(c.P), want.P, 0.03)
	near(t, "adjusted", float64(c.Adjusted), float64(c.P), 0)
	near(t, "detectable", float64(c.Detectable), want.MinDetectable, 1e-12)
	if c.N != 40 || c.Clusters != 14 || c.Method != "sign-flip" || !c.Paired {
		t.Errorf("n %d, clusters %d, %s", c.N, c.Clusters, c.Method)
	}
	if !maps.Equal(c.LeftOut, map[string]int{"unpaired": 1, "refused": 1, "no_text": 1, "failed": 1}) {
		t.Errorf("left out %v", c.LeftOut)
	}
	if !maps.Equal(c.Condition, second) || !maps.Equal(c.Reference, first) {
		t.Errorf("%v against %v", c.Condition, c.Reference)
	}
}

// A test takes more draws where few are as extreme as the data, and enough of
// them for the family; however many it takes, it errs as often as it says.
func TestStaged(t *testing.T) {
	var asked []int
	p := staged(1000, 1, func(draws int, _ uint64) float64 { asked = append(asked, draws); return 1 / float64(draws+1) })
	if !slices.Equal(asked, []int{2_000, 20_000, 2_000_000}) || 1000*p > 0.001 {
		t.Errorf("draws %v, p %v", asked, p)
	}
	asked = nil
	if staged(5, 1, func(draws int, _ uint64) float64 { asked = append(asked, draws); return 0.3 }); !slices.Equal(asked, []int{2_000}) {
		t.Errorf("draws %v", asked)
	}
	// Uniform p-values, each seen through a finite number of draws.
	rng := rand.New(rand.NewPCG(6, 6))
	const tests = 20_000
	hits := map[float64]int{}
	for range tests {
		truth := rng.Float64()
		p := staged(40, 1, func(draws int, _ uint64) float64 {
			n := float64(draws)
			c := math.Round(n*truth + math.Sqrt(n*truth*(1-truth))*rng.NormFloat64())
			return (math.Max(c, 0) + 1) / (n + 1)
		})
		for _, alpha := range []float64{0.001, 0.01, 0.049, 0.05, 0.2} {
			if p <= alpha {
				hits[alpha]++
			}
		}
	}
	for alpha, n := range hits {
		if share := float64(n) / tests; share > alpha+3*math.Sqrt(alpha/tests) {
			t.Errorf("p <= %v in %v of null tests", alpha, share)
		}
	}
}

// Independent pairs of 0 and 1 have McNemar's exact test.
func TestBinaryPairs(t *testing.T) {
	r := &recorded{}
	for i := range 50 {
		a, b := 1.0, 1.0
		switch {
		case i < 12:
			b = 0
		case i < 15:
			a = 0
		}
		r.add("consistency", fmt.Sprint(i), fmt.Sprint("own cluster", i), a, first, nil)
		r.add("consistency", fmt.Sprint(i), fmt.Sprint("own cluster", i), b, second, nil)
	}
	c := only(t, runs(t, Options{}, r))
	if c.Method != "mcnemar" || c.N != 50 || c.Clusters != 50 {
		t.Errorf("%s, n %d, clusters %d", c.Method, c.N, c.Clusters)
	}
	near(t, "difference", float64(c.Difference), -9.0/50, 1e-12)
	near(t, "p", float64(c.P), stats.McNemar(3, 12), 1e-15)
	if !c.Shown {
		t.Error("the difference is not shown")
	}
}

// Where nothing differs the difference is 0 with an interval that is not, and
// nothing detectable can be told.
func TestNoDifference(t *testing.T) {
	r := &recorded{}
	for i := range 100 {
		for _, condition := range []columns{first, second} {
			r.add("lpr", fmt.Sprint(i), "", float64(i%2), condition, nil)
		}
	}
	c := only(t, runs(t, Options{}, r))
	if c.Difference != 0 || c.P != 1 || c.Shown || c.Detectable.Defined() {
		t.Errorf("%+v", c)
	}
	if i := c.Interval; i == nil || !(i.Low < 0 && i.High > 0 && i.Low > -0.1 && i.High < 0.1) {
		t.Errorf("interval %+v", c.Interval)
	}
}

// macro is the average of confusion's figures.
var macro = &crosstalk.Average{Over: []string{"language", "source"}}

// cells are a number of answers in each of some languages and sources.
func cells(rng *rand.Rand, use func(item, cluster string, labels columns, cell int)) {
	cell := 0
	for language, sources := range map[string][]int{"ar": {30, 10}, "de": {25}, "ko": {40, 15, 20}} {
		for source, n := range sources {
			for i := range n {
				use(fmt.Sprint(language, source, i), fmt.Sprint("prompt", source, i), columns{"language": language, "source": fmt.Sprint(source)}, cell)
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
	at := map[int]*stats.Clusters{}
	cells(rng, func(item, cluster string, labels columns, cell int) {
		a, b := math.Round(rng.Float64()), math.Round(0.4+rng.Float64()*0.6)
		r.add("lpr", item, cluster, a, first, labels)
		r.add("lpr", item, cluster, b, second, labels)
		if at[cell] == nil {
			at[cell] = &stats.Clusters{}
			diffs[labels["language"]] = append(diffs[labels["language"]], at[cell])
		}
		at[cell].Add(cluster, b-a)
	})
	var all []*stats.Clusters
	for _, language := range []string{"ar", "de", "ko"} {
		all = append(all, diffs[language]...)
	}
	want := stats.Combine(all, func(m []float64) float64 {
		return ((m[0]+m[1])/2 + m[2] + (m[3]+m[4]+m[5])/3) / 3
	}, stats.Difference, 0.95)
	result := runs(t, Options{Groups: true}, r)
	if len(result.Comparisons) != 4 || result.Family != 4 {
		t.Fatalf("%d comparisons in a family of %d", len(result.Comparisons), result.Family)
	}
	for _, c := range result.Comparisons {
		switch c.By["language"] {
		case "all":
			near(t, "difference", float64(c.Difference), want.Value, 1e-12)
			near(t, "low", c.Interval.Low, want.Interval.Low, 1e-9)
			near(t, "high", c.Interval.High, want.Interval.High, 1e-9)
			near(t, "value - reference", float64(c.Value-c.ReferenceValue), want.Value, 1e-12)
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
				sum += stats.HarmonicMean([]float64{x.line / x.lines, x.word / x.words}) / 2
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

// Answers without an id have no pair; where asked for, figures are compared as
// independent ones.
func TestUnpaired(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	a, b := &recorded{name: "x"}, &recorded{name: "y"}
	var values [2]stats.Clusters
	for side, r := range []*recorded{a, b} {
		for range 80 {
			v := math.Floor(rng.Float64() + 0.4 + 0.3*float64(side))
			values[side].AddIndependent(v)
			r.add("lpr", "", "", v, columns{"model": r.name}, nil)
		}
	}
	c := only(t, runs(t, Options{}, a, b))
	if c.N != 0 || c.Difference.Defined() || c.P.Defined() || c.Shown || c.Interval != nil || c.LeftOut["unpaired"] != 160 {
		t.Errorf("%+v", c)
	}
	if !slices.Contains(c.Warnings, "answers without an id cannot be paired") || !slices.Contains(c.Warnings, "no observations") {
		t.Errorf("warnings %q", c.Warnings)
	}
	c = only(t, runs(t, Options{Unpaired: true}, a, b))
	want := stats.Welch(&values[1], &values[0])
	near(t, "difference", float64(c.Difference), want.Value, 1e-12)
	near(t, "p", float64(c.P), want.P, 1e-9)
	if c.Paired || c.N != 160 || c.Method != "t" || c.LeftOut != nil {
		t.Errorf("%+v", c)
	}
	// What pairs is paired.
	if c := only(t, runs(t, Options{Unpaired: true}, func() *recorded {
		r := &recorded{}
		for i := range 10 {
			r.add("lpr", fmt.Sprint(i), "", 1, first, nil)
			r.add("lpr", fmt.Sprint(i), "", 0, second, nil)
		}
		return r
	}())); !c.Paired {
		t.Errorf("%+v", c)
	}
}

// Four pairs cannot have a p-value of 5 %, so nothing is detectable, however
// little they vary.
func TestTooFewToDetect(t *testing.T) {
	for pairs, detectable := range map[int]bool{4: false, 7: true} {
		r := &recorded{}
		for i := range pairs {
			r.add("lpr", fmt.Sprint(i), "", 0.5, first, nil)
			r.add("lpr", fmt.Sprint(i), "", 0.5+0.01*float64(i), second, nil)
		}
		if c := only(t, runs(t, Options{}, r)); c.Detectable.Defined() != detectable {
			t.Errorf("%d pairs: %v", pairs, c.Detectable)
		}
	}
}

// A figure that is no mean of its observations is compared with a warning.
func TestFigureThatIsNoMean(t *testing.T) {
	r := &recorded{}
	for i := range 4 {
		r.add("bleu", fmt.Sprint(i), "", 0.25*float64(i), first, nil)
		r.add("bleu", fmt.Sprint(i), "", 0.2*float64(i), second, nil)
	}
	run := r.run(t)
	run.Estimates[0].Value, run.Estimates[1].Value = 0.375, 0.4
	result, err := Runs([]Run{run}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	warnings := result.Comparisons[0].Warnings
	if !slices.ContainsFunc(warnings, func(w string) bool {
		return strings.Contains(w, "under model b is 0.4000; compared is the mean over its items, 0.3000")
	}) ||
		slices.ContainsFunc(warnings, func(w string) bool { return strings.Contains(w, "under model a is") }) {
		t.Errorf("%q", warnings)
	}
}
