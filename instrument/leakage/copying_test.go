package leakage

import (
	"math"
	"slices"
	"testing"

	"crosstalk"
)

func carried(prompt, test, control, language string) crosstalk.Item {
	return crosstalk.Item{ID: "n", Cluster: "c", Labels: map[string]string{LanguageColumn: language},
		Pair: &crosstalk.Pair{Concept: "bees", Test: "t", Control: "c",
			Context: &crosstalk.Context{Carrier: crosstalk.Note, Prompt: prompt, Test: crosstalk.Carried{Text: test},
				Control: crosstalk.Carried{Text: control}}}}
}

func TestCopying(t *testing.T) {
	bees := carried("Where is the old harbour town?", "The user keeps three hives of bees in an old harbour town near white cliffs.", "The user works near white cliffs.", "en")
	for _, c := range []struct {
		item          crosstalk.Item
		test, control string
		want          [3]float64
		marked        []string
	}{
		{bees, "In France.", "In France.", [3]float64{0, 0, 0}, nil},
		{bees, "As you keep three Hives of the BEES, go there.", "In France.", [3]float64{1, 0, 1}, []string{"three Hives of the BEES"}},
		{bees, "Your hives: bees. Old ones.", "In France.", [3]float64{1, 0, 1}, []string{"hives: bees. Old"}},
		{bees, "User keeps three hives.", "User keeps three hives, too.", [3]float64{1, 1, 0}, []string{"User keeps three hives"}},
		{bees, "In France.", "Three hives of bees.", [3]float64{0, 1, -1}, nil},
		{bees, "It is an old harbour town.", "It is an old harbour town.", [3]float64{0, 0, 0}, nil}, // the prompt has it
		{carried("Why?", "The user keeps bees, and lives near white cliffs.", "The user works, and lives near white cliffs.", "en"), // the control has it
			"She lives near white cliffs.", "In France.", [3]float64{0, 0, 0}, nil},
		{bees, "Three hives, two bees.", "In France.", [3]float64{0, 0, 0}, nil},
		{carried("Wo ist das?", "Sie hält im Garten Bienen.", "Sie arbeitet.", "de"), "Dort, im Garten Bienen", "Dort", [3]float64{1, 0, 1}, []string{"im Garten Bienen"}}, // no stop words of German
		{carried("在哪里？", "他在花园里养着三箱蜜蜂。", "他在花园里工作。", "zh"), "你养着三箱蜜蜂。", "在法国。", [3]float64{1, 0, 1}, []string{"养着三箱蜜蜂"}},
		{carried("在哪里？", "他在花园里养着三箱蜜蜂。", "他在花园里工作。", "zh"), "三箱蜜蜂。", "在法国。", [3]float64{0, 0, 0}, nil},
	} {
		in := &Instrument{Protocol: Protocol{Post: None, Round: Exact}, Condition: map[string]string{"model": "m"}}
		got, err := in.Score(bg, c.item, 0, []crosstalk.Answer{text(c.test)}, []crosstalk.Answer{text(c.control)})
		if err != nil || len(got) != 3 {
			t.Fatal(got, err)
		}
		for i, measure := range []string{MeasureCopied, measureControlCopied, MeasureCopying} {
			if got[i].Measure != measure || float64(got[i].Value) != c.want[i] {
				t.Errorf("%q, %q: %s is %v, want %s %v", c.test, c.control, got[i].Measure, got[i].Value, measure, c.want[i])
			}
		}
		var marked []string
		for _, s := range got[0].Spans {
			marked = append(marked, got[0].Text(s.Side)[s.Start:s.End])
		}
		if !slices.Equal(marked, c.marked) {
			t.Errorf("%q: %q marked, want %q", c.test, marked, c.marked)
		}
	}
}

func TestCopyingNotScored(t *testing.T) {
	in := &Instrument{Protocol: Protocol{Post: None, Round: Exact}}
	for _, c := range []struct {
		item          crosstalk.Item
		test, control crosstalk.Answer
		want          string
	}{
		{carried("Why?", "He keeps bees.", "He works.", "en"), text("a"), text("b"), nothingToCopy},
		{carried("Why?", "He keeps noisy bees.", "He works.", "en"), status(crosstalk.Empty), text("b"), "empty"},
		{carried("Why?", "He keeps noisy bees.", "He works.", "en"), text("a"), status(crosstalk.Failed), "failed"},
	} {
		got, err := in.Score(bg, c.item, 0, []crosstalk.Answer{c.test}, []crosstalk.Answer{c.control})
		if err != nil || len(got) != 3 {
			t.Fatal(got, err)
		}
		for _, o := range got {
			if o.NotScored != c.want || o.Value.Defined() {
				t.Errorf("%+v, want %s", o, c.want)
			}
		}
	}
	// What is removed before answers are compared can have been copied.
	item := carried("Why?", "He keeps noisy bees.", "He works.", "en")
	item.Pair.Remove = []string{"keeps noisy bees"}
	got, err := in.Score(bg, item, 0, []crosstalk.Answer{text("keeps noisy bees")}, []crosstalk.Answer{text("b")})
	if err != nil || got[0].Value != 1 {
		t.Errorf("%+v %v", got, err)
	}
}

// The rates are of the test's answers and of the control's, and their
// difference has an interval and a test against none.
func TestCopyingEstimates(t *testing.T) {
	var observations []crosstalk.Observation
	in := &Instrument{Protocol: Protocols[0], Condition: map[string]string{"model": "m"}}
	in.Protocol.Post = None
	for i := range 40 {
		item := carried("Why?", "He keeps noisy bees.", "He works.", "en")
		item.ID, item.Cluster = string(rune('a'+i)), string(rune('a'+i/2))
		test, control := "No.", "No."
		if i%2 == 0 || i < 10 {
			test = "Keeps noisy bees."
		}
		if i == 3 {
			control = test
		}
		got, err := in.Score(bg, item, 0, []crosstalk.Answer{text(test)}, []crosstalk.Answer{text(control)})
		if err != nil {
			t.Fatal(err)
		}
		observations = append(observations, got...)
	}
	list := estimatesOf(in.Protocol, nil, crosstalk.SuiteIDs{}, observations...)
	if len(list) != 3 {
		t.Fatalf("%+v", list)
	}
	for i, want := range []struct {
		measure string
		value   float64
	}{{MeasureCopied, 25.0 / 40}, {measureControlCopied, 1.0 / 40}, {MeasureCopying, 24.0 / 40}} {
		e := list[i]
		if e.Measure != want.measure || math.Abs(float64(e.Value)-want.value) > 1e-12 || e.N != 40 || e.Clusters != 20 ||
			e.Interval == nil || !e.Interval.Contains(want.value) {
			t.Errorf("%+v, want %+v", e, want)
		}
		if _, ties := e.Counts[Ties]; ties || (e.Test != nil) != (i == 2) {
			t.Errorf("%+v", e)
		}
	}
	if p := list[2].Test.P; !(p < 0.001) || list[2].Test.Null != 0 {
		t.Errorf("%+v", list[2].Test)
	}
}
