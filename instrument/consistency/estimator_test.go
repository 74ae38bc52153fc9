package consistency

import (
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/measure/translation"
)

// sumUp is the estimates over observations.
func sumUp(r Rules, observations iter.Seq[crosstalk.Observation], by []string) []crosstalk.Estimate {
	e := r.Estimator(by)
	for o := range observations {
		e.Add(o)
	}
	return e.Estimates(crosstalk.SuiteIDs{})
}

// figuresOf scores items, each with the answers of its id, and names the
// figures by measure and the columns in names.
func figuresOf(t *testing.T, in *Instrument, items []crosstalk.Item, answers map[string]Answers, by []string,
	names ...string) map[string]crosstalk.Estimate {
	t.Helper()
	figures := map[string]crosstalk.Estimate{}
	for _, e := range sumUp(in.Rules(), func(yield func(crosstalk.Observation) bool) {
		for _, item := range items {
			observations, err := in.Score(t.Context(), nil, item, answers[item.ID], nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range observations {
				if !yield(o) {
					return
				}
			}
		}
	}, by) {
		name := []string{e.Measure}
		for _, column := range append([]string{"pair", "part"}, names...) {
			name = append(name, e.By[column])
		}
		key := strings.TrimRight(strings.Join(name, " "), " ")
		if _, again := figures[key]; again {
			t.Errorf("there are two figures %q", key)
		}
		figures[key] = e
	}
	return figures
}

func sixItems() (items []crosstalk.Item, answers map[string]Answers) {
	answers = map[string]Answers{}
	for i, row := range [][4]string{ // gold, source, source again, T
		{"same", "yes", "yes", "ja"}, {"same", "yes", "yes", "nein"}, {"same", "no", "no", "nein"}, {"different", "no", "yes", "nein"}, {"different", "yes", "yes", "hm"}, {"different", "no", "no", "empty"},
	} {
		it := item(fmt.Sprint(i), row[0])
		it.Labels = map[string]string{"category": []string{"a", "b"}[i%2]}
		items = append(items, it)
		answers[it.ID] = Answers{source: said(row[1], row[2]), both: said(row[3])}
	}
	return items, answers
}

func TestEstimate(t *testing.T) {
	items, answers := sixItems()
	for protocol, want := range map[string]map[string]float64{
		"crosstalk-1": {"consistency en repeat": 5. / 6, "consistency en>de T": 3. / 4, "consistency_correct en>de T": 2. / 3, "consistency_incorrect en>de T": 1,
			"consistency_change en>de T": 0, "accuracy en source": 4. / 6, "accuracy en repeat": 3. / 6, "accuracy en>de T": 2. / 5, "accuracy_change en>de T": -1. / 5,
			"invalid en source": 0, "invalid en>de T": 1. / 5},
		"ohmer-2023": {"consistency en repeat": 5. / 6, "consistency en>de T": 3. / 6, "consistency_correct en>de T": 2. / 4, "consistency_incorrect en>de T": 1. / 2,
			"consistency_change en>de T": -2. / 6, "accuracy en source": 4. / 6, "accuracy en repeat": 3. / 6, "accuracy en>de T": 2. / 6, "accuracy_change en>de T": -2. / 6,
			"invalid en source": 0, "invalid en>de T": 2. / 6},
	} {
		figures := figuresOf(t, instrument(protocol), items, answers, nil)
		for name, value := range want {
			if e, ok := figures[name]; !ok || math.Abs(float64(e.Value)-value) > 1e-12 {
				t.Errorf("%s: %s is %g, want %g", protocol, name, e.Value, value)
			}
		}
	}
	figures := figuresOf(t, instrument("crosstalk-1"), items, answers, nil)
	e := figures["consistency en>de T"]
	if e.N != 4 || e.Observations != 4 || e.Counts[Invalid] != 1 || e.Counts["empty"] != 1 ||
		e.Better != crosstalk.Higher || e.Unit != "" {
		t.Errorf("%+v", e)
	}
	if e := figures["consistency_change en>de T"]; e.Test == nil || e.Test.Method != "mcnemar" || e.Test.P != 1 || e.Observations != 4 {
		t.Errorf("%+v %+v", e, e.Test)
	}
	if e := figures["consistency en>de T"]; !strings.HasPrefix(e.Signature, "consistency|suite:-|read:crosstalk-1|invalid:apart|review:none|no-answer:apart|rewrites:-|v") {
		t.Errorf("%s", e.Signature)
	}
}

func TestEstimateByClass(t *testing.T) {
	items, answers := sixItems()
	figures := figuresOf(t, instrument("ohmer-2023"), items, answers, []string{"category", ByClass, "pair"}, "category", "class", "from", "to")
	for name, want := range map[string]float64{
		"label_share en gold all same": 0.5, "label_share en source all same": 0.5, "label_share en>de T all different": 0.5, "label_share en>de T all invalid": 2. / 6, "label_share en>de T b invalid": 1. / 3,
		"transition en>de T all  same different": 1. / 3, "transition en>de T all  same same": 1. / 3, "transition en>de T all  same invalid": 1. / 3, "transition en>de T all  different different": 2. / 3,
		"transition en>de T a  same same": 0.5, "consistency en>de T all": 0.5, "consistency en>de T a": 2. / 3, "consistency en>de T b": 1. / 3,
	} {
		if e, ok := figures[name]; !ok || math.Abs(float64(e.Value)-want) > 1e-12 {
			t.Errorf("%s is %g, want %g", name, e.Value, want)
		}
	}
	if _, ok := figures["transition en>de T all  invalid same"]; ok {
		t.Error("there is a transition from where no item was")
	}
}

// Items of one cluster, and samples of one item, are not independent.
func TestEstimateClusters(t *testing.T) {
	var items []crosstalk.Item
	answers := map[string]Answers{}
	for i := range 40 {
		it := item(fmt.Sprint(i), "same")
		it.Cluster = fmt.Sprint(i / 4)
		items = append(items, it)
		word := []string{"yes", "no"}[i/4%2]
		answers[it.ID] = Answers{source: said("yes", "yes", "yes"), inputs: said(word, word)}
	}
	e := figuresOf(t, instrument("crosstalk-1"), items, answers, nil)
	if c := e["consistency en>de X"]; c.N != 40 || c.Observations != 80 || c.Clusters != 10 || c.Value != 0.5 ||
		c.Interval.High-c.Interval.Low < 0.5 {
		t.Errorf("%+v %+v", c, c.Interval)
	}
	if c := e["consistency_change en>de X"]; c.Test.Method != "sign-flip" || c.Value != -0.5 {
		t.Errorf("%+v", c)
	}
}

// The BLEU of many items is that of their texts as one corpus, not the mean of
// theirs.
func TestCorpusBLEU(t *testing.T) {
	in := instrument("crosstalk-1")
	texts := [][]string{{"die Katze schläft im Garten", "eine Katze ruht im Garten"}, {"die Katze schläft draußen im Garten", "eine Katze schläft im Garten"}}
	var observations []crosstalk.Observation
	var hyps, refs []string
	for i, t2 := range texts {
		it := item(fmt.Sprint(i), "")
		got, err := in.Score(t.Context(), nil, it, Answers{source: said("yes"), inputs: said("yes")},
			map[Sense]Rewritten{"en>de": {Texts: t2}})
		if err != nil {
			t.Fatal(err)
		}
		observations = append(observations, got...)
		hyps, refs = append(hyps, t2...), append(refs, it.Input.Texts["de"]...)
	}
	var sum translation.BLEUStats
	for i, hyp := range hyps {
		sum.Add(translation.Tokenize13a.Stats(hyp, refs[i]))
	}
	want := sum.Score()
	found := false
	for _, e := range sumUp(in.Rules(), slices.Values(observations), nil) {
		if e.Measure == BLEU {
			found = true
			if math.Abs(100*float64(e.Value)-want) > 1e-12 || e.By["part"] != "" || e.N != 2 {
				t.Errorf("%+v, want %g", e, want)
			}
		}
	}
	if !found {
		t.Error("there is no BLEU")
	}
}

// Figures are the same from what a run directory keeps: observations and rules
// as JSON.
func TestEstimateAgain(t *testing.T) {
	items, answers := sixItems()
	in := instrument("ohmer-2023")
	var kept []crosstalk.Observation
	for _, it := range items {
		observations, err := in.Score(t.Context(), nil, it, answers[it.ID], nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range observations {
			var again crosstalk.Observation
			if err := json.Unmarshal(crosstalk.Canonical(o), &again); err != nil {
				t.Fatal(err)
			}
			kept = append(kept, again)
		}
	}
	var rules Rules
	if err := json.Unmarshal(crosstalk.Canonical(in.Rules()), &rules); err != nil {
		t.Fatal(err)
	}
	want := figuresOf(t, in, items, answers, []string{ByClass}, "class", "from", "to")
	got := sumUp(rules, slices.Values(kept), []string{ByClass})
	if len(got) != len(want) {
		t.Errorf("%d figures, want %d", len(got), len(want))
	}
	for _, e := range got {
		name := strings.TrimRight(strings.Join([]string{e.Measure, e.By["pair"], e.By["part"], e.By["class"], e.By["from"], e.By["to"]}, " "), " ")
		if string(crosstalk.Canonical(e)) != string(crosstalk.Canonical(want[name])) {
			t.Errorf("%s\nwant\n%s", crosstalk.Canonical(e), crosstalk.Canonical(want[name]))
		}
	}
}
