package review

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/instrument/consistency"
)

func task() crosstalk.Task {
	return crosstalk.Task{Name: "t", Classes: []string{"no", "yes"}, Layout: "{ask} {say}", Instructions: map[string]crosstalk.Instruction{
		"en": {Parts: map[string]string{"ask": "Is it?", "say": `Say "yes" or "no".`, "none": ""}, Words: []crosstalk.AnswerWord{{Word: "no", Class: "no"}, {Word: "yes", Class: "yes"}}}}}
}

func rewritten() consistency.RewrittenInstruction {
	return consistency.RewrittenInstruction{Task: "t", Sense: "en>de", Doubts: []string{"ask: length"},
		Parts: []consistency.RewrittenPart{{Part: "ask", Source: "Is it?", Output: "\"Ist es?\"\n", Text: "Ist es?"},
			{Part: "say", Source: `Say "yes" or "no".`, Output: `Sag "ja" oder "nein".`, Text: `Sag "ja" oder "nein".`}, {Part: "none"}},
		Words: []crosstalk.AnswerWord{{Word: "nein", Class: "no"}, {Word: "ja", Class: "yes"}}}
}

// What people did to a rewritten instruction stays with it as long as the model
// says the same.
func TestMerge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "instructions.yaml")
	if list, err := ReadInstructions(path); err != nil || list != nil {
		t.Errorf("%v, %v", list, err)
	}
	first := Merge(nil, "m", rewritten())
	if first.Approved || first.Parts[0].Output != "\"Ist es?\"\n" || first.Words[1] != (crosstalk.AnswerWord{Word: "ja", Class: "yes"}) {
		t.Errorf("%+v", first)
	}
	if err := WriteInstructions(path, []Instruction{first}); err != nil {
		t.Fatal(err)
	}
	list, err := ReadInstructions(path)
	if err != nil {
		t.Fatal(err)
	}
	list[0].Where = ""
	if !reflect.DeepEqual(list, []Instruction{first}) {
		t.Errorf("%+v\nwant %+v", list[0], first)
	}
	list[0].Approved, list[0].Reviewer, list[0].Parts[0].Text, list[0].Words[0].Word = true, "ab", "Ist das so?", "nee"
	again := Merge(list, "m", rewritten())
	if !again.Approved || again.Parts[0].Text != "Ist das so?" || again.Parts[0].Output != first.Parts[0].Output ||
		again.Words[0].Word != "nee" {
		t.Errorf("%+v", again)
	}
	err, made := again.Check(task()), again.Instruction()
	if err != nil || made.Parts["ask"] != "Ist das so?" || made.Words[0] != (crosstalk.AnswerWord{Word: "nee", Class: "no"}) {
		t.Errorf("%+v, %v", made, err)
	}
	if other := Merge(list, "n", rewritten()); other.Approved {
		t.Error("another model's instruction is approved")
	}
	changed := rewritten()
	changed.Parts[0].Output = "Ist es denn?"
	if other := Merge(list, "m", changed); other.Approved || other.Parts[0].Text != "Ist es?" {
		t.Errorf("another answer is approved: %+v", other)
	}
	list[0].Model = ""
	if in, ok := Find(list, "n", "t", "en>de"); !ok || !in.Approved {
		t.Error("an instruction for any model is not found")
	}
}

func TestUnusable(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*Instruction)
		want string
	}{
		"no text":     {func(in *Instruction) { in.Parts[1].Text = "" }, "has no text for say"},
		"part gone":   {func(in *Instruction) { in.Parts = in.Parts[1:] }, "has no ask"},
		"part new":    {func(in *Instruction) { in.Parts[0].Part = "aks" }, `has the part "aks", which the task does not have`},
		"class":       {func(in *Instruction) { in.Words[0].Class = "maybe" }, `has a word with the unknown class "maybe"; choose one of: no, yes`},
		"word":        {func(in *Instruction) { in.Words[0].Word = " " }, "has an empty answer word"},
		"words twice": {func(in *Instruction) { in.Words[0].Word = "JA" }, `has the duplicate answer word "ja"`},
		"words":       {func(in *Instruction) { in.Words = in.Words[:1] }, "has no answer word for yes"},
	} {
		in := Merge(nil, "m", rewritten())
		c.edit(&in)
		if err := in.Check(task()); err == nil || err.Error() != "the instruction of t in en>de "+c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReadInstructionsRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"instructions:\n  - sense: en>de\n":                                         ":2: an instruction needs task and sense",
		"instructions:\n  - {task: t, sense: en>de}\n  - {task: t, sense: en>de}\n": ":3: duplicate instruction of t in en>de",
		"instructions:\n  - task: t\n    sense: en>de\n    aproved: true\n":         `:4: unknown field "aproved"`,
		"instructions:\n  - task: t\n    sense: en>de\n    approved: perhaps\n":     ":4: ",
		"instructions: [\n": ":1: ",
	} {
		path := filepath.Join(t.TempDir(), "i.yaml")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadInstructions(path); err == nil || !strings.Contains(err.Error(), "i.yaml"+want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
