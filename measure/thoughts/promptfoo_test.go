package thoughts

import (
	"strings"
	"testing"
)

// What promptfoo 0.121 writes for a model that thinks: dist/src of its providers openai:chat and anthropic.
func TestPromptfoo(t *testing.T) {
	signed := "\nSignature: " + strings.Repeat("Eq", 40) + "\n\n"
	for _, c := range []struct{ output, answer, reasoning string }{
		{"Hallo.\n\nWelt.", "Hallo.\n\nWelt.", ""},
		{"Thinking about it.\n\nA", "Thinking about it.\n\nA", ""}, // no colon
		{"Thinking: I think.\n\nHallo.", "Hallo.", "I think."},
		{"Thinking: One.\nTwo.\n \r\n\n\nHallo.\nWelt.", "Hallo.\nWelt.", "One.\nTwo."},
		{"Thinking: I think.\n\n", "", "I think."},
		{"Thinking: One.\n\nTwo." + signed + "Hallo.\n\nWelt.", "Hallo.\n\nWelt.", "One.\n\nTwo."},
		{"Thinking: One." + signed + "Thinking: Two." + signed + "Redacted Thinking: EqQB\n\nHallo.", "Hallo.", "One.\n\nTwo."},
		{"Redacted Thinking: EqQB\n\nHallo.\n\nWelt.", "Hallo.\n\nWelt.", ""},
	} {
		answer, reasoning, ok := Promptfoo(c.output)
		if answer != c.answer || reasoning != c.reasoning || !ok {
			t.Errorf("%q: %q, %q, %v", c.output, answer, reasoning, ok)
		}
	}
	for _, output := range []string{
		"Thinking: One.\n\nTwo.\n\nHallo.",
		"Thinking: Hallo.",
		"Thinking: A letter.\n\nHallo,\nSignature: Robert\n\nBob", // no signature of Anthropic's
	} {
		if answer, reasoning, ok := Promptfoo(output); ok || answer != output || reasoning != "" {
			t.Errorf("%q: %q, %q, %v; it cannot be told", output, answer, reasoning, ok)
		}
	}
}
