package leakage

import (
	"encoding/json"
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

// groups are the estimates as "by: value n/observations".
func groups(estimates []crosstalk.Estimate, columns ...string) []string {
	var list []string
	for _, e := range estimates {
		var by []string
		for _, c := range columns {
			if v, ok := e.By[c]; ok {
				by = append(by, v)
			}
		}
		list = append(list, fmt.Sprintf("%s: %.3f %d/%d", strings.Join(by, " "), float64(e.Value), e.N, e.Observations))
	}
	return list
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

// A tie is no leak, and what is not scored counts as it does in the leak rate.
func TestFaults(t *testing.T) {
	e := Rules{Protocols[0]}.Estimator([]string{"category"})
	for i, o := range []crosstalk.Observation{scored("a", 1, "category", "x"), scored("b", 0.5, "category", "x"),
		scored("c", 0, "category", "y"), scored("d", 0, "category", "y"), scored("a", 1, "category", "x")} {
		o.Finding = []string{Leaked, Tie, NotLeaked, "", closest + Leaked}[i]
		switch i {
		case 3:
			o.Value, o.NotScored = crosstalk.Undefined, "empty"
		case 4:
			o.Measure = MeasureClosest
		}
		e.Add(o)
	}
	var got []string
	for _, e := range e.Estimates(crosstalk.SuiteIDs{}) {
		if e.Measure == Faults && e.By["model"] == "m" {
			got = append(got, fmt.Sprintf("%s %.3f of %d, %d empty, %v, %s", e.By["category"], e.Value, e.Observations,
				e.Counts["empty"], e.Test, e.Better))
		}
	}
	if want := []string{"all 0.333 of 3, 1 empty, <nil>, lower", "x 0.500 of 2, 0 empty, <nil>, lower",
		"y 0.000 of 1, 1 empty, <nil>, lower"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestEstimateGroups(t *testing.T) {
	again := scored("i1", 0, "category", "zebras")
	again.Sample = 1
	got := groups(estimates([]string{"category"},
		scored("i1", 1, "category", "zebras"), again, scored("i2", 1, "category", "ants"), scored("i3", 0.5)), "category")
	want := []string{"all: 0.625 3/4", "zebras: 0.500 1/2", "ants: 1.000 1/1"} // in the order of the data; i3 is in the sum only
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestEstimateRollsUp(t *testing.T) {
	got := groups(estimates([]string{"category", "kind"},
		scored("i1", 1, "category", "a", "kind", "x"), scored("i2", 0, "category", "a"), scored("i3", 1, "kind", "y"), scored("i4", 1, "category", "b", "kind", "x")), "category", "kind")
	want := []string{"all all: 0.750 4/4", "a all: 0.500 2/2", "a x: 1.000 1/1", "b all: 1.000 1/1", "b x: 1.000 1/1"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := groups(estimates(nil, scored("i1", 1, "category", "a"))); !reflect.DeepEqual(got, []string{": 1.000 1/1"}) {
		t.Errorf("grouped by nothing: %q", got)
	}
}

// A column twice, or one whose value is "all", counts nothing twice.
func TestEstimateCountsOnce(t *testing.T) {
	for _, by := range [][]string{{"category", "category"}, {"category"}} {
		got := groups(estimates(by, scored("i1", 1, "category", "all"), scored("i2", 0, "category", "a")), "category")
		if want := []string{"all: 0.500 2/2", "a: 0.000 1/1"}; !reflect.DeepEqual(got, want) {
			t.Errorf("by %q: %q, want %q", by, got, want)
		}
	}
}

// Conditions, data sets and languages never share a figure, whatever the
// figures are grouped by.
func TestEstimateNeverMixes(t *testing.T) {
	other := scored("i9", 0)
	other.Condition = map[string]string{"model": "n", "similarity": "s"}
	observations := []crosstalk.Observation{scored("i1", 1, "dataset", "d1", "language", "en"), scored("i2", 0, "dataset", "d2", "language", "en"),
		scored("i3", 0, "dataset", "d1", "language", "de"), other}
	for _, by := range [][]string{nil, {"dataset"}, {"language", "dataset"}, {"model", "category"}, {"similarity"}} {
		got := groups(estimates(by, observations...), "model", "dataset", "language")
		want := []string{"m d1 en: 1.000 1/1", "m d2 en: 0.000 1/1", "m d1 de: 0.000 1/1", "n: 0.000 1/1"}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("by %q: %q, want %q", by, got, want)
		}
	}
	got := groups(estimates([]string{"dataset", "category"}, scored("i1", 1, "dataset", "d1", "category", "a"), scored("i2", 0, "dataset", "d2", "category", "a")), "dataset", "category")
	bare := scored("i", 1, "language", "en")
	bare.Condition = nil
	if got := groups(estimates(nil, bare), "model", "language"); !reflect.DeepEqual(got, []string{"en: 1.000 1/1"}) {
		t.Errorf("without a condition: %q", got)
	}
	if want := []string{"d1 all: 1.000 1/1", "d1 a: 1.000 1/1", "d2 all: 0.000 1/1", "d2 a: 0.000 1/1"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestEstimateCounts(t *testing.T) {
	tie, same := scored("i1", 0.5), scored("i2", 1)
	same.Texts = sides("a", "a")
	observations := []crosstalk.Observation{tie, same}
	for i, reason := range []string{"empty", "empty", "no answer", "refused", "failed", NoVector, NoText, Unpaired, "ties"} {
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

// A figure over nothing is undefined, never 0.
func TestEstimateOfNothing(t *testing.T) {
	if got := estimates([]string{"category"}); len(got) != 0 {
		t.Errorf("no observations: %v", got)
	}
	o := scored("i", 0)
	o.Value, o.NotScored = crosstalk.Undefined, "failed"
	e := estimates(nil, o)[0]
	if e.Value.Defined() || e.Interval != nil || e.Effect.Value.Defined() || e.Test.P.Defined() || e.N != 0 ||
		e.Observations != 0 || e.Clusters != 0 {
		t.Errorf("%+v", e)
	}
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"value":null`, `"interval":null`, `"p":null`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s has no %s", text, want)
		}
	}
}

// 40 items of 10 controls with values that agree within a control: the
// interval and test that allow for it are wider than those that do not.
func TestEstimateClusters(t *testing.T) {
	var observations []crosstalk.Observation
	for i := range 40 {
		o := scored(fmt.Sprint("i", i), float64(i/4%3/2)) // 0 0 1 0 0 1 ...
		o.Cluster = fmt.Sprint("c", i/4)
		observations = append(observations, o)
	}
	e := estimates(nil, observations...)[0]
	if e.Clusters != 10 || e.N != 40 || e.Value != 0.3 || e.Test.Method != "cluster-t" || e.Interval == nil {
		t.Fatalf("%+v", e)
	}
	plain := estimatesOf(Protocols[1], nil, crosstalk.SuiteIDs{}, observations...)[0]
	if plain.Test.Method != "t" || !(plain.Test.P < e.Test.P) || plain.Test.DF != 39 {
		t.Errorf("plain %+v, by cluster %+v", plain.Test, e.Test)
	}
	// t = (0.3 - 0.5) / sqrt(0.21 * 40/39 / 40)
	if want := -0.2 / math.Sqrt(0.21/39); math.Abs(float64(plain.Test.Statistic)-want) > 1e-12 {
		t.Errorf("t %v, want %v", plain.Test.Statistic, want)
	}
	if half := 1.96 * math.Sqrt(0.21/40); e.Interval.High-e.Interval.Low < 2*1.3*half {
		t.Errorf("interval %+v is hardly wider than one of 40 independent items, ± %.3f", e.Interval, half)
	}
}

func TestSignature(t *testing.T) {
	suites := crosstalk.SuiteIDs{All: "file@1", Column: "dataset", Each: map[string]string{"d": "my|file\nd@12345678"}}
	observation := scored("i", 1, "dataset", "d", "category", "c")
	want := "leak_rate|suite:my_file_d@12345678|sim:s|post:none|round:3|ties:0.5|v" + crosstalk.Version
	for _, e := range estimatesOf(Protocols[2], []string{"category"}, suites, observation) {
		if e.Signature != want {
			t.Errorf("%s, want %s", e.Signature, want)
		}
	}
	for id, suites := range map[string]crosstalk.SuiteIDs{"-": {}, "file@1": suites} {
		if e := estimatesOf(Protocols[2], nil, suites, scored("i", 1)); !strings.HasPrefix(e[0].Signature, "leak_rate|suite:"+id+"|sim:s|") {
			t.Error(e[0].Signature)
		}
	}
}
