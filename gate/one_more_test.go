package gate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"crosstalk"
	"crosstalk/compare"
	"crosstalk/measure/stats"
)

// outcome ranks a check's result: 0 failed, 1 inconclusive, 2 passed.
func outcome(c Check) int {
	switch {
	case c.Passed:
		return 2
	case c.Inconclusive:
		return 1
	}
	return 0
}

var someMargins = []float64{0.002, 0.01, 0.02, 0.05, 0.1, 0.3}

// outcomes ranks the results of a difference under each margin, in a gate of three checks.
func outcomes(difference float64, interval func(level float64) stats.Interval, level float64, n int) (all []int) {
	i, strict := interval(level), interval(1-(1-level)/3)
	checks := make([]Check, len(someMargins))
	for k, margin := range someMargins {
		checks[k] = Check{Reference: map[string]string{}, Value: crosstalk.Value(difference), Interval: &i, N: n, clusters: n,
			bound: bound{op: ">=", value: -margin}, strict: strict, undecided: true}
	}
	Options{Level: level}.decide(checks)
	for _, c := range checks {
		all = append(all, outcome(c))
	}
	return all
}

// better names the margins with which a second outcome is better than a first.
func better(before, after []int) string {
	for k := range before {
		if after[k] > before[k] {
			return fmt.Sprintf("margin %g: from outcome %d to %d", someMargins[k], before[k], after[k])
		}
	}
	return ""
}

// One more wrong answer of the new run never turns "not passed" into "passed" or "failed" into "not failed": all
// counts of up to 60 pairs, and samples of larger ones. A wrong answer is one more loss or one win less.
func TestOneMoreWrongAnswerPaired(t *testing.T) {
	t.Parallel()
	of := func(n, w, l int, level float64) []int {
		d := stats.Discordance{Wins: float64(w) / float64(n), Losses: float64(l) / float64(n)}
		return outcomes(d.Wins-d.Losses, func(level float64) stats.Interval {
			return d.Interval(stats.Counts{N: float64(n), DF: math.Inf(1)}, level)
		}, level, n)
	}
	seen := map[int]bool{}
	for n := 1; n <= 60; n++ {
		level := []float64{0.95, 0.9}[n%2]
		if n > 25 && n%5 > 1 { // the rest takes long and shows no more
			continue
		}
		above := make([][]int, n+1) // with one win less
		for w := range n + 1 {
			var before []int
			for l := range n - w + 1 {
				got := of(n, w, l, level)
				for _, x := range got {
					seen[x] = true
				}
				if l > 0 {
					if s := better(before, got); s != "" {
						t.Fatalf("n %d, %d wins, %d losses, one loss more than before: %s", n, w, l, s)
					}
				}
				if w > 0 {
					if s := better(got, above[l]); s != "" {
						t.Fatalf("n %d, %d wins, %d losses, one win less: %s", n, w, l, s)
					}
				}
				before, above[l] = got, got
			}
		}
	}
	if len(seen) != 3 {
		t.Errorf("only the outcomes %v were met", seen)
	}
	r := rand.New(rand.NewPCG(1, 27))
	for range 3000 {
		n, level := 61+r.IntN(1940), []float64{0.95, 0.9}[r.IntN(2)]
		w, l := int(float64(n)*math.Pow(r.Float64(), 4)/2), int(float64(n)*math.Pow(r.Float64(), 4)/2)
		got := of(n, w, l, level)
		if s := better(got, of(n, w, l+1, level)); s != "" {
			t.Fatalf("n %d, %d wins, %d losses and one more: %s", n, w, l, s)
		}
		if w > 0 {
			if s := better(got, of(n, w-1, l, level)); s != "" {
				t.Fatalf("n %d, %d wins, %d losses, one win less: %s", n, w, l, s)
			}
		}
	}
}

// So it is with answers to other items.
func TestOneMoreWrongAnswerUnpaired(t *testing.T) {
	t.Parallel()
	of := func(n, wrong, m, old int, level float64) []int {
		rate := func(wrong, n int) stats.Rate {
			return stats.Rate{Counts: stats.Counts{N: float64(n), DF: math.Inf(1)}, Value: float64(n-wrong) / float64(n)}
		}
		a, b := rate(wrong, n), rate(old, m)
		return outcomes(a.Value-b.Value, func(level float64) stats.Interval { return a.Minus(b, level) }, level, n+m)
	}
	r := rand.New(rand.NewPCG(2, 27))
	for n := 1; n <= 60; n++ {
		level := []float64{0.95, 0.9}[n%2]
		m := []int{n, 1 + r.IntN(60), 345}[n%3]
		for _, old := range []int{0, 1, m / 3, m} {
			before := of(n, 0, m, old, level)
			for wrong := 1; wrong <= n; wrong++ {
				got := of(n, wrong, m, old, level)
				if s := better(before, got); s != "" {
					t.Fatalf("%d of %d wrong, old %d of %d: %s", wrong, n, old, m, s)
				}
				before = got
			}
		}
	}
	for range 1000 {
		n, m, level := 61+r.IntN(1940), 61+r.IntN(1940), []float64{0.95, 0.9}[r.IntN(2)]
		wrong, old := int(float64(n-1)*math.Pow(r.Float64(), 3)), int(float64(m)*math.Pow(r.Float64(), 3))
		if s := better(of(n, wrong, m, old, level), of(n, wrong+1, m, old, level)); s != "" {
			t.Fatalf("%d of %d wrong and one more, old %d of %d: %s", wrong, n, old, m, s)
		}
	}
}

// And through compare and the requirements of a gate, with several languages, whose answers are 0, 1 or between.
func TestOneMoreWrongAnswerOfARun(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 27))
	for set := range 50 {
		languages, unpaired, halves := 1+r.IntN(4), set%5 == 4, set%5 == 3
		var values [2][][]float64
		faults := [2]float64{math.Pow(r.Float64(), 2) / 4, math.Pow(r.Float64(), 2) / 4}
		for side := range values {
			sizes := rand.New(rand.NewPCG(uint64(set), 5))
			for range languages {
				list := make([]float64, 5+sizes.IntN(80))
				for i := range list {
					switch u := r.Float64(); {
					case halves && u < 3*faults[side]:
						list[i] = float64(r.IntN(3)) / 2
					case u >= faults[side]:
						list[i] = 1
					}
				}
				values[side] = append(values[side], list)
			}
		}
		before := judged(t, values, unpaired)
		for range 4 {
			k := r.IntN(languages)
			i := r.IntN(len(values[1][k]))
			values[1][k][i] = 0
			after := judged(t, values, unpaired)
			if s := better(before, after); s != "" {
				t.Fatalf("set %d, %d languages, unpaired %v, halves %v: %s", set, languages, unpaired, halves, s)
			}
			before = after
		}
	}
}

// judged are the outcomes of two runs, the old one first.
func judged(t *testing.T, values [2][][]float64, unpaired bool) (all []int) {
	t.Helper()
	run := compare.Run{Name: "simulated"}
	for side, name := range []string{"old", "new"} {
		condition := map[string]string{"model": name}
		run.Estimates = append(run.Estimates, crosstalk.Estimate{Measure: "lpr", Value: crosstalk.Undefined, By: condition,
			Better: crosstalk.Higher, Average: &crosstalk.Average{Over: []string{"language"}}, Signature: "lpr"})
		observations := run.Observations
		run.Observations = func(yield func(crosstalk.Observation, error) bool) {
			if observations != nil {
				observations(yield)
			}
			for k, list := range values[side] {
				for i, v := range list {
					item := fmt.Sprint(k, "/", i)
					if unpaired {
						item = name + item
					}
					yield(crosstalk.Observation{Measure: "lpr", Item: item, Value: crosstalk.Value(v), Condition: condition,
						Labels: map[string]string{"language": fmt.Sprint(k)}}, nil)
				}
			}
		}
	}
	result, err := compare.Runs([]compare.Run{run}, compare.Options{Unpaired: true, Seed: 1})
	if err != nil || len(result.Comparisons) != 1 || result.Comparisons[0].Paired == unpaired {
		t.Fatalf("%+v, error %v", result, err)
	}
	for _, margin := range someMargins {
		of := result.Comparisons[0].Of
		of.Value = 1
		checks := NoWorse(result, "old", "", margin, nil, Options{MaxUnjudged: 1})
		Options{}.decide(checks)
		all = append(all, outcome(checks[0]))
	}
	return all
}
