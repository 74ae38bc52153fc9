package ask_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"crosstalk"
	"crosstalk/ask"
)

// conversation asks one prompt after the other, and returns the warnings.
func conversation(t *testing.T, prompts []string, change func(*crosstalk.Request),
	answer func(i int, r crosstalk.Request) crosstalk.Answer, same func(crosstalk.Identity, string) bool) []string {
	t.Helper()
	i := 0
	m := &model{answer: func(_ context.Context, r crosstalk.Request) (crosstalk.Answer, error) {
		a := answer(i, r)
		i++
		if a.Status == "" {
			a.Status = crosstalk.Text
		}
		return a, nil
	}}
	memory := &ask.Memory{}
	var lists [2][]string
	for run := range lists { // the second time the journal answers
		s := ask.NewSession(memory, ask.Options{SameModel: same})
		for _, p := range prompts {
			r := crosstalk.Request{API: crosstalk.Chat, Messages: []crosstalk.Message{{Role: "user", Content: p}}}
			if change != nil {
				change(&r)
			}
			if _, err := s.For(m).Ask(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		lists[run] = s.Warnings()
	}
	if diff := cmp.Diff(lists[0], lists[1]); diff != "" {
		t.Errorf("resumed: %s", diff)
	}
	return lists[0]
}

// many are n prompts of about so many words each.
func many(n, words int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprintf("%d: %s", i, strings.Repeat("something ", words+i)))
	}
	return list
}

// tokens is what a tokenizer may make of a text: a token for four bytes, and a
// template's eight.
func tokens(r crosstalk.Request) int {
	n := 8
	for _, m := range r.Messages {
		n += len(m.Content) / 4
	}
	return n
}

func counted(n func(crosstalk.Request) int) func(int, crosstalk.Request) crosstalk.Answer {
	return func(_ int, r crosstalk.Request) crosstalk.Answer {
		return crosstalk.Answer{Usage: crosstalk.Usage{Prompt: n(r), Completion: 5}}
	}
}

func TestWarnings(t *testing.T) {
	same := func(id crosstalk.Identity, served string) bool { return strings.HasPrefix(served, id.Name) }
	upTo := func(limit int) func(crosstalk.Request) int {
		return func(r crosstalk.Request) int { return min(limit, tokens(r)) }
	}
	system := func(r *crosstalk.Request) {
		r.Messages = append([]crosstalk.Message{{Role: "system", Content: strings.Repeat("be kind ", 2000)}}, r.Messages...)
	}
	logprobs := func(r *crosstalk.Request) { r.Logprobs = 5 }
	served := func(names ...string) func(int, crosstalk.Request) crosstalk.Answer {
		return func(i int, _ crosstalk.Request) crosstalk.Answer {
			return crosstalk.Answer{Model: names[i%len(names)]}
		}
	}
	for name, c := range map[string]struct {
		prompts []string
		change  func(*crosstalk.Request)
		answer  func(int, crosstalk.Request) crosstalk.Answer
		want    []string
	}{
		"nothing":          {many(50, 5), nil, counted(tokens), nil},
		"all alike":        {[]string{"He likes tea. He", "She owns cats. She", "They eat figs. They", "We sell ants. We"}, nil, counted(func(crosstalk.Request) int { return 14 }), nil},
		"long, not cut":    {many(50, 500), nil, counted(tokens), nil},
		"long, all alike":  {many(4, 500), nil, counted(func(crosstalk.Request) int { return 1251 }), nil},
		"no counts":        {many(50, 500), nil, counted(func(crosstalk.Request) int { return 0 }), nil},
		"cut by a context": {many(50, 5), system, counted(upTo(2048)), []string{"test:m: the server seems to cut prompts at 2048 tokens: different long prompts all have that count; give the model a larger context"}},
		"some cut":         {append(many(20, 5), many(5, 1500)...), nil, counted(upTo(1990)), []string{"test:m: the server seems to cut prompts at 1990 tokens: different long prompts all have that count; give the model a larger context"}},
		"cut in half":      {many(5, 5000), nil, counted(upTo(3001)), []string{"test:m: the server seems to cut prompts at 3001 tokens: different long prompts all have that count; give the model a larger context"}},
		"own system prompt": {many(20, 5), nil, counted(func(r crosstalk.Request) int { return 400 + tokens(r) }),
			[]string{"test:m: the server counts 421 tokens in a prompt of about 23: it may add its own system prompt"}},
		"a template":        {many(20, 5), nil, counted(func(r crosstalk.Request) int { return 60 + tokens(r) }), nil},
		"no logprobs":       {many(5, 5), logprobs, served(""), []string{"test:m: log probabilities were asked for, and none of 5 answers has any"}},
		"logprobs not sent": {many(5, 5), nil, served(""), nil},
		"some logprobs": {many(5, 5), logprobs, func(i int, _ crosstalk.Request) crosstalk.Answer {
			if i == 3 {
				return crosstalk.Answer{Logprobs: []crosstalk.TokenLogprob{{Token: "a"}}}
			}
			return crosstalk.Answer{}
		}, nil},
		"no effect": {many(4, 5), nil, func(i int, _ crosstalk.Request) crosstalk.Answer {
			return crosstalk.Answer{Missing: [][]string{{"seed", "reasoning"}, {"seed"}}[i%2]}
		}, []string{"test:m: the parameter reasoning was sent and had no effect on 2 of 4 answers", "test:m: the parameter seed was sent and had no effect on 4 of 4 answers"}},
		"dated":         {many(5, 5), nil, served("m-2026-01-01"), nil},
		"another model": {many(4, 5), nil, served("n", "m"), []string{`test:m: answered as another model: "n" (2)`}},
		"changed":       {many(4, 5), nil, served("m-1", "m-2"), []string{`test:m: answered under several names, so the model may have changed during the run: "m-1" (2), "m-2" (2)`}},
		"cut thoughts": {many(10, 5), nil, func(i int, _ crosstalk.Request) crosstalk.Answer {
			if i%2 == 0 {
				return crosstalk.Answer{Status: crosstalk.Empty, Finish: crosstalk.FinishLength,
					Usage: crosstalk.Usage{Prompt: 20, Completion: 9, Reasoning: 9}}
			}
			return crosstalk.Answer{Finish: crosstalk.FinishLength}
		}, []string{"test:m: 5 of 10 answers reached their limit before they said anything: raise --reasoning-tokens, or --max-tokens"}},
		"cut without thoughts": {many(4, 5), nil, func(int, crosstalk.Request) crosstalk.Answer {
			return crosstalk.Answer{Status: crosstalk.Empty, Finish: crosstalk.FinishLength}
		}, []string{"test:m: 4 of 4 answers reached their limit before they said anything: raise --max-tokens"}},
		"asked again with room": {many(10, 5), func(r *crosstalk.Request) {
			if r.Decoding.MaxTokens = 100; strings.Contains(r.Text(), "3:") || strings.Contains(r.Text(), "8:") {
				return
			}
			r.Decoding.ReasoningTokens = 4000
		}, func(_ int, r crosstalk.Request) crosstalk.Answer {
			if r.Decoding.ReasoningTokens == 0 {
				return crosstalk.Answer{Status: crosstalk.Empty, Reason: crosstalk.Thinking}
			}
			return crosstalk.Answer{}
		}, nil},
		"all cut": {many(12, 5), nil,
			func(int, crosstalk.Request) crosstalk.Answer { return crosstalk.Answer{Finish: crosstalk.FinishLength} },
			[]string{"test:m: all 12 answers were cut at their limit; they may be thoughts, which 'crosstalk models test:m --check' would show"}},
		"few, all cut": {many(9, 5), nil,
			func(int, crosstalk.Request) crosstalk.Answer { return crosstalk.Answer{Finish: crosstalk.FinishLength} }, nil},
		"all but one cut": {many(12, 5), nil, func(i int, _ crosstalk.Request) crosstalk.Answer {
			return crosstalk.Answer{Finish: map[bool]crosstalk.Finish{true: crosstalk.FinishStop,
				false: crosstalk.FinishLength}[i == 7]}
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, conversation(t, c.prompts, c.change, c.answer, same)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
