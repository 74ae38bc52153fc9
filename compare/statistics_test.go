package compare

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

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
		diffs.Add(stats.Cluster(i/3), sum[1]-sum[0])
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
	want := stats.Mean(&diffs, stats.Difference, 0.95)
	near(t, "difference", float64(c.Difference), want.Value, 1e-12)
	near(t, "value - reference", float64(c.Value-c.ReferenceValue), want.Value, 1e-12)
	// Forty items without a difference would have a wider interval.
	least := stats.Discordance{}.Interval(stats.EffectiveCounts([]*stats.Clusters{&diffs}, []float64{1}, 0), 0.95)
	near(t, "low", c.Interval.Low, want.Value+least.Low, 1e-12)
	near(t, "high", c.Interval.High, want.Value+least.High, 1e-12)
	near(t, "p", float64(c.P), stats.SignFlip(&diffs, 0, 1), 0.03)
	near(t, "adjusted", float64(c.Adjusted), float64(c.P), 0)
	near(t, "detectable", float64(c.Detectable), want.MinDetectable(0.05, 0.8), 1e-12)
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

// Figures with a unit have the interval of their differences, however small these are: no share could have been missed.
func TestSmallDifferenceWithUnit(t *testing.T) {
	r := &recorded{}
	var diffs stats.Clusters
	for i := range 40 {
		x, change := 5+float64(i%7), .001*float64(i%3)
		r.add("entropy", fmt.Sprint(i), "", x, first, nil)
		r.add("entropy", fmt.Sprint(i), "", x+change, second, nil)
		diffs.AddIndependent(x + change - x)
	}
	run := r.run(t)
	for i := range run.Estimates {
		run.Estimates[i].Unit = "bits"
	}
	result, err := Runs([]Run{run}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := stats.Mean(&diffs, stats.Unbounded, 0.95).Interval
	c := result.Comparisons[0]
	near(t, "low", c.Interval.Low, want.Low, 1e-12)
	near(t, "high", c.Interval.High, want.High, 1e-12)
	if c.Night.N != 0 {
		t.Errorf("nights count %+v", c.Night)
	}
}

// A figure without observations in the run has no basis for planning.
func TestPilotWithoutObservations(t *testing.T) {
	r := &recorded{}
	for i := range 5 {
		r.add("lpr", fmt.Sprint(i), "", float64(i%2), first, nil)
	}
	run := r.run(t)
	other := run.Estimates[0]
	other.Measure = "other"
	run.Estimates = append(run.Estimates, other)
	studies, _, err := Pilots([]Run{run}, Options{})
	if err != nil || len(studies) != 2 || studies[1].Items != 0 || studies[1].Variance.Item.Defined() {
		t.Errorf("%+v, %v", studies, err)
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
	if staged(5, 1, func(draws int, _ uint64) float64 { asked = append(asked, draws); return 0.3 }); !slices.Equal(asked,
		[]int{2_000}) {
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

// Independent pairs of 0 and 1 have McNemar's test and Tango's interval.
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
	near(t, "p", float64(c.P), math.Erfc(9/math.Sqrt(15)/math.Sqrt2), 1e-12)
	want := stats.Discordance{Wins: 3.0 / 50, Losses: 12.0 / 50}.Interval(stats.Counts{N: 50, DF: math.Inf(1)}, 0.95)
	near(t, "low", c.Interval.Low, want.Low, 1e-12)
	near(t, "high", c.Interval.High, want.High, 1e-12)
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
	// The test of two proportions, with Miettinen and Nurminen's N/(N-1).
	x, y := values[1].Mean(), values[0].Mean()
	pooled := (x + y) / 2
	near(t, "difference", float64(c.Difference), x-y, 1e-12)
	near(t, "p", float64(c.P), math.Erfc((x-y)/math.Sqrt(pooled*(1-pooled)*2/80*160/159)/math.Sqrt2), 1e-9)
	if c.Paired || c.N != 160 || c.Method != "score" || c.LeftOut != nil {
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

// A figure with a unit has no bounds, however small its values.
func TestUnit(t *testing.T) {
	r := &recorded{}
	for i := range 40 {
		r.add("entropy", fmt.Sprint(i), "", 0.9, first, nil)
		r.add("entropy", fmt.Sprint(i), "", 0.1-0.1*float64(i%2), second, nil)
	}
	run := r.run(t)
	run.Estimates[0].Unit, run.Estimates[1].Unit = "bits", "bits"
	result, err := Runs([]Run{run}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if c := only(t, result); c.Unit != "bits" || c.Interval == nil || c.Interval.Method != "cluster-robust-t" {
		t.Errorf("%+v", c)
	}
	var b strings.Builder
	if err := Write(&b, "markdown", result); err != nil || !strings.Contains(b.String(), "|  | reference bits | bits | difference ") ||
		!strings.Contains(b.String(), " | -0.85 | ") {
		t.Errorf("%v, %s", err, &b)
	}
}

// The family is all comparisons, whose p-values Holm's method adjusts.
func TestFamily(t *testing.T) {
	r := &recorded{}
	for i := range 40 {
		for k, model := range []string{"a", "b", "c", "d"} {
			r.add("lpr", fmt.Sprint(i), "", map[bool]float64{true: 1}[i >= 4*k], columns{"model": model}, nil)
		}
	}
	result := runs(t, Options{}, r)
	var ps []float64
	for _, c := range result.Comparisons {
		ps = append(ps, float64(c.P))
	}
	if len(ps) != 3 || result.Family != 3 {
		t.Fatalf("%d tests in a family of %d", len(ps), result.Family)
	}
	for i, want := range stats.Holm(ps) {
		if c := result.Comparisons[i]; float64(c.Adjusted) != want || c.Shown != (want <= 0.05) {
			t.Errorf("%v: adjusted %v, shown %v; want %v", c.Condition, c.Adjusted, c.Shown, want)
		}
	}
}

// McNemar's test takes pairs as independent, so those that share a cluster have
// another.
func TestBinaryPairsInClusters(t *testing.T) {
	r := &recorded{}
	for i := range 40 {
		r.add("lpr", fmt.Sprint(i), fmt.Sprint(i/2), 1, first, nil)
		r.add("lpr", fmt.Sprint(i), fmt.Sprint(i/2), float64(i%2), second, nil)
	}
	if c := only(t, runs(t, Options{}, r)); c.Method != "sign-flip" || c.Clusters != 20 {
		t.Errorf("%+v", c)
	}
}

// A figure belongs to the condition that shares the most columns with it.
func TestConditionWithinAnother(t *testing.T) {
	r := &recorded{}
	for i := range 10 {
		r.add("lpr", fmt.Sprint(i), "", 1, columns{"model": "a"}, nil)
		r.add("lpr", fmt.Sprint(i), "", 0, columns{"model": "a", "temperature": "1"}, nil)
	}
	if c := only(t, runs(t, Options{}, r)); c.Difference != -1 || c.Condition["temperature"] != "1" || c.Reference["temperature"] != "" {
		t.Errorf("%+v", c)
	}
}

// A column that is the conditions' own sets no items apart.
func TestColumnOfConditions(t *testing.T) {
	r := &recorded{}
	for i := range 10 {
		for _, condition := range []columns{first, second} {
			r.add("lpr", fmt.Sprint(i), "", 1, condition, condition)
		}
	}
	if c := only(t, runs(t, Options{}, r)); c.N != 10 {
		t.Errorf("%d pairs, want 10", c.N)
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
		return strings.Contains(w, "under model b is 0.4000; the comparison uses the mean over its items, 0.3000")
	}) ||
		slices.ContainsFunc(warnings, func(w string) bool { return strings.Contains(w, "under model a is") }) {
		t.Errorf("%q", warnings)
	}
}
