package study

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/instrument/consistency"
	"crosstalk/run"
)

// Every setting of a sweep reaches what is asked.
func TestSweepSets(t *testing.T) {
	base := Sweep{Models: []string{"compatible:m"}, BaseURLs: []string{"http://127.0.0.1:1/v1"}}
	conditions := func(change func(*Sweep)) []Condition {
		t.Helper()
		sweep := base
		change(&sweep)
		s, err := Leakage{Sweep: sweep}.Open()
		if err != nil {
			t.Fatal(err)
		}
		return s.Protocols[0].Conditions
	}
	show := func(list []Condition, of func(Condition) string) (got []string) {
		for _, c := range list {
			got = append(got, of(c))
		}
		return got
	}
	number := func(v *float64) string {
		if v == nil {
			return "default"
		}
		return fmt.Sprint(*v)
	}
	for name, c := range map[string]struct{ got, want []string }{
		"api": {show(conditions(func(s *Sweep) { s.APIs = []string{"chat", "completions"} }), func(c Condition) string {
			return c.Name["api"] + " " + string(c.Prompting.API)
		}), []string{"chat chat", "completions completions"}},
		"prefix": {show(conditions(func(s *Sweep) { s.Prefixes = []string{"", "Go on: "} }), func(c Condition) string {
			return c.Name["prefix"] + "|" + c.Prompting.Prefix
		}), []string{"|", "Go on: |Go on: "}},
		"system": {show(conditions(func(s *Sweep) { s.Systems = []string{"", "Be brief."} }), func(c Condition) string {
			return c.Name["system"] + "|" + c.Prompting.System
		}), []string{"|", "Be brief.|Be brief."}},
		"system of completions": {show(conditions(func(s *Sweep) { s.APIs, s.Systems = []string{"completions"}, []string{"Be brief."} }), func(c Condition) string {
			return c.Prompting.System + sentOf(c.Changes)
		}), []string{"system none"}},
		"temperature": {show(conditions(func(s *Sweep) { s.Temperatures = []string{"0", "0.70", "default"} }), func(c Condition) string {
			return c.Name["temperature"] + " " + number(c.Prompting.Decoding.Temperature)
		}), []string{"0 0", "0.7 0.7", "default default"}},
		"top_p": {show(conditions(func(s *Sweep) { s.TopPs = []string{"0.001", "1", "default"} }), func(c Condition) string {
			return c.Name["top_p"] + " " + number(c.Prompting.Decoding.TopP)
		}), []string{"0.001 0.001", "1 1", "default default"}},
		"reasoning": {show(conditions(func(s *Sweep) { s.Reasoning = []string{"low", "default"} }), func(c Condition) string {
			return c.Name["reasoning"] + " " + c.Prompting.Decoding.Reasoning
		}), []string{"low low", "default "}},
		"param": {show(conditions(func(s *Sweep) { s.Params = []string{"top_k=1", "top_k=40"} }), func(c Condition) string {
			return c.Name["top_k"] + " " + fmt.Sprint(c.Prompting.Decoding.Extra["top_k"])
		}), []string{"1 1", "40 40"}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %q, want %q", name, c.got, c.want)
		}
	}
	for option, set := range map[string]func(*Sweep, string){
		"temperature": func(s *Sweep, v string) { s.Temperatures = []string{v} },
		"top-p":       func(s *Sweep, v string) { s.TopPs = []string{v} },
		"reasoning":   func(s *Sweep, v string) { s.Reasoning = []string{v} },
	} {
		for _, value := range map[string][]string{"temperature": {"-0.1", "Inf", "NaN", "hot"}, "top-p": {"0", "1.0001", "1.5", "NaN", "-1"}, "reasoning": {"hard"}}[option] {
			sweep := base
			set(&sweep, value)
			_, err := Leakage{Sweep: sweep}.Open()
			if err == nil || !strings.HasPrefix(err.Error(), option+fmt.Sprintf(" is %q; expected ", value)) {
				t.Errorf("%s %s: %v", option, value, err)
			}
		}
	}
}

// The conditions of a sweep share their rewritings: these do not have what it varies.
func TestRewritePrompts(t *testing.T) {
	two, half := 2.0, 0.5
	rules := consistency.Protocol{}
	rules.Temperature, rules.TopP, rules.System, rules.RewriteTokens = 0.25, 0.75, "ours", 77
	config := crosstalk.PromptConfig{API: crosstalk.Chat, Prefix: "x", System: "theirs", Logprobs: 5,
		Decoding: crosstalk.Decoding{Temperature: &two, TopP: &half, MaxTokens: 9, Extra: map[string]any{"top_k": 1, "min_p": 2}}}
	show := func(p crosstalk.PromptConfig) string {
		return fmt.Sprintf("%g %g %s %d %v%s %d", *p.Decoding.Temperature, *p.Decoding.TopP, p.System, p.Decoding.MaxTokens,
			p.Decoding.Extra, p.Prefix, p.Logprobs)
	}
	for _, c := range []struct {
		varies map[string]string
		want   string
	}{
		{nil, "2 0.5 theirs 77 map[min_p:2 top_k:1] 0"},
		{map[string]string{"temperature": "2"}, "0.25 0.5 theirs 77 map[min_p:2 top_k:1] 0"},
		{map[string]string{"top_p": "0.5"}, "2 0.75 theirs 77 map[min_p:2 top_k:1] 0"},
		{map[string]string{"system": "theirs"}, "2 0.5 ours 77 map[min_p:2 top_k:1] 0"},
		{map[string]string{"top_k": "1"}, "2 0.5 theirs 77 map[min_p:2] 0"},
	} {
		var condition Condition
		condition.Name = c.varies
		condition.Prompting = config
		condition.Prompting.Decoding.Extra = map[string]any{"top_k": 1, "min_p": 2}
		if got := show(rewritePrompts(condition, rules)); got != c.want {
			t.Errorf("%v: %s, want %s", c.varies, got, c.want)
		}
		if len(condition.Prompting.Decoding.Extra) != 2 {
			t.Errorf("%v changes the condition", c.varies)
		}
	}
}

// Models without a batch API are refused before anything is asked.
func TestCheckBatch(t *testing.T) {
	for name, ok := range map[string]bool{"reference:leaky": false, "openai:gpt-4o-mini": true} {
		sweep := Sweep{Models: []string{name}, BaseURLs: []string{"http://127.0.0.1:1/v1"}}
		if !ok {
			sweep.BaseURLs = nil
		}
		s, err := Leakage{Sweep: sweep}.Open()
		if err != nil {
			t.Fatal(err)
		}
		if err := s.checkBatch(); (err == nil) != ok || !ok && !strings.HasPrefix(err.Error(), "batch: "+name+" has no batch API that crosstalk knows; models of these have: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What is wrong in files of answers is told with its place, and is no run.
func TestRecordedConfusionRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"id,completion\n1,Guten Tag\n":                 `answers.csv:1: has no column "language"; `,
		"id,language\n1,de\n":                          `answers.csv:1: has no column "completion"; `,
		"id,language,completion\n1,de,\"a\n":           "answers.csv:2: column 9: ",
		"id,language,completion\n1,de,Guten Tag, du\n": "answers.csv:2: has 4 fields; the header has 3",
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, "answers.csv")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Confusion{}.Recorded([]string{file}, "")
		if err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(dir, "run")
		_, err = s.Run(t.Context(), out, ask.Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
		if _, err := run.ReadEstimates(out); err == nil {
			t.Errorf("%q has figures", text)
		}
	}
	var bad *crosstalk.OptionError
	if _, err := (Confusion{Expect: "moon"}).Recorded(nil, ""); !errors.As(err, &bad) || bad.Option != "language" {
		t.Errorf("%v", err)
	}
}
