package consistency

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"crosstalk"
	"crosstalk/internal/testing/asktest"
)

// translator answers rewriting asks from a list, and questions with yes in
// whatever language.
func translator(asked *[]string, texts map[string]string) asker {
	var mu sync.Mutex
	return func(prompt string, sample int) crosstalk.Answer {
		mu.Lock()
		*asked = append(*asked, prompt)
		mu.Unlock()
		order, text, rewriting := strings.Cut(prompt, "\n\n")
		if !rewriting {
			word := "Yes."
			switch {
			case strings.Contains(prompt, "„jo“"):
				word = "Jo."
			case strings.Contains(prompt, "ntworte"):
				word = "Ja."
			}
			return crosstalk.Answer{Status: crosstalk.Text, Text: word}
		}
		if !strings.Contains(order, "from English into German") {
			return crosstalk.Answer{Status: crosstalk.Failed}
		}
		text, known := texts[strings.Trim(text, `"`)]
		if !known {
			return crosstalk.Answer{Status: crosstalk.Empty}
		}
		return crosstalk.Answer{Status: crosstalk.Text, Text: text}
	}
}

var german = map[string]string{
	"the cat sleeps in the garden": `"die Katze schläft im Garten"`, "a cat is asleep in the garden": " eine Katze schläft im Garten\n",
	"Is it the same?": "Ist es das Gleiche?", "Text": "Text", `Answer "yes" or "no".`: `Antworte „jo“ oder "nö".`,
}

func TestMeasure(t *testing.T) {
	in := instrument("crosstalk-1")
	in.Prompting.API, in.Rewriting.Prompting.API = crosstalk.Chat, crosstalk.Chat
	in.Senses, in.Samples = Senses{From: []string{"en"}, To: []string{"de"}, Mixed: []string{"de"}}, 2
	var asked []string
	got, err := in.Measure(t.Context(), translator(&asked, german), item("1", "same"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"en repeat 0 ": "1", "en repeat 1 ": "1"}
	for _, place := range []string{"en>de T", "en>de I", "en>de X", "en/de mixed"} {
		want[place+" 0 "], want[place+" 1 "] = "1", "1"
	}
	if values := observed(got, Consistency); !maps.Equal(values, want) {
		t.Errorf("%v, want %v", values, want)
	}
	questions := map[string]int{}
	rewritings := map[string]int{}
	for _, prompt := range asked {
		if _, text, rewriting := strings.Cut(prompt, "\n\n"); rewriting {
			rewritings[text]++
		} else {
			questions[prompt]++
		}
	}
	wantQuestions := map[string]int{
		`Is it the same? Text 1: the cat sleeps in the garden Text 2: a cat is asleep in the garden Answer "yes" or "no".`:        3,
		`Is it the same? Text 1: die Katze schläft im Garten Text 2: eine Katze schläft im Garten Answer "yes" or "no".`:          2,
		`Ist es das Gleiche? Text 1: die Katze schläft im Garten Text 2: eine Katze schläft im Garten Antworte „jo“ oder "nö".`:   2,
		`Ist es das Gleiche? Text 1: the cat sleeps in the garden Text 2: a cat is asleep in the garden Antworte „jo“ oder "nö".`: 2,
		`Ist es dasselbe? Text 1: the cat sleeps in the garden Text 2: a cat is asleep in the garden Antworte "ja" oder "nein".`:  2,
	}
	if !maps.Equal(questions, wantQuestions) {
		t.Errorf("asked %v", questions)
	}
	if len(rewritings) != 5 {
		t.Errorf("had rewritten %v", rewritings)
	}
	for _, o := range got {
		if o.Measure == Consistency && o.Labels["part"] == "T" && len(o.Answers) != 4 {
			t.Errorf("%d answers behind %+v", len(o.Answers), o)
		}
	}
}

// Whichever ask of an item fails, the others are paid for: a question, a text
// that is being rewritten, a part of an instruction.
func TestMeasureKeepsPaidAsks(t *testing.T) {
	in := instrument("crosstalk-1")
	in.Prompting.API, in.Rewriting.Prompting.API = crosstalk.Chat, crosstalk.Chat
	in.Senses, in.Samples = Senses{From: []string{"en"}, To: []string{"de"}, Parts: []Part{Inputs}}, 2
	for name, c := range map[string]struct {
		n     int64 // asks: 3 of the source, 2 texts to rewrite, 2 with the rewritten input
		fails func(crosstalk.Request) bool
	}{
		"question": {3 + 2 + 2, func(r crosstalk.Request) bool { return r.Sample == 2 }},
		"rewriting": {3 + 2, func(r crosstalk.Request) bool {
			return strings.HasSuffix(r.Text(), "\n\n\"the cat sleeps in the garden\"")
		}},
	} {
		t.Run(name, func(t *testing.T) { asktest.Paid(t, in, item("1", "same"), c.n, c.fails) })
	}
	t.Run("instruction", func(t *testing.T) {
		in := *in
		in.Senses.Parts = []Part{Instructions}
		asktest.Paid(t, &in, item("1", "same"), 3, func(r crosstalk.Request) bool { return strings.HasSuffix(r.Text(), "\n\n\"Text\"") })
	})
}

// An approved instruction is used unchanged, as are texts from elsewhere.
func TestMeasureApproved(t *testing.T) {
	in := instrument("crosstalk-1")
	in.Tasks[0].Instructions["en>de"] = crosstalk.Instruction{Parts: map[string]string{"prefix": "Gleich?", "unit": "Satz", "suffix": ` "ja", "nein"`}, Words: words("nein", "ja")}
	in.Senses, in.Samples = Senses{From: []string{"en"}, To: []string{"de"}}, 1
	in.Rewriting.Elsewhere = func(item crosstalk.Item, s Sense) ([]string, bool) {
		return []string{"eins", "zwei"}, item.ID == "1" && s == "en>de"
	}
	var asked []string
	if _, err := in.Measure(t.Context(), translator(&asked, german), item("1", "same")); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(asked, `Gleich? Satz 1: eins Satz 2: zwei "ja", "nein"`) || len(asked) != 2+3 {
		t.Errorf("asked %q", asked)
	}
}

// What is not rewritten is not asked about.
func TestMeasureNoRewriting(t *testing.T) {
	in := instrument("crosstalk-1")
	in.Senses, in.Samples = Senses{From: []string{"en"}, To: []string{"de"}, Parts: []Part{Inputs}}, 1
	var asked []string
	got, err := in.Measure(t.Context(), translator(&asked, map[string]string{"the cat sleeps in the garden": "x"}), item("1", "same"))
	if err != nil {
		t.Fatal(err)
	}
	if len(asked) != 2+2 {
		t.Errorf("asked %q", asked)
	}
	if values := observed(got, Consistency); values["en>de X 0 "] != noRewriting {
		t.Errorf("%v", values)
	}
}

func TestRewriteInstruction(t *testing.T) {
	in := instrument("crosstalk-1")
	var asked []string
	r, err := in.RewriteInstruction(t.Context(), translator(&asked, german), in.Tasks[0], "en>de")
	if err != nil {
		t.Fatal(err)
	}
	want := RewrittenInstruction{Task: "same", Sense: "en>de", Words: words("nö", "jo"), Doubts: []string{"unit: unchanged"}, Parts: []RewrittenPart{
		{"prefix", "Is it the same?", "Ist es das Gleiche?", "Ist es das Gleiche?"}, {"unit", "Text", "Text", "Text"},
		{"suffix", ` Answer "yes" or "no".`, `Antworte „jo“ oder "nö".`, ` Antworte „jo“ oder "nö".`}}}
	if !reflect.DeepEqual(r, want) {
		t.Errorf("%+v, want %+v", r, want)
	}
	for answer, doubt := range map[string]string{
		`Antworte.`:                         "no answer words found for different, same",
		`Antworte "ja".`:                    "no answer words found for different, same",
		`Antworte "ja" oder "ja".`:          `the answer word "ja" means both different and same`,
		`Antworte "ja", "vielleicht", "no"`: "no answer words found for different, same",
	} {
		texts := maps.Clone(german)
		texts[`Answer "yes" or "no".`] = answer
		r, err := in.RewriteInstruction(t.Context(), translator(&asked, texts), in.Tasks[0], "en>de")
		if err != nil || !slices.Contains(r.Doubts, doubt) || len(r.Words) > 0 {
			t.Errorf("%s: %+v, %v", answer, r, err)
		}
	}
	for _, sense := range []Sense{"fr>de", "en>german", "en>"} {
		if _, err := in.RewriteInstruction(t.Context(), translator(&asked, german), in.Tasks[0], sense); err == nil {
			t.Errorf("rewrote into %s", sense)
		}
	}
}

func FuzzQuoted(f *testing.F) {
	f.Add(`a "b' «c» \xff`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, word := range Quoted(text) {
			if !strings.Contains(string([]rune(text)), word) || strings.TrimSpace(word) == "" {
				t.Errorf("%q of %q", word, text)
			}
		}
	})
}

// An answer that gives none is not scored, unless a label follows, a label of the task says so, or people read one.
func TestAbstentions(t *testing.T) {
	task := question()
	for answer, want := range map[string]string{"I don't know.": "-", "I'm not sure. Yes.": "same", "I'm not sure. No idea either.": "-",
		"No.": "different", "": ""} {
		c := Read(Protocols[0], task, "en", answer)
		if c.Abstains != (want == "-") || !c.Abstains && c.Class != want {
			t.Errorf("%q: %+v, want %q", answer, c, want)
		}
		if c := Read(Protocols[1], task, "en", answer); c.Abstains {
			t.Errorf("%q: %+v", answer, c)
		}
	}
	task.Instructions["en"] = crosstalk.Instruction{Words: words("I don't know", "yes")}
	if c := Read(Protocols[0], task, "en", "I don't know."); c.Class != "different" {
		t.Errorf("%+v", c)
	}
	task = question()
	task.Classes = nil
	if c := Read(Protocols[0], task, "en", "I don't know. Yes."); !c.Abstains {
		t.Errorf("%+v", c)
	}
	in := &Instrument{Protocol: Protocols[0], Tasks: []crosstalk.Task{question()},
		Overrides: Overrides{{"same", "en", "I don't know."}: {Class: "same", Reviewer: "r"}}}
	got, err := in.Score(context.Background(), nil, item("1", "same"), Answers{source: said("I don't know.")}, nil)
	if err != nil || len(got) != 2 || got[0].NotScored != "no answer" || got[1].Value != 1 {
		t.Errorf("%+v %v", got, err)
	}
}
