package leakage

import (
	"slices"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/measure/similarity"
)

// open is an open-ended item whose name is removed from the answers.
var open = crosstalk.Item{ID: "s", Cluster: "c", Pair: &crosstalk.Pair{Concept: "Coral", Test: "A story about Coral.", Control: "A story.", Remove: []string{"Coral"}}}

func TestSentences(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "",
		"One":                            "One",
		"One. Two! Three?":               "One.|Two!|Three?",
		"He said \"Go.\" Then he went.":  "He said \"Go.\"|Then he went.",
		"Mr. Hill paid 3.5 p.m. fees. J": "Mr. Hill paid 3.5 p.m. fees.|J",
		"A line\nand another\n\nlast":    "A line|and another|last",
		"他走了。她来了":                        "他走了。|她来了",
		"(It was late.) She left.":       "(It was late.)|She left.",
	} {
		if got := strings.Join(sentences(text), "|"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// The whole answer, its closest sentence and the mean over its sentences are
// compared each for itself; the closest sentence is where the answer leaks.
func TestWindows(t *testing.T) {
	in := &Instrument{Protocol: Protocol{Post: None, Round: Exact, Windows: Sentences},
		Similarities: []similarity.Similarity{fake("a", map[string]float64{
			"A day. The reef was blue. shells. ***": 0.2, "A night. No.": 0.3, // whole answers
			"A day.": 0.1, "The reef was blue.": 0.9, "shells.": -0.4, "A night.": 0.2, "No.": 0.3})}}
	got, err := in.Score(bg, open, 0, []crosstalk.Answer{text("A day. The reef was blue. Coral's shells. ***")}, []crosstalk.Answer{text("A night. No.")})
	if err != nil || len(got) != 3 {
		t.Fatal(got, err)
	}
	for i, want := range []struct {
		measure       string
		value         crosstalk.Value
		test, control float64
		finding       string
	}{{Measure, 0, 0.2, 0.3, notLeaked}, {MeasureClosest, 1, 0.9, 0.3, closest + Leaked},
		{MeasureMean, 0, 0.2, 0.25, meanOf + notLeaked}} {
		o := got[i]
		near := func(a, b float64) bool { return a-b < 1e-12 && b-a < 1e-12 }
		if o.Measure != want.measure || o.Value != want.value || !near(o.Numbers[Test], want.test) ||
			!near(o.Numbers[Control], want.control) || o.Finding != want.finding {
			t.Errorf("%+v, want %+v", o, want)
		}
	}
	// The sentence behind "***" is not counted; the mark is of the text as it is shown.
	span := got[1].Spans
	if len(span) != 1 || span[0].Side != Test || span[0].Score != 0.9 ||
		got[1].Text(Test)[span[0].Start:span[0].End] != "The reef was blue." || span[0].Line != 1 {
		t.Errorf("%+v of %q", span, got[1].Text(Test))
	}
	if got[0].Spans != nil || got[2].Spans != nil {
		t.Error("a mark on another measure")
	}
}

func TestWindowsNotScored(t *testing.T) {
	in := &Instrument{Protocol: Protocol{Post: None, Round: Exact, Windows: Sentences},
		Similarities: []similarity.Similarity{fake("a", map[string]float64{"Yes.": 0.5, "One.": 0.1})}}
	got, err := in.Score(bg, open, 0, []crosstalk.Answer{text("One. Two."), text("Two."), status(crosstalk.Empty)},
		[]crosstalk.Answer{text("Yes."), text("Yes."), text("Yes.")})
	if err != nil {
		t.Fatal(err)
	}
	var reasons []string
	for _, o := range got {
		reasons = append(reasons, o.NotScored)
		if (o.NotScored == "") != o.Value.Defined() {
			t.Errorf("%+v", o)
		}
	}
	// The first answer as a whole has no vector, but one of its sentences has.
	if want := []string{noVector, "", "", noVector, noVector, noVector, "empty", "empty", "empty"}; !slices.Equal(reasons, want) {
		t.Errorf("%q", reasons)
	}
	// The positions of equal sentences, and a span in several lines.
	w := windows{test: []string{"No.", "Yes.", "No."}}
	if span := spanOf("No.\nYes.\nNo.", w.test, 2, 0.5); len(span) != 1 || span[0].Start != 9 || span[0].Line != 3 {
		t.Errorf("%+v", span)
	}
	w.test = []string{"No.", "No."}
	if span := spanOf("No. No.", w.test, 1, 0.5); len(span) != 1 || span[0].Start != 4 {
		t.Errorf("%+v", span)
	}
	w.test = []string{"No.", "Yes."}
	if span := spanOf("No.\nyes.", w.test, 1, 0.5); span != nil {
		t.Errorf("%+v", span)
	}
}
