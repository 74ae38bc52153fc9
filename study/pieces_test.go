package study

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/instrument/confusion"
	"crosstalk/instrument/consistency/review"
	"crosstalk/model"
	"crosstalk/suite/datasets"
)

// Why items were not measured: a limit goes before a model that cannot be asked.
func TestWhy(t *testing.T) {
	limit, first, second := &ask.LimitError{}, &ask.ModelError{Err: errors.New("a")}, &ask.ModelError{Err: errors.New("b")}
	for i, c := range []struct {
		result Result
		want   error
	}{{Result{}, nil}, {Result{Limit: limit}, limit}, {Result{Hopeless: []*ask.ModelError{first, second}}, first},
		{Result{Limit: limit, Hopeless: []*ask.ModelError{first}}, limit}} {
		if got := c.result.Why(); got != c.want {
			t.Errorf("%d: %v, want %v", i, got, c.want)
		}
	}
}

func TestFileName(t *testing.T) {
	for text, want := range map[string]string{"az.AZ_09-x": "az.AZ_09-x", "`a{@[": "a", "a/b:c d": "a-b-c-d", "..--a.b-.": "a.b",
		"@0/9:": "0-9", "ü": "", "": ""} {
		if got := fileName(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// What answers in memory take, about: their texts and the candidates of their tokens.
func TestSizeOf(t *testing.T) {
	top := make([]crosstalk.CandidateLogprob, 3)
	for i, c := range []struct {
		answer crosstalk.Answer
		want   int64
	}{{crosstalk.Answer{}, 512}, {crosstalk.Answer{Text: "four", Reasoning: "seven.."}, 512 + 4 + 7},
		{crosstalk.Answer{Text: "a", Logprobs: []crosstalk.TokenLogprob{{}, {Top: top}}}, 513 + 64 + 4*64}} {
		if got := sizeOf(c.answer); got != c.want {
			t.Errorf("%d: %d bytes, want %d", i, got, c.want)
		}
	}
}

// What a model refused is left out of what is asked next, and reasoning is asked for at the level that it takes.
func TestApply(t *testing.T) {
	zero := 0.0
	config := crosstalk.PromptConfig{API: crosstalk.Chat, System: "Be brief.",
		Decoding: crosstalk.Decoding{Temperature: &zero, Reasoning: "off", MaxTokens: 10}}
	a := &adapting{name: "compatible:picky", dropped: []dropped{{crosstalk.ParamReasoning, "low"},
		{param: crosstalk.ParamTemperature}, {param: crosstalk.ParamSystem}}}
	sent, version, done := a.apply(config.Request("x", 0), false)
	if sent.Decoding.Reasoning != "low" || sent.Decoding.Temperature != nil || sent.Decoding.MaxTokens != 10 ||
		len(sent.Messages) != 1 ||
		!strings.HasPrefix(sent.Messages[0].Content, "Be brief.") || version != 3 {
		t.Errorf("%+v after %d changes", sent, version)
	}
	if len(a.early) != 1 {
		t.Errorf("%d asks are under way", len(a.early))
	}
	if done(); len(a.early) != 0 {
		t.Errorf("%d asks are under way when all are answered", len(a.early))
	}
	a.room = true
	roomy, _, _ := a.apply(config.Request("x", 0), false)
	again, _, _ := a.apply(config.Request("x", 0), true)
	if roomy.Decoding.Limit() <= 10 || again.Decoding.Limit() <= 10 || len(a.early) != 0 {
		t.Errorf("limits %d and %d", roomy.Decoding.Limit(), again.Decoding.Limit())
	}
	a.answered = func(crosstalk.Request) bool { return true } // before it got room
	if sent, _, done := a.apply(config.Request("x", 0), false); sent.Decoding.Limit() != 10 {
		t.Errorf("limit %d", sent.Decoding.Limit())
	} else if _, _, other := a.apply(config.Request("x", 0), false); len(a.early) != 1 {
		t.Errorf("%d requests are under way", len(a.early))
	} else if done(); len(a.early) != 1 {
		t.Error("the other ask is under way")
	} else if other(); len(a.early) != 0 {
		t.Error("none is under way")
	}
}

// Thoughts in recorded answers are counted unless they are what is scored.
func TestThoughts(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "replies.csv", "id,language,completion\n1,de,<think>Hm.</think>Das Wetter ist heute wirklich sehr schön.\n"+
		"2,de,<think>Ah.</think>Das Essen ist heute wirklich sehr gut.\n3,de,Das Wetter ist heute wirklich sehr schön.\n")
	for part, want := range map[string]int{"": 2, "reasoning": 0} {
		s, err := Confusion{Options: confusion.Options{Part: part}}.Recorded([]string{"replies.csv"}, "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err = s.Score(t.Context()); err != nil {
			t.Fatal(err)
		}
		said := ""
		if remarks := s.Remarks(); len(remarks) > 0 {
			said = remarks[len(remarks)-1]
		}
		if counted := strings.HasPrefix(said, fmt.Sprintf("note: %d answers had the model's thoughts", want)); counted != (want > 0) {
			t.Errorf("part %q: %q", part, said)
		}
	}
}

// A model's tasks have the instructions that were rewritten by it and of the task.
func TestTasksOfModel(t *testing.T) {
	s, err := Consistency{Sweep: Sweep{Items: 2}}.Open()
	if err != nil {
		t.Fatal(err)
	}
	c := s.Protocols[0].Conditions[0]
	name, task := modelName(c), s.Suite.Tasks[0].Name
	s.reviews.made = []review.Instruction{{Model: name, Task: task, Sense: "en>x"}, {Model: "other", Task: task, Sense: "en>y"},
		{Model: name, Task: "other", Sense: "en>z"}}
	for i, of := range s.reviews.tasks(c) {
		for _, sense := range []string{"en>x", "en>y", "en>z"} {
			if _, has := of.Instructions[sense]; has != (i == 0 && sense == "en>x") {
				t.Errorf("task %d in %s: %v", i, sense, has)
			}
		}
		if _, has := s.Suite.Tasks[i].Instructions["en>x"]; has {
			t.Error("the suite has become another")
		}
	}
	c.Name = map[string]string{"base_url": "http://a", "api": "chat"}
	if got, want := modelName(c), c.Model.String()+" http://a chat"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// unreachable is a model whose every request has the same error.
type unreachable struct {
	crosstalk.Model
	err error
}

func (u unreachable) Answer(context.Context, crosstalk.Request) (crosstalk.Answer, error) {
	return crosstalk.Answer{}, u.err
}

// A model that cannot be asked ends a run of it alone, and is left out of a run of several.
func TestUnreachable(t *testing.T) {
	wrong := &crosstalk.AskError{Fault: crosstalk.Denied, Status: 401, Message: "wrong key"}
	for models, want := range map[string]int{"reference:leaky": 2, "reference:leaky,reference:leaky?rate=0.9": 2} {
		list := strings.Split(models, ",")
		s, err := Leakage{Sweep: Sweep{Models: list, Items: 2, Samples: 1}}.Open()
		if err != nil {
			t.Fatal(err)
		}
		c := &s.Protocols[0].Conditions[0]
		c.model = unreachable{c.model, wrong}
		dir := filepath.Join(t.TempDir(), "run")
		result, err := s.Run(t.Context(), dir, ask.Options{})
		if alone := len(list) == 1; alone && (!errors.As(err, new(*ask.ModelError)) || result.Estimates != nil) ||
			!alone && (err != nil || result.NotMeasured != want || len(result.Hopeless) != 1 || len(result.Estimates) == 0) {
			t.Errorf("%s: %d not measured, %d figures, %v", models, result.NotMeasured, len(result.Estimates), err)
		}
		for _, e := range result.Estimates {
			if e.Counts[crosstalk.NotMeasured] != 0 || strings.Contains(strings.Join(e.Warnings, ""), "not measured") {
				t.Errorf("%s: %v, %q", e.Measure, e.Counts, e.Warnings)
			}
		}
		for _, of := range result.Missing {
			if of.In(map[string]string{"model": list[len(list)-1] + "&seed=1"}) {
				t.Errorf("%v are of the other model", of.Labels)
			}
		}
		if _, err := os.Stat(dir); err != nil {
			t.Error(err) // what was asked stays
		}
	}
}

// Changes are said once, in the order in which they were found.
func TestChanges(t *testing.T) {
	var s Study
	a, b := model.Change{Param: "temperature", From: "0"}, model.Change{Param: "seed", From: "1"}
	s.noteChange(a, b, a)
	s.noteChange(b)
	if got := s.Changes(); !slices.Equal(got, []string{a.String(), b.String()}) {
		t.Errorf("%q", got)
	}
}

// A file goes before an identifier that is fetched, which is an error until then.
func TestIdentifierFile(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("CROSSTALK_CACHE", t.TempDir())
	_, missing := OpenIdentifier("lid.176.ftz")
	write(t, "lid.176.ftz", "x")
	_, wrong := OpenIdentifier("lid.176.ftz")
	if !errors.As(missing, new(*datasets.MissingError)) || wrong == nil || errors.As(wrong, new(*datasets.MissingError)) {
		t.Errorf("%v; %v", missing, wrong)
	}
}

// A suite that is not there is an error, not a remark.
func TestCheckNoSuite(t *testing.T) {
	if _, mistakes, err := CheckSuite(t.Context(), "no-such-suite"); err == nil || mistakes != nil {
		t.Errorf("%q, %v", mistakes, err)
	}
}
