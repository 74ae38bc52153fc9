package crosstalk

import (
	"slices"
	"testing"
)

func TestPrompt(t *testing.T) {
	task := Task{Fields: []string{"first", "second"}, Layout: `{prefix} {unit} 1: "{first}" {unit} 2: "{second}"{suffix}`}
	in := Instruction{Parts: map[string]string{"prefix": "Same {first}?", "unit": "Satz", "suffix": " Ja?"}}
	if got, want := task.Prompt(in, []string{"a {unit}", "b"}), `Same {first}? Satz 1: "a {unit}" Satz 2: "b" Ja?`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	delete(in.Parts, "suffix")
	if got, want := task.Prompt(in, []string{"a"}), `Same {first}? Satz 1: "a" Satz 2: ""`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := task.Slots(), []string{"prefix", "unit", "first", "second", "suffix"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
