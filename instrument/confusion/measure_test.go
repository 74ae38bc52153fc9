package confusion

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"crosstalk"
	"crosstalk/internal/testing/asktest"
)

// listener is an Asker that answers all with one text and keeps the requests.
type listener struct {
	answer crosstalk.Answer
	err    error

	mu       sync.Mutex
	requests []crosstalk.Request
}

func (l *listener) Ask(_ context.Context, r crosstalk.Request) (crosstalk.Answer, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests = append(l.requests, r)
	return l.answer, l.err
}

// one is the request of a measurement with one sample.
func (l *listener) one(t *testing.T) crosstalk.Request {
	t.Helper()
	if len(l.requests) != 1 {
		t.Fatalf("%d requests", len(l.requests))
	}
	return l.requests[0]
}

var (
	monolingual = crosstalk.Item{ID: "de-1", Labels: map[string]string{"source": "s"}, Prompt: &crosstalk.Prompt{Text: "Wie?", Language: "de"}}
	placed      = crosstalk.Item{ID: "x-1", Prompt: &crosstalk.Prompt{Text: "How? In German.", Language: "de",
		Placed: map[string]string{"start": "In German: how?", "end": "How? In German.", "integrated": "Say in German how."}}}
	shown = map[string][]crosstalk.Demonstration{"de": {{Question: "Was?", Answer: "Dies."},
		{Question: "Wer?", Answer: "Er."}, {Question: "Wo?", Answer: "Da."}}}
)

func TestMeasure(t *testing.T) {
	in := instrument(t, "lcb-paper")
	in.Samples, in.Condition = 3, map[string]string{"model": "m"}
	asked := &listener{answer: crosstalk.Answer{Status: crosstalk.Text, Text: "de 1 2 3 4", Key: crosstalk.Key{7}}}
	observations, err := in.Measure(t.Context(), asked, monolingual)
	if err != nil {
		t.Fatal(err)
	}
	if len(observations) != 9 || len(asked.requests) != 3 {
		t.Fatalf("%d observations of %d asks", len(observations), len(asked.requests))
	}
	for i, o := range observations {
		if o.Sample != i/3 || o.Item != "de-1" || o.Value != 1 || o.Condition["model"] != "m" || o.Labels["source"] != "s" ||
			o.Labels["language"] != "de" || o.Labels["position"] != "" || o.Answers[0] != (crosstalk.Key{7}) {
			t.Errorf("observed %+v", o)
		}
	}
	samples := map[int]bool{}
	for _, r := range asked.requests {
		samples[r.Sample] = true
	}
	if len(samples) != 3 {
		t.Errorf("the samples asked for are %v", samples)
	}
	if len(monolingual.Labels) != 1 {
		t.Errorf("the item's labels became %v", monolingual.Labels)
	}
}

func TestMeasureKeepsPaidAsks(t *testing.T) {
	in := instrument(t, "lcb-paper")
	in.Samples = 3
	asktest.Paid(t, in, monolingual, 3, func(r crosstalk.Request) bool { return r.Sample == 1 })
}

func TestMeasureErrors(t *testing.T) {
	in := instrument(t, "lcb-paper")
	in.Samples = 2
	broken := errors.New("no disk")
	if _, err := in.Measure(t.Context(), &listener{err: broken}, monolingual); !errors.Is(err, broken) {
		t.Errorf("an ask fails: %v", err)
	}
	for want, change := range map[string]func(*Instrument) crosstalk.Item{
		"item p has no prompt with the language of its answer": func(*Instrument) crosstalk.Item { return crosstalk.Item{ID: "p", Pair: &crosstalk.Pair{}} },
		"item r has no prompt to ask": func(*Instrument) crosstalk.Item {
			return crosstalk.Item{ID: "r", Prompt: &crosstalk.Prompt{Language: "de"}}
		},
		`item x-1 has no prompt with the instruction at the position "middle"`: func(in *Instrument) crosstalk.Item { in.Position = "middle"; return placed },
		"item de-1: expected 4 demonstrations for monolingual prompts with answers in de, found 3": func(in *Instrument) crosstalk.Item {
			in.Shots, in.Demonstrations.Monolingual = 4, shown
			return monolingual
		},
	} {
		in := *in
		item := change(&in)
		if _, err := in.Measure(t.Context(), &listener{}, item); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestPosition(t *testing.T) {
	for _, test := range []struct {
		item               crosstalk.Item
		position           string
		wantText, wantSaid string
	}{
		{placed, "", "How? In German.", "end"},
		{placed, "start", "In German: how?", "start"},
		{placed, "end", "How? In German.", "end"},
		{placed, "integrated", "Say in German how.", "integrated"},
		{monolingual, "start", "Wie?", ""},
		{crosstalk.Item{ID: "y", Prompt: &crosstalk.Prompt{Text: "other", Language: "de", Placed: placed.Prompt.Placed}}, "", "other", ""},
	} {
		in := instrument(t, "lcb-paper")
		in.Samples, in.Position = 1, test.position
		asked := &listener{}
		observations, err := in.Measure(t.Context(), asked, test.item)
		if err != nil {
			t.Fatal(err)
		}
		if got := asked.one(t).Text(); got != test.wantText {
			t.Errorf("%s at %q: asked %q, want %q", test.item.ID, test.position, got, test.wantText)
		}
		if got := observations[0].Labels["position"]; got != test.wantSaid {
			t.Errorf("%s at %q: the label is %q, want %q", test.item.ID, test.position, got, test.wantSaid)
		}
	}
}

func TestFormats(t *testing.T) {
	user := func(s string) crosstalk.Message { return crosstalk.Message{Role: "user", Content: s} }
	assistant := func(s string) crosstalk.Message { return crosstalk.Message{Role: "assistant", Content: s} }
	system := crosstalk.Message{Role: "system", Content: "Sys."}
	stop := []string{"\nQ:"}
	for _, test := range []struct {
		name   string
		api    crosstalk.API
		format Format
		want   crosstalk.Request
	}{
		{"chat", crosstalk.Chat, Format{}, crosstalk.Request{Messages: []crosstalk.Message{system, user("> Wie?")}}},
		{"turns", crosstalk.Chat, Format{Shots: 2, Template: Auto}, crosstalk.Request{Messages: []crosstalk.Message{
			system, user("> Was?"), assistant("Dies."), user("> Wer?"), assistant("Er."), user("> Wie?")}}},
		{"one message", crosstalk.Chat, Format{Shots: 1, Template: QA}, crosstalk.Request{
			Messages: []crosstalk.Message{system, user("Q: > Was?\nA: Dies.\n\nQ: > Wie?\nA:")}, Decoding: crosstalk.Decoding{Stop: stop}}},
		{"continuation", crosstalk.Completions, Format{}, crosstalk.Request{Prompt: "> Wie?"}},
		{"template", crosstalk.Completions, Format{Shots: 2}, crosstalk.Request{Prompt: "Q: > Was?\nA: Dies.\n\nQ: > Wer?\nA: Er.\n\nQ: > Wie?\nA:",
			Decoding: crosstalk.Decoding{Stop: stop}}},
		{"template without demonstrations", crosstalk.Completions, Format{Template: QA}, crosstalk.Request{Prompt: "Q: > Wie?\nA:",
			Decoding: crosstalk.Decoding{Stop: stop}}},
	} {
		in := instrument(t, "lcb-paper")
		in.Samples, in.Format = 1, test.format
		in.Demonstrations.Monolingual = shown
		in.Prompting = crosstalk.PromptConfig{API: test.api, Prefix: "> ", System: "Sys.", Logprobs: 4,
			Decoding: crosstalk.Decoding{MaxTokens: 9}}
		asked := &listener{}
		if _, err := in.Measure(t.Context(), asked, monolingual); err != nil {
			t.Fatal(err)
		}
		test.want.API, test.want.Logprobs, test.want.Decoding.MaxTokens = test.api, 4, 9
		if got := asked.one(t); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: asked\n%s\nwant\n%s", test.name, crosstalk.Canonical(got), crosstalk.Canonical(test.want))
		}
	}

	// The user's own stop sequences stay, and are not changed under the user's feet.
	in := instrument(t, "lcb-paper")
	own := append(make([]string, 0, 4), "END")
	in.Samples, in.Template, in.Prompting = 1, QA,
		crosstalk.PromptConfig{API: crosstalk.Completions, Decoding: crosstalk.Decoding{Stop: own}}
	asked := &listener{}
	if _, err := in.Measure(t.Context(), asked, monolingual); err != nil {
		t.Fatal(err)
	}
	if got := asked.one(t).Decoding.Stop; !slices.Equal(got, []string{"END", "\nQ:"}) || own[:2][1] != "" {
		t.Errorf("stop sequences %q, the user's %q", got, own[:2])
	}
}

// Messages before the prompt are sent before it, after a system message and
// demonstrations.
func TestBefore(t *testing.T) {
	of := func(role, text string) crosstalk.Message { return crosstalk.Message{Role: role, Content: text} }
	turns := []crosstalk.Message{of("user", "Hallo"), of("assistant", "Guten Tag!")}
	for _, c := range []struct {
		name   string
		before []crosstalk.Message
		config crosstalk.PromptConfig
		format Format
		want   []crosstalk.Message
		err    string
	}{
		{"turns", turns, crosstalk.PromptConfig{Prefix: "P: "}, Format{}, []crosstalk.Message{turns[0], turns[1], of("user", "P: Wie?")}, ""},
		{"a system message", turns, crosstalk.PromptConfig{System: "S"}, Format{}, []crosstalk.Message{of("system", "S"), turns[0], turns[1], of("user", "Wie?")}, ""},
		{"its own", []crosstalk.Message{of("system", "T"), turns[0], turns[1]}, crosstalk.PromptConfig{},
			Format{Shots: 1, Demonstrations: Demonstrations{Monolingual: shown}},
			[]crosstalk.Message{of("system", "T"), of("user", "Was?"), of("assistant", "Dies."), turns[0], turns[1], of("user", "Wie?")}, ""},
		{"demonstrations", turns, crosstalk.PromptConfig{}, Format{Shots: 1, Demonstrations: Demonstrations{Monolingual: shown}},
			[]crosstalk.Message{of("user", "Was?"), of("assistant", "Dies."), turns[0], turns[1], of("user", "Wie?")}, ""},
		{"two", []crosstalk.Message{of("system", "T")}, crosstalk.PromptConfig{System: "S"}, Format{}, []crosstalk.Message{of("system", "S\n\nT"), of("user", "Wie?")}, ""},
		{"completions", turns, crosstalk.PromptConfig{API: crosstalk.Completions}, Format{}, nil, "item de-1: has messages before its prompt, which only chat models take: use --api chat"},
		{"qa", turns, crosstalk.PromptConfig{}, Format{Template: QA}, nil, "item de-1: has messages before its prompt, which the template qa cannot show"},
	} {
		in := instrument(t, "lcb-paper")
		in.Samples, in.Prompting, in.Format = 1, c.config, c.format
		item, prompt := monolingual, *monolingual.Prompt
		prompt.Before = c.before
		item.Prompt = &prompt
		asked := &listener{}
		_, err := in.Measure(t.Context(), asked, item)
		if c.err != "" {
			if err == nil || err.Error() != c.err {
				t.Errorf("%s: %v, want %s", c.name, err, c.err)
			}
			continue
		}
		if got := asked.one(t).Messages; err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, %v; want %v", c.name, got, err, c.want)
		}
	}
}
