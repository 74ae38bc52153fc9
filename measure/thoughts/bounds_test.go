package thoughts

import (
	"slices"
	"strings"
	"testing"
)

// What looks like a marker and is none, and what has more than one end.
func TestSplitAtItsBounds(t *testing.T) {
	for _, c := range []struct{ name, text, answer, reasoning string }{
		{"nothing behind an opening marker", "Sure.\n<think>", "Sure.\n", ""},
		{"white space before a block and after it", "\n<think>hm</think>\n\npizza", "\npizza", "hm"},
		{"a second end, and no beginning", "Hm.\n</think>\npizza\n</think>\nmore", "pizza\n\nmore", "Hm."},
		{"a mention in a thought, and a second end", "<think>the tag <think> is odd.</think>pizza.\n</think>\nmore",
			"pizza.\n\nmore", "the tag <think> is odd."},
		{"a mention at the end of a line", "Sure. <think>\nhm", "Sure. <think>\nhm", ""},
		{"an indented fence is none", "    ```\n<think>hm</think>\n    ```\npizza", "    ```\n\n    ```\npizza", "hm"},
		{"a block that is empty beside another", "<think>\n\n</think>a\n<think>b</think>\nc", "a\n\nc", "b"},
		{"cut off on the marker's line", "<think>Okay, the user", "", "Okay, the user"},
		{"more beginnings than ends", "<think>a\n<think>b\n<think>c</think>d\n</think>e", "d\ne", "a\n<think>b\n<think>c"},
		{"a lone end that begins a line", "Hm\n</think> pizza", "pizza", "Hm"},
		{"a fence with spaces at its end", "Like:\n```\n<think>hm</think>\n```         \nDone.",
			"Like:\n```\n<think>hm</think>\n```         \nDone.", ""},
		{"a backtick on another line", "It`s so.\nSure. <think>hm</think> `y` pizza", "It`s so.\nSure.  `y` pizza", "hm"},
		{"a backtick on a later line", "It`s. <think>hm</think> pizza\n`y`", "It`s.  pizza\n`y`", "hm"},
		{"code before code", "Use `x`. Write `a. <think>b</think>`.", "Use `x`. Write `a. <think>b</think>`.", ""},
		{"text before a message", "Sure.<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>pizza",
			"Sure.pizza", "hm"},
		{"a broken character before a marker", "\xff<think>\xfeb</think>\xffc", "\xff<think>\xfeb</think>\xffc", ""},
		{"a stop inside a message", "<|channel|>final<|message|>pizza<|end|> more", "pizza<|end|> more", ""},
	} {
		if answer, reasoning := Split(c.text); answer != c.answer || reasoning != c.reasoning {
			t.Errorf("%s: %q\n got %q, %q\nwant %q, %q", c.name, c.text, answer, reasoning, c.answer, c.reasoning)
		}
	}
}

// Parts of one kind are one, and white space belongs to a marker only where an answer begins after it.
func TestPartsJoined(t *testing.T) {
	for text, want := range map[string][]Part{
		"<think></think>a":            {{Marker, 0, 15}, {Answer, 15, 16}},
		"<think>\nhm</think>\n a\n":   {{Marker, 0, 7}, {Thought, 7, 10}, {Marker, 10, 20}, {Answer, 20, 22}},
		"a\n<think>b</think>\n\nc":    {{Answer, 0, 2}, {Marker, 2, 9}, {Thought, 9, 10}, {Marker, 10, 18}, {Answer, 18, 21}},
		"[1]":                         {{Answer, 0, 3}},
		"I think <b>":                 {{Answer, 0, 11}},
		" <think> ":                   {{Answer, 0, 1}, {Marker, 1, 8}, {Thought, 8, 9}},
		"<|channel|>final<|message|>": {{Marker, 0, 27}},
	} {
		if got := Parts(text); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// Only the first markers of a text that has more than any model writes are looked at.
func TestMostMarkers(t *testing.T) {
	answer, reasoning := Split(strings.Repeat("<think>a</think>\n", most/2) + "<think>b</think>c")
	if answer != "<think>b</think>c" || strings.Count(reasoning, "a") != most/2 || most != 256 {
		t.Errorf("%q, %d thoughts", answer, strings.Count(reasoning, "a"))
	}
}

// Marked spares a text without a bracket, or without a marker's name, the search.
func TestMarked(t *testing.T) {
	for text, want := range map[string]bool{"<think>": true, "[/THINK]": true, "◁think▷": true, "<thought>": true,
		"<reasoning>": true, "<|channel|>": true, "I think so": false, "<b>[1]</b>": false, "": false} {
		if Marked(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

// Each mark that ends a sentence, each name of a block, and the forms of answers whose special tokens are left out.
func TestEachForm(t *testing.T) {
	for _, end := range ".!?…。！？।؟" {
		text := "Yes" + string(end) + " <think>hm</think> pizza"
		if answer, reasoning := Split(text); answer != "Yes"+string(end)+"  pizza" || reasoning != "hm" {
			t.Errorf("%q: %q, %q", text, answer, reasoning)
		}
	}
	if answer, reasoning := Split("Yes, <think>hm</think> pizza"); reasoning != "" {
		t.Errorf("after a comma: %q, %q", answer, reasoning)
	}
	for _, name := range []string{"think", "thinking", "thought", "thoughts", "reasoning", "seed:think"} {
		if answer, reasoning := Split("<" + name + ">hm</" + name + ">pizza"); answer != "pizza" || reasoning != "hm" {
			t.Errorf("%s: %q, %q", name, answer, reasoning)
		}
	}
	for text, want := range map[string][2]string{
		"analysiswe need it.assistantfinalpizza":                         {"analysiswe need it.assistantfinalpizza", ""},
		"analysisWe need it.assistantcommentary{}assistantfinalpizza":    {"pizza", "We need it."},
		" analysisWe need it.assistantfinalpizza assistantfinal, really": {"pizza assistantfinal, really", "We need it."},
	} {
		if answer, reasoning := Split(text); answer != want[0] || reasoning != want[1] {
			t.Errorf("%q: %q, %q; want %q", text, answer, reasoning, want)
		}
	}
}
