package leakage

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"crosstalk"
)

func sides(test, control string) []crosstalk.NamedText {
	return []crosstalk.NamedText{{Name: Test, Text: test}, {Name: Control, Text: control}}
}

// scored is an observation with a value; the item is its own cluster.
func scored(item string, value float64, labels ...string) crosstalk.Observation {
	o := crosstalk.Observation{Measure: Measure, Item: item, Cluster: item, Value: crosstalk.Value(value),
		Condition: map[string]string{"model": "m", "similarity": "s"}, Labels: map[string]string{},
		Numbers: map[string]float64{"test": value, "control": 0.5}, Texts: sides("a", "b")}
	for i := 0; i+1 < len(labels); i += 2 {
		o.Labels[labels[i]] = labels[i+1]
	}
	return o
}

func estimates(by []string, observations ...crosstalk.Observation) []crosstalk.Estimate {
	return estimatesOf(Protocols[0], by, crosstalk.SuiteIDs{}, observations...)
}

func estimatesOf(p Protocol, by []string, suites crosstalk.SuiteIDs,
	observations ...crosstalk.Observation) []crosstalk.Estimate {
	e := Rules{p}.Estimator(by)
	for _, o := range observations {
		e.Add(o)
	}
	all := e.Estimates(suites)
	return slices.DeleteFunc(all, func(e crosstalk.Estimate) bool { return e.Measure == Faults })
}

func TestEstimateCounts(t *testing.T) {
	tie, same := scored("i1", 0.5), scored("i2", 1)
	same.Texts = sides("a", "a")
	observations := []crosstalk.Observation{tie, same}
	for i, reason := range []string{"empty", "empty", "no answer", "refused", "failed", noVector, noText, unpaired, "ties"} {
		o := scored(fmt.Sprintf("n%d", i), 0)
		o.Value, o.NotScored = crosstalk.Undefined, reason
		observations = append(observations, o)
	}
	damaged := scored("n9", math.NaN())
	e := estimates(nil, append(observations, damaged)...)[0]
	want := map[string]int{"ties": 1, "identical": 1, "empty": 2, "no_answer": 1, "refused": 1, "failed": 1,
		"not_scored": 5}
	if !reflect.DeepEqual(e.Counts, want) {
		t.Errorf("counts %v, want %v", e.Counts, want)
	}
	if last := e.Warnings[len(e.Warnings)-1]; last != "5 of 12 not scored (1 unknown, 1 no text, 1 no vector, 1 ties, 1 unpaired)" {
		t.Errorf("warning %q", last)
	}
	few := make([]crosstalk.Observation, 9)
	for i := range few {
		few[i] = scored(fmt.Sprint(i), 1)
	}
	if w := estimates(nil, append(few, observations[6])...)[0].Warnings; strings.Contains(strings.Join(w, "\n"), "not scored") {
		t.Errorf("1 of 10 not scored: %q", w)
	}
	if e.N != 2 || e.Observations != 2 || e.Clusters != 2 || e.Value != 0.75 {
		t.Errorf("%+v", e)
	}
	if e.Effect.Value != 0.25 { // (0.5-0.5 + 1-0.5) / 2
		t.Errorf("effect %v", e.Effect)
	}
}
