package gate

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/compare"
	"crosstalk/internal/numbers"
	"crosstalk/measure/stats"
)

// nights is a comparison of nights with the run "before": in each, of 400 items, so many are worse and so many better.
// The reference is wrong on 40. right is the value of a right answer, or of a wrong one where less is better.
func nights(t *testing.T, better crosstalk.Direction, right crosstalk.Value, counts ...[2]int) compare.Result {
	t.Helper()
	const items, faults = 400, 40
	var runs []compare.Run
	for n := range len(counts) + 1 {
		name, count := "before", [2]int{}
		if n > 0 {
			name, count = fmt.Sprint("night ", n), counts[n-1]
		}
		condition := columns{"model": "m"}
		e := figure("m", 0.5, condition)
		e.Better, e.Signature, e.N, e.Observations = better, "m|suite:s|v0.1.0", items, items
		runs = append(runs, compare.Run{Name: name, Estimates: []crosstalk.Estimate{e},
			Observations: func(yield func(crosstalk.Observation, error) bool) {
				for i := range items {
					bad := i < faults-count[1] || i >= items-count[0]
					value := crosstalk.Value(0)
					if bad == (better == crosstalk.Lower) {
						value = right
					}
					yield(crosstalk.Observation{Measure: "m", Item: fmt.Sprint(i), Value: value, Condition: condition}, nil)
				}
			}})
	}
	result, err := compare.Runs(runs, compare.Options{Unpaired: true})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// The evidence of all nights decides about the last: one failure of the limit, or none.
func TestNightly(t *testing.T) {
	const margin = 0.02
	for _, better := range []crosstalk.Direction{crosstalk.Higher, crosstalk.Lower} {
		for _, counts := range [][][2]int{{{0, 0}}, {{60, 0}}, {{90, 0}}, {{20, 0}, {80, 0}}, {{90, 0}, {0, 40}},
			{{0, 30}, {0, 35}}} {
			result := nights(t, better, 1, counts...)
			var list []stats.Night
			for _, c := range counts {
				differ := stats.Discordance{Losses: float64(c[0]) / 400, Wins: float64(c[1]) / 400}
				list = append(list, stats.Night{Discordance: differ, N: 400})
			}
			luck := stats.Luck(list, 1)
			used := max(margin, 2*luck)
			evidence, since := stats.NightlyEvidence(list, used, 0.1)
			for _, limit := range []struct {
				level float64
				want  float64
			}{{0, 40}, {0.9, 20}} {
				o := Options{MaxUnjudged: 0.1, Night: len(counts), Level: limit.level}
				checks := NoWorse(result, "before", fmt.Sprint("night ", len(counts)), margin, nil, o)
				o.decide(checks)
				if len(checks) != 1 || checks[0].Nightly == nil {
					t.Fatalf("%v: %+v", counts, checks)
				}
				c, n := checks[0], *checks[0].Nightly
				near := func(a crosstalk.Value, b float64) bool { return math.Abs(float64(a)-b) <= 1e-9*b }
				if n.Nights != len(counts) || !near(n.Luck, luck) || !near(n.Margin, used) || !near(n.Evidence, evidence) ||
					n.Since != since || !near(n.Limit, limit.want) || c.Passed != (evidence < limit.want) || c.Inconclusive {
					t.Errorf("%s, %v: %+v, want %v of %v since %d, margin %v: %+v", better, counts, n, evidence, limit.want, since, used, c)
				}
				text := fmt.Sprintf("evidence of a loss of more than %s: %.2g of %.3g after %d night", numbers.Points(used), evidence,
					limit.want, len(counts))
				if len(counts) > 1 {
					text += "s"
				}
				if !c.Passed {
					if c.Reason != fmt.Sprintf("%s, since night %d", text, since) || c.Remarks != nil {
						t.Errorf("%v: %q, %q", counts, c.Reason, c.Remarks)
					}
					continue
				}
				if used > margin {
					text += "; the margin is twice " + numbers.Percent(crosstalk.Value(luck))
				}
				if c.Reason != "" || len(c.Remarks) == 0 || !strings.HasPrefix(c.Remarks[0], text) ||
					(used > margin) != strings.HasSuffix(c.Remarks[0], ", the standard deviation of the reference run's luck") {
					t.Errorf("%v: %q, %q; want %q", counts, c.Reason, c.Remarks, text)
				}
			}
		}
	}
}

// Only the last night is checked, in the condition and the group that it has; a margin that luck makes a whole is none.
func TestNightlyOf(t *testing.T) {
	result := nights(t, crosstalk.Higher, 1, [2]int{90, 0}, [2]int{0, 0})
	last := result.Comparisons[1]
	if n := nightly(last, result.Comparisons, 0.05); n == nil || n.Nights != 2 {
		t.Errorf("%+v", n)
	}
	for name, change := range map[string]func(*compare.Comparison){
		"measure":   func(c *compare.Comparison) { c.Measure = "n" },
		"group":     func(c *compare.Comparison) { c.By = columns{"language": "de"} },
		"condition": func(c *compare.Comparison) { c.Condition = columns{"model": "other", compare.RunColumn: "night 1"} },
	} {
		all := append([]compare.Comparison{}, result.Comparisons...)
		change(&all[0])
		if n := nightly(last, all, 0.05); n == nil || n.Nights != 1 {
			t.Errorf("of another %s: %+v", name, n)
		}
	}
	if n := nightly(last, result.Comparisons, 1); n.Evidence != 0 || n.Since != 0 || n.Margin != 1 {
		t.Errorf("a margin of 100 points: %+v", n)
	}
	if n := nightly(compare.Comparison{}, result.Comparisons, 0.05); n != nil {
		t.Errorf("no means: %+v", n)
	}
	// Answers of several samples of an item make the reference's luck smaller.
	reference := last.Against
	once := nightly(last, result.Comparisons, 0.05)
	reference.Observations = 3 * reference.N
	if n := nightly(last, result.Comparisons, 0.05); !(n.Luck < once.Luck) ||
		math.Abs(float64(n.Luck/once.Luck)-math.Sqrt(0.5)) > 1e-9 {
		t.Errorf("three samples: %+v, one: %+v", n, once)
	}
}

// What has no evidence of several nights is left out, and told where it was wanted.
func TestNightlyWithout(t *testing.T) {
	o := Options{MaxUnjudged: 0.1, Night: 2}
	result := nights(t, crosstalk.Higher, 1, [2]int{0, 0}, [2]int{0, 0})
	result.Refused = []compare.Refusal{
		{Reason: compare.NoCounterpart, Subject: compare.Subject{Measure: "r",
			Condition: columns{compare.RunColumn: "night 1"}, By: columns{"language": "de"}}},
		{Reason: compare.NoCounterpart, Subject: compare.Subject{Measure: "s",
			Condition: columns{compare.RunColumn: "night 2"}, By: columns{"language": "ko"}}}}
	checks := NoWorse(result, "before", "night 2", 0.05, nil, o)
	if len(checks) != 2 || checks[0].Nightly == nil || checks[1].Measure != "s" ||
		fmt.Sprint(checks[1].By) != "map[language:ko run:night 2]" {
		t.Errorf("%+v", checks)
	}
	last := &result.Comparisons[1]
	last.Unit = "bits"
	if checks := NoWorse(result, "before", "night 2", 0.05, nil, o); checks[0].Reason != "a margin in points does not apply to bits" {
		t.Errorf("%+v", checks[0])
	}
	last.Unit, last.Paired = "", false
	if checks := NoWorse(result, "before", "night 2", 0.05, nil, o); checks[0].Reason != "the runs share too few items to pair them" {
		t.Errorf("%+v", checks[0])
	}
	// A mean of other numbers has no nights.
	mean := nights(t, crosstalk.Higher, 5, [2]int{0, 0}, [2]int{10, 0})
	if checks := NoWorse(mean, "before", "night 2", 0.05, nil, o); len(checks) != 0 {
		t.Errorf("%+v", checks)
	}
	if checks := NoWorse(mean, "before", "night 2", 0.05, []string{"m"}, o); len(checks) != 1 ||
		checks[0].Reason != "evidence of several nights is for means of fractions" {
		t.Errorf("%+v", checks)
	}
}

// The levels of figures that are judged every night add up to one night's level.
func TestLooks(t *testing.T) {
	for night, want := range map[int]int{0: 1, 1: 2, 2: 6, 3: 12} {
		if got := (Options{Night: night}).looks(); got != want {
			t.Errorf("night %d: %d, want %d", night, got, want)
		}
	}
	e := figure("lpr", 0.9, columns{})
	e.Interval.Method = "wilson"
	level := 0.9
	o := Options{Night: 2, MaxUnjudged: 0.1, Level: level}
	checks, err := parse(t, "lpr>=85%").Check([]crosstalk.Estimate{e, e}, o)
	if err != nil {
		t.Fatal(err)
	}
	o.decide(checks)
	exact := *e.Interval
	exact.Method = "clopper-pearson"
	if got, want := checks[1].strict, stats.AtLevel(exact, 0.9, e.Observations, 1-(1-level)/12); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// As many items are missing where less is better, and a number of them has two digits.
func TestMissingOfDifferences(t *testing.T) {
	var missing [][]int
	for _, better := range []crosstalk.Direction{crosstalk.Higher, crosstalk.Lower} {
		c := noWorse(compared(t, better, 36, 334, 30), 0.05, nil, Options{MaxUnjudged: 0.1})[0]
		if !c.Inconclusive || len(c.Missing) != 2 {
			t.Errorf("%s: %+v", better, c)
		}
		missing = append(missing, c.Missing)
	}
	if fmt.Sprint(missing[0]) != fmt.Sprint(missing[1]) {
		t.Errorf("missing are %v", missing)
	}
	for n, want := range map[int]string{1: "1", 99: "99", 100: "100", 104: "100", 105: "110", 999: "1000", 1449: "1400", 1450: "1500"} {
		if got := about(n); got != want {
			t.Errorf("about %d is %s, want %s", n, got, want)
		}
	}
	if _, err := ParseFraction("-1"); err == nil || err.Error() != "-1 is ambiguous: write -1% or -100%" {
		t.Errorf("%v", err)
	}
}
