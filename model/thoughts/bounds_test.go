package thoughts

import "testing"

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
		{"a stop inside a message", "<|channel|>final<|message|>pizza<|end|> more", "pizza<|end|> more", ""},
	} {
		if answer, reasoning := Split(c.text); answer != c.answer || reasoning != c.reasoning {
			t.Errorf("%s: %q\n got %q, %q\nwant %q, %q", c.name, c.text, answer, reasoning, c.answer, c.reasoning)
		}
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
