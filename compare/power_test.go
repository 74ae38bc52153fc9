package compare

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/measure/stats"
	"crosstalk/report"
)

// A pilot's components are computed from the paired differences, sample by sample.
func TestPilot(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	r := &recorded{}
	var n stats.Nested
	var mean float64
	type key struct{ item, sample int }
	diffs := map[key]float64{}
	for i := range 60 {
		item := rng.NormFloat64()
		for k := range 4 {
			a, b := rng.NormFloat64(), item+rng.NormFloat64()
			for side, condition := range []columns{first, second} {
				r.add("score", fmt.Sprint(i), fmt.Sprint(i/4), []float64{a, b}[side], condition, nil)
				r.observations[len(r.observations)-1].Sample = k
			}
			diffs[key{i, k}] = b - a
			mean += (b - a) / 240
		}
	}
	for i := range 60 {
		if i%4 == 0 {
			n = append(n, make([][]float64, 4))
		}
		for k := range 4 {
			n[i/4][i%4] = append(n[i/4][i%4], diffs[key{i, k}]-mean)
		}
	}
	studies, refused, err := Pilots([]Run{r.run(t)}, Options{})
	if err != nil || len(studies) != 1 || len(refused) != 0 {
		t.Fatalf("%+v, %+v, %v", studies, refused, err)
	}
	s, want := studies[0], n.Components()
	near(t, "cluster", float64(s.Variance.Cluster), want.Cluster, 1e-9)
	near(t, "item", float64(s.Variance.Item), want.Item, 1e-9)
	near(t, "sample", float64(s.Variance.Sample), want.Sample, 1e-9)
	near(t, "cluster size", s.ClusterSize, 4, 0)
	if s.Items != 60 || s.Samples != 4 {
		t.Errorf("%+v", s)
	}
	p, err := Goal{Level: 0.95, Samples: []int{1, 8}, Differences: []float64{0.3}, Items: []int{100}}.Plan(studies)
	if err != nil || len(p.Plans) != 4 {
		t.Fatalf("%+v, %v", p, err)
	}
	for i, samples := range []int{1, 8} {
		d := want.Design(samples, 4)
		near(t, "items", float64(p.Plans[2*i].Items), d.Items(0.3, 0.05, 0.8), 0)
		near(t, "difference", float64(p.Plans[2*i+1].Difference), d.Detectable(100, 0.05, 0.8), 1e-9)
		near(t, "observations", float64(p.Plans[2*i+1].Observations), float64(100*samples), 0)
	}
}

// Differences between cells of an average are no variance of items.
func TestPilotWithinCells(t *testing.T) {
	r := &recorded{average: map[string]*crosstalk.Average{"lpr": macro}}
	for i := range 40 {
		labels := columns{"language": fmt.Sprint(i % 2), "source": "s"}
		noise := float64(i/2%2) / 10
		r.add("lpr", fmt.Sprint(i), "", 0.5, first, labels)
		r.add("lpr", fmt.Sprint(i), "", 0.5+0.4*float64(i%2)+noise, second, labels)
	}
	studies, _, err := Pilots([]Run{r.run(t)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if v := float64(studies[0].Variance.Item); !(v > 0.0024 && v < 0.0027) {
		t.Errorf("variance %v, want that of 0 and 0.1", v)
	}
	if !slices.ContainsFunc(studies[0].Warnings, func(w string) bool { return strings.Contains(w, "evenly over the 2 cells") }) {
		t.Errorf("%q", studies[0].Warnings)
	}
}

// One condition stands for both, and one sample cannot tell what more would do.
func TestPilotOfOneCondition(t *testing.T) {
	r := &recorded{}
	for i := range 50 {
		r.add("lpr", fmt.Sprint(i), "", float64(i%2), first, nil)
	}
	r.miss("lpr", "x", "empty", first, nil)
	studies, _, err := Pilots([]Run{r.run(t)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "variance", float64(studies[0].Variance.Item), 2*0.25*50/49, 1e-9)
	if w := studies[0].Warnings; len(w) != 2 || !strings.HasPrefix(w[0], "the pilot has one condition") || !strings.HasPrefix(w[1], "1 of the pilot's 51 items") {
		t.Errorf("%q", w)
	}
	p, err := Goal{Level: 0.95, Samples: []int{1, 2}, Differences: []float64{0.1}}.Plan(studies)
	if err != nil || !p.Plans[0].Items.Defined() || p.Plans[1].Items.Defined() {
		t.Errorf("%+v, %v", p.Plans, err)
	}
	harmonic := &recorded{average: map[string]*crosstalk.Average{"lcpr": {HarmonicOf: []string{"lpr", "wpr"}}}}
	harmonic.add("lpr", "1", "", 1, first, nil)
	harmonic.add("wpr", "1", "", 1, first, nil)
	if _, refused, err := Pilots([]Run{harmonic.run(t)}, Options{Measures: []string{"lcpr"}}); err == nil ||
		len(refused) != 1 || refused[0].Reason != notLinear {
		t.Errorf("%+v, %v", refused, err)
	}
}

// The plan from rates agrees with the textbook, and what a number of items
// finds needs that number.
func TestStated(t *testing.T) {
	s, err := Stated(0.6)
	if err != nil {
		t.Fatal(err)
	}
	goal := Goal{Level: 0.95, Samples: []int{1}, Differences: []float64{0.05}, Items: []int{100, 1531, 100_000}}
	p, err := goal.Plan([]Study{s})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "items", float64(p.Plans[0].Items),
		stats.PairedRates(0.6, 0.55, stats.IndependentDiscordance(0.6, 0.55)).Items(0.05, 0.05, 0.8), 0)
	near(t, "difference", float64(p.Plans[2].Difference), 0.05, 1e-4)
	if down, err := (Goal{Level: 0.95, Samples: []int{1}, Differences: []float64{-0.05}}).Plan([]Study{s}); err != nil ||
		down.Plans[0].Items != p.Plans[0].Items {
		t.Errorf("a difference in the other direction: %+v, %v", down, err)
	}
	for i, n := range goal.Items {
		goal.Differences, goal.Items = []float64{float64(p.Plans[i+1].Difference)}, nil
		again, err := goal.Plan([]Study{s})
		if err != nil {
			t.Fatal(err)
		}
		near(t, "items again", float64(again.Plans[0].Items), float64(n), 0)
	}
	// Two items are too few for any difference.
	if p, _ := (Goal{Level: 0.95, Samples: []int{1}, Items: []int{1}}).Plan([]Study{s}); p.Plans[0].Difference.Defined() {
		t.Errorf("%+v", p.Plans)
	}
	for _, bad := range []Goal{
		{Level: 95, Samples: []int{1}, Items: []int{5}},
		{Level: 0.95, Samples: []int{0}, Items: []int{5}},
		{Level: 0.95, Samples: []int{1, 5}, Items: []int{5}}, // nothing varies between answers to a prompt
		{Level: 0.95, Samples: []int{1}, Items: []int{0}},
		{Level: 0.95, Samples: []int{1}, Differences: []float64{0}},
		{Level: 0.95, Samples: []int{1}},
	} {
		if _, err := bad.Plan([]Study{s}); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}

func TestWritePower(t *testing.T) {
	if testing.Short() {
		t.Skip("looks for differences for long, in one goroutine")
	}
	s, _ := Stated(0.6)
	p, err := Goal{Level: 0.95, Samples: []int{1}, Differences: []float64{0.05}, Items: []int{1}}.Plan([]Study{s})
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range report.Formats {
		var b bytes.Buffer
		if err := WritePower(&b, format, p); err != nil || b.Len() == 0 {
			t.Errorf("%s: %v", format, err)
		}
	}
	var b bytes.Buffer
	if err := WritePower(&b, "table", p); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"power 80 % at level 95 %", "items for 5 points", "points with 1 items", "-: the difference is impossible"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
}
