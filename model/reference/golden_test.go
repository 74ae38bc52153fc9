package reference

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/internal/testing/golden"
)

// What the reference models say, to the last draw: figures of documentation and of calibration rest on it.
func TestAnswersStayTheSame(t *testing.T) {
	var b strings.Builder
	show := func(m crosstalk.Model, err error, samples int, requests ...crosstalk.Request) {
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s at %s, %s\n", m.Identity(), m.Identity().Endpoint, m.API())
		for _, req := range requests {
			for req.Sample = range samples {
				a, err := m.Answer(bg, req)
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&b, "%q %d: %q %s %s %d+%d\n", req.Text(), req.Sample, a.Text, a.Status, a.Reason, a.Usage.Prompt,
					a.Usage.Completion)
				for _, l := range a.Logprobs {
					fmt.Fprintf(&b, "  %q %.5f", l.Token, l.Logprob)
					for _, c := range l.Top {
						fmt.Fprintf(&b, " %q %.5f", c.Token, c.Logprob)
					}
					fmt.Fprintln(&b)
				}
			}
		}
	}
	all := Confusion{Line: 0.3, Word: 0.4, Mask: 0.3, Short: 0.2}
	c, err := NewConfused(prompts(), all, 7)
	logprobs := chat("Как дела?", 0)
	logprobs.Logprobs = 3
	show(c, err, 20, chat("Как дела?", 0), chat("In Japanese: how?", 0), chat("Q: How? In Japanese.\nA:", 0))
	show(c, err, 4, logprobs)
	logprobs.Logprobs = 1
	show(c, err, 1, logprobs)
	l, err := NewLeaky(items(), 0.6, 0, 7)
	show(l, err, 10, request("He likes koalas. He eats", 0), request("He eats", 0))
	i, err := NewInconsistent(tasks(), inputs(2), Inconsistency{Flip: 0.3, Invalid: 0.1, Wrong: 0.3}, 7)
	question := tasks()[0].Prompt(tasks()[0].Instructions["en"], inputs(1)[0].Input.Texts["en"])
	show(i, err, 10, chat(question, 0), chat(mark("German")+question, 0))

	// The distributions: sums by kind, and the number of outcomes.
	for _, of := range []Confusion{all, {}, {Line: 1}, {Word: 1}, {Mask: 1}} {
		c, err := NewConfused(prompts(), of, 7)
		if err != nil {
			t.Fatal(err)
		}
		for _, language := range Languages() {
			for place := range MaxLines {
				fmt.Fprintf(&b, "%v %s line %d: %s\n", of, language, place, sums(t, c.Lines(language, place)))
			}
			fmt.Fprintf(&b, "%v %s reply: %s\n", of, language, sums(t, c.Replies(language)))
		}
	}
	for _, copying := range []float64{0, 0.25} {
		l, err := NewLeaky(items(), 0.6, copying, 7)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range l.Outcomes("He likes mice. He eats") {
			fmt.Fprintf(&b, "%v %q %.5f\n", copying, o.Text, o.P)
		}
	}
	golden.Check(t, "testdata/answers.txt", b.String())
}

// sums are the number of outcomes and their probability, by kind: 1 in all.
func sums(t *testing.T, outcomes []Line) string {
	t.Helper()
	n, p, all := map[string]int{}, map[string]float64{}, 0.0
	for _, o := range outcomes {
		n[o.Kind]++
		p[o.Kind] += o.P
		all += o.P
		if o.P <= 0 {
			t.Errorf("%q has the probability %g", o.Text, o.P)
		}
	}
	if math.Abs(all-1) > 1e-9 {
		t.Errorf("the probabilities sum to %g", all)
	}
	text := ""
	for _, kind := range []string{Clean, Masked, WrongLine, WrongWord} {
		text += fmt.Sprintf(" %s %d %.5f", kind, n[kind], p[kind])
	}
	return text
}

// Prompts that the model cannot answer are refused by name.
func TestConfusedNeedsPrompts(t *testing.T) {
	for _, c := range []struct {
		prompt *crosstalk.Prompt
		want   string
	}{
		{nil, "item i has no prompt that "},
		{&crosstalk.Prompt{Language: "ru"}, "item i has no prompt that "},
		{&crosstalk.Prompt{Text: "x", Language: "tlh", Tag: "tlh-Latn"}, "has no sentences in the language tlh-Latn, only in "},
		{&crosstalk.Prompt{Text: "x", Language: "xx"}, "has no sentences in the language xx, only in "},
		{&crosstalk.Prompt{Text: "x", Language: "zh", Tag: "zh-Hant"}, "has no sentences in the language zh-Hant, only in "},
		{&crosstalk.Prompt{Language: "ru", Placed: map[string]string{"end": "x"}}, ""},
	} {
		_, err := NewConfused([]crosstalk.Item{{ID: "i", Prompt: c.prompt}}, Confusion{}, 1)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v, want %q", c.prompt, err, c.want)
		}
	}
}
