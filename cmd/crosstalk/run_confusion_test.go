package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/internal/testing/testserver"
	"crosstalk/model/reference"
	"crosstalk/suite"
)

// confusionSuite has prompts in two languages and English ones to be answered
// in them, and demonstrations.
func confusionSuite(t *testing.T) (file string, items []crosstalk.Item) {
	t.Helper()
	var b strings.Builder
	b.WriteString("suite: small\ninstrument: confusion\nversion: 1\nmonolingual:\n")
	for language, word := range map[string]string{"ru": "Вопрос", "fr": "Question"} {
		fmt.Fprintf(&b, "  %s:\n", language)
		for i := range 6 {
			fmt.Fprintf(&b, "    - {id: %s-%d, source: s, prompt: \"%s %d?\"}\n", language, i, word, i)
		}
	}
	b.WriteString("crosslingual:\n")
	for i := range 3 {
		fmt.Fprintf(&b, "  - {id: x-%d, source: s, prompt: \"What about %d?\", integrated: \"Tell me in {language} about %[1]d.\"}\n", i, i)
	}
	b.WriteString("names: {ru: Russian, fr: French}\namendments: [\"Respond in {language}.\"]\ndemonstrations:\n")
	for language, word := range map[string]string{"ru": "Пример", "fr": "Exemple"} {
		fmt.Fprintf(&b, "  %s: [{question: %s 1?, crosslingual: %[1]s 1?, answer: %[2]s 1.}, "+
			"{question: %[2]s 2?, crosslingual: %[1]s 2?, answer: %[2]s 2.}]\n", language, word)
	}
	file = filepath.Join(t.TempDir(), "small.yaml")
	if err := os.WriteFile(file, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	s, err := suite.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	return file, s.Items.List()
}

// moody is a server whose models answer the items, all in the right language
// where spoil is false of the request, and all in another where it is true.
func moody(t *testing.T, items []crosstalk.Item,
	spoil func(r testserver.Request, body map[string]any) bool) *testserver.Server {
	t.Helper()
	right, err := reference.NewConfused(items, reference.Confusion{Line: 0, Word: 0}, 1)
	if err != nil {
		t.Fatal(err)
	}
	wrong, err := reference.NewConfused(items, reference.Confusion{Line: 1, Word: 0}, 1)
	if err != nil {
		t.Fatal(err)
	}
	return newServer(t, testserver.Options{Record: true, Answer: func(r testserver.Request) testserver.Reply {
		var body map[string]any
		if err := json.Unmarshal(r.Body, &body); err != nil {
			t.Error(err)
		}
		of := right
		if spoil(r, body) {
			of = wrong
		}
		a, err := of.Answer(context.Background(),
			crosstalk.Request{API: crosstalk.Chat, Messages: []crosstalk.Message{{Role: "user", Content: r.Prompt}}})
		if err != nil {
			t.Error(err)
		}
		return testserver.Reply{Text: " " + a.Text + "\n\nQ: More?\nA: More."}
	}})
}

func runConfusion(s *testserver.Server, file, out string, more ...string) []string {
	return append([]string{"run", "confusion", "--base-url", s.URL + "/v1", "--suite", file, "--out", out, "--format", "json", "--by", "task"}, more...)
}

func estimatesIn(t *testing.T, text string) []crosstalk.Estimate {
	t.Helper()
	var d crosstalk.Document
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	return d.Estimates
}

// Each setting that mitigates confusion makes conditions of one run, in the
// order given; the server confuses languages under the first.
func TestConfusionSweeps(t *testing.T) {
	if testing.Short() {
		t.Skip("makes many runs")
	}
	file, items := confusionSuite(t)
	messages := func(body map[string]any) int { return len(body["messages"].([]any)) }
	for name, c := range map[string]struct {
		flags  []string
		column string
		values []string
		spoil  func(r testserver.Request, body map[string]any) bool
	}{
		"temperature": {[]string{"--temperature", "1.5,0.3"}, "temperature", []string{"1.5", "0.3"},
			func(r testserver.Request, _ map[string]any) bool { return *r.Temperature > 1 }},
		"top-p": {[]string{"--top-p", "1,0.75"}, "top_p", []string{"1", "0.75"},
			func(_ testserver.Request, body map[string]any) bool { return body["top_p"] == 1.0 }},
		"beams": {[]string{"--beams", "1,4"}, "beams", []string{"1", "4"},
			func(_ testserver.Request, body map[string]any) bool {
				return !(body["use_beam_search"] == true && body["n"] == 4.0)
			}},
		"shots as turns": {[]string{"--shots", "0,2"}, "shots", []string{"0", "2"},
			func(_ testserver.Request, body map[string]any) bool { return messages(body) != 5 }},
		"shots in a template": {[]string{"--shots", "0,2", "--api", "completions"}, "shots", []string{"0", "2"},
			func(r testserver.Request, body map[string]any) bool {
				stop, _ := body["stop"].([]any)
				return !(strings.HasPrefix(r.Prompt, "Q: ") && strings.Count(r.Prompt, "\nA:") == 3 &&
					strings.HasSuffix(r.Prompt, "\nA:") && slices.Contains(stop, any("\nQ:")))
			}},
		"template": {[]string{"--template", "auto,qa", "--api", "completions"}, "template", []string{"auto", "qa"},
			func(r testserver.Request, _ map[string]any) bool { return !strings.HasPrefix(r.Prompt, "Q: ") }},
		"position": {[]string{"--position", "start,end"}, "position", []string{"start", "end"},
			func(r testserver.Request, _ map[string]any) bool { return strings.HasPrefix(r.Prompt, "Respond in ") }},
		"model": {[]string{"--model", "compatible:quantised,compatible:whole"}, "model", []string{"compatible:quantised", "compatible:whole"},
			func(r testserver.Request, _ map[string]any) bool { return r.Model == "quantised" }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := moody(t, items, c.spoil)
			out := filepath.Join(t.TempDir(), "run")
			more := c.flags
			if c.column != "model" {
				more = append([]string{"--model", "compatible:m"}, more...)
			}
			p := start(t, nil, runConfusion(s, file, out, more...)...).expect(0, "Compare the conditions: crosstalk compare")
			rates := map[string]map[string]float64{} // of each task, by condition
			var order []string
			for _, e := range estimatesIn(t, p.stdout.String()) {
				if e.Measure == "lpr" {
					task, value := e.By["task"], e.By[c.column]
					if rates[task] == nil {
						rates[task] = map[string]float64{}
					}
					rates[task][value] = float64(e.Value)
					if !slices.Contains(order, value) {
						order = append(order, value)
					}
				}
			}
			if !slices.Equal(order, c.values) || len(rates) != 2 {
				t.Fatalf("the conditions are %v, want %v; rates %v", order, c.values, rates)
			}
			for task, of := range rates {
				first := 0.0
				if c.column == "position" && task == "monolingual" {
					first = 1 // it has no instruction
				}
				if of[c.values[0]] != first || of[c.values[1]] != 1 {
					t.Errorf("%s: LPR %v", task, of)
				}
			}
			start(t, nil, "compare", out, "--format", "csv").expect(0)
		})
	}
}

// What --shots shows on the wire, in chats and in the template: in other languages than the answer's, in the answer's,
// or as a file in the form of the published one says.
func TestDemonstrations(t *testing.T) {
	t.Parallel()
	file, items := confusionSuite(t)
	published := filepath.Join(t.TempDir(), "few_shot_prompting.py")
	const python = `"""Examples."""
few_shot_examples_monolingual = {
    'ru': [{'role': 'User', 'message': 'Was ist \'X\'?'}, {'role': 'Chatbot', 'message': "L'été."}],  # German, French
    'fr': [{'role': 'User', 'message': 'Why\n\u00e9?'}, {'role': 'Chatbot', 'message': 'So.'}],
}
few_shot_examples_crosslingual = {
    'ru': [{'role': 'User', 'message': 'Reply in Greek. Why?'}, {'role': 'Chatbot', 'message': 'Έτσι.'}],
    'fr': [{'role': 'User', 'message': 'Why? Reply in Greek.'}, {'role': 'Chatbot', 'message': 'Έτσι.'}]
}
def f(): pass
`
	if err := os.WriteFile(published, []byte(python), 0o666); err != nil {
		t.Fatal(err)
	}
	type turns [3]string // question, answer, prompt
	french, russian := turns{"Exemple 1?", "Exemple 1.", "Вопрос 0?"}, turns{"Пример 1?", "Пример 1.", "Question 0?"}
	for name, c := range map[string]struct {
		flags []string
		want  []turns // monolingual: ru, fr; cross-lingual: ru, fr
	}{
		"other": {nil, []turns{french, russian,
			{"Respond in French. fr 1?", "Exemple 1.", "Respond in Russian. What about 0?"},
			{"Respond in Russian. ru 1?", "Пример 1.", "Respond in French. What about 0?"}}},
		"expected": {[]string{"--demonstrations", "expected"}, []turns{
			{"Пример 1?", "Пример 1.", "Вопрос 0?"}, {"Exemple 1?", "Exemple 1.", "Question 0?"},
			{"Пример 1?", "Пример 1.", "Respond in Russian. What about 0?"},
			{"Exemple 1?", "Exemple 1.", "Respond in French. What about 0?"}}},
		"published": {[]string{"--demonstrations", published}, []turns{
			{"Was ist 'X'?", "L'été.", "Вопрос 0?"}, {"Why\né?", "So.", "Question 0?"},
			{"Reply in Greek. Why?", "Έτσι.", "Respond in Russian. What about 0?"},
			{"Why? Reply in Greek.", "Έτσι.", "Respond in French. What about 0?"}}},
	} {
		for _, template := range []string{"auto", "qa"} {
			t.Run(name+" "+template, func(t *testing.T) {
				t.Parallel()
				s := moody(t, items, func(testserver.Request, map[string]any) bool { return false })
				flags := append([]string{"--model", "compatible:m", "--shots", "1", "--position", "start", "--template", template}, c.flags...)
				start(t, nil, runConfusion(s, file, filepath.Join(t.TempDir(), "run"), flags...)...).expect(0)
				sent := map[string]bool{}
				for _, r := range s.Records() {
					var body struct {
						Messages []struct{ Role, Content string }
					}
					if err := json.Unmarshal(r.Body, &body); err != nil {
						t.Fatal(err)
					}
					text := ""
					for _, m := range body.Messages {
						text += m.Role + ": " + m.Content + "\n"
					}
					sent[text] = true
				}
				for _, w := range c.want {
					text := fmt.Sprintf("user: %s\nassistant: %s\nuser: %s\n", w[0], w[1], w[2])
					if template == "qa" {
						text = fmt.Sprintf("user: Q: %s\nA: %s\n\nQ: %s\nA:\n", w[0], w[1], w[2])
					}
					if !sent[text] {
						t.Errorf("%q was not sent, but %q", text, slices.Sorted(maps.Keys(sent)))
					}
				}
			})
		}
	}
}

// All settings at once: each condition has each item, asks that do not differ
// are made once, and another run makes none.
func TestConfusionGrid(t *testing.T) {
	t.Parallel()
	file, items := confusionSuite(t)
	s := moody(t, items, func(testserver.Request, map[string]any) bool { return false })
	out := filepath.Join(t.TempDir(), "run")
	args := runConfusion(s, file, out, "--model", "compatible:a,compatible:b", "--beams", "1,3", "--shots", "0,1",
		"--position", "start,end,integrated", "--template", "auto,qa", "--protocol", "crosstalk-1,lcb-script", "--language", "ru")
	p := start(t, nil, args...).expect(0)
	conditions := map[string]bool{}
	for _, e := range estimatesIn(t, p.stdout.String()) {
		name := maps.Clone(e.By)
		delete(name, "task")
		conditions[fmt.Sprint(name)] = true
	}
	const settings = 2 * 2 * 2 * 2 // all but position, which asks nothing else of the 6 monolingual prompts
	if want := settings * 3 * 2; len(conditions) != want {
		t.Errorf("%d conditions, want %d", len(conditions), want)
	}
	askedOnce(t, s, settings*(6+3*3))
	start(t, nil, args...).expect(0)
	askedOnce(t, s, settings*(6+3*3))
}

// With log probabilities the doubt at confusion points is measured, over both
// APIs, and the tokens around them are kept.
func TestConfusionPoints(t *testing.T) {
	file, items := confusionSuite(t)
	for _, api := range []string{"chat", "completions"} {
		t.Run(api, func(t *testing.T) {
			t.Parallel()
			s := moody(t, items, func(r testserver.Request, _ map[string]any) bool { return strings.Contains(r.Prompt, "3?") })
			out := filepath.Join(t.TempDir(), "run")
			p := start(t, nil, runConfusion(s, file, out, "--model", "compatible:m", "--api", api, "--logprobs", "5")...).expect(0)
			found := map[string]crosstalk.Estimate{}
			for _, e := range estimatesIn(t, p.stdout.String()) {
				if e.By["task"] == "monolingual" {
					found[e.Measure+" "+e.By["at"]] = e
				}
			}
			for _, measure := range []string{"entropy", "nucleus_size"} {
				at, elsewhere, clean := found[measure+" confusion point"], found[measure+" elsewhere"], found[measure+" clean answer"]
				if at.N != 2 || elsewhere.N != 2 || clean.N != 10 || at.Counts["no_logprobs"]+clean.Counts["no_logprobs"] != 0 ||
					at.Counts["tokens"] < 2 || clean.Counts["tokens"] < 50 {
					t.Errorf("%s: %+v, %+v, %+v", measure, at, elsewhere, clean)
				}
				if !strings.Contains(at.Signature, "|top:5|T=0.3|") || at.Unit == "" || !(at.Value > 0) {
					t.Errorf("%s: %+v", measure, at)
				}
			}
			observations, strips := readFile(t, out, "observations.jsonl"), 0
			for line := range strings.Lines(observations) {
				var o crosstalk.Observation
				if err := json.Unmarshal([]byte(line), &o); err != nil {
					t.Fatal(err)
				}
				if o.Tokens == nil {
					continue
				}
				strips++
				faults := 0
				for _, token := range o.Tokens {
					if o.Text("answer")[token.Start:token.End] != token.Text || !token.Entropy.Defined() || token.Nucleus == 0 ||
						len(token.Candidates) == 0 {
						t.Errorf("%+v", token)
					}
					if token.Fault {
						faults++
					}
				}
				if o.Measure != "lpr" || o.Value != 0 || faults == 0 {
					t.Errorf("a strip of %d faults with %s %v", faults, o.Measure, o.Value)
				}
			}
			if strips != 2 {
				t.Errorf("%d strips", strips)
			}
			again := start(t, nil, "report", out, "--by", "task", "--format", "json").expect(0)
			if again.stdout.String() != p.stdout.String() {
				t.Error("the report sums up otherwise")
			}
		})
	}
}
