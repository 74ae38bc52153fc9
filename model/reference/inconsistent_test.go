package reference

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"crosstalk"
)

func tasks() []crosstalk.Task {
	return []crosstalk.Task{{Name: "colour", Classes: []string{"r", "g", "b"}, Fields: []string{"text"},
		Layout: "{ask} {text}{say}", Instructions: map[string]crosstalk.Instruction{
			"en": {Parts: map[string]string{"ask": "Which?", "say": " One word."},
				Words: []crosstalk.AnswerWord{{Word: "red", Class: "r"}, {Word: "green", Class: "g"}, {Word: "blue", Class: "b"}}},
			"de": {Parts: map[string]string{"ask": "Welche?", "say": " Ein Wort."},
				Words: []crosstalk.AnswerWord{{Word: "rot", Class: "r"}, {Word: "grün", Class: "g"}, {Word: "blau", Class: "b"}}},
		}}}
}

func inputs(n int) (items []crosstalk.Item) {
	for i := range n {
		items = append(items,
			crosstalk.Item{ID: fmt.Sprint(i),
				Input: &crosstalk.Input{Task: "colour", Texts: map[string][]string{"en": {fmt.Sprintf("Thing %d.", i)}}, Gold: map[string]string{"en": "g"}}})
	}
	return items
}

func said(t *testing.T, m crosstalk.Model, prompt string, sample int) string {
	t.Helper()
	a, err := m.Answer(t.Context(),
		crosstalk.Request{API: crosstalk.Chat, Messages: []crosstalk.Message{{Role: "user", Content: prompt}}, Sample: sample})
	if err != nil || a.Status != crosstalk.Text {
		t.Fatalf("%q: %+v, %v", prompt, a, err)
	}
	return a.Text
}

// Its texts come back marked, in whatever words it is told to rewrite.
func TestInconsistentRewrites(t *testing.T) {
	m, err := NewInconsistent(tasks(), inputs(12), Inconsistency{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for prompt, want := range map[string]string{
		"Translate the text from English into German. Reply briefly.\n\n\"Thing 1.\"": "[German] Thing 1.",
		"Translate into Portuguese (Brazil): Thing 11.":                               "[Portuguese (Brazil)] Thing 11.",
		"In other words: \"One word.\"":                                               "[otherwise] One word.",
		"[German] Which? [German] Thing 1. [German] One word.":                        "green.",
		"Welche? Thing 1. Ein Wort.":                                                  "grün.",
		"Which? [otherwise] Thing 1. One word.":                                       "green.",
	} {
		if got := said(t, m, prompt, 0); got != want {
			t.Errorf("%q: %q, want %q", prompt, got, want)
		}
	}
	if _, err := m.Answer(t.Context(),
		crosstalk.Request{API: crosstalk.Chat, Messages: []crosstalk.Message{{Role: "user", Content: "Hello?"}}}); err == nil {
		t.Error("answered what it does not know")
	}
}

// Flips, answers without a label and wrong ones come at their rates.
func TestInconsistentRates(t *testing.T) {
	const n = 5000
	truth := Inconsistency{Flip: 0.3, Invalid: 0.05, Wrong: 0.2}
	m, err := NewInconsistent(tasks(), inputs(n), truth, 7)
	if err != nil {
		t.Fatal(err)
	}
	var flips, valid, invalid, wrong float64
	for i := range n {
		source, marked := said(t, m, fmt.Sprintf("Which? Thing %d. One word.", i), 0), said(t, m, fmt.Sprintf("Which? [German] Thing %d. One word.", i), 0)
		if source == noLabel {
			invalid++
			continue
		}
		if source != "green." {
			wrong++
		}
		if marked == noLabel {
			continue
		}
		valid++
		if marked != source {
			flips++
		}
		if again := said(t, m, fmt.Sprintf("Which? Thing %d. One word.", i), 1); again != source && again != noLabel {
			t.Fatalf("item %d: %s, then %s", i, source, again)
		}
	}
	for name, c := range map[string][2]float64{"flip": {flips / valid, truth.Flip},
		"invalid": {invalid / n, truth.Invalid}, "wrong": {wrong / (n - invalid), truth.Wrong}} {
		if math.Abs(c[0]-c[1]) > 4*math.Sqrt(c[1]*(1-c[1])/n) {
			t.Errorf("%s: %.4f, want %.2f", name, c[0], c[1])
		}
	}
	for _, seed := range []uint64{7, 8} {
		other, _ := NewInconsistent(tasks(), inputs(n), truth, seed)
		same := 0
		for i := range 1000 {
			prompt := fmt.Sprintf("Which? [German] Thing %d. One word.", i)
			if said(t, m, prompt, 0) == said(t, other, prompt, 0) {
				same++
			}
		}
		if (same == 1000) != (seed == 7) {
			t.Errorf("seed %d: %d of 1000 answers are the same", seed, same)
		}
	}
	if m.Identity() == func() crosstalk.Identity {
		m,
			_ := NewInconsistent(tasks(), inputs(3), truth, 7)
		return m.Identity()
	}() {
		t.Error("a model of other items has the same identity")
	}
}

func TestInconsistentErrors(t *testing.T) {
	for spec, want := range map[string]string{
		"inconsistent?flip=1.5":  "reference:inconsistent: flip is 1.5; expected a probability, 0 to 1",
		"inconsistent?invalid=x": `reference:inconsistent: invalid is "x"; expected a probability, 0 to 1`,
		"inconsistent?flop=1":    `reference:inconsistent has no setting "flop"; it has flip, invalid, wrong and seed`,
		"inconsistent?seed=-1":   `reference:inconsistent: seed is "-1"; expected a whole number from 0`,
	} {
		if _, err := Open(spec, inputs(1), tasks()...); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", spec, err, want)
		}
	}
	if _, err := Open("inconsistent", inputs(1)); err == nil || !strings.Contains(err.Error(), "item 0 has no task with classes") {
		t.Errorf("%v", err)
	}
	if m, err := Open(DefaultInconsistent, inputs(1), tasks()...); err != nil || m.Identity().Name != "inconsistent?flip=0.2&invalid=0.01&wrong=0.2&seed=1" {
		t.Errorf("%v, %v", m, err)
	}
}
