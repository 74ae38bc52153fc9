package leakage

import (
	"context"
	"slices"
	"sync"
	"testing"

	"crosstalk"
	"crosstalk/measure/similarity"
)

var aroundParis = crosstalk.Item{ID: "n", Cluster: "c", Pair: &crosstalk.Pair{Concept: "bees", Test: "whole test", Control: "whole control",
	Context: &crosstalk.Context{Carrier: crosstalk.System, Prompt: "Where is Paris?",
		Test: crosstalk.Carried{Text: "He keeps bees."}, Control: crosstalk.Carried{Text: "He works."}}}}

// asked keeps the requests, and answers all with the same text.
type asked struct {
	mu       sync.Mutex
	answer   string
	requests []crosstalk.Request
}

func (a *asked) Ask(_ context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.requests = append(a.requests, req)
	return text(a.answer), nil
}

// The carrier's text is sent with both, each with its own, and the prompt that
// an answer may repeat is the question.
func TestMeasureContext(t *testing.T) {
	in := &Instrument{Protocol: Protocol{Post: PromptPeriod, Round: Exact}, Samples: 1,
		Prompting:    crosstalk.PromptConfig{API: crosstalk.Chat},
		Similarities: []similarity.Similarity{fake("a", map[string]float64{"In France.": 0.5})}}
	server := &asked{answer: "Where is Paris? In France. Yes.\nQ: And Rome?"}
	got, err := in.Measure(bg, server, aroundParis)
	if err != nil || len(got) == 0 || got[0].Text(Test) != "In France." {
		t.Errorf("%+v %v", got, err)
	}
	var systems []string
	for _, r := range server.requests {
		systems = append(systems, r.Messages[0].Content)
		if r.Text() != "Where is Paris?" {
			t.Errorf("%+v", r)
		}
	}
	slices.Sort(systems)
	if !slices.Equal(systems, []string{"He keeps bees.", "He works."}) {
		t.Errorf("%q", systems)
	}
	in.Protocol.Post, in.Prompting.API = None, crosstalk.Completions
	if got, err = in.Measure(bg, server, aroundParis); err != nil || got[0].Text(Test) != "Where is Paris? In France. Yes." {
		t.Errorf("%+v %v", got, err)
	}
	in.Prompting.API = crosstalk.Chat
	if got, err = in.Measure(bg, server, aroundParis); err != nil || got[0].Text(Test) != server.answer {
		t.Errorf("%+v %v", got, err)
	}
}
