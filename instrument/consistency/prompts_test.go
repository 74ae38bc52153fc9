package consistency

import (
	"strings"
	"testing"

	"crosstalk"
)

// A prompt of one's own for a language replaces the built-in one for inputs and
// instructions; one for a pair goes first, and one for instructions leaves
// inputs alone.
func TestPromptsForLanguages(t *testing.T) {
	r := Rewriter{
		Prompts: map[string]string{"de": "To German: {text}!", "fr>de": "Du français: {text}", "zh": "Into Chinese.",
			Paraphrase: "Again: {text}", "formula": "Equal: {text}"},
		Instructions: map[string]string{"zh": "Order: {text}", "en>de": "Formal: {text}"},
	}
	for _, c := range []struct {
		part  Part
		sense Sense
		want  string
	}{
		{Inputs, "en>de", "To German: x!"},
		{Instructions, "en>de", "Formal: x"},
		{Instructions, "es>de", "To German: x!"},
		{Inputs, "fr>de", "Du français: x"},
		{Instructions, "fr>de", "Du français: x"},
		{Inputs, "en>zh", "Into Chinese.\n\nx"},
		{Instructions, "en>zh", "Order: x"},
		{Instructions, "en>paraphrase", "Again: x"},
		{Inputs, "en>formula", "Equal: x"},
	} {
		if got, err := r.prompt(c.part, c.sense, "x"); got != c.want || err != nil {
			t.Errorf("%s %s: %q, %v; want %q", c.part, c.sense, got, err, c.want)
		}
	}
	if got, err := r.prompt(Inputs, "en>es", "x"); err != nil || !strings.HasPrefix(got, "Translate the text between the quotation marks from English into Spanish.") {
		t.Errorf("%q, %v", got, err)
	}
	for sense, want := range map[Sense]bool{"en>de": false, "en>paraphrase": false, "en>formula": true, "en>es": false} {
		if got := r.InputsOnly(sense); got != want {
			t.Errorf("%s: inputs only: %v", sense, got)
		}
	}
	r.Instructions["formula"] = "Equal order: {text}"
	if r.InputsOnly("en>formula") {
		t.Error("a sense with a prompt for instructions rewrites inputs only")
	}
}

// Signatures tell prompts that replace built-in ones apart; a sense that has no
// built-in prompt is in its name.
func TestPromptsID(t *testing.T) {
	id := func(prompts, instructions map[string]string) string {
		return Rewriter{Prompts: prompts, Instructions: instructions}.ID()
	}
	if got := id(map[string]string{"formula": "Equal."}, nil); got != "" {
		t.Errorf("id %q of a sense of inputs", got)
	}
	ids := map[string]bool{}
	for _, got := range []string{id(map[string]string{"de": "a"}, nil), id(map[string]string{"de": "b"}, nil),
		id(map[string]string{"en>de": "a"}, nil), id(nil, map[string]string{"de": "a"})} {
		ids[got] = true
	}
	if len(ids) != 4 || ids[""] {
		t.Errorf("ids %v", ids)
	}
}

// A rewritten question of BoolQ has the format of the source's under the rules
// of Ohmer et al. (2023), in the language it was rewritten into.
func TestRewrittenQuestions(t *testing.T) {
	for protocol, want := range map[string]map[Sense]string{
		"ohmer-2023":  {"en>de": "Ist das haus alt?", "en>zh": "这是旧房子吗？", "en>paraphrase": "Ist das haus alt?"},
		"crosstalk-1": {"en>de": "ist das Haus alt", "en>zh": "这是旧房子吗", "en>paraphrase": "ist das Haus alt"},
	} {
		in := instrument(protocol)
		in.Tasks[0].Question = in.Tasks[0].Fields[1]
		for sense, text := range want {
			said := "ist das Haus alt"
			if sense == "en>zh" {
				said = "这是旧房子吗"
			}
			r, err := in.input(t.Context(), asker(func(string, int) crosstalk.Answer {
				return crosstalk.Answer{Status: crosstalk.Text, Text: said}
			}), item("1", "same"), sense)
			if err != nil || r.Texts[0] != said || r.Texts[1] != text {
				t.Errorf("%s %s: %q, %v; want %q and %q", protocol, sense, r.Texts, err, said, text)
			}
		}
		if rules := in.Rules(); rules.Questions != nil {
			t.Errorf("%s: recorded texts are formatted: %v", protocol, rules.Questions)
		}
		in.Senses.To = []string{"de"}
		signature := in.Rules().signature(Consistency, map[string]string{"task": in.Tasks[0].Name, "pair": "en>de"}, crosstalk.SuiteIDs{})
		if states := strings.Contains(signature, "|"+in.Tasks[0].Question+":sentence-case|"); states != (protocol == "ohmer-2023") {
			t.Errorf("%s: signature %s", protocol, signature)
		}
	}
}
