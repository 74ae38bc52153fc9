package study

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/model"
)

// picky is a model that refuses a temperature and top-p, and thinks: without
// room for it it says nothing.
type picky struct {
	mu    sync.Mutex
	asks  int
	needs int // tokens
}

func (p *picky) Identity() crosstalk.Identity {
	return crosstalk.Identity{Provider: "compatible", Name: "picky"}
}
func (p *picky) API() crosstalk.API { return crosstalk.Chat }
func (p *picky) Answer(_ context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
	p.mu.Lock()
	p.asks++
	p.mu.Unlock()
	refuse := func(param string) (crosstalk.Answer, error) {
		return crosstalk.Answer{}, &crosstalk.AskError{Fault: crosstalk.Rejected, Status: 400, Param: param, Message: param +
			" is not supported"}
	}
	switch d := req.Decoding; {
	case d.Temperature != nil:
		return refuse(crosstalk.ParamTemperature)
	case d.TopP != nil:
		return refuse(crosstalk.ParamTopP)
	case len(req.Messages) > 1:
		return refuse(crosstalk.ParamSystem)
	case d.Limit() < p.needs:
		return crosstalk.Answer{Status: crosstalk.Empty, Reason: crosstalk.Thinking, Finish: crosstalk.FinishLength,
			Usage: crosstalk.Usage{Prompt: 5, Completion: d.Limit(), Reasoning: d.Limit()}}, nil
	}
	return crosstalk.Answer{Status: crosstalk.Text, Text: req.Text(),
		Usage: crosstalk.Usage{Prompt: 5, Completion: 400, Reasoning: 390}}, nil
}

// A model that is not in the table is found out by its first answers, once, by
// all who ask it side by side.
func TestAdapting(t *testing.T) {
	m := &picky{needs: 390}
	session := ask.NewSession(&ask.Memory{}, ask.Options{Concurrency: 16})
	var mu sync.Mutex
	var notes []string
	a := &adapting{Asker: session.For(m), name: "compatible:picky", note: func(c model.Change) {
		mu.Lock()
		defer mu.Unlock()
		notes = append(notes, c.Param)
	}}
	zero, nearly := 0.0, 0.9
	config := crosstalk.PromptConfig{API: crosstalk.Chat, System: "Be brief.",
		Decoding: crosstalk.Decoding{Temperature: &zero, TopP: &nearly, MaxTokens: 100}}
	const n = 100
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			answer, err := a.Ask(t.Context(), config.Request(strings.Repeat("x", i+1), 0))
			if err != nil || answer.Status != crosstalk.Text || !strings.HasPrefix(answer.Text, "Be brief.") {
				t.Errorf("%d: %+v, %v", i, answer, err)
			}
		})
	}
	group.Wait()
	slices.Sort(notes)
	if want := []string{crosstalk.ParamMaxTokens, crosstalk.ParamSystem, crosstalk.ParamTemperature,
		crosstalk.ParamTopP}; !slices.Equal(notes, want) {
		t.Errorf("changes %q, want %q", notes, want)
	}
	if useless := m.asks - n; useless > 4*8 {
		t.Errorf("%d requests beyond the %d needed", useless, n)
	}
}

// A protocol of a paper measures with its own settings or not at all.
func TestStrict(t *testing.T) {
	zero := 0.0
	config := crosstalk.PromptConfig{API: crosstalk.Chat, Decoding: crosstalk.Decoding{Temperature: &zero}}
	a := &adapting{Asker: ask.NewSession(&ask.Memory{}, ask.Options{}).For(&picky{}), name: "compatible:picky", strict: "gonen-2024",
		note: func(c model.Change) { t.Errorf("%v", c) }}
	_, err := a.Ask(t.Context(), config.Request("x", 0))
	if err == nil || !strings.Contains(err.Error(), "--temperature default") || errors.As(err, new(*ask.RefusedError)) {
		t.Errorf("%v", err)
	}
	c := Condition{name: "openai:gpt-5-mini"}
	c.Prompting = config
	if err := c.adapt(nil, "gonen-2024"); err == nil || !strings.Contains(err.Error(), "gonen-2024") {
		t.Errorf("%v", err)
	}
	if err := c.adapt(nil, ""); err != nil || c.Prompting.Decoding.Temperature != nil || len(c.Changes) == 0 {
		t.Errorf("%+v, %v", c, err)
	}
	c.Prompting, c.Name = config, map[string]string{"temperature": "0"}
	var bad *crosstalk.OptionError
	if err := c.adapt(nil, ""); !errors.As(err, &bad) || bad.Option != "temperature" {
		t.Errorf("a sweep over a temperature that is not sent: %v", err)
	}
}

// What a model refuses, and what it answers with nothing but thoughts, is asked
// for anew within the budget of the item: as many items are measured as fit, and
// none waits for ever.
func TestAdaptingWithinBudget(t *testing.T) {
	for name, c := range map[string]struct {
		model *picky
		least int // items of two asks, with 20 asks
	}{"refused": {&picky{}, 10}, "thinks": {&picky{needs: 390}, 1}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				session := ask.NewSession(&ask.Memory{}, ask.Options{Concurrency: 16, Budget: ask.Budget{Asks: 20}})
				a := &adapting{Asker: session.For(c.model), name: "compatible:picky", note: func(model.Change) {}}
				zero := 0.0
				config := crosstalk.PromptConfig{API: crosstalk.Chat,
					Decoding: crosstalk.Decoding{Temperature: &zero, MaxTokens: 100}}
				var items sync.WaitGroup
				var mu sync.Mutex
				measured := 0
				for i := range 50 {
					var need ask.Need
					for k := range 2 {
						need.Add(nil, "picky", config.Request(strings.Repeat("x", i+1), k))
					}
					ctx, end := session.Item(t.Context(), need)
					items.Go(func() {
						defer end()
						answered := make([]bool, 2)
						var both sync.WaitGroup
						for k := range answered {
							both.Go(func() {
								answer, err := a.Ask(ctx, config.Request(strings.Repeat("x", i+1), k))
								if err != nil && !errors.As(err, new(*ask.LimitError)) {
									t.Errorf("%d: %v", i, err)
								}
								answered[k] = answer.Status == crosstalk.Text
							})
						}
						both.Wait()
						if answered[0] && answered[1] {
							mu.Lock()
							measured++
							mu.Unlock()
						}
					})
				}
				items.Wait()
				if paid := session.Stats().Answered; measured < c.least || paid > 20 {
					t.Errorf("%d items measured with %d answers; want at least %d items with at most 20", measured, paid, c.least)
				}
			})
		})
	}
}

// Who has got an answer without room asks with room at once, even while another
// still waits for the same answer.
func TestRoomIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := crosstalk.PromptConfig{API: crosstalk.Chat, Decoding: crosstalk.Decoding{MaxTokens: 100}}
		slow := &roomless{after: 2 * time.Hour}
		a := &adapting{name: "compatible:picky", note: func(model.Change) {}}
		var group sync.WaitGroup
		for _, way := range []*roomless{slow, {after: time.Hour}} {
			group.Go(func() {
				if answer, err := a.through(t.Context(), way, config.Request("x", 0)); err != nil ||
					answer.Status != crosstalk.Text || way.asks != 2 {
					t.Errorf("%+v, %v after %d requests; want 2", answer, err, way.asks)
				}
			})
		}
		group.Wait()
	})
}

// roomless answers a request without room after some time, with nothing.
type roomless struct {
	after time.Duration
	asks  int
}

func (r *roomless) Ask(ctx context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
	if r.asks++; r.asks > 10 {
		return crosstalk.Answer{}, errors.New("asked again and again")
	}
	if req.Decoding.ReasoningTokens > 0 {
		return crosstalk.Answer{Status: crosstalk.Text, Text: "yes"}, nil
	}
	if r.asks == 1 {
		time.Sleep(r.after)
	}
	return crosstalk.Answer{Status: crosstalk.Empty, Reason: crosstalk.Thinking}, nil
}

// What a model refuses after answers were scored ends the measurement, and is noted, so
// that another attempt measures all answers alike.
func TestRefusedTooLate(t *testing.T) {
	noted := 0
	open := func() *adapting {
		return &adapting{Asker: ask.NewSession(&ask.Memory{}, ask.Options{}).For(&picky{}), name: "compatible:picky",
			note: func(model.Change) { noted++ }}
	}
	zero := 0.0
	hot := crosstalk.PromptConfig{API: crosstalk.Chat, Decoding: crosstalk.Decoding{Temperature: &zero}}
	a := open()
	if refused := a.refused(true); len(refused) > 0 {
		t.Errorf("refused %q before anything was asked", refused)
	}
	_, err := a.Ask(t.Context(), hot.Request("x", 0))
	if !errors.As(err, new(*ask.RefusedError)) || !strings.Contains(err.Error(), "were scored") || noted != 1 {
		t.Errorf("%v, %d notes", err, noted)
	}
	b := open()
	b.dropped = a.dropped
	if answer, err := b.Ask(t.Context(), hot.Request("x", 0)); err != nil || answer.Status != crosstalk.Text {
		t.Errorf("another attempt: %+v, %v", answer, err)
	}
}
