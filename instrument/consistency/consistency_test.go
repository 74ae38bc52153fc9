package consistency

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"crosstalk"
)

func question() crosstalk.Task {
	return crosstalk.Task{Name: "same", Classes: []string{"different", "same"}, Fields: []string{"a", "b"}, Layout: `{prefix} {unit} 1: {a} {unit} 2: {b}{suffix}`,
		Instructions: map[string]crosstalk.Instruction{
			"en": {Parts: map[string]string{"prefix": "Is it the same?", "unit": "Text", "suffix": ` Answer "yes" or "no".`}, Words: words("no", "yes")},
			"de": {Parts: map[string]string{"prefix": "Ist es dasselbe?", "unit": "Text", "suffix": ` Antworte "ja" oder "nein".`}, Words: words("nein", "ja")},
		}}
}

func words(no, yes string) []crosstalk.AnswerWord {
	return []crosstalk.AnswerWord{{Word: no, Class: "different"}, {Word: yes, Class: "same"}}
}

func item(id, gold string) crosstalk.Item {
	in := &crosstalk.Input{Task: "same", Texts: map[string][]string{"en": {"the cat sleeps in the garden", "a cat is asleep in the garden"}, "de": {"die Katze schläft im Garten", "eine Katze schläft im Garten"}}}
	if gold != "" {
		in.Gold = map[string]string{"en": gold, "de": gold}
	}
	return crosstalk.Item{ID: id, Input: in}
}

func said(texts ...string) []crosstalk.Answer {
	answers := make([]crosstalk.Answer, len(texts))
	for i, text := range texts {
		switch status := crosstalk.Status(text); status {
		case crosstalk.Empty, crosstalk.Refused, crosstalk.Failed:
			answers[i].Status = status
		case "missing":
		default:
			answers[i] = crosstalk.Answer{Status: crosstalk.Text, Text: text}
		}
	}
	return answers
}

var (
	source = Form{"en", "en"}
	both   = Form{"en>de", "en>de"}
	instr  = Form{"en", "en>de"}
	inputs = Form{"en>de", "en"}
	mixed  = Form{"en", "de"}
)

// observed names the values of observations.
func observed(observations []crosstalk.Observation, measure string) map[string]string {
	values := map[string]string{}
	for _, o := range observations {
		if o.Measure == measure {
			value := o.NotScored
			if o.Value.Defined() {
				value = fmt.Sprintf("%g", float64(o.Value))
			}
			values[strings.Join([]string{o.Labels["pair"], o.Labels["part"], fmt.Sprint(o.Sample), o.Condition[readingColumn]}, " ")] = value
		}
	}
	return values
}

func instrument(protocol string) *Instrument {
	p, err := ProtocolNamed(protocol)
	if err != nil {
		panic(err)
	}
	return &Instrument{Protocol: p, Tasks: []crosstalk.Task{question()}, Condition: map[string]string{"model": "m"}}
}

func TestScore(t *testing.T) {
	answers := Answers{source: said("Yes.", "no"), both: said("Nein."), instr: said("ja"), inputs: said("who knows"), mixed: said("Ja")}
	for protocol, inputsValue := range map[string]string{"crosstalk-1": Invalid, "ohmer-2023": "0"} {
		got, err := instrument(protocol).Score(t.Context(), nil, item("1", "same"), answers, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"en repeat 0 ": "0", "en>de T 0 ": "0", "en>de I 0 ": "1", "en>de X 0 ": inputsValue, "en/de mixed 0 ": "1"}
		if values := observed(got, Consistency); !maps.Equal(values, want) {
			t.Errorf("%s: consistency %v, want %v", protocol, values, want)
		}
		want = map[string]string{"en source 0 ": "1", "en repeat 1 ": "0", "en>de T 0 ": "0", "en>de I 0 ": "1", "en>de X 0 ": "0", "en/de mixed 0 ": "1"}
		if values := observed(got, Accuracy); !maps.Equal(values, want) {
			t.Errorf("%s: accuracy %v, want %v", protocol, values, want)
		}
		for _, o := range got {
			if o.Measure == Consistency && o.Labels["part"] == "T" &&
				(o.Finding != Inconsistent || o.Text(sourceClass) != "same" || o.Text(classText) != "different" ||
					o.Numbers[sourceCorrect] != 1 || o.Numbers[correct] != 0 || o.Numbers[repeated] != 0 || o.Cluster != "1") {
				t.Errorf("%s: %+v", protocol, o)
			}
		}
	}
}

// What is no text is never scored, but for the published protocol, to which an
// empty answer is an invalid one.
func TestNotScored(t *testing.T) {
	for _, c := range []struct{ source, answer, ours, theirs string }{
		{"yes", "yes", "1", "1"}, {"yes", "no", "0", "0"},
		{"yes", "hm", Invalid, "0"}, {"hm", "hm", Invalid, "1"},
		{"yes", "empty", "empty", "0"}, {"empty", "empty", "empty", "1"}, {"hm", "empty", "empty", "1"},
		{"yes", "refused", "refused", "refused"}, {"failed", "yes", "failed", "failed"}, {"empty", "failed", "failed", "failed"},
		{"missing", "yes", Missing, Missing}, {"yes", "missing", Missing, Missing},
	} {
		for protocol, want := range map[string]string{"crosstalk-1": c.ours, "ohmer-2023": c.theirs} {
			got, err := instrument(protocol).Score(t.Context(), nil, item("1", ""),
				Answers{source: said(c.source), inputs: said(c.answer)}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if value := observed(got, Consistency)["en>de X 0 "]; value != want {
				t.Errorf("%s: %q beside %q is %q, want %q", protocol, c.answer, c.source, value, want)
			}
			for _, o := range got {
				if o.Measure == Accuracy && (o.Value.Defined() || o.NotScored == "") {
					t.Errorf("without gold: %+v", o)
				}
			}
		}
	}
}

// Rewritten texts are measured once, whatever is reviewed, and their flags go
// with the pairs that rest on them.
func TestRewritten(t *testing.T) {
	in := instrument("crosstalk-1")
	in.Overrides = Overrides{}
	r := Rewritten{Texts: []string{"die Katze schläft im Garten", "die Katze schläft im Garten"}}
	r.Flags = FlagTexts("en>de", item("1", "").Input.Texts["en"], r.Texts, nil)
	got, err := in.Score(t.Context(), nil, item("1", "same"), Answers{source: said("yes"), inputs: said("yes")}, map[Sense]Rewritten{"en>de": r})
	if err != nil {
		t.Fatal(err)
	}
	if values := observed(got, Rewriting); !maps.Equal(values, map[string]string{"en>de  0 ": "0"}) {
		t.Errorf("rewriting: %v", values)
	}
	if values := observed(got, ROUGE1); !maps.Equal(values, map[string]string{"en>de  0 ": "0.9000000000000001"}) {
		t.Errorf("ROUGE-1: %v", values)
	}
	for _, o := range got {
		if o.Measure == Consistency && (o.Text(flagsText) != "identical" || o.Numbers[bleuNumber] <= 0.5 ||
			o.Text(inputText) != strings.Join(r.Texts, "\n")) {
			t.Errorf("%+v", o)
		}
	}
	// A text that was not rewritten was not asked about.
	got, err = in.Score(t.Context(), nil, item("1", "same"), Answers{source: said("yes"), inputs: said("missing")}, map[Sense]Rewritten{"en>de": {}})
	if err != nil {
		t.Fatal(err)
	}
	if values := observed(got, Consistency); values["en>de X 0 as read"] != noRewriting {
		t.Errorf("%v", values)
	}
}

func TestForms(t *testing.T) {
	for form, want := range map[Form]string{source: "en source", both: "en>de T", instr: "en>de I", inputs: "en>de X", mixed: "en/de mixed",
		{"de", "en>de"}: "de/en>de mixed", {"en>de", "en>fr"}: "en>de/en>fr mixed"} {
		if pair, part := form.Place(); pair+" "+string(part) != want {
			t.Errorf("%v is %s %s, want %s", form, pair, part, want)
		}
	}
	if got := (Form{"de", "en>de"}).Source(); got != (Form{"de", "de"}) {
		t.Errorf("source %v", got)
	}
	in := instrument("crosstalk-1")
	in.Rewriting.Prompts = map[string]string{"formula": "{text}"}
	in.Senses = Senses{From: []string{"en", "de"}, To: []string{"de", "formula"}, Mixed: []string{"de"}}
	want := []Form{{"en", "en"}, {"de", "de"}, {"en>de", "en>de"}, {"en", "en>de"}, {"en>de", "en"}, {"en>formula", "en"}, {"en", "de"}, {"de>formula", "de"}}
	if got := in.Forms(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	in.Senses = Senses{From: []string{"en"}, To: []string{"de"}, Parts: []Part{Inputs}}
	if got := in.Forms(); !slices.Equal(got, []Form{{"en", "en"}, {"en>de", "en"}}) {
		t.Errorf("%v", got)
	}
}

func TestNotItems(t *testing.T) {
	in := instrument("crosstalk-1")
	if _, err := in.Score(t.Context(), nil, crosstalk.Item{ID: "x"}, nil, nil); err == nil {
		t.Error("an item without an input was scored")
	}
	other := item("x", "")
	other.Input.Task = "other"
	if _, err := in.Measure(t.Context(), asker(nil), other); err == nil {
		t.Error("an item of an unknown task was measured")
	}
	in.Senses, in.Samples = Senses{From: []string{"fr"}}, 1
	if _, err := in.Measure(t.Context(), asker(nil), item("x", "")); err == nil || !strings.Contains(err.Error(), "the task same has no instruction in fr") {
		t.Errorf("%v", err)
	}
	in.Tasks[0].Instructions["fr"] = in.Tasks[0].Instructions["en"]
	if _, err := in.Measure(t.Context(), asker(nil), item("x", "")); err == nil || !strings.Contains(err.Error(), "item x has no text in fr") {
		t.Errorf("%v", err)
	}
	in.Tasks[0].Classes = nil
	if _, err := in.Score(t.Context(), nil, item("x", "same"), Answers{source: said("a"), inputs: said("b")}, nil); err == nil {
		t.Error("free answers were compared by nothing")
	}
}

// asker is a model made of a function.
type asker func(prompt string, sample int) crosstalk.Answer

func (f asker) Ask(_ context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
	a := f(req.Text(), req.Sample)
	a.Key = crosstalk.KeyOf(crosstalk.Identity{}, req)
	return a, nil
}
