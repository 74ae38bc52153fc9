package reference

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"crosstalk"

	"gonum.org/v1/gonum/stat/distuv"
)

var bg = context.Background()

func items() []crosstalk.Item {
	return []crosstalk.Item{
		{ID: "k", Pair: &crosstalk.Pair{Concept: "koalas", Test: "He likes koalas. He eats", Control: "He eats", Leaks: []string{"leaves", "gum", "leaves"}, Neutral: []string{"bread", "rice", "soup", "leaves"}}},
		{ID: "m", Pair: &crosstalk.Pair{Concept: "mice", Test: "He likes mice. He eats", Control: "He eats", Leaks: []string{"cheese"}, Neutral: []string{"bread", "rice", "soup", "leaves"}}},
	}
}

func request(prompt string, sample int) crosstalk.Request {
	return crosstalk.Request{API: crosstalk.Completions, Prompt: prompt, Sample: sample}
}

// What the model answers is distributed as Outcomes says: chi-square over
// 20,000 samples of fixed seeds, p above 0.001.
func TestAnswersFollowOutcomes(t *testing.T) {
	const n = 20000
	for _, rate := range []float64{0, 0.3, 1} {
		l, err := NewLeaky(items(), rate, 0, 7)
		if err != nil {
			t.Fatal(err)
		}
		for _, prompt := range []string{"He likes koalas. He eats", "He likes mice. He eats", "He eats"} {
			want, total := map[string]float64{}, 0.0
			for _, o := range l.Outcomes(prompt) {
				want[o.Text] += o.P
				total += o.P
			}
			if total < 1-1e-12 || total > 1+1e-12 {
				t.Errorf("rate %g, %q: probabilities sum to %g", rate, prompt, total)
			}
			got := map[string]int{}
			for k := range n {
				a, err := l.Answer(bg, request(prompt, k))
				if err != nil || a.Status != crosstalk.Text {
					t.Fatal(a, err)
				}
				got[a.Text]++
			}
			chi, cells := 0.0, -1.0
			for text, p := range want {
				if p == 0 {
					continue
				}
				d := float64(got[text]) - n*p
				chi += d * d / (n * p)
				cells++
			}
			for text := range got {
				if want[text] == 0 {
					t.Errorf("rate %g, %q: answered %q, which has no probability", rate, prompt, text)
				}
			}
			if cells > 0 {
				if p := 1 - (distuv.ChiSquared{K: cells}).CDF(chi); p < 0.001 {
					t.Errorf("rate %g, %q: chi-square %.1f with %g degrees of freedom, p %.5f: %v, want %v", rate, prompt, chi, cells, p, got, want)
				}
			}
		}
	}
}

// The truth of a rate: leaks of an item are as likely as it says.
func TestOutcomes(t *testing.T) {
	l, err := NewLeaky(items(), 0.6, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	leaks := 0.0
	for i, o := range l.Outcomes("He likes koalas. He eats") {
		if i < 3 {
			leaks += o.P
		}
	}
	if leaks < 0.6-1e-12 || leaks > 0.6+1e-12 {
		t.Errorf("leaks have probability %g", leaks)
	}
	if got := fmt.Sprint(l.Outcomes("He eats")); got != "[{bread 0.25} {rice 0.25} {soup 0.25} {leaves 0.25}]" {
		t.Error(got)
	}
	if l.Outcomes("unknown") != nil {
		t.Error("an unknown prompt has outcomes")
	}
}

func TestAnswersAreDeterministic(t *testing.T) {
	answers := func(rate float64, seed uint64) string {
		l, err := NewLeaky(items(), rate, 0, seed)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for k := range 50 {
			a, _ := l.Answer(bg, request("He likes koalas. He eats", k))
			b.WriteString(a.Text + " ")
		}
		return b.String()
	}
	first := answers(0.5, 1)
	if again := answers(0.5, 1); again != first {
		t.Error("the same seed answers otherwise the second time")
	}
	if other := answers(0.5, 2); other == first {
		t.Error("two seeds answer alike")
	}
	// Another generator would answer otherwise: that breaks the resuming of runs.
	if !strings.HasPrefix(first, "gum gum leaves gum gum leaves bread ") {
		t.Error(first)
	}
}

// What stands before a prompt, as a chat or a completion, is passed over.
func TestPrefix(t *testing.T) {
	l, err := NewLeaky(items(), 1, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := l.Answer(bg, request("He likes mice. He eats", 3))
	for _, req := range []crosstalk.Request{
		request("Go on: He likes mice. He eats", 3),
		{API: crosstalk.Chat, Sample: 3, Messages: []crosstalk.Message{{Role: "user", Content: "Go on: He likes mice. He eats"}}},
	} {
		if got, err := l.Answer(bg, req); err != nil || got.Text != want.Text || got.Text != "cheese" {
			t.Errorf("%+v: %q %v, want %q", req, got.Text, err, want.Text)
		}
	}
	_, err = l.Answer(bg, request("He likes mice. He eats what?", 0))
	var e *crosstalk.AskError
	if !errors.As(err, &e) || e.Fault != crosstalk.Rejected || !strings.Contains(e.Message, "reference:leaky knows only the suite's own prompts") {
		t.Errorf("an unknown prompt: %v", err)
	}
}

func TestIdentityIsSettingsAndContinuations(t *testing.T) {
	id := func(change func([]crosstalk.Item), rate float64, seed uint64) crosstalk.Identity {
		list := items()
		change(list)
		l, err := NewLeaky(list, rate, 0, seed)
		if err != nil {
			t.Fatal(err)
		}
		return l.Identity()
	}
	same := func([]crosstalk.Item) {}
	base := id(same, 0.5, 1)
	if base != id(same, 0.5, 1) || base.Provider != "reference" || base.Name != "leaky?rate=0.5&seed=1" {
		t.Errorf("%+v", base)
	}
	for what, other := range map[string]crosstalk.Identity{
		"rate": id(same, 0.6, 1), "seed": id(same, 0.5, 2),
		"leaks":   id(func(l []crosstalk.Item) { l[1].Pair.Leaks = []string{"crumbs"} }, 0.5, 1),
		"neutral": id(func(l []crosstalk.Item) { l[1].Pair.Neutral = []string{"fish"} }, 0.5, 1),
	} {
		if other == base {
			t.Errorf("another %s has the same identity", what)
		}
	}
}

func TestOpen(t *testing.T) {
	m, err := Open("leaky?rate=0.25&seed=9", items())
	if err != nil || m.Identity().Name != "leaky?rate=0.25&seed=9" || m.API() != crosstalk.Completions {
		t.Errorf("%v %v", m, err)
	}
	if m, err = Open("leaky", items()); err != nil || m.Identity().Name != "leaky?rate=0.6&seed=1" {
		t.Errorf("%v %v", m, err)
	}
	for spec, want := range map[string]string{
		"":                 `reference has no model ""; choose one of: reference:leaky?rate=0.6 (leakage), reference:confused?line=0.1&word=0.05 (confusion), reference:inconsistent?flip=0.2&invalid=0.01 (consistency)`,
		"talkative":        `reference has no model "talkative"; choose one of: reference:leaky`,
		"leaky?rate=2":     "reference:leaky: rate is 2; expected a probability, 0 to 1",
		"leaky?rate=-0.1":  "reference:leaky: rate is -0.1; expected a probability, 0 to 1",
		"leaky?rate=NaN":   "reference:leaky: rate is NaN; expected a probability, 0 to 1",
		"leaky?rate=often": `reference:leaky: rate is "often"; expected a probability, 0 to 1`,
		"leaky?rate=":      `reference:leaky: rate is ""; expected a probability, 0 to 1`,
		"leaky?seed=-1":    `reference:leaky: seed is "-1"; expected a whole number from 0`,
		"leaky?speed=1":    `reference:leaky has no setting "speed"; it has rate, copy and seed`,
		"leaky?rate=%zz":   "reference:leaky?rate=%zz: cannot read the settings: ",
	} {
		if _, err := Open(spec, items()); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", spec, err, want)
		}
	}
	for _, spoil := range []func(*crosstalk.Item){
		func(i *crosstalk.Item) { i.Pair.Leaks = nil }, func(i *crosstalk.Item) { i.Pair.Neutral = nil },
		func(i *crosstalk.Item) { i.Pair = nil },
	} {
		list := items()
		spoil(&list[1])
		if _, err := Open("leaky", list); err == nil || !strings.HasPrefix(err.Error(), "item m lists no leaks or no neutral continuations") {
			t.Error(err)
		}
	}
}

func TestAnswerStops(t *testing.T) {
	l, err := NewLeaky(items(), 0.5, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(bg)
	cancel()
	if _, err := l.Answer(ctx, request("He eats", 0)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A text around the prompt is copied with its probability, by the answers to
// the control too, and only where there is one.
func TestCopying(t *testing.T) {
	const n = 5000
	c := crosstalk.Context{Carrier: crosstalk.Note, Prompt: "Where?", Test: crosstalk.Carried{Text: "He keeps bees."},
		Control: crosstalk.Carried{Text: "He works."}}
	around := crosstalk.Item{ID: "a", Pair: &crosstalk.Pair{Concept: "bees", Leaks: []string{"hive"}, Neutral: []string{"town", "sea"}, Context: &c,
		Test: c.Carrier.Whole(c.Test, c.Prompt), Control: c.Carrier.Whole(c.Control, c.Prompt)}}
	plain, err := NewLeaky(append(items(), around), 0.6, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	l, err := NewLeaky(append(items(), around), 0.6, 0.25, 1)
	if err != nil {
		t.Fatal(err)
	}
	if name := l.Identity().Name; name != "leaky?rate=0.6&seed=1&copy=0.25" || plain.Identity().Name != "leaky?rate=0.6&seed=1" {
		t.Error(name)
	}
	for prompt, want := range map[string]string{
		around.Pair.Test:    "[{hive 0.45} {town 0.15} {sea 0.15} {He keeps bees.\nhive 0.15} {He keeps bees.\ntown 0.05} {He keeps bees.\nsea 0.05}]",
		around.Pair.Control: "[{town 0.375} {sea 0.375} {He works.\ntown 0.125} {He works.\nsea 0.125}]",
		"He eats":           "[{bread 0.25} {rice 0.25} {soup 0.25} {leaves 0.25}]",
	} {
		share := map[string]float64{}
		for k := range n {
			a, err := l.Answer(bg, request(prompt, k))
			if err != nil {
				t.Fatal(err)
			}
			share[a.Text] += 1.0 / n
		}
		var got []Outcome
		for _, o := range l.Outcomes(prompt) {
			got = append(got, Outcome{o.Text, math.Round(o.P*1e9) / 1e9})
			if math.Abs(share[o.Text]-o.P) > 0.03 {
				t.Errorf("%q: share %.3f, probability %.3f", o.Text, share[o.Text], o.P)
			}
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%v, want %s", got, want)
		}
	}
	if _, err := NewLeaky(items(), 0.6, 2, 1); err == nil || err.Error() != "reference:leaky: copy is 2; expected a probability, 0 to 1" {
		t.Error(err)
	}
}
