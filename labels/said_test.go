package labels

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"crosstalk"
)

// What people say of an answer is the label of most of them, the mean in a tie, and what an
// adjudicator says in any case.
func TestSaidTogether(t *testing.T) {
	dir := confusionRun(t, []int{1}, []int{1})
	s := open(t, dir)
	for _, c := range []struct {
		labels   string // w: wrong, r: right, c: cannot tell; capital: decides
		majority string
		value    float64
		decided  bool
		own      int // labels that are compared with each other
	}{
		{"r", "right", 1, false, 1},
		{"rw", cannotTell, 0.5, false, 2},
		{"rrw", "right", 1, false, 3},
		{"rc", cannotTell, 1, false, 2},
		{"wcc", cannotTell, math.NaN(), false, 3},
		{"rwc", cannotTell, 0.5, false, 3},
		{"rrW", "wrong", 0, true, 2},
		{"rwC", cannotTell, math.NaN(), true, 2},
		{"W", "wrong", 0, true, 1},
		{"rWR", cannotTell, 0.5, true, 1},
	} {
		var labels []Label
		for i, r := range c.labels {
			l := s.says(s.Units[0], fmt.Sprint(i), map[rune]string{'w': "wrong", 'r': "right", 'c': cannotTell}[r|32])
			l.Decides = r < 'a'
			labels = append(labels, l)
		}
		slices.Reverse(labels)
		u := s.Question.said(labels)
		if u.majority != c.majority || !(u.value == c.value || math.IsNaN(u.value) && math.IsNaN(c.value)) ||
			u.decided != c.decided || len(u.labels) != c.own {
			t.Errorf("%s: %+v", c.labels, u)
		}
	}
}

// The rate of an agreement is that of the labels alone in corrected figures, also with three
// annotators and a fourth who decides; both say who decided, and how far labels agree.
func TestOneDefinition(t *testing.T) {
	dir := confusionRun(t, []int{1, 1, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0}, []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1})
	s := open(t, dir)
	var labels []Label
	for i, given := range []string{"rrw", "rrr", "wwr", "www", "rrr", "rwr", "wwc", "rrc", "rwW", "r", "rc", "ccc"} {
		for k, r := range given {
			l := s.says(s.Units[i], fmt.Sprint("a", k), map[rune]string{'w': "wrong", 'r': "right", 'c': cannotTell}[r|32])
			l.Decides = r < 'a'
			labels = append(labels, l)
		}
	}
	a, err := s.compare(Design{}, labels, Options{})
	if err != nil || a.Adjudicated != 1 {
		t.Fatalf("%+v, %v", a, err)
	}
	estimates, err := s.correct(Design{}, labels, nil, nil)
	if err != nil || len(estimates) != 3 {
		t.Fatalf("%+v, %v", estimates, err)
	}
	i := slices.IndexFunc(a.Figures, func(f Figure) bool { return f.Measure == Rate && f.Of == People })
	// r r w w r r w r W r r -: 7 of 11
	if f, e := a.Figures[i], estimates[1]; math.Abs(float64(f.Value-e.Value)) > 1e-12 ||
		math.Abs(float64(f.Value)-7./11) > 1e-12 {
		t.Errorf("%v and %v", f.Value, e.Value)
	}
	for _, e := range estimates {
		p := e.People
		if p == nil || p.Adjudicated != 1 || math.Abs(float64(p.CannotTell)-1./12) > 1e-12 ||
			!(p.Kappa > 0 && p.Kappa < 0.6) {
			t.Fatalf("%+v", p)
		}
		want := 2
		if e.By[figureColumn] == uncorrected {
			want = 0
		}
		n := 0
		for _, w := range e.Warnings {
			if w == "annotators agree little (kappa is below 0.6): do not take their labels for the truth" ||
				w == "people could not tell of more than 5 % of the labelled answers, which are left out" {
				n++
			}
		}
		if n != want {
			t.Errorf("%s: %q", e.By[figureColumn], e.Warnings)
		}
	}
	if want := "|adjudicated:1"; !slices.ContainsFunc(estimates, func(e crosstalk.Estimate) bool {
		return strings.Contains(e.Signature, want)
	}) {
		t.Errorf("%q without %s", estimates[2].Signature, want)
	}
}

// Warnings begin above 5 % and below 0.6, not at them; a single annotator has no kappa.
func TestQuality(t *testing.T) {
	s := open(t, confusionRun(t, slices.Repeat([]int{1}, 40), slices.Repeat([]int{1}, 40)))
	for _, c := range []struct {
		untold, warnings int
		annotators       int
	}{{2, 0, 1}, {3, 1, 1}, {2, 0, 2}} {
		var labels []Label
		for i, u := range s.Units {
			for a := range c.annotators {
				label := []string{"right", "wrong"}[i%2]
				if i < c.untold {
					label = cannotTell
				}
				labels = append(labels, s.says(u, fmt.Sprint(a), label))
			}
		}
		units, _ := s.labelled(nil, labels)
		p, warnings := s.Question.quality(units)
		if len(warnings) != c.warnings || p.Kappa.Defined() != (c.annotators > 1) {
			t.Errorf("%+v: %+v, %q", c, p, warnings)
		}
	}
}

// Items of the same name in two recorded data sets are two questions, whichever comes first;
// each has its own judges.
func TestDataSets(t *testing.T) {
	var all []crosstalk.Observation
	for _, o := range [][3]string{{"one", "s1", "a"}, {"two", "s1", "b"}, {"two", "s2", "b"}, {"one", "s2", "a"}, {"three", "s1", "c"}} {
		x := crosstalk.Observation{Measure: "leak_rate", Item: "row-2", Value: 1, Finding: "leaked",
			Condition: map[string]string{"model": "m", "similarity": o[1]}, Labels: map[string]string{"dataset": o[0]}}
		x.AddText(crosstalk.Side, "test", o[2])
		x.AddText(crosstalk.Side, "control", "x")
		all = append(all, x)
	}
	s := openAs(t, madeRun(t, `"leakage"},"scoring":[{"rules":{}}]`, all), "")
	got := ""
	for _, u := range s.Units {
		got += fmt.Sprint(u.Texts[0], len(u.Judged), u.Condition["dataset"], " ")
	}
	if got != "a2 b2two c1three " {
		t.Errorf("%s", got)
	}
	all = append(all, all[0])
	if _, err := Open(madeRun(t, `"leakage"},"scoring":[{"rules":{}}]`, all), ""); err == nil ||
		!strings.Contains(err.Error(), "two answers with sample 0") {
		t.Errorf("the same twice: %v", err)
	}
}
