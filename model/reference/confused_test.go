package reference

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode"

	"crosstalk"
	"crosstalk/measure/segment"
	"crosstalk/measure/segment/japanese"
	"crosstalk/measure/segment/jieba"
	"crosstalk/measure/wordlist"
)

func prompts() []crosstalk.Item {
	return []crosstalk.Item{
		{ID: "ru", Prompt: &crosstalk.Prompt{Text: "Как дела?", Language: "ru"}},
		{ID: "ja", Prompt: &crosstalk.Prompt{Text: "How? In Japanese.", Language: "ja",
			Placed: map[string]string{"start": "In Japanese: how?", "end": "How? In Japanese."}}},
	}
}

func confused(t *testing.T, line, word float64, seed uint64) *Confused {
	t.Helper()
	c, err := NewConfused(prompts(), Confusion{Line: line, Word: word}, seed)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func chat(content string, sample int) crosstalk.Request {
	return crosstalk.Request{API: crosstalk.Chat, Messages: []crosstalk.Message{{Role: "user", Content: content}},
		Sample: sample}
}

// Each sentence has enough words to be checked, and an English word that the
// list has, and that is found, in place of one of its own.
func TestSentences(t *testing.T) {
	if n := len(Languages()); n != 15 {
		t.Errorf("%d languages", n)
	}
	seen := map[string]bool{}
	for language, lines := range texts().sentences {
		var segmenter segment.Segmenter = segment.Space{}
		switch language {
		case "ja":
			segmenter = japanese.Segmenter{}
		case "zh":
			segmenter = jieba.Segmenter{}
		}
		for place, list := range lines {
			if len(list) < 4 {
				t.Errorf("%s: %d sentences for line %d", language, len(list), place)
			}
			for _, s := range list {
				if seen[s.text()] {
					t.Errorf("%s: stands twice: %s", language, s.text())
				}
				seen[s.text()] = true
				if n := len(segmenter.AppendWords(nil, s.text())); n < 8 {
					t.Errorf("%s: %d words: %s", language, n, s.text())
				}
				if words := segment.Words(segmenter, s.with(s.english)); segmenter != (segment.Space{}) &&
					!slices.Contains(words, s.english) {
					t.Errorf("%s: %s is no word of %q", language, s.english, words)
				}
				if !wordlist.English().Contains(s.english) || s.own == "" || s.before == "" || strings.ContainsAny(s.text(), "{|}\t\n") {
					t.Errorf("%s: %+v", language, s)
				}
			}
		}
	}
}

// Lines are distributed as Lines says, by their kind, and the number of lines
// is as said: within four standard errors over 20,000 answers.
func TestConfusedFollowsLines(t *testing.T) {
	const n = 20000
	c, err := NewConfused(prompts(), Confusion{Line: 0.1, Word: 0.3, Mask: 0.2, Short: 0.25}, 5)
	if err != nil {
		t.Fatal(err)
	}
	for _, language := range []string{"ru", "ja"} {
		kinds := [MaxLines]map[string]string{}
		want := [MaxLines]map[string]float64{}
		for place := range MaxLines {
			kinds[place], want[place] = map[string]string{}, map[string]float64{}
			total := 0.0
			for _, o := range c.Lines(language, place) {
				kinds[place][o.Text] = o.Kind
				want[place][o.Kind] += o.P
				total += o.P
			}
			if math.Abs(total-1) > 1e-12 {
				t.Errorf("%s: probabilities sum to %g", language, total)
			}
			if math.Abs(want[place][WrongLine]-0.1) > 1e-12 || math.Abs(want[place][WrongWord]-0.9*0.3) > 1e-12 ||
				math.Abs(want[place][Masked]-0.9*0.7*0.2) > 1e-12 {
				t.Errorf("%s: %v", language, want[place])
			}
		}
		prompt := map[string]string{"ru": "Как дела?", "ja": "In Japanese: how?"}[language]
		lengths, got, drawn := map[int]float64{}, [MaxLines]map[string]float64{{}, {}, {}}, [MaxLines]float64{}
		replies, shorts, wrongShorts := map[string]string{}, 0.0, 0.0
		for _, o := range c.Replies(language) {
			replies[o.Text] = o.Kind
		}
		for k := range n {
			a, err := c.Answer(bg, chat(prompt, k))
			if err != nil || a.Status != crosstalk.Text {
				t.Fatal(a, err)
			}
			if kind, short := replies[a.Text]; short {
				shorts++
				if kind == WrongLine {
					wrongShorts++
				}
				continue
			}
			lines := strings.Split(a.Text, "\n")
			lengths[len(lines)]++
			for place, line := range lines {
				kind, known := kinds[place][line]
				if !known {
					t.Fatalf("%s: line %d is %q, which has no probability", language, place, line)
				}
				got[place][kind]++
				drawn[place]++
			}
		}
		near := func(what string, count, of, p float64) {
			if math.Abs(count/of-p) > 4*math.Sqrt(p*(1-p)/of) {
				t.Errorf("%s: %s in %.4f, want %.4f", language, what, count/of, p)
			}
		}
		near("short replies", shorts, n, 0.25)
		near("wrong short replies", wrongShorts, shorts, 0.1)
		for l := 1; l <= MaxLines; l++ {
			near(fmt.Sprint(l, " lines"), lengths[l], n-shorts, 1.0/MaxLines)
		}
		for place := range MaxLines {
			for kind, p := range want[place] {
				near(fmt.Sprint(kind, " in line ", place), got[place][kind], drawn[place], p)
			}
		}
	}
}

func TestConfusedIsDeterministic(t *testing.T) {
	answers := func(seed uint64, logprobs int) string {
		var b strings.Builder
		c := confused(t, 0.3, 0.3, seed)
		for k := range 20 {
			r := chat("Как дела?", k)
			r.Logprobs = logprobs
			a, _ := c.Answer(bg, r)
			b.WriteString(a.Text + "\n\n")
		}
		return b.String()
	}
	first := answers(1, 0)
	if answers(1, 0) != first || answers(1, 5) != first {
		t.Error("the same seed answers otherwise the second time, or asked for log probabilities")
	}
	if answers(2, 0) == first {
		t.Error("two seeds answer alike")
	}
	// Another generator would answer otherwise: that breaks the resuming of runs.
	if want := "Рыбаки выходят в море на своей лодке задолго до восхода солнца.\n이모는 여러 해 동안 강가에 있는 큰 병원"; !strings.HasPrefix(first, want) {
		t.Errorf("%.300s", first)
	}
}

// Prompts are found behind prefixes and within templates.
func TestConfusedPrompts(t *testing.T) {
	c := confused(t, 0, 0, 1)
	want, _ := c.Answer(bg, chat("Как дела?", 3))
	for _, text := range []string{"Please: Как дела?", "Q: Что?\nA: Это.\n\nQ: Как дела?\nA:"} {
		if got, err := c.Answer(bg, chat(text, 3)); err != nil || got.Text != want.Text {
			t.Errorf("%q: %q %v, want %q", text, got.Text, err, want.Text)
		}
	}
	if strings.ContainsFunc(want.Text, func(r rune) bool { return unicode.Is(unicode.Latin, r) }) {
		t.Errorf("without faults the answer in Russian is %q", want.Text)
	}
	for _, text := range []string{"How? In Japanese.", "In Japanese: how?"} {
		if got, err := c.Answer(bg, chat(text, 0)); err != nil || !strings.Contains(got.Text, "。") {
			t.Errorf("%q: %q %v", text, got.Text, err)
		}
	}
	_, err := c.Answer(bg, chat("Как дела? Хорошо.", 0))
	var e *crosstalk.AskError
	if !errors.As(err, &e) || e.Fault != crosstalk.Rejected || !strings.Contains(e.Message, "reference:confused knows only the suite's own prompts") {
		t.Errorf("an unknown prompt: %v", err)
	}
	ctx, cancel := context.WithCancel(bg)
	cancel()
	if _, err := c.Answer(ctx, chat("Как дела?", 0)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Log probabilities join to the text, are a distribution, and show more doubt
// where a fault begins.
func TestConfusedLogprobs(t *testing.T) {
	c := confused(t, 0.3, 0.5, 1)
	var at, elsewhere []float64
	for k := range 200 {
		r := chat("Как дела?", k)
		r.Logprobs = 5
		a, err := c.Answer(bg, r)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for _, l := range a.Logprobs {
			sum, taken, seen := 0.0, false, map[string]bool{}
			for i, c := range l.Top {
				sum += math.Exp(c.Logprob)
				taken = taken || c.Token == l.Token && c.Logprob == l.Logprob
				if seen[c.Token] || i > 0 && c.Logprob > l.Top[i-1].Logprob {
					t.Errorf("candidates %v", l.Top)
				}
				seen[c.Token] = true
			}
			if len(l.Top) != 5 || !taken || sum >= 1 {
				t.Errorf("%+v: the candidates sum to %g", l, sum)
			}
			latin := strings.ContainsFunc(l.Token, func(r rune) bool { return unicode.Is(unicode.Latin, r) })
			before := strings.TrimRight(text.String(), " ")
			if start := latin && !strings.HasSuffix(before, "\n") && before != "" && strings.HasPrefix(l.Token, " ") &&
				!strings.ContainsFunc(text.String(), isLatin); start {
				at = append(at, math.Exp(l.Logprob))
			} else if !latin {
				elsewhere = append(elsewhere, math.Exp(l.Logprob))
			}
			text.WriteString(l.Token)
		}
		if text.String() != a.Text || a.Usage.Completion != len(a.Logprobs) {
			t.Errorf("the tokens are %q, the text %q", text.String(), a.Text)
		}
	}
	mean := func(of []float64) (m float64) {
		for _, v := range of {
			m += v / float64(len(of))
		}
		return m
	}
	if len(at) < 20 || mean(at) > 0.4 || mean(elsewhere) < 0.8 {
		t.Errorf("tokens taken have probability %.2f at %d English words, %.2f elsewhere", mean(at), len(at), mean(elsewhere))
	}
}

func isLatin(r rune) bool { return unicode.Is(unicode.Latin, r) }

func TestConfusedIdentity(t *testing.T) {
	base := confused(t, 0.1, 0.05, 1).Identity()
	if base != confused(t, 0.1, 0.05, 1).Identity() || base.Provider != "reference" || base.Name != "confused?line=0.1&word=0.05&seed=1" {
		t.Errorf("%+v", base)
	}
	fewer, err := NewConfused(prompts()[:1], Confusion{Line: 0.1, Word: 0.05}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for what, other := range map[string]crosstalk.Identity{
		"line": confused(t, 0.2, 0.05, 1).Identity(), "word": confused(t, 0.1, 0.06, 1).Identity(),
		"seed": confused(t, 0.1, 0.05, 2).Identity(), "suite": fewer.Identity(),
	} {
		if other == base {
			t.Errorf("another %s has the same identity", what)
		}
	}
}

func TestOpenConfused(t *testing.T) {
	m, err := Open("confused?line=0.25&short=0.5&seed=9", prompts())
	if err != nil || m.Identity().Name != "confused?line=0.25&word=0.05&short=0.5&seed=9" || m.API() != crosstalk.Chat {
		t.Errorf("%v %v", m, err)
	}
	for spec, want := range map[string]string{
		"confused?line=2":   "reference:confused: line is 2; expected a probability, 0 to 1",
		"confused?word=x":   `reference:confused: word is "x"; expected a probability, 0 to 1`,
		"confused?word=-1":  "reference:confused: word is -1; expected a probability, 0 to 1",
		"confused?seed=one": `reference:confused: seed is "one"; expected a whole number from 0`,
		"confused?mask=2":   "reference:confused: mask is 2; expected a probability, 0 to 1",
		"confused?rate=0.1": `reference:confused has no setting "rate"; it has line, word, mask, short and seed`,
	} {
		if _, err := Open(spec, prompts()); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", spec, err, want)
		}
	}
	twice := append(prompts(), crosstalk.Item{ID: "fr", Prompt: &crosstalk.Prompt{Text: "Как дела?", Language: "fr"}})
	greek := append(prompts(), crosstalk.Item{ID: "el", Prompt: &crosstalk.Prompt{Text: "Πώς;", Language: "el"}})
	for want, list := range map[string][]crosstalk.Item{
		"item fr: the prompt asks for an answer in fr, and another item has the same prompt for ru": twice,
		"item el: reference:confused has no sentences in the language el, only in ar,":              greek,
		"item k has no prompt that reference:confused can answer":                                   items(),
	} {
		if _, err := NewConfused(list, Confusion{Line: 0.1, Word: 0.1}, 1); err == nil ||
			!strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
