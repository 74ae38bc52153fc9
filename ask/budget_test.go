package ask_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"crosstalk"
	"crosstalk/ask"
)

// A budget is never passed, however much is in flight, is used as far as the
// worst that the next ask may need allows, and what it let in is answered.
func TestBudget(t *testing.T) {
	worst := ask.Worst(request(0))
	prices := ask.Prices{"m": {Input: 1e6, Output: 2e6}} // 1 and 2 a token
	most := prices.Cost("m", worst)
	for _, c := range []struct {
		budget ask.Budget
		says   string
	}{
		{ask.Budget{Asks: 100}, "stopped after 100 asks (--budget-asks 100)"},
		{ask.Budget{Asks: 1}, "stopped after 1 asks"},
		{ask.Budget{Cost: most - 1, Prices: prices}, fmt.Sprintf("stopped at a cost of 0.0000: one more ask could cost up to %.4f more (--budget-cost %g)", most, most-1)},
		{ask.Budget{Cost: 1500, Prices: prices}, "--budget-cost 1500"},
		{ask.Budget{Asks: 70, Cost: 5000, Prices: prices}, ""},
	} {
		for _, reported := range []bool{true, false} {
			t.Run(fmt.Sprintf("%+v, %v", c.budget, reported), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var mu sync.Mutex
					random := rand.New(rand.NewPCG(1, 2))
					asks, cost := 0, 0.0
					m := &model{answer: func(_ context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
						mu.Lock()
						used := crosstalk.Usage{Prompt: 1 + random.IntN(worst.Prompt), Completion: random.IntN(worst.Completion + 1)}
						if !reported {
							used = worst
						}
						fail := random.IntN(5) == 0
						delay := time.Duration(random.IntN(1000)) * time.Millisecond
						mu.Unlock()
						time.Sleep(delay)
						if fail {
							return crosstalk.Answer{}, fault(crosstalk.Overloaded)
						}
						mu.Lock()
						defer mu.Unlock()
						asks++
						cost += prices.Cost("m", used)
						answer := text("yes")
						if reported {
							answer.Usage = used
						}
						return answer, nil
					}}
					options := ask.Options{Budget: c.budget, Retries: 99}
					s := ask.NewSession(&ask.Memory{}, options)
					answered := 0
					for i, r := range askAll(t.Context(), s.For(m), 500) {
						var limit *ask.LimitError
						switch {
						case r.err == nil:
							answered++
						case !errors.As(r.err, &limit) || !strings.Contains(limit.Reason, c.says):
							t.Errorf("%d: %v", i, r.err)
						}
					}
					b := c.budget
					if b.Asks > 0 && asks > b.Asks || b.Cost > 0 && cost > b.Cost {
						t.Errorf("spent %d asks, %g", asks, cost)
					}
					full := b.Asks > 0 && asks == b.Asks || b.Cost > 0 && cost > b.Cost-most
					if !full || answered != asks || s.Stats().Done != asks {
						t.Errorf("%d asks were answered, %d sent an answer, %g; %+v", answered, asks, cost, s.Stats())
					}
					if !errors.As(s.Reason(), new(*ask.LimitError)) {
						t.Errorf("reason %v", s.Reason())
					}
				})
			})
		}
	}
}

// What the journal holds costs nothing.
func TestBudgetAndJournal(t *testing.T) {
	m := &model{answer: func(context.Context, crosstalk.Request) (crosstalk.Answer, error) { return text("yes"), nil }}
	memory := &ask.Memory{}
	for i := range 5 {
		s := ask.NewSession(memory, ask.Options{Budget: ask.Budget{Asks: 3}})
		asker := s.For(m)
		for k := range 3*i + 3 {
			if _, err := asker.Ask(t.Context(), request(k)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := asker.Ask(t.Context(), request(3*i+3)); !errors.As(err, new(*ask.LimitError)) {
			t.Errorf("%v", err)
		}
		if _, err := asker.Ask(t.Context(), request(0)); err != nil {
			t.Errorf("an answered ask after the limit: %v", err)
		}
	}
}
