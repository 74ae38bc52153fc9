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

	"github.com/google/go-cmp/cmp"

	"crosstalk"
	"crosstalk/ask"
)

// item is one item of a made-up suite: what it asks at once, and what it asks
// when that is answered.
type item struct{ first, then []int }

func (it item) asks() []int { return append(append([]int{}, it.first...), it.then...) }

// measure asks items as a study does, up to parallel at a time, and says for
// each whether it got all its answers.
func measure(ctx context.Context, s *ask.Session, a crosstalk.Asker, prices ask.Prices, items []item,
	parallel int) []error {
	errs := make([]error, len(items))
	places := make(chan struct{}, parallel)
	var group sync.WaitGroup
	for i, it := range items {
		places <- struct{}{}
		var need ask.Need
		for _, n := range it.asks() {
			need.Add(prices, "m", request(n))
		}
		ctx, end := s.Item(ctx, need)
		group.Go(func() {
			defer func() { <-places }()
			defer end()
			for _, stage := range [][]int{it.first, it.then} {
				var stageGroup sync.WaitGroup
				var mu sync.Mutex
				for _, n := range stage {
					stageGroup.Go(func() {
						if _, err := a.Ask(ctx, request(n)); err != nil {
							mu.Lock()
							errs[i] = err
							mu.Unlock()
						}
					})
				}
				if stageGroup.Wait(); errs[i] != nil {
					return
				}
			}
		})
	}
	group.Wait()
	return errs
}

// suiteOf is a suite of items with two to five asks, some of them shared with
// other items.
func suiteOf(n int) (items []item) {
	random := rand.New(rand.NewPCG(7, 7))
	for i := range n {
		it := item{first: []int{5 * i, 5*i + 1}}
		for k := range random.IntN(4) {
			it.then = append(it.then, 5*i+2+k)
		}
		if i > 3 && random.IntN(4) == 0 {
			it.first[1] = 5 * (i - random.IntN(3)) // an earlier item's, or its own
		}
		items = append(items, it)
	}
	return items
}

// Two runs that are cut by the same budget measure the same items, whole, and
// the first of the suite, whatever the order in which answers come.
func TestBudgetTakesItemsInOrder(t *testing.T) {
	prices := ask.Prices{"m": {Input: 1e6, Output: 2e6}}
	items := suiteOf(300)
	for _, budget := range []ask.Budget{{Asks: 1}, {Asks: 100}, {Asks: 103}, {Cost: 1000, Prices: prices},
		{Cost: 3000, Prices: prices}, {Cost: 9000, Prices: prices}, {Asks: 200, Cost: 4000, Prices: prices}, {Asks: 5000}} {
		t.Run(fmt.Sprintf("%+v", budget), func(t *testing.T) {
			var first []bool
			for round := range uint64(4) {
				synctest.Test(t, func(t *testing.T) {
					var mu sync.Mutex
					random := rand.New(rand.NewPCG(round, 2))
					sent, cost := map[int]int{}, 0.0
					m := &model{answer: func(_ context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
						mu.Lock()
						delay := time.Duration(random.IntN(3000)) * time.Millisecond
						bad := random.IntN(20) == 0
						mu.Unlock()
						time.Sleep(delay)
						if bad {
							return crosstalk.Answer{}, fault(crosstalk.Overloaded)
						}
						answer := text("yes")
						answer.Usage = crosstalk.Usage{Prompt: 1, Completion: 1 + req.Sample%9} // of at most 12
						mu.Lock()
						defer mu.Unlock()
						sent[req.Sample]++
						cost += prices.Cost("m", answer.Usage)
						return answer, nil
					}}
					s := ask.NewSession(&ask.Memory{}, ask.Options{Concurrency: 64, Budget: budget, Retries: 50})
					errs := measure(t.Context(), s, s.For(m), budget.Prices, items, 512)
					whole, done := make([]bool, len(items)), map[int]bool{}
					for i, err := range errs {
						if whole[i] = err == nil; !whole[i] {
							if !errors.As(err, new(*ask.LimitError)) || err != s.Reason() || !strings.Contains(err.Error(), "the next item") {
								t.Errorf("item %d: %v", i, err)
							}
							continue
						}
						for _, n := range items[i].asks() {
							done[n] = true
						}
						if i > 0 && !whole[i-1] {
							t.Errorf("item %d was measured and %d was not: %v", i, i-1, errs[i-1])
						}
					}
					if len(sent) != len(done) {
						t.Errorf("%d asks were sent, of which %d belong to whole items", len(sent), len(done))
					}
					if budget.Asks > 0 && len(sent) > budget.Asks || budget.Cost > 0 && cost > budget.Cost {
						t.Errorf("%d asks, %g", len(sent), cost)
					}
					if round == 0 {
						first = whole
						t.Logf("%d items, %d asks, %v", count(whole), len(sent), s.Reason())
					}
					if diff := cmp.Diff(first, whole); diff != "" {
						t.Errorf("round %d: %d items, not %d", round, count(whole), count(first))
					}
				})
			}
		})
	}
}

func count(list []bool) (n int) {
	for _, yes := range list {
		if yes {
			n++
		}
	}
	return n
}

// With the same budget again and again a run comes to its end, and asks for
// nothing twice.
func TestBudgetContinues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		items := suiteOf(60)
		l := newLog()
		m := &model{answer: func(_ context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
			l.enter(req)
			time.Sleep(time.Second)
			return text("yes"), nil
		}}
		memory := &ask.Memory{}
		rounds := 0
		for ; rounds < 100; rounds++ {
			s := ask.NewSession(memory, ask.Options{Budget: ask.Budget{Asks: 10}})
			before := l.total()
			measure(t.Context(), s, s.For(m), nil, items, 512)
			if asked := l.total() - before; asked > 10 || asked < 6 && s.Reason() != nil {
				t.Errorf("%d asks in round %d, %v", asked, rounds, s.Reason())
			}
			if s.Reason() == nil {
				break
			}
		}
		for n, times := range l.attempts {
			if times != 1 {
				t.Errorf("%d was asked %d times", n, times)
			}
		}
		if rounds < 10 || rounds > 40 {
			t.Errorf("%d rounds", rounds)
		}
	})
}

// An item that the journal answers as a whole is in nobody's way, however large
// it is.
func TestBudgetAfterALargeItem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{answer: func(context.Context, crosstalk.Request) (crosstalk.Answer, error) {
			time.Sleep(time.Second)
			return text("yes"), nil
		}}
		items := []item{{first: []int{0, 1, 2}, then: []int{3, 4}}, {first: []int{10, 11}}, {first: []int{20, 21}}}
		memory := &ask.Memory{}
		s := ask.NewSession(memory, ask.Options{Budget: ask.Budget{Asks: 5}})
		if errs := measure(t.Context(), s, s.For(m), nil, items, 512); errs[0] != nil || errs[1] == nil || errs[2] == nil {
			t.Errorf("%v", errs)
		}
		s = ask.NewSession(memory, ask.Options{Budget: ask.Budget{Asks: 3}})
		if errs := measure(t.Context(), s, s.For(m), nil, items, 512); errs[0] != nil || errs[1] != nil || errs[2] == nil {
			t.Errorf("%v", errs)
		}
	})
}

// A need that is too small, failures, a caller that goes away and Stop do not
// keep other items waiting for ever. (synctest panics on a deadlock.)
func TestItemsDoNotDeadlock(t *testing.T) {
	for name, c := range map[string]struct {
		need   int // of the two asks that an item makes
		budget ask.Budget
		after  func(s *ask.Session, cancel func())
	}{
		"too small":         {1, ask.Budget{Asks: 20}, nil},
		"none":              {0, ask.Budget{Asks: 20}, nil},
		"small and costs":   {1, ask.Budget{Cost: 300, Prices: ask.Prices{"m": {Input: 1e6, Output: 1e6}}}, nil},
		"too large":         {9, ask.Budget{Asks: 20}, nil},
		"stop":              {2, ask.Budget{Asks: 20}, func(s *ask.Session, _ func()) { s.Stop() }},
		"cancel":            {2, ask.Budget{Asks: 20}, func(_ *ask.Session, cancel func()) { cancel() }},
		"stop, too small":   {1, ask.Budget{Asks: 20}, func(s *ask.Session, _ func()) { s.Stop() }},
		"cancel, too small": {1, ask.Budget{Asks: 20}, func(_ *ask.Session, cancel func()) { cancel() }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLog()
				m := &model{answer: func(ctx context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
					l.enter(req)
					if req.Sample%7 == 3 {
						return crosstalk.Answer{}, fault(crosstalk.Rejected)
					}
					return text("yes"), wait(ctx, time.Duration(1+req.Sample%5)*time.Second)
				}}
				s := ask.NewSession(&ask.Memory{}, ask.Options{Budget: c.budget, Retries: -1})
				a := s.For(m)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if c.after != nil {
					time.AfterFunc(5500*time.Millisecond, func() { c.after(s, cancel) }) // the first answers take up to 5 s
				}
				var group sync.WaitGroup
				answered := make([]int, 50)
				for i := range answered {
					var need ask.Need
					for k := range c.need {
						need.Add(c.budget.Prices, "m", request(2*i+k))
					}
					ctx, end := s.Item(ctx, need)
					group.Go(func() {
						defer end()
						defer end() // twice does no harm
						for k := range 2 {
							if _, err := a.Ask(ctx, request(2*i+k)); err == nil {
								answered[i]++
							}
						}
					})
				}
				group.Wait()
				sum := 0
				for _, n := range answered {
					sum += n
				}
				if b := c.budget.Asks; b > 0 && sum > b || sum == 0 {
					t.Errorf("%d answered", sum)
				}
				t.Log(sum, s.Reason())
			})
		})
	}
}

// Items that share an ask do not wait for each other.
func TestItemsShareAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{answer: func(context.Context, crosstalk.Request) (crosstalk.Answer, error) {
			time.Sleep(time.Second)
			return text("yes"), nil
		}}
		var items []item
		for i := range 20 {
			items = append(items, item{first: []int{i, 1000}, then: []int{1001}})
		}
		s := ask.NewSession(&ask.Memory{}, ask.Options{Budget: ask.Budget{Asks: 12}})
		errs := measure(t.Context(), s, s.For(m), nil, items, 512)
		for i, err := range errs {
			// Ten asks of their own and two shared ones: but an item is let in only
			// where three asks are left.
			if want := i < 8; (err == nil) != want {
				t.Errorf("item %d: %v", i, err)
			}
		}
	})
}
