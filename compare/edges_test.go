package compare

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/measure/stats"
)

// pairsWith is a run of pairs of 0 and 1 under two conditions.
func pairsWith(wins, losses, same int) *recorded {
	r := &recorded{}
	for i := range wins + losses + same {
		a, b := 1.0, 1.0
		switch {
		case i < wins:
			a = 0
		case i < wins+losses:
			b = 0
		}
		r.add("m", fmt.Sprint(i), "", a, first, nil)
		r.add("m", fmt.Sprint(i), "", b, second, nil)
	}
	return r
}

// A test is staged where few draws are as extreme as the data: fewer than a hundred.
func TestStages(t *testing.T) {
	for p, want := range map[float64]int{99.9 / 2001: 3, 100. / 2001: 1, 100.01 / 2001: 1} {
		var asked []int
		staged(1000, 1, func(draws int, _ uint64) float64 {
			asked = append(asked, draws)
			return p * 2001 / float64(draws+1)
		})
		if len(asked) != want {
			t.Errorf("p %v: draws %v", p, asked)
		}
	}
	for family, want := range map[int][]int{1: {2_000, 20_000}, 10: {2_000, 20_000}, 11: {2_000, 20_000, 22_000},
		2_500: {2_000, 20_000, 5_000_000}, 10_000: {2_000, 20_000, 5_000_000}} {
		var asked []int
		var seeds []uint64
		staged(family, 7, func(draws int, seed uint64) float64 {
			asked, seeds = append(asked, draws), append(seeds, seed)
			return 0
		})
		if !slices.Equal(asked, want) || seeds[0] != 7 || seeds[1] == seeds[0] {
			t.Errorf("family of %d: %v, seeds %v", family, asked, seeds)
		}
	}
}

func TestLevels(t *testing.T) {
	for level, ok := range map[float64]bool{-0.1: false, 0: false, 0.01: true, 0.99: true, 1: false, 1.5: false} {
		if err := (Options{Level: level}).Check(); (err == nil) != ok {
			t.Errorf("%v: %v", level, err)
		}
	}
	for _, o := range []Options{{Level: 0.95, AllPairs: true}, {Level: 0.95, Reference: first}} {
		if err := o.Check(); err != nil {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// Settings that differ are told with both values, the reference's first.
func TestSettings(t *testing.T) {
	long := strings.Repeat("é", 61)
	settings := map[string]columns{
		"a": {"temperature": "0", "system": long, "same": "1", "model": "a"},
		"b": {"seed": "7", "system": strings.Repeat("é", 60), "same": "1", "model": "b"},
	}
	run := pairsWith(1, 2, 30).run(t)
	run.Settings = func(condition map[string]string) map[string]string { return settings[condition["model"]] }
	warnings := func() string {
		r, err := Runs([]Run{run}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(only(t, r).Warnings, "\n")
	}
	want := "settings differ: seed is none and 7; system is " + strings.Repeat("é", 60) + "… and " + strings.Repeat("é", 60) + "; temperature is 0 and none"
	if got := warnings(); !strings.Contains(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
	for _, name := range []string{"a", "b"} {
		known := settings[name]
		settings[name] = nil
		if got := warnings(); strings.Contains(got, "settings") {
			t.Errorf("not known under %s: %s", name, got)
		}
		settings[name] = known
	}
	settings["b"] = maps.Clone(settings["a"])
	if got := warnings(); strings.Contains(got, "settings") {
		t.Errorf("equal: %s", got)
	}
}

// Each refusal names the nearest figure of the reference, the first of equally near ones.
func TestNearestRefused(t *testing.T) {
	r := &recorded{signature: func(measure string, condition map[string]string) string {
		return measure + "|sim:" + condition["similarity"]
	}}
	for _, similarity := range []string{"x", "y"} {
		for _, at := range []string{"0", "1", "2"} {
			for i := range 10 {
				r.add("m", fmt.Sprint(i), "", float64(i%2), columns{"similarity": similarity, "temperature": at, "seed": at}, nil)
			}
		}
	}
	for i := range 10 {
		r.add("m", fmt.Sprint(i), "", float64(i%2), columns{"similarity": "y", "temperature": "3", "seed": "3"}, nil)
	}
	_, err := Runs([]Run{r.run(t)}, Options{Reference: columns{"similarity": "x"}})
	if err == nil || !strings.Contains(err.Error(), "under similarity x and under similarity y: ") {
		t.Error(err)
	}
	result, _ := Runs([]Run{r.run(t)}, Options{Reference: columns{"similarity": "x"}})
	for i, want := range []string{"0", "1", "2", "0"} {
		if got := result.Refused[i].Reference["temperature"]; got != want {
			t.Errorf("%v: refused with temperature %s, want %s", result.Refused[i].Condition, got, want)
		}
	}
	// Comparable conditions likewise.
	result, err = Runs([]Run{r.run(t)}, Options{Reference: columns{"similarity": "x"}, Across: []string{"sim"}})
	if err != nil || len(result.Comparisons) != 4 {
		t.Fatal(err)
	}
	for i, want := range []string{"0", "1", "2", "0"} {
		if got := result.Comparisons[i].Reference["temperature"]; got != want {
			t.Errorf("%v: compared with temperature %s, want %s", result.Comparisons[i].Condition, got, want)
		}
	}
}

// All fields that differ have to be allowed, not only one of them.
func TestAcrossEveryField(t *testing.T) {
	r := &recorded{signature: func(measure string, condition map[string]string) string {
		return measure + "|suite:s@" + condition["model"] + "|sim:" + condition["model"]
	}}
	for i := range 10 {
		r.add("m", fmt.Sprint(i), "", 1, first, nil)
		r.add("m", fmt.Sprint(i), "", 1, second, nil)
	}
	for range 20 { // fields are a map
		for _, across := range []string{"suite", "sim"} {
			_, err := Runs([]Run{r.run(t)}, Options{Across: []string{across}})
			if err == nil || !strings.HasSuffix(err.Error(), "sim is a and b; suite is s@a and s@b (use --across sim,suite to compare anyway)") {
				t.Fatalf("across %s: %v", across, err)
			}
		}
	}
	if c := only(t, runs(t, Options{Across: []string{"suite", "sim"}}, r)); !slices.Equal(c.Across, []string{"sim", "suite"}) {
		t.Errorf("%q", c.Across)
	}
	// Suites without a fingerprint are the same only if they have the same name.
	r.signature = func(measure string, condition map[string]string) string {
		return measure + "|suite:" + condition["model"]
	}
	if _, err := Runs([]Run{r.run(t)}, Options{}); err == nil || !strings.HasSuffix(err.Error(), "suite is a and b (use --across suite to compare the items whose ids both have)") {
		t.Error(err)
	}
}

// Figures are listed by measure, in the order in which measures appear.
func TestOrderOfFamilies(t *testing.T) {
	r := &recorded{by: []string{"language"}}
	for i := range 20 {
		for _, condition := range []columns{first, second} {
			labels := columns{"language": []string{"de", "ko"}[i%2]}
			r.add("wpr", fmt.Sprint(i), "", float64(i%2), condition, labels)
			r.add("lpr", fmt.Sprint(i), "", float64(i%4/2), condition, labels)
		}
	}
	var order []string
	result := runs(t, Options{Groups: true}, r)
	for _, c := range result.Comparisons {
		order = append(order, c.Measure+" "+c.By["language"])
		for _, w := range c.Warnings {
			if strings.HasPrefix(w, "the figure under") && !strings.Contains(w, "NaN") {
				t.Errorf("%v: %s", c.By, w)
			}
		}
	}
	if !slices.IsSortedFunc(order, func(a, b string) int { return -strings.Compare(a[:3], b[:3]) }) || len(order) != 6 {
		t.Errorf("%q", order)
	}
}

// The comparison reports where its mean is not the figure, group by group.
func TestMeanAndFigure(t *testing.T) {
	r := &recorded{by: []string{"language"}}
	for i := range 40 {
		for _, condition := range []columns{first, second} {
			r.add("m", fmt.Sprint(i), "", float64(i%2), condition, columns{"language": []string{"de", "ko"}[i%2]})
		}
	}
	run := r.run(t)
	for i := range run.Estimates {
		e := &run.Estimates[i]
		switch e.By["language"] {
		case "de":
			e.Value = 0
		case "ko":
			e.Value = 1
		default:
			e.Value = 0.5 + 2e-6
		}
	}
	result, err := Runs([]Run{run}, Options{Groups: true})
	if err != nil || len(result.Comparisons) != 3 {
		t.Fatalf("%+v, %v", result, err)
	}
	for _, c := range result.Comparisons {
		told := 0
		for _, w := range c.Warnings {
			if strings.HasPrefix(w, "the figure under model ") && strings.HasSuffix(w, " is 0.5000; the comparison uses the mean over its items, 0.5000") {
				told++
			} else if strings.HasPrefix(w, "the figure") {
				t.Error(w)
			}
		}
		if want := map[string]int{"": 2, "all": 2}[c.By["language"]]; told != want {
			t.Errorf("%v: %d of %d warnings: %q", c.By, told, want, c.Warnings)
		}
	}
}

// Items without an id are told of only where something is unpaired.
func TestWithoutIDs(t *testing.T) {
	const warning = "answers without an id cannot be paired"
	named := pairsWith(1, 2, 30)
	named.add("m", "only here", "", 1, first, nil)
	if c := only(t, runs(t, Options{}, named)); c.LeftOut[unpaired] != 1 || slices.Contains(c.Warnings, warning) {
		t.Errorf("%+v", c)
	}
	named.add("m", "", "", 1, second, nil)
	if c := only(t, runs(t, Options{}, named)); c.LeftOut[unpaired] != 2 || !slices.Contains(c.Warnings, warning) {
		t.Errorf("%+v", c)
	}
	elsewhere := pairsWith(1, 2, 30)
	elsewhere.add("other", "", "", 1, first, nil)
	for _, c := range runs(t, Options{Measures: []string{"m"}}, elsewhere).Comparisons {
		if slices.Contains(c.Warnings, warning) {
			t.Errorf("%+v", c)
		}
	}
}

// A permutation test of five clusters has a p-value of 1/16 at least, and finds
// something at that level.
func TestEnoughToDetect(t *testing.T) {
	for level, detectable := range map[float64]bool{0.9375: true, 0.94: false} {
		r := &recorded{}
		for i := range 5 {
			r.add("m", fmt.Sprint(i), "", 0.5, first, nil)
			r.add("m", fmt.Sprint(i), "", 0.5+0.01*float64(i), second, nil)
		}
		if c := only(t, runs(t, Options{Level: level}, r)); c.Detectable.Defined() != detectable {
			t.Errorf("level %v: %v", level, c.Detectable)
		}
	}
}

// Unpaired figures that are no rates have a t-test, and the smaller side is counted.
func TestUnpairedKinds(t *testing.T) {
	sides := func(n int, value func(i, side int) float64, average map[string]*crosstalk.Average,
		measures ...string) []*recorded {
		var rs []*recorded
		for side, name := range []string{"x", "y"} {
			r := &recorded{name: name, average: average}
			for i := range n + 30*side {
				for _, m := range measures {
					r.add(m, fmt.Sprint(name, i), "", value(i, side), columns{"model": name}, nil)
				}
			}
			rs = append(rs, r)
		}
		return rs
	}
	binary := func(i, side int) float64 { return float64((i + side) % 3 / 2) }
	for n, few := range map[int]bool{29: true, 30: false} {
		c := only(t, runs(t, Options{Unpaired: true}, sides(n, binary, nil, "m")...))
		if c.Method != "score" || c.N != 2*n+30 ||
			slices.ContainsFunc(c.Warnings, func(w string) bool { return strings.Contains(w, "only 29") }) != few ||
			slices.ContainsFunc(c.Warnings, func(w string) bool { return strings.HasPrefix(w, "only ") }) != few {
			t.Errorf("%d items: %s, %d, %q", n, c.Method, c.N, c.Warnings)
		}
	}
	if c := only(t, runs(t, Options{Unpaired: true}, sides(40, func(i, side int) float64 { return 0.5 + 0.1*float64(i%3) },
		nil, "m")...)); c.Method != "t" || !c.P.Defined() || c.Shown {
		t.Errorf("%+v", c)
	}
	// Only some of the values have to be between.
	if c := only(t, runs(t, Options{Unpaired: true},
		sides(40, func(i, side int) float64 { return []float64{0, 1, 0.5}[i%3] }, nil, "m")...)); c.Method != "t" {
		t.Errorf("%+v", c)
	}
	harmonic := map[string]*crosstalk.Average{"lcpr": {HarmonicOf: []string{"lpr", "wpr"}}}
	if c := only(t, runs(t, Options{Unpaired: true, Measures: []string{"lcpr"}},
		sides(40, binary, harmonic, "lpr", "wpr")...)); c.Method != "t" || c.Paired {
		t.Errorf("%+v", c)
	}
	// A measure with a unit is no rate, though it counts 0 and 1.
	var all []Run
	for _, r := range sides(40, binary, nil, "m") {
		run := r.run(t)
		for i := range run.Estimates {
			run.Estimates[i].Unit = "tokens"
		}
		all = append(all, run)
	}
	result, err := Runs(all, Options{Unpaired: true})
	if err != nil {
		t.Fatal(err)
	}
	if c := only(t, result); c.Method != "t" || c.Unit != "tokens" || c.Interval == nil {
		t.Errorf("%+v", c)
	}
}

// A plan for a margin is for a run in which nothing changed.
func TestMargins(t *testing.T) {
	s := Study{Variance: Variance{Item: 0.1}, ClusterSize: 1}
	goal := Goal{Level: 0.95, Samples: []int{1}, Margins: []float64{0.02}}
	items := func(s Study, samples int) float64 {
		t.Helper()
		goal.Samples = []int{samples}
		p, err := goal.Plan([]Study{s})
		if err != nil || len(p.Plans) != 1 || p.Plans[0].Given != "margin" || p.Plans[0].Difference != 0.02 {
			t.Fatalf("%+v, %v", p, err)
		}
		return float64(p.Plans[0].Items)
	}
	plain := stats.Discordance{Wins: 0.05, Losses: 0.05}.ItemsForMargin(0.02, 0.95, 0.8)
	near(t, "items", items(s, 1), math.Ceil(plain), 0)
	// Clusters of 5 count as the gate counts them, which is more than nothing.
	s.ClusterSize = 5
	near(t, "clusters", items(s, 1), math.Ceil((1+4*stats.LeastICC)*plain), 0)
	s.Variance = Variance{Cluster: 0.05, Item: 0.05}
	near(t, "correlated clusters", items(s, 1), math.Ceil(3*plain), 1)
	// Half of the variance is between answers: four of them leave 5/8.
	s = Study{Variance: Variance{Item: 0.05, Sample: 0.05}, ClusterSize: 1}
	near(t, "answers", items(s, 4),
		math.Ceil(stats.Discordance{Wins: 0.05 * 5 / 8, Losses: 0.05 * 5 / 8}.ItemsForMargin(0.02, 0.95, 0.8)), 1)
	near(t, "one answer", items(s, 1), math.Ceil(plain), 0)
}

// Goals at the ends of what they may be.
func TestGoals(t *testing.T) {
	s, err := Stated(0.9)
	if err != nil {
		t.Fatal(err)
	}
	good := Goal{Level: 0.95, Samples: []int{1}, Differences: []float64{-0.05}, Margins: []float64{0.02}, Items: []int{1}}
	p, err := good.Plan([]Study{s})
	if err != nil || p.Differences[0] != 0.05 || good.Differences[0] != -0.05 || len(p.Plans) != 3 {
		t.Errorf("%+v, %v", p, err)
	}
	for want, change := range map[string]func(*Goal){
		"the level is 0; expected a number between":  func(g *Goal) { g.Level = 0 },
		"the level is 1; expected a number between":  func(g *Goal) { g.Level = 1 },
		"expected a difference to find, a margin or": func(g *Goal) { g.Differences, g.Margins, g.Items = nil, nil, nil },
		"the number of samples is 0; expected 1":     func(g *Goal) { g.Samples = []int{0} },
		"samples is 2; expected a pilot run":         func(g *Goal) { g.Samples = []int{1, 2} },
		"the difference is 0; expected more":         func(g *Goal) { g.Differences = []float64{0} },
		"the difference is 1; expected more":         func(g *Goal) { g.Differences = []float64{1} },
		"the margin is 0; expected more than 0":      func(g *Goal) { g.Margins = []float64{0} },
		"the margin is 1; expected more than 0":      func(g *Goal) { g.Margins = []float64{1} },
		"the number of items is 0; expected 1":       func(g *Goal) { g.Items = []int{0} },
	} {
		g := good
		change(&g)
		if _, err := g.Plan([]Study{s}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for _, only := range []Goal{{Differences: good.Differences}, {Margins: good.Margins}, {Items: good.Items}} {
		only.Level, only.Samples = 0.95, []int{1}
		if p, err := only.Plan([]Study{s}); err != nil || len(p.Plans) != 1 {
			t.Errorf("%+v, %v", p, err)
		}
	}
	for _, rate := range []float64{-0.1, 1.1, math.NaN()} {
		if _, err := Stated(rate); err == nil || !strings.HasPrefix(err.Error(), "the rate is ") {
			t.Errorf("%v: %v", rate, err)
		}
	}
}

// A pilot of one condition has no reference, and warns that it is small.
func TestSmallPilot(t *testing.T) {
	pilot := func(n int) Study {
		r := &recorded{}
		for i := range n {
			r.add("m", fmt.Sprint(i), "", float64(i%2), first, nil)
		}
		studies, _, err := Pilots([]Run{r.run(t)}, Options{})
		if err != nil || len(studies) != 1 {
			t.Fatal(err)
		}
		return studies[0]
	}
	s := pilot(29)
	if s.Reference == nil || len(s.Reference) != 0 ||
		!slices.ContainsFunc(s.Warnings, func(w string) bool { return strings.HasPrefix(w, "pilot: only 29 ") }) {
		t.Errorf("%+v", s)
	}
	if s := pilot(30); slices.ContainsFunc(s.Warnings, func(w string) bool { return strings.HasPrefix(w, "pilot: ") }) {
		t.Errorf("%q", s.Warnings)
	}
	r := pairsWith(2, 3, 40)
	run := r.run(t)
	for i := range run.Estimates {
		run.Estimates[i].Unit = "tokens"
	}
	if _, refused, err := Pilots([]Run{run}, Options{}); err == nil || len(refused) != 1 ||
		refused[0].Reason != noFraction {
		t.Errorf("%+v, %v", refused, err)
	}
	studies, refused, err := Pilots([]Run{r.run(t)}, Options{})
	if err != nil || len(refused) != 0 || !maps.Equal(studies[0].Reference, first) ||
		!maps.Equal(studies[0].Condition, second) || studies[0].Samples != 1 || studies[0].Items != 45 {
		t.Errorf("%+v, %v", studies, err)
	}
}

// Pairs that are too few to be compared are no evidence for a night.
func TestNightOfUnpaired(t *testing.T) {
	var rs []*recorded
	for side, name := range []string{"x", "y"} {
		r := &recorded{name: name}
		for i := range 45 {
			id := fmt.Sprint(name, i)
			if i < 5 {
				id = fmt.Sprint("both ", i)
			}
			r.add("m", id, "", float64((i+side)%2), columns{"model": name}, nil)
		}
		rs = append(rs, r)
	}
	if c := only(t, runs(t, Options{Unpaired: true}, rs...)); c.Paired || c.Night != (stats.Night{}) || c.N != 90 {
		t.Errorf("%+v", c)
	}
	if c := only(t, runs(t, Options{}, rs...)); !c.Paired || c.Night.N != 5 || c.Night.Wins == 0 || c.N != 5 {
		t.Errorf("%+v", c)
	}
}
