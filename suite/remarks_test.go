package suite

import (
	"slices"
	"testing"

	"crosstalk"
)

// A remark names what comes later first, and what it is like second.
func TestRemarksNameBoth(t *testing.T) {
	pair := func(id, control string) crosstalk.Item {
		return crosstalk.Item{ID: id, Cluster: control, Labels: map[string]string{"language": "en"},
			Pair: &crosstalk.Pair{Concept: "bread", Test: "He likes bread. He is", Control: control}}
	}
	prompt := func(id string) crosstalk.Item {
		return crosstalk.Item{ID: id, Cluster: id, Labels: map[string]string{"task": "monolingual", "language": "en"},
			Prompt: &crosstalk.Prompt{Text: "Who are you?", Language: "en"}}
	}
	input := func(id, gold, other, placeholder string) crosstalk.Item {
		return crosstalk.Item{ID: id, Cluster: id, Labels: map[string]string{"task": "t", "placeholder": placeholder},
			Input: &crosstalk.Input{Task: "t", Texts: map[string][]string{"en": {"a"}},
				Gold: map[string]string{"en": gold, "de": other}}}
	}
	noGold := input("c", "", "", "")
	noGold.Input.Gold = nil
	task := crosstalk.Task{Name: "t", Classes: []string{"yes", "no", "maybe"}, Instructions: map[string]crosstalk.Instruction{
		"en": {Parts: map[string]string{"q": "Say Yes or no"}, Words: []crosstalk.AnswerWord{{Word: "yes", Class: "yes"},
			{Word: "no", Class: "no"}, {Word: "perhaps", Class: "maybe"}}}}}
	for _, c := range []struct {
		suite *Suite
		want  []string
	}{
		{&Suite{Instrument: "leakage", Language: "en", Items: ItemsOf(pair("a", "He likes tea. He is"), pair("b", "He likes cats. He was"),
			pair("c", "He likes tea, too, as all of them do, and so do we. He is"), pair("d", "He likes tea, too, as all of them do, and so we do. He is"),
			pair("e", "He eats Breads. He is"))},
			[]string{"b: same test prompt as a", `b: test and control end differently ("He is", "He was")`,
				"d: nearly the same control as c", `e: the control mentions the concept "bread"`, "5 items: intervals need at least 30"}},
		{&Suite{Instrument: "confusion", Items: ItemsOf(prompt("a"), prompt("b"))},
			[]string{"b: same prompt as a", "monolingual en: too few items for a reliable figure (2)", "2 prompts: intervals need at least 5"}},
		{&Suite{Instrument: "consistency", Tasks: []crosstalk.Task{task}, Items: ItemsOf(input("a", "yes", "no", "de"), input("b", "yes", "yes", ""), noGold)},
			[]string{"b: same text in en as a", "task t: the placeholder NS replaces a text in 1 of the items (see the column placeholder)",
				"task t: no gold class, and so no accuracy, for 1 of the items", "task t: no item has the gold class maybe",
				"task t: the gold class differs between languages for 1 of the items",
				"task t: instruction en has no answer word for the class maybe"}},
	} {
		got := Check(c.suite)
		for _, want := range c.want {
			if !slices.Contains(got, want) {
				t.Errorf("%s: no remark %q in\n%q", c.suite.Instrument, want, got)
			}
		}
	}
	for _, c := range [][4]string{{"Say it: a b", "Say it: c", "a b", "c"}, {"Say it: a", "Ask: c", "Say it: a", "Ask: c"},
		{"a", "b", "a", "b"}, {"x: a", "x: ", "a", ""}} {
		if test, control := withoutInstruction(c[0], c[1]); test != c[2] || control != c[3] {
			t.Errorf("%q, %q: %q, %q", c[0], c[1], test, control)
		}
	}
}
